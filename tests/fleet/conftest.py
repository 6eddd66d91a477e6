"""Ray asks for the metadata of a cloud machine when it starts, at an address that is none of this machine's: every test
of a fleet runs in a network namespace that has nothing but `lo`."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.namespace import alone_or_skipped


@pytest.fixture(scope="module", autouse=True)
def alone() -> Iterator[None]:
    with alone_or_skipped():
        yield
