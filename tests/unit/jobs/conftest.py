"""A database for a whole file of tests, which each test finds empty."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.schema import tables


@pytest.fixture(scope="module")
def opened() -> Iterator[Store]:
    store = Store.temporary()
    yield store
    store.close()


@pytest.fixture
def store(opened: Store) -> Store:
    for table in tables():
        opened.execute(f"DELETE FROM {table}")
    return opened
