"""Ray asks for the metadata of a cloud machine when it starts, at an address that is none of this machine's: every test
of a fleet runs in a network namespace that has nothing but `lo`, all of them in the same one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.namespace import alone_or_skipped
from tests.processes import stop_server


@pytest.fixture(scope="package", autouse=True)
def alone() -> Iterator[None]:
    stop_server()  # one that was started before is in another network
    with alone_or_skipped():
        yield
    stop_server()
