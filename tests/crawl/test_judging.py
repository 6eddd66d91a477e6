"""Judging in a real crawl: findings behind their rows, what is chosen, allowed, skipped and counted."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitemapcrawler.settings import EXTENSIONS
from tests.crawl.crawling import command, crawl
from tests.crawl.documents import CORE, robots
from tests.crawl.site_server import SiteServer

PAGES = 30
ALLOW = """
[[allow]]
rule = "xml-unknown-element"
url = '/page/[0-9]+$'
reason = "titles are read by our own tools"

[[allow]]
rule = "loc"
url = '.'
reason = "too long ago"
until = 2020-12-31
"""


def publish(site: SiteServer) -> None:
    """A sitemap with an unknown element and a relative URL in each entry."""
    entries = "".join(f"<url><loc>/page/{n}</loc><title>{n}</title></url>\n" for n in range(PAGES))
    site.routes = {
        "/robots.txt": robots(site.url("/sitemap.xml")),
        "/sitemap.xml": f"<urlset {CORE}>\n{entries}</urlset>",
    }


@pytest.mark.parametrize("items", ["batches", "records"])
def test_findings_follow_their_rows_and_counts_are_complete(site: SiteServer, tmp_path: Path, items: str) -> None:
    publish(site)
    settings = {"SITEMAP_FINDINGS_PER_RULE": 5, "SITEMAP_ITEMS": items, "SITEMAP_STORE": False}
    done = crawl(tmp_path, settings=settings, domain=site.url(), select="loc-relative,xml-unknown-element")
    types = [record["type"] for record in done.records]
    rows = ["url", "finding"] * 5 + ["url"] * (PAGES - 5) + ["sitemap"] + ["finding"] * 5
    assert types == [*rows, "robots", "finding", "finding", "summary"]
    assert done.summary["rules"] == {"limit-findings": 2, "loc-relative": PAGES, "xml-unknown-element": PAGES}
    assert done.summary["severities"] == {"error": PAGES, "info": 2, "warning": PAGES}
    assert [record["issues"] for record in done.of_type("url")] == [["loc-relative", "xml-unknown-element"]] * PAGES
    first = done.of_type("finding")[0]
    assert (first["line"], first["url"], first["value"]) == (2, site.url("/page/0"), "/page/0")


def test_severities_and_the_allowlist(site: SiteServer, tmp_path: Path) -> None:
    publish(site)
    (tmp_path / "allow.toml").write_text(ALLOW, encoding="utf-8")
    settings = {"SITEMAP_SEVERITIES": json.dumps({"loc": "info"}), "SITEMAP_ALLOW": "allow.toml"}
    done = crawl(tmp_path, settings=settings, domain=site.url(), select="loc-relative,xml-unknown-element")
    assert done.summary["rules"] == {"allow-expired": 1, "loc-relative": PAGES}
    assert done.summary["severities"] == {"info": PAGES, "warning": 1}
    assert done.summary["limited_by"] == "allow.toml: accepted findings"
    assert "issues" not in done.of_type("sitemap")[0]
    [expired] = [finding for finding in done.of_type("finding") if finding["rule"] == "allow-expired"]
    assert "sitemap" not in expired


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "severity": ({"SITEMAP_SEVERITIES": '{"loc-relative": "fatal"}'}, "accepted: error, warning, info"),
    "no such file": ({"SITEMAP_ALLOW": "none.toml"}, "SITEMAP_ALLOW='none.toml': No such file"),
    "no component": ({"SCHEDULER": "no_such.Scheduler"}, "setting SCHEDULER='no_such.Scheduler': No module named"),
}


@pytest.mark.parametrize(("settings", "words"), BAD.values(), ids=BAD)
def test_a_bad_choice_is_one_line_before_any_request(
    site: SiteServer, refusal: Callable[..., str], settings: dict[str, Any], words: str
) -> None:
    _, _, _, *line = command(settings=settings, domain=site.url())
    assert words in refusal(*line)
    assert site.connections == 0


def test_a_component_may_import_the_reactor(site: SiteServer, tmp_path: Path) -> None:
    publish(site)
    (tmp_path / "shop_extension.py").write_text("from twisted.internet import reactor\n\n\nclass Idle:\n    pass\n")
    settings = {"EXTENSIONS": json.dumps({**EXTENSIONS, "shop_extension.Idle": 500})}
    done = crawl(tmp_path, settings=settings, domain=site.url())
    assert (done.code, done.summary["urls"]) == (0, PAGES)


def test_a_file_that_is_cut_short_skips_the_rules_on_whole_files(site: SiteServer, tmp_path: Path) -> None:
    publish(site)
    done = crawl(tmp_path, settings={"SITEMAP_MAX_BYTES": 500}, domain=site.url())
    assert done.sitemaps[site.url("/sitemap.xml")]["outcome"] == "truncated"
    assert "priority-all-same" in done.summary["skipped"]
