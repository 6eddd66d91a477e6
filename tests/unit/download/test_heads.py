"""How much of a page is fetched."""

from __future__ import annotations

import gzip

import pytest
from scrapy.http import Headers, HtmlResponse
from twisted.web.iweb import UNKNOWN_LENGTH

from sitemapcrawler.download.heads import DRAIN_BYTES, PageHead

HTML = {"Content-Type": "text/html; charset=utf-8"}
HEAD = b"<!doctype html><html><head><title>t</title><meta name=robots content=noindex></head><body>"
REST = b"<p>words of a page </p>" * 2000
MUCH = 10 * DRAIN_BYTES


def test_page_is_read_until_its_head_and_a_little_more_are_there() -> None:
    head = PageHead(wanted=True)
    assert not head.begin(Headers(HTML), MUCH)
    assert not head.take(HEAD)
    assert head.take(REST)


@pytest.mark.parametrize("length", [MUCH, UNKNOWN_LENGTH, None])
def test_what_is_no_html_is_not_fetched(length: object) -> None:
    assert PageHead(wanted=True).begin(Headers({"Content-Type": "application/pdf"}), length)


@pytest.mark.parametrize("length", [MUCH, UNKNOWN_LENGTH, None])
def test_body_that_nobody_wants_is_not_fetched(length: object) -> None:
    assert PageHead(wanted=False).begin(Headers(HTML), length)


def test_little_is_fetched_though_nobody_wants_it() -> None:
    head = PageHead(wanted=False)
    assert not head.begin(Headers(HTML), DRAIN_BYTES)
    assert not head.take(b"x" * DRAIN_BYTES)


def test_rest_of_a_page_is_fetched_where_it_is_little() -> None:
    head = PageHead(wanted=True)
    assert not head.begin(Headers(HTML), len(HEAD) + len(REST) + DRAIN_BYTES)
    assert not head.take(HEAD + REST)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_facts_of_a_page_that_came_in_pieces(pack: type[bytes]) -> None:
    body = pack(HEAD + REST)
    headers = dict(HTML) if pack is bytes else {**HTML, "Content-Encoding": "gzip"}
    head = PageHead(wanted=True)
    head.begin(Headers(headers), len(body))
    for start in range(0, len(body), 100):
        head.take(body[start : start + 100])
    facts = head.facts(HtmlResponse("https://e.com/", headers=headers), {}, whole=True)
    assert facts is not None
    assert (facts.title, facts.noindex, facts.complete) == ("t", True, True)


def test_facts_of_a_page_from_the_cache() -> None:
    response = HtmlResponse("https://e.com/", headers=HTML, body=HEAD + REST)
    facts = PageHead(wanted=True).facts(response, {}, whole=True)
    assert facts is not None
    assert facts.noindex


def test_answer_after_a_retry_is_read_from_its_beginning() -> None:
    head = PageHead(wanted=True)
    head.begin(Headers(HTML), MUCH)
    head.take(b"<title>first</title>")
    head.begin(Headers(HTML), MUCH)
    head.take(b"<title>second</title></head>")
    facts = head.facts(HtmlResponse("https://e.com/", headers=HTML), {}, whole=True)
    assert facts is not None
    assert facts.title == "second"


def test_nothing_is_said_of_a_page_that_was_not_wanted() -> None:
    assert PageHead(wanted=False).facts(HtmlResponse("https://e.com/", headers=HTML, body=HEAD), {}, whole=True) is None
