"""The rules on how a file was answered."""

from __future__ import annotations

import gzip
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.download import answers
from sitemapcrawler.items import Hop, SitemapRecord
from sitemapcrawler.reader import Document
from sitemapcrawler.reader.faults import FULL
from sitemapcrawler.rules.facts.given import FileFacts
from tests.unit.tables import cases

from .expecting import rules_of

RULES = {id: rule for id, rule in rules_of("doc", "security").items() if rule.check.__module__.endswith(".transport")}
URL = "https://example.com/sitemap.xml"
DATA = (
    b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    b"<url><loc>https://example.com/a</loc></url></urlset>"
)
PAGE = b"<!DOCTYPE html><html><body>Home</body></html>"
PASSED = PAGE.replace(b"Home", b'<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>')
CHALLENGE = b"<html><head><title>Just a moment...</title></head></html>"


def found(
    data: bytes | None = DATA,
    content_type: str | None = "application/xml",
    url: str = URL,
    content_encoding: str | None = None,
    **fields: object,
) -> dict[str, str]:
    """{rule: severity} of an answer; without `data` nothing was read."""
    document = Document(url)
    record = SitemapRecord(url, status=200)
    if data is None:
        record.outcome = "failed"
    else:
        for _ in document.read([data]):
            pass
        for name in ("format", "outcome", "url_count", "bytes", "encoding"):
            setattr(record, name, getattr(document, name))
    for name, value in fields.items():
        setattr(record, name, value)
    facts = FileFacts(url, record, document, content_type, content_encoding)
    return {rule.id: message.severity or rule.severity for rule in RULES.values() for message in rule.check(facts)}


LOCAL_NAME = "localhost:80 is at 127.0.0.1, which is not public (loopback): name localhost:80 in the arguments"
UNREAD: dict[str, tuple[dict[str, Any], dict[str, str]]] = {
    **{
        f"status {status}": ({"status": status, "error": f"HTTP status {status}"}, {rule: "error"})
        for rule, statuses in {
            "doc-http-status": (404, 410, 500, 301),
            "doc-waf-blocked": (403, 429),
            "doc-empty-body": (204,),
        }.items()
        for status in statuses
    },
    "status behind a redirect": (
        {"status": 404, "error": "HTTP status 404", "hops": [Hop(301, URL)], "final_url": "https://example.net/"},
        {"doc-http-status": "error"},
    ),
    "no such host": ({"error": answers.REASONS[0][1]}, {"doc-dns-error": "error"}),
    "refused": ({"error": answers.REASONS[1][1]}, {"doc-connection-error": "error"}),
    "too late": ({"error": answers.REASONS[2][1]}, {"doc-timeout": "error"}),
    "bad certificate": ({"error": "SSL routines: certificate verify failed"}, {"doc-connection-error": "error"}),
    "redirects without end": ({"error": "max redirections reached"}, {"doc-redirect-loop": "error"}),
    "a redirect loop with a body": (
        {"status": 302, "error": "max redirections reached", "hops": [Hop(302, URL)] * 11},
        {"doc-redirect-loop": "error"},
    ),
    "a proxy that is off": ({"error": "the proxy http://p.test:80 cannot be reached"}, {}),
    "left out at a limit": ({"status": 200, "error": FULL}, {}),
    "stopped by us": ({"error": answers.REASONS[3][1]}, {}),
    "stopped on the way": ({"error": f"{URL}: the crawl was stopped before the answer was complete"}, {}),
    "an address that is not public": ({"error": LOCAL_NAME}, {"security-address-refused": "warning"}),
    "a file that no argument names": (
        {"error": "file:///etc/passwd: a file is read only where the argument sitemap names it"},
        {"security-scheme-refused": "warning"},
    ),
    "another scheme": (
        {"error": "Unsupported URL scheme 'gopher': no handler available for that scheme"},
        {"security-scheme-refused": "warning"},
    ),
    "an alias of a file that was read": (
        {"status": 200, "hops": [Hop(301, URL)], "final_url": "https://example.com/index.xml", "outcome": "ok"},
        {"doc-redirected": "warning"},
    ),
    "a file of this machine": (
        {"url": "file:///srv/sitemap.xml", "error": "/srv/sitemap.xml: No such file or directory"},
        {"doc-fetch-failed": "error"},
    ),
    "forbidden by robots.txt": (
        {"outcome": "blocked", "error": "Forbidden by robots.txt"},
        {"doc-blocked-by-robots": "error"},
    ),
    "forbidden by robots.txt of another host than the index": (
        {"outcome": "blocked", "error": "Forbidden by robots.txt", "parent": "https://other.example/index.xml"},
        {},
    ),
}
"""What was answered where no document was read, and what is said of it."""


@pytest.mark.parametrize(("answer", "rules"), UNREAD.values(), ids=UNREAD)
def test_an_answer_without_a_document_is_one_finding(answer: dict[str, Any], rules: dict[str, str]) -> None:
    assert found(None, **{"status": None, **answer}) == rules


@pytest.mark.parametrize(
    ("data", "final_url", "rules"),
    [
        (DATA, "https://example.com/sitemap_index.xml", {"doc-redirected": "warning"}),
        (DATA, "https://www.example.com/sitemap.xml", {"doc-redirected": "warning"}),
        (DATA, "https://example.net/sitemap.xml", {"doc-redirect-offsite": "error"}),
        (PAGE, "https://example.com/", {"doc-redirect-to-html": "error"}),
        (PAGE, "https://example.net/", {"doc-redirect-to-html": "error"}),
    ],
)
def test_a_redirect(data: bytes, final_url: str, rules: dict[str, str]) -> None:
    assert found(data, hops=[Hop(301, URL)], final_url=final_url) == rules


@pytest.mark.parametrize(
    ("data", "content_type", "rule"),
    [
        (PAGE, "text/html", "doc-is-html"),
        (CHALLENGE, "text/html", "doc-waf-blocked"),
        (b"", None, "doc-empty-body"),
        (PASSED, "application/xml", "doc-is-html"),
    ],
    ids=["page", "challenge", "nothing", "page-behind-a-firewall"],
)
def test_a_page_instead_of_a_sitemap(data: bytes, content_type: str | None, rule: str) -> None:
    assert found(data, content_type) == {rule: "error"}


@pytest.mark.parametrize(
    ("content_type", "severity"),
    cases(
        (["application/xml", "Text/XML; charset=utf-8", "application/rss+xml", "text/plain",
          "application/xml,charset=utf-8", "text/html, application/xml", "application/x-gzip",
          "application/gzip"], None),
        (["application/octet-stream", None, ""], "info"),
        (["text/html; charset=utf-8", "application/json", "nonsense", "application/xml charset=utf-8"], "warning"),
    ),
)  # fmt: skip
def test_content_type(content_type: str | None, severity: str | None) -> None:
    expected = {"doc-content-type": severity} if severity else {}
    assert found(DATA, content_type) == expected


def test_a_file_of_this_machine_has_no_content_type() -> None:
    assert found(DATA, None, "file:///srv/sitemap.xml", status=None) == {}


@pytest.mark.parametrize(
    ("url", "data", "content_type", "fires"),
    [
        (f"{URL}.gz", DATA, "application/xml", True),
        (f"{URL}.gz", gzip.compress(DATA), "application/gzip", False),
        (URL, gzip.compress(DATA), "application/gzip", True),
        (URL, gzip.compress(DATA), "application/xml", False),
        (f"{URL}.gz", gzip.compress(gzip.compress(DATA)), "application/gzip", True),
        ("file:///srv/sitemap.xml", gzip.compress(DATA), None, True),
    ],
    ids=["plain", "gzip", "no-name", "content-encoding", "twice", "file"],
)
def test_name_and_compression(url: str, data: bytes, content_type: str | None, fires: bool) -> None:
    status = None if url.startswith("file:") else 200
    assert found(data, content_type, url, status=status) == ({"doc-gzip-name-mismatch": "info"} if fires else {})


@pytest.mark.parametrize(
    "content_type", ["application/xml", "text/xml; charset=utf-8", "text/plain", None, "", "application/octet-stream"]
)
def test_gzip_that_nothing_announces(content_type: str | None) -> None:
    packed = gzip.compress(DATA)
    assert found(packed, content_type, content_encoding="")["doc-gzip-name-mismatch"] == "warning"
    for encoding in ("gzip", "x-gzip", "identity, gzip"):
        assert "doc-gzip-name-mismatch" not in found(packed, content_type, content_encoding=encoding)
    assert "doc-gzip-name-mismatch" not in found(packed, content_type, f"{URL}.gz", content_encoding="")
    assert "doc-gzip-name-mismatch" not in found(DATA, content_type, content_encoding="")


def test_gzip_is_seen_whatever_pieces_it_comes_in() -> None:
    document = Document(URL)
    assert sum(len(records) for records in document.read(bytes([byte]) for byte in gzip.compress(DATA))) == 1
    assert document.compressed


@pytest.mark.parametrize(
    ("fields", "fires"),
    [
        ({"parent": "https://example.com/robots.txt"}, True),
        ({"parent": "https://example.net/robots.txt"}, False),
        ({"parent": "http://example.com/robots.txt"}, False),
        ({"final_url": URL, "hops": [Hop(301, "http://example.com/sitemap.xml")]}, True),
    ],
)
def test_http_on_an_https_site(fields: dict[str, object], fires: bool) -> None:
    assert ("doc-http-not-https" in found(url="http://example.com/sitemap.xml", **fields)) is fires


@given(
    st.text(max_size=30),
    st.none() | st.integers(100, 599),
    st.none() | st.text(max_size=30),
    st.sampled_from(["ok", "failed", "blocked", "truncated", "unchanged"]),
    st.lists(st.text(max_size=10), max_size=2),
)
def test_no_facts_make_a_rule_fail(
    url: str, status: int | None, text: str | None, outcome: str, hops: list[str]
) -> None:
    found(None, text, url, status=status, error=text, outcome=outcome, final_url=text, parent=text, encoding=text,
          hops=[Hop(301, hop) for hop in hops])  # fmt: skip
