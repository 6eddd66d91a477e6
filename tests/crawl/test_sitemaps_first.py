"""Pages are requested when all sitemaps of their site are read, so that an early stop knows all that is listed."""

from __future__ import annotations

import signal
from itertools import groupby
from pathlib import Path

import pytest

from tests.crawl.crawling import crawl, start
from tests.crawl.documents import index, page, robots, urlset
from tests.crawl.projects import project, run
from tests.crawl.site_server import Exchange, SiteServer, stalled
from tests.crawl.verified import counted

FILES, PAGES = 6, 20
ROBOTS = "/robots.txt"


def serve(site: SiteServer) -> None:
    """A site with an index of several sitemaps."""
    names = [f"/{number}.xml" for number in range(FILES)]
    site.routes = {ROBOTS: robots(site.url("/index.xml")), "/index.xml": index(*names)}
    for name in names:
        paths = [f"{name}/{number}" for number in range(PAGES)]
        site.routes |= {name: urlset(*map(site.url, paths)), **dict.fromkeys(paths, page())}


@pytest.mark.slow
def test_sitemaps_are_requested_before_pages(site: SiteServer, tmp_path: Path) -> None:
    serve(site)
    done = crawl(tmp_path, domain=site.url(), verify="head", settings={"SITEMAP_ITEMS": "records"})
    assert done.code == 0
    sitemaps = [place for place, path in enumerate(site.paths) if path.endswith(".xml")]
    pages = [place for place, path in enumerate(site.paths) if ".xml/" in path]
    assert len(sitemaps) == 1 + FILES
    assert len(pages) == FILES * PAGES
    assert max(sitemaps) < min(pages)
    records = done.of_type("url")
    assert counted(records) == {"ok": FILES * PAGES}
    for sitemap, listed in groupby(sorted(records, key=lambda record: record["sitemap"]), lambda one: one["sitemap"]):
        assert [record["loc"] for record in listed] == [f"{sitemap}/{number}" for number in range(PAGES)]
    ends = {record["sitemap"]: record.get("replies") for record in done.of_type("sitemap")}
    assert list(ends.values()).count({"ok": PAGES}) == FILES


def test_early_stop_knows_what_is_listed(site: SiteServer, tmp_path: Path) -> None:
    serve(site)
    for path in [path for path in site.routes if path.endswith("7")]:
        site.routes[path] = stalled()
    running = start(tmp_path, domain=site.url(), verify="head", settings={"SITEMAP_STOP_GRACE": 0.3})
    running.wait_until(lambda: sum(path.endswith("7") for path in site.paths) >= 4)
    running.process.send_signal(signal.SIGTERM)
    done = running.finish()
    assert done.code == 3
    records = done.of_type("url")
    assert len(records) == len({record["loc"] for record in records}) == FILES * PAGES
    replies = counted(records)
    assert replies["stopped"] > FILES * PAGES / 2
    assert len(done.of_type("sitemap")) == 1 + FILES


def test_slow_site_holds_back_none_of_the_others(site: SiteServer, tmp_path: Path) -> None:
    serve(site)
    with SiteServer() as slow:

        def when_the_others_are_verified(exchange: Exchange) -> None:
            site.wait_for(f"/{FILES - 1}.xml/{PAGES - 1}")
            body = urlset(slow.url("/page"))
            exchange.head(Content_Length=len(body))
            exchange.send(body)

        slow.routes = {ROBOTS: robots(slow.url("/s.xml")), "/s.xml": when_the_others_are_verified, "/page": page()}
        done = crawl(tmp_path, domain=f"{site.url()},{slow.url()}", verify="head")
        assert done.code == 0
        assert counted(done.of_type("url")) == {"ok": FILES * PAGES + 1}


PIPELINES = """
    from scrapy.exceptions import DropItem
    from sitemapcrawler.envelopes import FreshBatch


    class Failing:
        def process_item(self, item):
            if isinstance(item, FreshBatch) and item.sitemap.endswith("/3.xml"):
                raise ValueError("a fault of this pipeline")
            if isinstance(item, FreshBatch) and item.sitemap.endswith("/4.xml"):
                raise DropItem("not wanted")
            return item
"""


@pytest.mark.slow
def test_batches_that_a_pipeline_loses_hold_nothing_back(site: SiteServer, tmp_path: Path) -> None:
    serve(site)
    shop = project(tmp_path / "shop", "", pipelines=PIPELINES)
    (shop / "shop/settings.py").write_text(
        "from sitemapcrawler.settings import *\nITEM_PIPELINES = {**ITEM_PIPELINES, 'shop.pipelines.Failing': 50}\n"
    )
    options = ["crawl", "sitemap", "-a", f"domain={site.url()}", "-a", "verify=head", "-O", "items.jsonl"]
    done = run(shop, "-m", "scrapy", *options, tracebacks=1)
    listed = {item["sitemap"] for item in done.items if item["type"] == "url"}
    assert listed == {site.url(f"/{number}.xml") for number in range(FILES) if number not in (3, 4)}
