"""The findings of a real crawl, as code hosts and CI systems get them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from lxml import etree

from tests.crawl.crawling import FEED, LOG, Crawl, crawl
from tests.crawl.documents import CORE, DECLARATION, index, packed, pages, text, urlset
from tests.crawl.site_server import Reply, SiteServer
from tests.unit.feeds.findings_written import validator_of_sarif

DEFECTS = f"""{DECLARATION}<urlset {CORE}>
<url><loc>/relative</loc></url>
<url><loc>https://pages.example/?a=1&b=2</loc></url>
<url><loc>https://pages.example/[text](https://evil.example)</loc></url>
</urlset>""".encode()
FEEDS = (FEED, "findings.sarif", "findings.sarif.gz", "results.junit", "report.xml:junit")


@dataclass
class Feeds:
    """A crawl that wrote them all."""

    crawl: Crawl
    site: SiteServer

    def bytes(self, name: str) -> bytes:
        return (self.crawl.folder / name).read_bytes()

    @property
    def run(self) -> dict[str, Any]:
        (only,) = json.loads(self.bytes("findings.sarif"))["runs"]
        return dict(only)

    @property
    def report(self) -> Any:
        return etree.fromstring(self.bytes("results.junit"))


@pytest.fixture(scope="module")
def feeds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Feeds]:
    with SiteServer() as site:
        clean = packed(urlset(*(site.url(f"/{number}") for number in range(1500))))
        site.routes = {
            "/index.xml": index(*map(site.url, ("/defects.xml", "/clean.xml.gz", "/gone.xml", "/list.txt"))),
            "/defects.xml": DEFECTS,
            "/clean.xml.gz": Reply(clean, headers={"Content-Type": "application/xml"}),
            "/list.txt": text(*pages("list", 2), "no URL"),
        }
        options = [option for name in FEEDS for option in ("-O", name)]
        yield Feeds(
            crawl(
                tmp_path_factory.mktemp("feeds"),
                *options,
                sitemap=site.url("/index.xml"),
                select="doc,xml,txt,loc-relative,index-child-missing",
            ),
            site,
        )


def test_the_crawl_ends_well_and_leaves_the_feeds_alone(feeds: Feeds) -> None:
    assert feeds.crawl.code == 0, feeds.crawl.log
    assert {path.name for path in feeds.crawl.folder.iterdir()} == {*(name.partition(":")[0] for name in FEEDS), LOG}


def test_the_log_is_valid(feeds: Feeds) -> None:
    validator_of_sarif()(json.loads(feeds.bytes("findings.sarif")))


def test_the_log_has_the_findings_of_the_records(feeds: Feeds) -> None:
    def known(place: dict[str, Any]) -> tuple[Any, ...]:
        physical = place["physicalLocation"]
        return physical["artifactLocation"]["uri"], physical.get("region", {}).get("startLine")

    rules = feeds.run["tool"]["driver"]["rules"]
    results = feeds.run["results"]
    assert all(rules[each["ruleIndex"]]["id"] == each["ruleId"] for each in results)
    findings = feeds.crawl.of_type("finding")
    assert [(each["ruleId"], *known(each["locations"][0])) for each in results] == [
        (each["rule"], each["sitemap"], each.get("line")) for each in findings
    ]
    assert {"loc-relative", "doc-unescaped-ampersand", "index-child-missing", "txt-not-url-line"} <= {
        each["rule"] for each in findings
    }
    assert ("loc-relative", feeds.site.url("/defects.xml"), 3) in {
        (each["ruleId"], *known(each["locations"][0])) for each in results
    }


def test_the_report_has_a_suite_for_each_file_and_one_for_the_crawl(feeds: Feeds) -> None:
    assert sorted(suite.get("name") for suite in feeds.report) == sorted([*feeds.crawl.sitemaps, "crawl"])
    assert feeds.bytes("report.xml") == feeds.bytes("results.junit")


def test_files_in_the_folder_have_their_path_for_code_hosts(tmp_path: Path) -> None:
    (tmp_path / "public").mkdir()
    (tmp_path / "public" / "sitemap.xml").write_bytes(DEFECTS)
    done = crawl(tmp_path, "-O", "x.sarif", "-O", "x.junit", sitemap="public/sitemap.xml")
    assert done.code == 0, done.log
    (run,) = json.loads((tmp_path / "x.sarif").read_bytes())["runs"]
    places = [each["locations"][0]["physicalLocation"]["artifactLocation"] for each in run["results"]]
    assert places and {"uri": "public/sitemap.xml", "uriBaseId": "%SRCROOT%"} in places
    assert len({place["uri"] for place in places}) == 1
    assert etree.parse(tmp_path / "x.junit").find("testsuite").get("name") == "public/sitemap.xml"


def test_findings_alone_are_enough_for_both(site: SiteServer, tmp_path: Path) -> None:
    site.routes = {"/a.xml": DEFECTS}
    feed = {"overwrite": True, "item_classes": ["sitemapcrawler.items.FindingRecord"]}
    chosen = {"FEEDS": json.dumps({"x.sarif": feed, "x.junit": feed, "x.jsonl": feed})}
    done = crawl(tmp_path, "--nolog", settings=chosen, sitemap=site.url("/a.xml"))
    assert done.code == 0, done.log
    rows = (tmp_path / "x.jsonl").read_text("utf-8").splitlines()
    (run,) = json.loads((tmp_path / "x.sarif").read_bytes())["runs"]
    assert len(rows) == len(run["results"]) >= 2
    suites = [each.get("name") for each in etree.parse(tmp_path / "x.junit").iter("testsuite")]
    assert suites == [site.url("/a.xml"), site.url("/robots.txt")]
