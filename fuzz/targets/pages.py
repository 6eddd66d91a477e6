"""Pages and HTTP headers: pieces make no difference, limits hold, and the first statements of a page are
read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fuzz.inputs import cut, in_time
from sitemapcrawler import urls
from sitemapcrawler.replies.discovery import from_html
from sitemapcrawler.replies.page import Html, PageFacts, PageReader, page_of, plain_headers
from sitemapcrawler.replies.page.anchors import MAX_LINKS
from sitemapcrawler.replies.page.facts import MAX_ALTERNATES, MAX_CANONICALS, MAX_DATES, MAX_TITLE
from sitemapcrawler.replies.page.shown_text import MAX_HEADING, MAX_TEXT
from sitemapcrawler.replies.page.tree import plain
from sitemapcrawler.replies.soft404 import is_soft_404

SEEDS = ("tests/data/hard/*.html", "tests/data/bad/*.html")
DICTIONARY = "html.dict"
URL = "https://e.com/a/page"
HEADERS = ("x-robots-tag", "link", "refresh", "content-type")
DENIED = b'<html><head><meta name="robots" content="noindex">'


def check(data: bytes) -> None:
    """Check the input as a page, and as the headers of one."""
    html = _html([data])
    assert html == _html(cut(data)), "the pieces make a difference"
    for page in (html, replace(html, text="".join(plain(html.text)))):
        with in_time():
            facts = page_of(page, {}, URL, with_links=True)
            is_soft_404(facts, URL)
        _check_facts(facts)
    with in_time():
        linked = from_html(data, URL)
    assert all(map(urls.is_web, (*linked.sitemaps, *linked.feeds)))
    assert page_of(_html([DENIED + data]), {}, URL).noindex
    for name in HEADERS:
        headers = plain_headers([(name.encode(), [data])])
        with in_time():
            facts = page_of(None, headers, URL)
        _check_facts(facts)


def _html(chunks: Iterable[bytes]) -> Html:
    reader = PageReader("text/html")
    with in_time():
        for chunk in chunks:
            if reader.feed(chunk):
                break
    return reader.close()


def _check_facts(facts: PageFacts) -> None:
    assert len(facts.title or "") <= MAX_TITLE
    assert len(facts.h1 or "") <= MAX_HEADING
    assert len(facts.alternates) <= MAX_ALTERNATES
    assert len(facts.dates) <= MAX_DATES
    assert len(facts.canonicals) <= MAX_CANONICALS
    assert facts.canonical is None or urls.is_web(facts.canonical)
    assert all(date.moment is None or date.moment.tzinfo for date in facts.dates)
    if facts.shown is not None:
        assert max(len(facts.shown.text), len(facts.shown.markup)) <= MAX_TEXT
    if facts.links is not None:
        found = (*facts.links.followed, *facts.links.nofollow)
        assert len(found) <= MAX_LINKS
        assert all(map(urls.is_web, found))
