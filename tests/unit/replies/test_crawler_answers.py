"""What a crawler gets, compared with what we get: what counts as a difference, and what does not."""

from __future__ import annotations

from random import Random

import pytest

from sitemapcrawler.reader.sniff import FIREWALLS, firewall_of
from sitemapcrawler.replies.crawler_answers import AnswerVerdict, PageAnswer, compare, should_repeat, should_stop
from sitemapcrawler.replies.page import Html, page_of

URL = "https://e.com/page"
WORDS = [f"{first}{second}a" for first in "bcdfghklmn" for second in "aeioustrwy"]


def shuffled(seed: int, many: int = 60) -> str:
    return " ".join(Random(seed).sample(WORDS, many))


def answer(
    body: str = shuffled(1),
    status: int = 200,
    head: str = "",
    elapsed_ms: int = 10,
    kind: str = "text/html",
    **headers: str,
) -> PageAnswer:
    """The answer with this text as its body."""
    known = {name.replace("_", "-"): [value] for name, value in headers.items()} | {"content-type": [kind]}
    text = f"<html><head><title>t</title>{head}</head><body><main>{body}</main></body></html>" if body else ""
    html = Html(text, "utf-8", whole=True, is_html=True)
    return PageAnswer.of(URL, status, known, html, page_of(html, known, URL), len(text), elapsed_ms)


OURS = answer()
SAME = ("same", "")
COMPARED: dict[str, tuple[PageAnswer, str, str]] = {
    "the same": (answer(), *SAME),
    "one word more": (answer(shuffled(1) + " more"), *SAME),
    "a counter": (answer(shuffled(1) + " 1,234 visitors"), *SAME),
    "403": (answer("no", 403), "refused", "403"),
    "503": (answer("no", 503), "refused", "503"),
    "challenge with 200": (answer("<script>window._cf_chl_opt={}</script>"), "refused", "200, page of Cloudflare"),
    "challenge by header": (answer("x", 429, x_vercel_mitigated="challenge"), "refused", "429, page of Vercel"),
    "edge": (answer("x", 403, server="AkamaiGHost"), "refused", "403, page of Akamai"),
    "edge that passes a page": (answer(server="AkamaiGHost", x_datadome="protected"), *SAME),
    "402": (answer("", 402, crawler_price="USD 0.01"), "payment", "402, price USD 0.01"),
    "402 without a price": (answer("pay", 402), "payment", "402, without a price"),
    "redirect": (answer("", 302, location="/login"), "other-content", "302, redirect to https://e.com/login"),
    "redirect to nowhere": (answer("", 302), "other-content", "302, redirect without a valid Location"),
    "noindex": (answer(head='<meta name="robots" content="none">'), "other-content", "noindex in the page"),
    "noindex for one": (
        answer(x_robots_tag="googlebot: noindex"), "other-content", "noindex in the X-Robots-Tag header for googlebot",
    ),
    "canonical": (
        answer(head='<link rel="canonical" href="/other">'), "other-content", "canonical https://e.com/other",
    ),
    "refresh": (
        answer(head='<meta http-equiv="refresh" content="0; url=/consent">'),
        "other-content", "refresh to https://e.com/consent",
    ),
    "refresh later": (answer(head='<meta http-equiv="refresh" content="9; url=/consent">'), *SAME),
    "another text": (answer(shuffled(2)), "other-content", "different text: 60 words; 60 for this crawl"),
    "less": (answer(shuffled(1, 20)), "other-content", "less text: 20 words; 60 for this crawl"),
    "more": (answer(" ".join(WORDS * 2)), "other-content", "more text: 200 words; 60 for this crawl"),
    "nothing": (answer(""), "other-content", "an empty body"),
    "nothing in time": (PageAnswer(error="no answer in time"), "no-answer", "no answer in time"),
    "slow": (answer(elapsed_ms=5_000), "slow", "after 5,000 ms; for this crawl after 10 ms"),
    "less slow": (answer(elapsed_ms=4_999), *SAME),
}  # fmt: skip


@pytest.mark.parametrize("case", COMPARED)
def test_answer_to_a_crawler_is_compared_with_ours(case: str) -> None:
    theirs, *expected = COMPARED[case]
    assert list(compare(theirs, [OURS])) == expected


FAILURES = [theirs for theirs, verdict, _ in COMPARED.values() if verdict in ("refused", "no-answer", "payment")]


@pytest.mark.parametrize("theirs", FAILURES, ids=lambda one: str(one.status))
def test_failure_that_we_get_too_is_a_bad_moment(theirs: PageAnswer) -> None:
    verdict, note = compare(theirs, [OURS, theirs])
    assert verdict is AnswerVerdict.SAME
    assert note.endswith(", for this crawl too")


NOINDEX = '<meta name="robots" content="noindex">'


@pytest.mark.parametrize(
    ("first", "second", "theirs"),
    [
        (answer(shuffled(3)), answer(shuffled(4)), answer(shuffled(5))),
        (answer(shuffled(3, 20)), answer(shuffled(3, 55)), answer(shuffled(3, 21))),
        (OURS, answer(head=NOINDEX), answer(head=NOINDEX)),
        (OURS, answer("", 302, location="/login"), OURS),
        tuple(answer(head=f'<link rel="canonical" href="/page?sid={number}">') for number in range(3)),
    ],
    ids=["random order", "random length", "noindex at random", "redirect at random", "canonical at random"],
)
def test_difference_between_our_own_answers_is_none_of_the_crawler(
    first: PageAnswer, second: PageAnswer, theirs: PageAnswer
) -> None:
    assert compare(theirs, [first, second])[0] is AnswerVerdict.SAME


def test_page_that_is_no_html_is_compared_by_status_and_size() -> None:
    pdf = PageAnswer(200, page=page_of(None, {"content-type": ["application/pdf"]}, URL), size=10_000)
    assert compare(pdf, [pdf]) == (AnswerVerdict.SAME, "")
    assert compare(PageAnswer(200, page=pdf.page), [pdf]) == (AnswerVerdict.OTHER, "an empty body")
    assert compare(pdf, [OURS]) == (AnswerVerdict.OTHER, "no HTML")
    assert compare(OURS, [pdf]) == (AnswerVerdict.OTHER, "HTML")


@pytest.mark.parametrize(
    ("status", "again", "silent"), [(403, False, False), (429, False, True), (500, True, False), (503, False, True)]
)
def test_errors_of_the_server_are_requested_again_unless_it_wants_a_pause(
    status: int, again: bool, silent: bool
) -> None:
    assert should_repeat(answer("no", status), AnswerVerdict.REFUSED) is again
    assert should_stop(answer("no", status)) is silent


@pytest.mark.parametrize(
    ("text", "firewall"),
    [
        ("<title>Just a moment...</title>", "Cloudflare"),
        ("<title>Attention Required! | Cloudflare</title>", "Cloudflare"),
        ('<script src="https://ct.captcha-delivery.com/c.js">', "DataDome"),
        ("Request unsuccessful. Incapsula incident ID: 1-2", "Imperva"),
        ('<div id="px-captcha">', "HUMAN"),
        ("awsWafCookieDomainList = []", "AWS WAF"),
        ("Reference #18. https://errors.edgesuite.net/18", "Akamai"),
        ("<title>Vercel Security Checkpoint</title>", "Vercel"),
        ('<script src="/_fs-ch-1T1wmsGaOgGaSxcX/script.js">', "Fastly"),
        ("Checking your browser before accessing e.com", "a firewall"),
        ("An article on Cloudflare, Akamai and other firewalls", None),
    ],
)
def test_page_of_a_firewall_is_named(text: str, firewall: str | None) -> None:
    assert firewall_of(text) == firewall
    assert firewall is None or firewall in FIREWALLS
