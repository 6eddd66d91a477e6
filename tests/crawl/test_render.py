"""Rendered pages: what scripts change of pages of five frameworks, which pages are rendered, and what a page may do."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from typing import Any

import pytest

from tests.crawl.crawling import Crawl, crawl
from tests.crawl.documents import robots, urlset
from tests.crawl.framework_pages import FILES, PAGES
from tests.crawl.site_server import Reply, Route, SiteServer

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("playwright") is None or shutil.which("chromium") is None,
        reason="needs playwright and Debian's chromium: apt-get install chromium",
    ),
]


def serve(site: SiteServer, pages: Mapping[str, Route], rules: str = "Allow: /", **more: Route) -> None:
    site.routes = {
        "/robots.txt": robots(site.url("/sitemap.xml"), rules=rules.splitlines()),
        "/sitemap.xml": urlset(*map(site.url, pages)),
        **pages,
        **more,
    }


def page(markup: str) -> Reply:
    return Reply(markup, headers={"Content-Type": "text/html; charset=utf-8"})


def records(done: Crawl) -> dict[str, dict[str, Any]]:
    """The records of rendered pages by path."""
    return {"/" + one["url"].split("/", 3)[3]: one for one in done.of_type("rendered")}


@pytest.fixture(scope="module")
def site() -> Iterator[SiteServer]:
    with SiteServer() as server:
        serve(server, {path: page(planned.html) for path, planned in PAGES.items()}, **FILES)
        yield server


@pytest.fixture(scope="module")
def rendered(site: SiteServer, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    done = crawl(tmp_path_factory.mktemp("frameworks"), domain=site.url(), render=50)
    assert done.code == 0, done.log
    return done


def test_every_page_is_rendered_and_counted(rendered: Crawl) -> None:
    assert records(rendered).keys() == PAGES.keys()
    results = [planned.result for planned in PAGES.values()]
    assert rendered.summary["rendered"] == {result: results.count(result) for result in results}


@pytest.mark.parametrize("path", PAGES)
def test_record_of_a_page_says_what_its_scripts_change(rendered: Crawl, path: str) -> None:
    record = records(rendered)[path]
    assert (record["result"], " ".join(record.get("changed", ()))) == (PAGES[path].result, PAGES[path].changed)


@pytest.mark.parametrize("path", PAGES)
def test_rules_report_the_pages_that_need_scripts(rendered: Crawl, site: SiteServer, path: str) -> None:
    found = [one["rule"] for one in rendered.of_type("finding") if one.get("url") == site.url(path)]
    told = [rule.removeprefix("render-") for rule in found if rule.startswith("render-")]
    assert sorted(told) == sorted(PAGES[path].rules.split())


def test_numbers_of_both_states_are_in_the_record(rendered: Crawl, site: SiteServer) -> None:
    shop = records(rendered)["/react/shop"]
    assert (shop["title"], shop["rendered_title"], shop["rendered_h1"]) == ("Museum", *["Hall /react/shop"] * 2)
    assert shop["rendered_canonical"] == site.url("/react/shop") and "canonical" not in shop
    assert (shop["links"], shop["rendered_links"], shop["added_links"]) == (0, 2, 2)
    assert shop["added"] == [site.url("/next/article"), site.url("/astro/static")]
    assert shop["words"] < 10 < shop["rendered_words"]
    assert (shop["requests"], shop["failed"]) == (2, 0)
    assert records(rendered)["/react/lost"]["failed"] == 1
    assert records(rendered)["/nuxt/languages"]["rendered_hreflang"] == 2


def test_page_and_its_requests_are_sent_by_us_and_only_once(rendered: Crawl, site: SiteServer) -> None:
    paths = [one.path for one in site.exchanges]
    assert {one.headers["user-agent"].partition("/")[0] for one in site.exchanges} == {"sitemapcrawler"}
    assert {path: paths.count(path) for path in PAGES} == dict.fromkeys(PAGES, 1)
    assert paths.count("/react/main.js") == 1, "scripts are kept for the next page"
    assert not {"/react/chunk.css", "/angular/login", "/favicon.ico"} & {*paths}
