"""Sixty public sitemap files as sites published them, served as carelessly as they were, read by one crawl.

The files are no part of the repository: they are looked for next to it, in `../shared/real`, with a list of what each
one is and holds. `UNDERSTOOD` has every difference between that list and what the crawl says.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from sitemapcrawler.robots import Policy
from tests.crawl.crawling import ROOT, Crawl, crawl
from tests.crawl.documents import index
from tests.crawl.site_server import Reply, SiteServer

REAL = ROOT.parent / "shared" / "real"
MANIFEST = REAL / "MANIFEST.tsv"
pytestmark = pytest.mark.skipif(
    not MANIFEST.exists(), reason="the collection of real files, ../shared/real, is not here"
)

CARELESS = ("text/html; charset=iso-8859-1", "text/plain", "binary/octet-stream", "application/x-gzip", "image/png", "")
"""Content types that say nothing true of a sitemap; the files get them in turn."""
FORMATS = {
    **dict.fromkeys(("urlset", "urlset-gz", "hreflang", "image", "video", "news"), "xml-urlset"),
    **dict.fromkeys(("index", "index-gz"), "xml-index"),
    **{kind: kind for kind in ("text", "rss", "atom")},
    **dict.fromkeys(("robots", "template", "otherxml"), "unknown"),
}
"""Kind in the list -> `format` of our record."""
EXTENSIONS = {"images": "image:image", "videos": "video:video", "news": "news:news", "alternates": "xhtml:link"}
"""Name in `counts` -> name in the list."""


@dataclass(frozen=True)
class Difference:
    """What our record says in place of what the list makes one expect, and why that is right."""

    reason: str
    facts: dict[str, Any] = field(default_factory=dict)


ROBOTS = "a robots.txt asked for as a sitemap is none; its Sitemap lines are counted in a test of their own"
UNDERSTOOD: dict[str, Difference] = {
    "03-urlset.xml": Difference("one <loc> is empty: no URL, no entry", {"url_count": 215}),
    "16-urlset-bad.xml": Difference(
        "blanks before the XML declaration are skipped, and nothing else is wrong: no entry needs a repair",
        {"outcome": "ok"},
    ),
    "17-urlset-bad.xml": Difference(
        "no end tag: what stands before it is whole, more may be missing", {"outcome": "truncated"}
    ),
    "55-robots.txt": Difference(ROBOTS, {"url_count": 0, "outcome": "failed"}),
    "56-robots.txt": Difference(ROBOTS, {"url_count": 0, "outcome": "failed"}),
    "57-robots.txt": Difference(ROBOTS, {"url_count": 0, "outcome": "failed"}),
    "58-robots.txt": Difference(ROBOTS, {"outcome": "failed"}),
    "59-fragment-bad.xml": Difference(
        "the list looks at the first element, <lastmod>; behind it stand four whole entries",
        {"format": "xml-urlset", "url_count": 4},
    ),
    "60-template.xml": Difference(
        "the list counts it as a template; it has the root of a urlset, but every URL in it is a blank to be filled in",
        {"format": "xml-urlset", "outcome": "failed"},
    ),
}


def listed() -> dict[str, dict[str, str]]:
    """The rows of the list, by file name; none where it is not here."""
    if not MANIFEST.exists():
        return {}
    with MANIFEST.open(encoding="utf-8", newline="") as rows:
        return {row["file"]: row for row in csv.DictReader(rows, delimiter="\t", quoting=csv.QUOTE_NONE)}


LISTED = listed()


@dataclass
class Visit:
    """The one crawl over all files."""

    crawl: Crawl
    site: SiteServer

    def url(self, name: str) -> str:
        """Where a file is served."""
        return self.site.url(f"/real/{name}")

    def record(self, name: str) -> dict[str, Any]:
        """The sitemap record of a file."""
        return self.crawl.sitemaps[self.url(name)]

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The url records of a file."""
        return [record for record in self.crawl.of_type("url") if record["sitemap"] == self.url(name)]


def careless(number: int, name: str) -> Reply:
    content_type = CARELESS[number % len(CARELESS)]
    return Reply((REAL / name).read_bytes(), headers={"Content-Type": content_type} if content_type else {})


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    with SiteServer() as site:
        site.routes = {f"/real/{name}": careless(number, name) for number, name in enumerate(LISTED)}
        site.routes["/index.xml"] = index(*map(site.url, site.routes))
        folder = tmp_path_factory.mktemp("real")
        own = f"^{re.escape(site.url('/real/'))}[^/]+$"
        yield Visit(crawl(folder, sitemap=site.url("/index.xml"), follow=own), site)


def expected(name: str) -> dict[str, Any]:
    """What the list makes one expect of our record."""
    row = LISTED[name]
    counted = dict(re.findall(r"([\w:]+)=(\d+)", row["extensions"]))
    return {
        "status": 200,
        "format": FORMATS[row["kind"]],
        "url_count": int(row["entries"]),
        "bytes": int(row["bytes_unpacked"] or row["bytes"]),
        "bytes_fetched": int(row["bytes"]),
        "outcome": "recovered" if row["well_formed"] == "no" else "ok",
        "counts": {ours: int(counted.get(theirs, 0)) for ours, theirs in EXTENSIONS.items()},
    }


@pytest.mark.parametrize("name", LISTED)
def test_file_is_what_the_list_says(visit: Visit, name: str) -> None:
    record = visit.record(name)
    wanted = expected(name) | (UNDERSTOOD[name].facts if name in UNDERSTOOD else {})
    assert {fact: record.get(fact) for fact in wanted} == wanted, record.get("error")


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_every_difference_is_one(name: str) -> None:
    plain = expected(name)
    assert all(plain[fact] != value for fact, value in UNDERSTOOD[name].facts.items())


@pytest.mark.parametrize("name", [name for name, row in LISTED.items() if not row["kind"].startswith("index")])
def test_every_entry_is_a_row(visit: Visit, name: str) -> None:
    rows = visit.rows(name)
    assert len(rows) == visit.record(name)["url_count"]
    assert all(re.fullmatch(r"https?://[^\s<>{}\ufffd]+", row["loc"]) for row in rows)
    assert [row["line"] for row in rows] == sorted(row["line"] for row in rows)


@pytest.mark.parametrize("name", [name for name, row in LISTED.items() if row["well_formed"] == "yes"])
def test_nothing_is_repaired_in_a_well_formed_file(visit: Visit, name: str) -> None:
    assert not any(row["recovered"] for row in visit.rows(name))
    assert "error" not in visit.record(name)


REPAIRED = {"40-video-bad.xml": 1, "41-video-bad.xml": 1, "46-news-bad.xml": 1, "59-fragment-bad.xml": 4}
"""Entries with a raw ampersand, or outside any root: all that are marked."""


@pytest.mark.parametrize("name", [name for name, row in LISTED.items() if row["well_formed"] == "no"])
def test_only_entries_that_needed_it_are_marked(visit: Visit, name: str) -> None:
    assert sum(row["recovered"] for row in visit.rows(name)) == REPAIRED.get(name, 0)


@pytest.mark.parametrize(
    ("name", "field", "text"),
    [
        ("40-video-bad.xml", "videos", "Azurite Medical & Wellness!"),
        ("41-video-bad.xml", "videos", "ball joints & pins."),
        ("46-news-bad.xml", "news", "Blackpink & More"),
    ],
)
def test_raw_ampersand_is_read_as_itself(visit: Visit, name: str, field: str, text: str) -> None:
    [row] = [row for row in visit.rows(name) if row["recovered"]]
    assert text in str(row[field])


@pytest.mark.parametrize("name", [name for name, row in LISTED.items() if row["lastmod_forms"]])
def test_every_lastmod_is_read_as_a_date(visit: Visit, name: str) -> None:
    dated = sum(int(count) for count in re.findall(r"=(\d+)", LISTED[name]["lastmod_forms"]))
    record = visit.record(name)
    if record["format"] == "xml-index":
        assert record["lastmod_min"] <= record["lastmod_max"]
    else:
        rows = visit.rows(name)
        assert sum("lastmod" in row for row in rows) == sum("lastmod_at" in row for row in rows) == dated


@pytest.mark.parametrize("name", [name for name, row in LISTED.items() if row["kind"] == "robots"])
def test_robots_names_as_many_sitemaps_as_the_list_says(name: str) -> None:
    found = Policy.from_response("https://host.example/robots.txt", 200, (REAL / name).read_bytes()).sitemaps
    assert len(found) == int(LISTED[name]["entries"])


def test_relative_link_of_a_feed_is_resolved(visit: Visit) -> None:
    [row] = visit.rows("54-atom.xml")
    assert (row["loc"], row["loc_raw"]) == (visit.url("October_2009.html"), "October_2009.html")


def test_whole_collection_is_read_by_one_crawl(visit: Visit) -> None:
    assert visit.crawl.code == 0
    assert len(visit.crawl.sitemaps) == len(LISTED) + 1
    assert visit.crawl.summary["urls"] == sum(
        record["url_count"] for record in visit.crawl.of_type("sitemap") if record["format"] != "xml-index"
    )
    assert {exchange.path for exchange in visit.site.exchanges} == {"/robots.txt", *visit.site.routes}
