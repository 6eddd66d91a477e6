"""A host is asked by one crawl of a fleet at a time, whichever crawls lead to it."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import pytest

from tests.crawl.crawling import Crawl
from tests.crawl.documents import index, urlset
from tests.crawl.site_server import Exchange
from tests.fleet.fleets import Data, Site, run, sites

pytestmark = pytest.mark.slow

SHARED = 6
"""Sitemaps of each site on the host that both share."""
DELAY_S = 0.6
"""Seconds between two requests to a host."""
ANSWER_S = 0.15
"""Seconds that an answer of the shared host takes; without a delay, the next request comes at its end."""
APART_S = 0.6 * DELAY_S
"""Seconds between two requests at least. One that the busy server heard late comes close before the next."""


class Shared(Site):
    """A host of sitemaps of others, which notes whom it answers when."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.spans: list[tuple[float, float, str]] = []
        """(from, to, path) of each answer."""

    def answer(self, exchange: Exchange) -> None:
        began = time.monotonic()
        time.sleep(ANSWER_S)
        super().answer(exchange)
        self.spans.append((began, time.monotonic(), exchange.path))


@pytest.fixture(scope="module")
def shared(alone: None) -> Iterator[Shared]:
    with Shared(9) as server:
        yield server


@pytest.fixture(scope="module")
def crawled(shared: Shared, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Crawl, list[Site]]]:
    """Two sites that keep their sitemaps on the same third host, crawled at once."""
    with sites(2) as pair:
        for number, site in enumerate(pair):
            names = [f"/{number}-{part}.xml" for part in range(SHARED)]
            site.routes["/sitemap.xml"] = index(*map(shared.url, names))
            shared.routes |= {name: urlset(site.url(name)) for name in names}
        settings = {"DOWNLOAD_DELAY": DELAY_S, "RANDOMIZE_DOWNLOAD_DELAY": 0, "SITEMAP_ALLOW_NETWORKS": "127.0.0.0/8"}
        domains = [pair[0].url(), pair[0].place, pair[1].url()]  # the first in two spellings, of which one waits
        fleet = run(tmp_path_factory.mktemp("hosts"), domains, settings=settings)
        yield fleet, pair


@pytest.fixture(scope="module")
def fleet(crawled: tuple[Crawl, list[Site]]) -> Crawl:
    return crawled[0]


def test_all_sites_are_read_whole(fleet: Crawl) -> None:
    assert fleet.code == 0
    rows = Data(fleet.folder / "out").domains()
    assert [row["urls"] for row in rows.values()] == [SHARED] * 3
    assert {row["state"] for row in rows.values()} == {"finished"}


def test_two_crawls_of_a_site_keep_its_delay_between_them(crawled: tuple[Crawl, list[Site]]) -> None:
    site = crawled[1][0]
    assert site.paths.count("/sitemap.xml") == 2
    assert_kept([exchange.at for exchange in site.exchanges])


def test_the_shared_host_is_asked_by_one_at_a_time(fleet: Crawl, shared: Shared) -> None:
    ends: dict[str, float] = {}
    for began, ended, path in sorted(shared.spans):
        crawl = path[1]
        if path == "/robots.txt":  # asked by each of the two
            continue
        others = [end for other, end in ends.items() if other != crawl]
        assert all(began >= end for end in others), sorted(shared.spans)
        ends[crawl] = max(ended, ends.get(crawl, 0.0))


def test_the_delay_of_the_host_is_kept_across_crawls(fleet: Crawl, shared: Shared) -> None:
    assert len(shared.spans) >= 2 * SHARED
    assert_kept([began for began, _, _ in shared.spans])


def test_both_have_their_turn(fleet: Crawl, shared: Shared) -> None:
    crawls = [path[1] for _, _, path in sorted(shared.spans) if path != "/robots.txt"]
    assert set(crawls) == {"0", "1"}


def assert_kept(moments: list[float]) -> None:
    """The delay lies between two requests."""
    gaps = [later - earlier for earlier, later in itertools.pairwise(sorted(moments))]
    assert min(gaps) >= APART_S, gaps
