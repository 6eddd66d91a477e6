"""Rules on the text of listed pages: duplicates, thin pages, archives."""

from __future__ import annotations

from typing import Any

import pytest

from sitemapcrawler.items import ReplyRecord, UrlRecord
from sitemapcrawler.replies.page.content import CONTENT_VERSION
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.families.page_texts import NOUNS

from .sites import RULES, Site, at, page

DUPLICATE, THIN, ARCHIVE = "page-duplicate-content", "page-thin-content", "page-archive"
ONE, OTHER, RESTYLED = (f"{CONTENT_VERSION}-{template:04x}{text:028x}" for template, text in ((1, 1), (1, 2), (2, 1)))
FAR = f"{2**64 - 1:016x}"


def read(
    loc: str, content: str = ONE, near: str = f"{5:016x}", words: int = 300, **fields: Any
) -> UrlRecord:  # Any: fields of a reply
    links = fields.pop("links", ())
    reply = {"kind": "ok", "status": 200, "final_status": 200, "final_url": at(loc), **fields}
    return page(
        loc, links=links, indexable=fields.get("noindex") is not True,
        reply=ReplyRecord(content_hash=content, simhash=near, words=words, **reply),
    )  # fmt: skip


def test_pages_with_the_same_text() -> None:
    site = Site(read("/a"), read("/b"), read("/c", RESTYLED), read("/d", OTHER, FAR))
    same = "has the same text as '/a'"
    assert site.told() == [(DUPLICATE, "/b", same), (DUPLICATE, "/c", same)]
    assert {found.severity for found in site.findings()} == {"warning"}
    assert site.marked() == {DUPLICATE: {("a.xml", "/b"), ("a.xml", "/c")}}


def test_pages_with_nearly_the_same_text() -> None:
    site = Site(read("/a"), read("/b", OTHER, f"{6:016x}"))
    assert site.told() == [(DUPLICATE, "/b", "has nearly the same text as '/a'")]
    assert [found.severity for found in site.findings()] == ["warning"]


@pytest.mark.parametrize(
    "records",
    [
        [read("/a"), read("/b", OTHER, FAR)],
        [read("/a"), read("/b", ONE, FAR)],
        [read("/a"), read("/b", noindex=True)],
        [read("/a"), read("/b", canonical=at("/c"))],
        [read("/a"), read("/b", kind="redirected")],
        [read("/a"), read("/b", OTHER, f"{5 ^ 0x3F:016x}")],
        [read("/a"), page("/b")],
        [read("/a/"), read("/a/index.html"), read("/a.html", OTHER, FAR)],
        [read("/us", links={"en-US": "/us", "en-GB": "/gb"}), read("/gb", links={"en-US": "/us", "en-GB": "/gb"})],
    ],
    ids=[
        "other texts", "other texts of one hash", "noindex", "canonical", "redirected", "six bits", "not read",
        "a folder and its page", "two regions",
    ],
)  # fmt: skip
def test_pages_that_are_not_duplicates(records: list[UrlRecord]) -> None:
    assert DUPLICATE not in dict(Site(*records).rules())


def test_pages_with_the_same_text_under_two_urls_are_one_finding() -> None:
    alone = Site(read("/a"), read("/a.html"), choice=Choice(RULES, ignore=("cross-same-page",)))
    assert alone.told() == [(DUPLICATE, "/a.html", "has the same text as '/a'")]
    site = Site(
        read("/a"), read("/a.html"), read("/b"), read("/c", OTHER, FAR), read("/c.html", f"1-{3:032x}", "f" * 8)
    )
    assert [(one.rule, one.url, one.severity, (one.message or "").rpartition(", and ")[2]) for one in site.findings()] == [
        ("cross-same-page", at("/a.html"), "warning", "have the same text"),
        ("cross-same-page", at("/c.html"), "info", "are the same page on most servers"),
        (DUPLICATE, at("/b"), "warning", f"has the same text as '{at('/a')}'"),
    ]  # fmt: skip


def test_thin_pages() -> None:
    site = Site(read("/a", words=49), read("/b", OTHER, FAR, words=50), read("/c", f"1-{3:032x}", words=0))
    assert site.told() == [(THIN, "/a", "49 words of text"), (THIN, "/c", "0 words of text")]


@pytest.mark.parametrize(
    ("loc", "kind"),
    [
        ("/tag/brass/", "tag"), ("/blog/Schlagwort/messing", "tag"), ("/%E6%A0%87%E7%AD%BE/%E7%BA%A2", "tag"),
        ("/category/news/", "category"), ("/cat%C3%A9gorie/lampes", "category"),
        ("/%D0%BA%D0%B0%D1%82%D0%B5%D0%B3%D0%BE%D1%80%D0%B8%D1%8F/x", "category"), ("/autor/ann/", "author"),
        ("/%E4%BD%9C%E8%80%85/li", "author"), ("/tag/brass/page/2/", "page"), ("/seite/3", "page"), ("/?paged=3", "page"),
        ("/list?a=b&page=2", "page"), ("/category/shoes/red", "category"), ("/?cat=5", "category"), ("/?author=1", "author"), ("/%E3%83%9A%E3%83%BC%E3%82%B8/2/", "page"),
    ],
)  # fmt: skip
def test_archives(loc: str, kind: str) -> None:
    like = f"1 page looks like an archive (1 {NOUNS[kind]}), such as '{loc}'"
    assert Site(read(loc)).told() == [(ARCHIVE, None, like)]


@pytest.mark.parametrize(
    "loc",
    [
        "/tags", "/category/", "/page/about", "/landing-page/2024-plan", "/author", "/?p=3", "/heritage/1",
        "/a?homepage=1", "/category/shoes/red/lamp-5", "/category/lamp.html", "/tag/brass/lamp",
    ],
)  # fmt: skip
def test_no_archives(loc: str) -> None:
    assert ARCHIVE not in dict(Site(read(loc)).rules())


def test_an_archive_that_is_not_indexable() -> None:
    assert ARCHIVE not in dict(Site(read("/tag/brass/", noindex=True)).rules())
