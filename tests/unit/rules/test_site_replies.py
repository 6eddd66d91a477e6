"""Rules on pages that lead to other listed pages."""

from __future__ import annotations

from typing import Any

import pytest

from sitemapcrawler.items import ReplyRecord, UrlRecord

from .sites import HOME, B, Site, at, page

CANONICAL, REDIRECT = "page-canonical-other-listed-too", "status-redirect-target-listed-too"


def ok(loc: str, canonical: str | None = None, **fields: Any) -> UrlRecord:
    reply = {
        "kind": "ok",
        "status": 200,
        "final_status": 200,
        "final_url": at(loc),
        "canonical": canonical and at(canonical),
        **fields,
    }
    return page(loc, reply=ReplyRecord(**reply))


def moved(loc: str, to: str) -> UrlRecord:
    return page(loc, reply=ReplyRecord("redirected", status=301, final_status=200, final_url=at(to)))


def test_a_canonical_that_is_listed() -> None:
    site = Site(ok("/a?b", "/a"), ok("/a", "/a"))
    assert site.told() == [(CANONICAL, "/a?b", "its canonical is '/a', which is listed too")]
    [found] = site.findings()
    assert (found.severity, found.value) == ("info", f"{HOME}/a")


@pytest.mark.parametrize(
    "pages",
    [
        [ok("/a?b", "/a")],
        [ok("/a", "/a")],
        [ok("/%61", "/a")],
        [ok("/a", "https://EXAMPLE.com/a"), page("https://EXAMPLE.com/a")],
        [ok("/a", "/b", final_url=at("/b")), page("/b")],
        [ok("/a?b", "/a", noindex=True), page("/a")],
        [ok("/a?b", "/a"), page("/a", reply=ReplyRecord("http-error", status=404, final_status=404))],
        [ok("/a?b"), page("/a")],
        [page("/a?b"), page("/a")],
        [moved("/a", "/b")],
        [moved("/a", "/b"), page("/b", reply=ReplyRecord("timeout"))],
    ],
)
def test_nothing_to_tell(pages: list[UrlRecord]) -> None:
    assert Site(*pages).told() == []


def test_a_redirect_to_a_page_that_is_listed() -> None:
    site = Site(moved("/a", "/%c3%a9"), page("/é"))
    assert site.told() == [(REDIRECT, "/a", "it redirects to '/é', which is listed too")]


def versions(reply: ReplyRecord | None, own: ReplyRecord | None = None, **fields: Any) -> Site:
    """Two pages that list each other; what asking for the second came to, and for the first."""
    links = {"de": "/de", "en": "/en"}
    return Site(page("/de", links=links, reply=own, **fields), page("/en", links=links, reply=reply))


REPLIES = [
    (ReplyRecord("http-error", status=404, final_status=404), "status", "answers 404"),
    (ReplyRecord("timeout"), "status", "gives no answer (timeout)"),
    (ReplyRecord("redirect-loop", status=302, final_status=302), "status", "redirects without end"),
    (ReplyRecord("redirected", status=301, final_status=200, final_url=at("/x")), "redirect", "redirects to '/x'"),
    (ok("/en", noindex=True).reply, "noindex", "is not to be indexed (noindex)"),
    (ok("/en", "/x").reply, "noncanonical", "names '/x' as canonical"),
]


def test_all_entries_concerned_are_marked() -> None:
    dead = ReplyRecord("http-error", status=404)
    pages = [page(f"/{n}", links={"de": f"/{n}", "en": "/en"}) for n in range(3)]
    site = Site(*pages, page("/2", B), page("/en", links={"en": "/en"}, reply=dead), per_rule=1)
    assert site.marked()["hreflang-target-status"] == {("a.xml", "/0"), ("a.xml", "/1"), ("a.xml", "/2")}


def test_only_the_entry_that_redirects_is_marked() -> None:
    assert Site(moved("/a", "/b"), page("/b")).marked()[REDIRECT] == {("a.xml", "/a")}


@pytest.mark.parametrize(("reply", "rule", "text"), REPLIES, ids=[text for _, _, text in REPLIES])
def test_a_version_that_was_asked_after_the_entry_was_judged(reply: ReplyRecord, rule: str, text: str) -> None:
    assert versions(reply).told() == [(f"hreflang-target-{rule}", "/de", f"the version '/en' {text}")]
    assert versions(reply, ok("/de").reply).rules() == [(f"hreflang-target-{rule}", "/de")]
    assert versions(reply, issues=[f"hreflang-target-{rule}"]).told() == []
    broken = ReplyRecord("http-error", status=404, final_status=404)
    assert ("hreflang-target-status", "/de") not in versions(reply, broken).rules()


@pytest.mark.parametrize(
    "reply",
    [
        None,
        ok("/en").reply,
        ok("/en", "https://EXAMPLE.com/%65n").reply,
        ReplyRecord("http-error", status=429, final_status=429),
        ReplyRecord(),
    ],
)
def test_versions_with_which_nothing_is_wrong(reply: ReplyRecord | None) -> None:
    assert versions(reply).told() == []
