"""Rules on pages that lead to other listed pages."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from sitemapcrawler.items import ReplyRecord, UrlRecord
from sitemapcrawler.replies.indexability import set_indexability

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


@pytest.mark.parametrize("leads", [moved("/a", "/b"), ok("/a", "/c", refresh=at("/b"))])
def test_a_target_that_is_listed(leads: UrlRecord) -> None:
    assert Site(leads, page("/b"), page("/c")).told() == [(REDIRECT, "/a", "it redirects to '/b', which is listed too")]


QUIET: list[list[UrlRecord]] = [
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
]


def within(folder: str, record: UrlRecord) -> UrlRecord:
    """The record of a page as it would be in a folder."""

    def placed(url: str | None) -> str | None:
        return url and url.replace(".com/", f".com/{folder}/")

    reply = record.reply and replace(
        record.reply, final_url=placed(record.reply.final_url), canonical=placed(record.reply.canonical)
    )
    return replace(record, loc=placed(record.loc), reply=reply)


@pytest.fixture(scope="module")
def told_of_quiet_ones() -> str:
    """Paths of the findings on a site with a folder for each situation."""
    return " ".join(
        str(path) for _, path in Site(*(within(f"q{n}", one) for n, all in enumerate(QUIET) for one in all)).rules()
    )


@pytest.mark.parametrize("number", range(len(QUIET)))
def test_nothing_to_tell(number: int, told_of_quiet_ones: str) -> None:
    assert f"/q{number}/" not in told_of_quiet_ones


def test_a_redirect_to_a_page_that_is_listed() -> None:
    site = Site(moved("/a", "/%c3%a9"), page("/é"))
    assert site.told() == [(REDIRECT, "/a", "it redirects to '/é', which is listed too")]


def versions(
    folder: str, reply: ReplyRecord | None, own: ReplyRecord | None = None, **fields: Any
) -> tuple[UrlRecord, UrlRecord]:
    """Two pages of a folder that list each other; the second got `reply`, the first `own`."""
    links = {"de": f"{folder}/de", "en": f"{folder}/en"}
    pages = page(links["de"], links=links, reply=own, **fields), page(links["en"], links=links, reply=reply)
    for record in pages:
        set_indexability(record)
    return pages


REPLIES = [
    (ReplyRecord("http-error", status=404, final_status=404), "status", "answers 404"),
    (ReplyRecord("timeout"), "status", "does not answer (timeout)"),
    (ReplyRecord("redirect-loop", status=302, final_status=302), "status", "redirects in a loop"),
    (ReplyRecord("redirected", status=301, final_status=200, final_url=at("/x")), "redirect", "redirects to '/x'"),
    (ok("/en", "/y", refresh=at("/x")).reply, "redirect", "redirects to '/x'"),
    (ok("/en", soft_404="'Not found'", noindex=True).reply, "status", "is a soft 404: 'Not found'"),
    (ok("/en", noindex=True).reply, "noindex", "is noindex"),
    (ok("/en", "/x", noindex_agents=["googlebot"]).reply, "noindex", "is noindex"),
    (ok("/en", "/x").reply, "noncanonical", "names '/x' as canonical"),
]
BROKEN = ReplyRecord("http-error", status=404, final_status=404)
FINE = [
    None, ok("/fine1/en").reply, ok("/fine2/en", "https://EXAMPLE.com/fine2/%65n").reply,
    ReplyRecord("http-error", status=429, final_status=429), ReplyRecord(),
]  # fmt: skip


@pytest.fixture(scope="module")
def told() -> dict[str, list[tuple[str, str]]]:
    """{folder: (rule, message) of its findings}, of one site with a folder for each situation."""
    pages: list[UrlRecord] = []
    for number, (reply, rule, _) in enumerate(REPLIES):
        pages += versions(f"/alone{number}", reply)
        pages += versions(f"/asked{number}", reply, ok(f"/asked{number}/de").reply)
        pages += versions(f"/known{number}", reply, issues=[f"hreflang-target-{rule}"])
        pages += versions(f"/broken{number}", reply, BROKEN)
    for number, fine in enumerate(FINE):
        pages += versions(f"/fine{number}", fine)
    found: dict[str, list[tuple[str, str]]] = {}
    for rule, path, message in Site(*pages).told():
        folder, _, name = str(path)[1:].partition("/")
        if (folder[:-1], name) != ("broken", "en"):  # which lists the broken one
            found.setdefault(folder, []).append((rule, message.replace(f"/{folder}/", "/")))
    return found


def test_all_entries_concerned_are_marked() -> None:
    dead = ReplyRecord("http-error", status=404)
    pages = [page(f"/{n}", links={"de": f"/{n}", "en": "/en"}) for n in range(3)]
    site = Site(*pages, page("/2", B), page("/en", links={"en": "/en"}, reply=dead), per_rule=1)
    assert site.marked()["hreflang-target-status"] == {("a.xml", "/0"), ("a.xml", "/1"), ("a.xml", "/2")}


def test_only_the_entry_that_redirects_is_marked() -> None:
    assert Site(moved("/a", "/b"), page("/b")).marked()[REDIRECT] == {("a.xml", "/a")}


@pytest.mark.parametrize(("number", "rule", "text"), [(n, rule, text) for n, (_, rule, text) in enumerate(REPLIES)])
def test_a_version_that_was_asked_after_the_entry_was_judged(
    number: int, rule: str, text: str, told: dict[str, list[tuple[str, str]]]
) -> None:
    expected = [(f"hreflang-target-{rule}", f"the version '/en' {text}")]
    assert told[f"alone{number}"] == told[f"asked{number}"] == expected
    assert f"known{number}" not in told
    assert "hreflang-target-status" not in {rule for rule, _ in told.get(f"broken{number}", ())}


@pytest.mark.parametrize("number", range(len(FINE)))
def test_versions_with_which_nothing_is_wrong(number: int, told: dict[str, list[tuple[str, str]]]) -> None:
    assert f"fine{number}" not in told
