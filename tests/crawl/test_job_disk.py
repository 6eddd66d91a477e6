"""A job on a full disk ends with one line, and goes on when there is room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

import pytest

from tests.crawl.crawling import FEED, start
from tests.crawl.job_feeds import difference, rows
from tests.crawl.jobs import DATABASE, KEPT
from tests.crawl.many_files import rows_of, serve_files
from tests.crawl.mounts import small
from tests.crawl.site_server import SiteServer

pytestmark = pytest.mark.slow

FILES, PAGES = 4, 3_000
ROOMS = {300_000: 2, 2_000_000: 1}
"""Bytes that are left on the disk, and how a crawl ends: in the first there is no room for a database without rows, in
the second not for those of all files."""
ROOM = "30m"
ENDS_WITHIN_S = 60


@pytest.fixture(scope="module")
def large() -> Iterator[SiteServer]:
    """A site whose URLs cannot be compressed."""
    with SiteServer() as site:
        serve_files(site, FILES, lambda path: [page(path, number) for number in range(PAGES)])
        yield site


@pytest.fixture(scope="module")
def known(large: SiteServer, tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """The rows of its feed."""
    return rows_of(large, tmp_path_factory.mktemp("known"))


def page(path: str, number: int) -> str:
    """A URL unlike all others."""
    return f"https://pages.example/{blake2b(f'{path} {number}'.encode()).hexdigest()}"


@pytest.mark.parametrize("room", ROOMS)
def test_full_disk_ends_the_crawl_and_costs_nothing(
    large: SiteServer, known: Counter[str], tmp_path: Path, room: int
) -> None:
    arguments = {"sitemap": large.url("/index.xml")}
    (tmp_path / "jobs").mkdir()
    with small(tmp_path / "jobs", ROOM) as disk:
        disk.fill(room)
        within = disk.within(tmp_path)
        with start(tmp_path, settings={"JOBDIR": "jobs"}, within=within, **arguments) as running:
            code = running.process.wait(ENDS_WITHIN_S)
        lines = [line for line in running.log.splitlines() if DATABASE in line or "No space" in line]
        lines = [
            line for line in lines if "download.body_cache" not in line
        ]  # it may be the first for which there is no room
        assert code == ROOMS[room], running.log
        assert len(lines) == 1, running.log
        assert "No space" in lines[0]
        assert "Traceback" not in running.log
        disk.clear()
        done = start(tmp_path, settings={"JOBDIR": "jobs"}, within=within, **arguments).finish()
        assert done.code == 0, done.log
        assert not (told := difference(known, rows(tmp_path / FEED))), told
        assert disk.names() == KEPT
