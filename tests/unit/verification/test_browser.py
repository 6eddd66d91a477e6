"""Memory of the browser that renders pages."""

from __future__ import annotations

import sys

import pytest

from sitemapcrawler.processes import own_memory
from sitemapcrawler.verification import browser


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts all data of a process")
@pytest.mark.parametrize(("own", "given"), [(5.1, 6), (5.4, 6), (5.6, 7)])
def test_limit_of_the_browser_leaves_a_large_crawl_its_memory(
    monkeypatch: pytest.MonkeyPatch, own: float, given: int
) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    monkeypatch.setattr(browser, "own_memory", lambda _: int(own * browser.MEMORY))
    with browser.limited_memory():
        assert resource.getrlimit(resource.RLIMIT_DATA) == (given * browser.MEMORY, before[1])
    assert resource.getrlimit(resource.RLIMIT_DATA) == before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux counts all data of a process")
def test_own_data_are_those_that_the_system_counts() -> None:
    from mmap import MAP_ANONYMOUS, MAP_PRIVATE, mmap

    before = own_memory("VmData")
    with mmap(-1, 64 * 2**20, flags=MAP_PRIVATE | MAP_ANONYMOUS) as more:  # no memory that an earlier test has freed
        assert own_memory("VmData") - before >= len(more)
