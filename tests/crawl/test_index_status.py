"""Index status at Google: rows of URL Inspection as lists of a crawl."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from openpyxl import load_workbook

from tests.crawl.crawling import FEED, Crawl, crawl
from tests.crawl.documents import robots, urlset
from tests.crawl.site_server import Reply, SiteServer, moved
from tests.crawl.verified import PATIENT, html

NOT_INDEXED, OTHER_CANONICAL = "listed-not-indexed", "google-other-canonical"
CRAWLED, GONE = "Crawled - currently not indexed", "Not found (404)"
ROWS = {
    "/": ("PASS", "Submitted and indexed", "/"),
    "/a": ("NEUTRAL", CRAWLED, None),
    "/b": ("NEUTRAL", CRAWLED, None),
    "/caf%c3%a9": ("PASS", "Submitted and indexed", "/café"),
    "/noindex": ("NEUTRAL", "Excluded by ‘noindex’ tag", None),
    "/gone": ("NEUTRAL", GONE, None),
    "/restored": ("NEUTRAL", GONE, None),
    "/old": ("NEUTRAL", "Page with redirect", "/a"),
    "/copy": ("NEUTRAL", "Alternate page with proper canonical tag", "/a"),
    "/unlisted": ("PASS", "Indexed, not submitted in sitemap", "/unlisted"),
    "/refused": ("FAIL", "Server error (5xx)", None),
}
"""What Google says of paths: verdict, reason, canonical. The sitemap lists all but the last two, and `/other`."""


def page(head: str = "", words: str = "") -> Reply:
    return html(head, body=f"Words of {words} and nothing else, but enough of them to be a page. " * 5)


@contextmanager
def site() -> Iterator[SiteServer]:
    with SiteServer() as server:
        listed = [path for path in ROWS if path not in ("/unlisted", "/refused")]
        server.otherwise = Reply("<p>Nothing here", 404, {"Content-Type": "text/html"})
        server.routes = {
            **{path: page(words=path) for path in ("/", "/a", "/b", "/caf%C3%A9", "/restored", "/unlisted", "/other")},
            "/robots.txt": robots(server.url("/sitemap.xml")),
            "/sitemap.xml": urlset(*map(server.url, [*listed, "/other"])),
            "/noindex": page('<meta name="robots" content="noindex">', "noindex"),
            "/copy": page(f'<link rel="canonical" href="{server.url("/a")}">', "copy"),
            "/old": moved("/a"),
        }
        yield server


def answers(server: SiteServer) -> str:
    """Answers of the API as JSON lines."""
    lines = []
    for path, (verdict, reason, canonical) in ROWS.items():
        status = {"verdict": verdict, "coverageState": reason, "lastCrawlTime": "2026-11-01T10:00:00Z"}
        status |= {"googleCanonical": server.url(canonical)} if canonical else {}
        answer = {"inspectionUrl": server.url(path), "inspectionResult": {"indexStatusResult": status}}
        lines.append(json.dumps(answer))
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SiteServer, Crawl]]:
    folder = tmp_path_factory.mktemp("inspected")
    with site() as server:
        (folder / "inspected.jsonl").write_text(answers(server))
        feeds = ("-O", FEED, "-O", "urls.csv", "-O", "audit.xlsx")
        arguments = {"compare": "inspected.jsonl", "verify": "get", "agents": "none", "report": "report"}
        yield server, crawl(folder, *feeds, settings=PATIENT, domain=server.url(), **arguments)


def messages(done: tuple[SiteServer, Crawl], rule: str) -> list[str]:
    server, found = done
    told = [one for one in found.of_type("finding") if one["rule"] == rule]
    return [f"{one.get('url', '')} {one['message']}".replace(server.url(), "").strip() for one in told]


def test_listed_urls_that_are_not_indexed_are_told_by_reason(done: tuple[SiteServer, Crawl]) -> None:
    assert messages(done, NOT_INDEXED) == [
        f"2 listed URLs are not indexed: '{CRAWLED}', such as '/a'; this crawl finds 2 indexable. "
        "Give the pages content that others lack, and link to them.",
        f"2 listed URLs are not indexed: '{GONE}', such as '/gone'; this crawl finds 1 not found, 1 indexable. "
        "Remove the entries, or restore the pages.",
        "1 listed URL is not indexed: 'Alternate page with proper canonical tag', such as '/copy'; this crawl finds "
        "1 canonicalised. Remove the entries, and list the canonical pages instead.",
        "1 listed URL is not indexed: 'Excluded by ‘noindex’ tag', such as '/noindex'; this crawl finds 1 noindex. "
        "Remove noindex from the pages, or remove the entries.",
        "1 listed URL is not indexed: 'Page with redirect', such as '/old'; this crawl finds 1 redirect. "
        "List the targets of the redirects instead.",
    ]
    assert messages(done, OTHER_CANONICAL) == [
        "/old Google indexes '/a' instead",
        "/copy Google indexes '/a' instead; the page names it too",
    ]


def test_url_records_have_the_index_status(done: tuple[SiteServer, Crawl]) -> None:
    server, found = done
    urls = {one["loc"].removeprefix(server.url()): one for one in found.of_type("url")}
    assert urls["/old"]["google"] == {
        "verdict": "NEUTRAL", "reason": "Page with redirect", "canonical": server.url("/a"),
        "last_crawl": "2026-11-01T10:00:00Z",
    }  # fmt: skip
    assert urls["/caf%c3%a9"]["google"]["verdict"] == "PASS"
    assert "google" not in urls["/other"]
    marked = {path for path, one in urls.items() if NOT_INDEXED in one.get("issues", ())}
    assert marked == {"/a", "/b", "/noindex", "/gone", "/restored", "/old", "/copy"}
    rows = (found.folder / "urls.csv").read_text().splitlines()
    [row] = [row for row in rows if row.startswith(server.url("/copy,"))]
    assert f"NEUTRAL,Alternate page with proper canonical tag,{server.url('/a')},2026-11-01T10:00:00Z" in row


def test_summary_report_and_workbook_count_the_reasons(done: tuple[SiteServer, Crawl]) -> None:
    _, found = done
    assert found.summary["google"] == {
        "urls": 9, "indexed": 2, "not_indexed": 7, "other_canonical": 2, "not_crawled_since": 0, "not_asked": 0,
        "reasons": {CRAWLED: 2, GONE: 2, "Alternate page with proper canonical tag": 1, "Excluded by ‘noindex’ tag": 1,
                    "Page with redirect": 1},
    }  # fmt: skip
    assert found.summary["coverage"]["not_listed"] == 1, "/unlisted, which is indexed, and not /refused"
    assert found.summary["coverage"]["listed_only"] == 0, "/other was not inspected"
    sentence = "Google has indexed 2 of 9 inspected URLs; 7 are not indexed (2 Crawled - currently not indexed, "
    assert any(one.startswith(sentence) for one in found.summary["verdict"]["sentences"])
    page = (found.folder / "report" / "report.html").read_text()
    assert sentence in page
    assert "Listed URLs that Google has not indexed, by reason" in page
    sheet = load_workbook(found.folder / "audit.xlsx")["Summary"]
    rows = {str(name): number for name, number, *_ in sheet.iter_rows(values_only=True)}
    assert (rows["Inspected URLs"], rows["Not indexed"], rows[f"Not indexed: {CRAWLED}"]) == (9, 7, 2)
