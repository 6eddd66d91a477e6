"""Heads of pages and HTTP headers: pieces make no difference, limits hold, and the first statements of a page are
read."""

from __future__ import annotations

from fuzz.inputs import cut, in_time
from sitemapcrawler import urls
from sitemapcrawler.replies.discovery import from_html
from sitemapcrawler.replies.page import HEAD_LIMIT, SAMPLE, HeadReader, HtmlHead, PageFacts, page_of, plain_headers
from sitemapcrawler.replies.page.facts import MAX_ALTERNATES, MAX_CANONICALS, MAX_DATES, MAX_TITLE
from sitemapcrawler.replies.page.head import MAX_TAGS
from sitemapcrawler.replies.page.visible_text import blocks, heading, visible, words
from sitemapcrawler.replies.phrases import says_not_found

SEEDS = ("tests/data/hard/*.html", "tests/data/bad/*.html")
DICTIONARY = "html.dict"
URL = "https://e.com/a/page"
HEADERS = ("x-robots-tag", "link", "refresh", "content-type")
DENIED = b'<html><head><meta name="robots" content="noindex">'


def check(data: bytes) -> None:
    """Check the input as a page, and as the headers of one."""
    whole = _head([data])
    assert whole == _head(cut(data)), "the pieces make a difference"
    _check_facts(page_of(whole, {}, URL), whole)
    with in_time():
        (
            heading(whole.sample),
            blocks(whole.sample),
            words(visible(whole.sample)),
            says_not_found(whole.sample[:MAX_TITLE]),
        )
        linked = from_html(data, URL)
    assert all(map(urls.is_web, (*linked.sitemaps, *linked.feeds)))
    assert page_of(_head([DENIED + data]), {}, URL).noindex
    for name in HEADERS:
        headers = plain_headers([(name.encode(), [data])])
        with in_time():
            facts = page_of(None, headers, URL)
        _check_facts(facts, HtmlHead())


def _head(chunks: object) -> HtmlHead:
    reader = HeadReader("text/html", sample=SAMPLE)
    with in_time():
        for chunk in chunks:  # type: ignore[attr-defined]  # any iterable of bytes
            if reader.feed(chunk):
                break
    return reader.close()


def _check_facts(facts: PageFacts, head: HtmlHead) -> None:
    assert len(head.tags) + len(head.behind) <= MAX_TAGS
    assert len(head.sample) <= SAMPLE <= HEAD_LIMIT
    assert len(facts.title or "") <= MAX_TITLE
    assert len(facts.alternates) <= MAX_ALTERNATES
    assert len(facts.dates) <= MAX_DATES
    assert head == HtmlHead() or len(facts.canonicals) <= MAX_CANONICALS
    assert facts.canonical is None or urls.is_web(facts.canonical)
    assert all(date.moment is None or date.moment.tzinfo for date in facts.dates)
