"""What a record says of a page before and after its scripts have run."""

from __future__ import annotations

import pytest

from sitemapcrawler.items import RenderedRecord
from sitemapcrawler.replies.page import Html
from sitemapcrawler.replies.rendered import (
    MAX_LINKED,
    RenderResult,
    added_links,
    compare,
    facts_of,
    rendered_html,
)

URL = "https://example.com/a"
HEAD = "<title>A</title><link rel=canonical href=/a>"
TEXT = "<h1>Hall</h1><p>Words of the text.</p><a href=/b>b</a>"


def compared(before: str, after: str | None, headers: dict[str, list[str]] | None = None) -> RenderedRecord:
    raw = facts_of(Html(before, whole=True, is_html=True), headers or {}, URL)
    seen = None if after is None else facts_of(rendered_html(after), headers or {}, URL)
    added = [] if seen is None else added_links(raw, seen)
    record = RenderedRecord(URL, RenderResult.RENDERED, crawler="Googlebot", requests=3, failed=1)
    compare(record, raw, seen, added)
    return record


@pytest.mark.parametrize(
    ("head", "body", "changed"),
    [
        (HEAD, TEXT, []),
        (f"{HEAD}<script>1</script>", f"<noscript>Enable scripts</noscript>{TEXT}", []),
        (HEAD.replace("A", "B"), TEXT, ["title"]),
        (HEAD, TEXT.replace("Hall", "Room"), ["h1", "text"]),
        ("<title>A</title>", TEXT, ["canonical"]),
        (f"{HEAD}<meta name=robots content=none>", TEXT, ["noindex"]),
        (f"{HEAD}<meta name=googlebot content=noindex>", TEXT, ["noindex"]),
        (f"{HEAD}<link rel=alternate hreflang=de href=/de>", TEXT, ["hreflang"]),
        (HEAD, f"{TEXT}<a href=/c></a>", ["links"]),
        (HEAD, TEXT.replace("<a href=/b>b</a>", ""), ["text"]),
    ],
)
def test_what_has_changed_is_named(head: str, body: str, changed: list[str]) -> None:
    assert compared(f"{HEAD}{TEXT}", f"<head>{head}</head><body>{body}</body>").changed == changed


def test_directives_of_headers_hold_for_both_states() -> None:
    headers = {"x-robots-tag": ["noindex"], "link": ['</c>; rel="canonical"']}
    found = compared("<title>A</title>", "<title>A</title>", headers)
    assert (found.noindex, found.rendered_noindex, found.changed) == (True, True, [])
    assert found.canonical == found.rendered_canonical == "https://example.com/c"


def test_page_that_could_not_be_read_has_its_html_alone() -> None:
    found = compared(f"{HEAD}{TEXT}", None)
    assert (found.title, found.words, found.links) == ("A", 6, 1)
    assert (found.rendered_title, found.rendered_words, found.added_links, found.changed) == (None, None, None, [])
    assert (found.result, found.requests, found.failed, found.crawler) == (RenderResult.RENDERED, 3, 1, "Googlebot")


def test_links_in_a_record_are_limited_and_all_are_counted() -> None:
    found = compared(HEAD, HEAD + "".join(f"<a href=/{at}>{at}</a>" for at in range(30)))
    assert (found.added_links, len(found.added)) == (30, MAX_LINKED)
    assert found.added[0] == "https://example.com/0"


def test_link_that_was_nofollow_is_not_added() -> None:
    assert compared("<a rel=nofollow href=/b>b</a>", "<a href=/b>b</a>").added_links == 0
