"""Usage preferences in the headers and head of a page."""

from __future__ import annotations

import pytest

from sitemapcrawler.replies.page import read_page
from sitemapcrawler.replies.page.preferences import PageUsage, page_usage
from sitemapcrawler.robots.usage import Use

TRAIN, SEARCH, INPUT = Use
URL = "https://example.com/a"


def stated(usage: PageUsage | None) -> list[tuple[Use, bool, str]]:
    return [(one.use, one.allowed, one.place) for one in usage.preferences] if usage is not None else []


def of_head(elements: str) -> PageUsage | None:
    html = f"<!doctype html><html><head>{elements}</head><body></body></html>".encode()
    return read_page(html, {"content-type": ["text/html"]}, URL).usage


@pytest.mark.parametrize(
    ("headers", "preferences"),
    [
        ({"content-usage": ["train-ai=n"]}, [(TRAIN, False, "Content-Usage header")]),  # attach-05, 1.2
        (
            {"content-usage": ["train-ai=n", "search=y"]},
            [(TRAIN, False, "Content-Usage header"), (SEARCH, True, "Content-Usage header")],
        ),
        ({"content-signal": ["ai-input=no"]}, [(INPUT, False, "Content-Signal header")]),
        ({"tdm-reservation": ["1"], "tdm-policy": ["https://example.com/p"]}, [(TRAIN, False, "TDM-Reservation header")]),
        ({"tdm-reservation": [" 0 "]}, [(TRAIN, True, "TDM-Reservation header")]),
        ({"x-robots-tag": ["NoAI, noimageai, max-snippet: 0"]},
         [(TRAIN, False, "X-Robots-Tag noai"), (INPUT, False, "X-Robots-Tag max-snippet:0")]),
        ({"x-robots-tag": ["googlebot: nosnippet", "max-snippet:-1, max-snippet:50"]}, []),
        ({"content-type": ["text/html"], "x-robots-tag": ["noindex"]}, []),
    ],
)  # fmt: skip
def test_headers_state_preferences(headers: dict[str, list[str]], preferences: list[tuple[Use, bool, str]]) -> None:
    usage = page_usage(headers)
    assert stated(usage) == preferences
    assert usage is None or not usage.faults


@pytest.mark.parametrize(
    ("elements", "preferences"),
    [
        ('<meta name="ROBOTS" content="index, nosnippet">', [(INPUT, False, "meta robots nosnippet")]),
        ('<meta name="robots" content="noai">' * 2, [(TRAIN, False, "meta robots noai")]),
        ('<meta name="tdm-reservation" content="1">', [(TRAIN, False, "meta tdm-reservation")]),
        ('<meta name="googlebot" content="nosnippet"><meta name="description" content="noai">', []),
        ('<meta name="robots" content="noimageai, max-image-preview:large">', []),
    ],
)
def test_elements_of_the_head_state_preferences(elements: str, preferences: list[tuple[Use, bool, str]]) -> None:
    assert stated(of_head(elements)) == preferences


@pytest.mark.parametrize(
    ("headers", "faults"),
    [
        ({"content-usage": ["no"]}, ("Content-Usage header 'no': no is not a label of Content-Usage",)),
        (
            {"content-usage": ["ai-train=n"]},
            ("Content-Usage header 'ai-train=n': ai-train is not a label of Content-Usage: write train-ai",),
        ),
        ({"tdm-reservation": ["yes"]}, ("TDM-Reservation header 'yes': the value is 0 or 1",)),
        ({"tdm-policy": ["/policy.json"]}, ("TDM-Policy header '/policy.json': it is not an absolute URL",)),
    ],
)
def test_a_statement_that_says_nothing_is_a_fault(headers: dict[str, list[str]], faults: tuple[str, ...]) -> None:
    assert page_usage(headers) == PageUsage((), faults)


def test_headers_of_a_file_that_is_no_page_count() -> None:
    usage = read_page(b"%PDF", {"content-type": ["application/pdf"], "content-usage": ["ai-use=n"]}, URL).usage
    assert stated(usage) == [(INPUT, False, "Content-Usage header")]
