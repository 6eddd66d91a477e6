"""Usage preferences of listed URLs: robots.txt, and with `verify` headers and elements of the pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.crawl.crawling import crawl
from tests.crawl.documents import page, urlset
from tests.crawl.site_server import Reply, SiteServer

ROBOTS = """User-agent: *
Disallow: /never/
Content-Usage: train-ai=n
Content-Usage: /open/ train-ai=y, search=y

Schemamap: /schemamap.xml
License: /license.xml
Sitemap: /sitemap.xml
"""
HTML = {"Content-Type": "text/html; charset=utf-8"}
BY_ROBOTS = {
    "/a": {"train": "disallow", "train_by": "robots.txt line 3"},
    "/open/b": {"train": "allow", "train_by": "robots.txt line 4", "search": "allow", "search_by": "robots.txt line 4"},
    "/open/c": {"train": "allow", "train_by": "robots.txt line 4", "search": "allow", "search_by": "robots.txt line 4"},
}
BY_PAGES = BY_ROBOTS | {
    "/open/c": {**BY_ROBOTS["/open/c"], "train": "disallow", "train_by": "TDM-Reservation header"},
    "/a": {**BY_ROBOTS["/a"], "input": "disallow", "input_by": "meta robots nosnippet"},
}


@pytest.mark.parametrize(
    ("verify", "expected", "rules"),
    [
        ("off", BY_ROBOTS, set()),
        ("get", BY_PAGES, {"usage-page-conflict"}),
    ],
)
def test_each_url_has_what_was_read_anyway(
    tmp_path: Path, verify: str, expected: dict[str, Any], rules: set[str]
) -> None:
    with SiteServer() as site:
        site.routes |= {
            "/robots.txt": ROBOTS,
            "/sitemap.xml": urlset(*(site.url(path) for path in (*expected, "/never/d"))),
            "/a": Reply(page('<meta name="robots" content="nosnippet">'), headers=HTML),
            "/open/b": Reply(page(), headers=HTML),
            "/open/c": Reply(page(), headers={**HTML, "TDM-Reservation": "1"}),
        }
        done = crawl(tmp_path, domain=site.url(""), verify=verify)
        asked = [exchange.path for exchange in site.exchanges]
    usage = {record["loc"]: record.get("usage") for record in done.of_type("url")}
    assert usage == {site.url(path): stated for path, stated in expected.items()} | {site.url("/never/d"): None}
    assert {one["rule"] for one in done.of_type("finding") if one["rule"].startswith("usage-page")} == rules
    [robots] = done.of_type("robots")
    assert (robots["schemamaps"], robots["licenses"]) == ([site.url("/schemamap.xml")], [site.url("/license.xml")])
    assert "/never/d" not in asked
