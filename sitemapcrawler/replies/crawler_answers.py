"""Compares the answer that a crawler gets with our own answer to the same URL.

A difference counts only if no two answers to ourselves differ as much: pages have counters, random order and bad
moments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sitemapcrawler import urls
from sitemapcrawler.reader.sniff import firewall_of
from sitemapcrawler.replies.chase import REDIRECTS, NoTarget, target
from sitemapcrawler.replies.kinds import SERVER_ERROR, TOO_MUCH
from sitemapcrawler.replies.page import Headers, Html, PageFacts, Place, distance, joined
from sitemapcrawler.urls.display import counted

PAY = 402
"""Status of pages that a crawler has to pay for. Source:
https://developers.cloudflare.com/ai-crawl-control/features/pay-per-crawl/what-is-pay-per-crawl/"""
OK, REDIRECT, ERROR = 200, 300, 400
"""Status of a page, first status of redirects and first status of errors (RFC 9110, 15.3 to 15.5)."""
OTHER_TEXT = 16
"""Bits of 64 in which the simhashes of two answers differ with different text. Unrelated texts differ in some 32; a
tenth of new words changes about 8."""
SHARE_OF_WORDS = 0.5
"""Share of the words below which the shorter of two answers is another content, however alike their texts are."""
FEW_WORDS = 20
"""Words of difference below which such a share says nothing."""
SLOW_MS, SLOW_FACTOR = 5_000, 5
"""Milliseconds, and the multiple of our own response time, from which an answer is slow."""
MAX_SHOWN = 100
"""Characters of a header's value in a note."""
MITIGATED = {
    "cf-mitigated": "Cloudflare",
    "x-vercel-mitigated": "Vercel",
    "x-amzn-waf-action": "AWS WAF",
    "x-datadome": "DataDome",
}
"""{header: firewall that sends it with an answer that it makes in place of the site's}. Sources:
https://developers.cloudflare.com/cloudflare-challenges/challenge-types/challenge-pages/detect-response/ and
https://docs.aws.amazon.com/waf/latest/developerguide/waf-captcha-and-challenge-how-it-works.html"""
EDGES = {"akamaighost": "Akamai"}
"""{Server header, in lower case: firewall whose own answers, errors among them, have it}"""
HEADERS = (*MITIGATED, "content-type", "crawler-price", "link", "location", "refresh", "server", "x-robots-tag")
"""Response headers that are read, in lower case."""


class AnswerVerdict(StrEnum):
    """What a crawler gets instead of what we get, the worst first."""

    REFUSED = "refused"
    """An error, or the page of a firewall."""
    NO_ANSWER = "no-answer"
    PAYMENT = "payment"
    """Status 402."""
    OTHER = "other-content"
    """A redirect, noindex, another canonical or different text."""
    SLOW = "slow"
    """The same page, much later."""
    SAME = "same"
    NOT_ASKED = "not-asked"
    """robots.txt denies the page to the crawler, or an earlier page was not answered."""


@dataclass(frozen=True, slots=True)
class PageAnswer:
    """One answer to a request for a page, redirects not followed."""

    status: int | None = None
    """None without a complete answer."""
    error: str = ""
    """Why there is none."""
    location: str | None = None
    """Absolute URL that a redirect leads to; None if there is none."""
    page: PageFacts | None = None
    """Facts about the page, unless it is an error or a redirect."""
    size: int = 0
    """Characters of a page that is HTML, or bytes of another body, as far as they are read."""
    firewall: str | None = None
    """Firewall that has answered in place of the site; None if no mark says so."""
    price: str | None = None
    """`crawler-price` header of status 402, such as `USD 0.01`."""
    elapsed_ms: int = 0

    @classmethod
    def of(
        cls, url: str, status: int, headers: Headers, html: Html, page: PageFacts, size: int, elapsed_ms: int = 0
    ) -> PageAnswer:
        """Interpret a complete response to a request for `url`. `html`: its text if it is one."""
        is_page = 200 <= status < REDIRECT
        return cls(
            status,
            location=_location(headers, url) if status in REDIRECTS else None,
            page=page if is_page else None,
            firewall=_firewall(status, headers, html.text),
            price=(joined(headers.get("crawler-price", ())) or "")[:MAX_SHOWN] or None,
            size=size,
            elapsed_ms=elapsed_ms,
        )

    @property
    def is_page(self) -> bool:
        """True for an answer that others can be compared with: the page itself, with status 200."""
        return self.status == OK and self.firewall is None

    @property
    def words(self) -> int | None:
        """Words of the main text; None if it was not read, or is no HTML."""
        return self.page.content.words if self.page is not None and self.page.content is not None else None


def _location(headers: Headers, url: str) -> str | None:
    try:
        return target(next(iter(headers.get("location", ())), None), url)
    except NoTarget:
        return None


def _firewall(status: int, headers: Headers, text: str) -> str | None:
    """The firewall that made an answer, by its headers and the marks of its pages."""
    for header, firewall in MITIGATED.items():
        if headers.get(header) and (header != "x-datadome" or status >= ERROR):
            return firewall
    edge = EDGES.get((joined(headers.get("server", ())) or "").lower()) if status >= ERROR else None
    return edge or firewall_of(text)


def compare(theirs: PageAnswer, ours: Sequence[PageAnswer]) -> tuple[AnswerVerdict, str]:
    """Return what a crawler gets, and the difference in some words. `ours`: our own answers to the same URL, of which
    the first is a page."""
    failed = _failure(theirs)
    if failed is not None:
        moment = any(_outcome(own) == _outcome(theirs) for own in ours)
        return (AnswerVerdict.SAME, f"{failed[1]}, for this crawl too") if moment else failed
    pages = [own for own in ours if own.is_page]
    if theirs.location is not None or theirs.status in REDIRECTS:
        return (
            AnswerVerdict.OTHER,
            f"{theirs.status}, redirect {f'to {theirs.location}' if theirs.location else 'without a valid Location'}",
        )
    if (difference := _difference(theirs, pages)) is not None:
        return AnswerVerdict.OTHER, difference
    usual = max(own.elapsed_ms for own in pages)
    if theirs.elapsed_ms >= max(SLOW_MS, SLOW_FACTOR * usual):
        return AnswerVerdict.SLOW, f"after {theirs.elapsed_ms:,} ms; for this crawl after {usual:,} ms"
    return AnswerVerdict.SAME, ""


def should_repeat(answer: PageAnswer, verdict: AnswerVerdict) -> bool:
    """True for an answer that a second request as the crawler may not get: another page, or an error of the server."""
    failed = (answer.status or 0) >= SERVER_ERROR and answer.status not in TOO_MUCH
    return verdict is AnswerVerdict.OTHER or (verdict is AnswerVerdict.REFUSED and failed)


def should_stop(answer: PageAnswer) -> bool:
    """True if the crawler is not sent to further pages of the site: it got no answer, or a request to wait."""
    return answer.status is None or answer.status in TOO_MUCH


def _outcome(answer: PageAnswer) -> tuple[int | None, str | None]:
    return answer.status, answer.firewall


def _failure(answer: PageAnswer) -> tuple[AnswerVerdict, str] | None:
    """The verdict on an answer that is neither a page nor a redirect."""
    if answer.status is None:
        return AnswerVerdict.NO_ANSWER, answer.error
    if answer.status == PAY:
        return AnswerVerdict.PAYMENT, f"{PAY}, {f'price {answer.price}' if answer.price else 'without a price'}"
    if answer.firewall is not None:
        return AnswerVerdict.REFUSED, f"{answer.status}, page of {answer.firewall}"
    return (AnswerVerdict.REFUSED, str(answer.status)) if answer.status >= ERROR else None


def _difference(theirs: PageAnswer, ours: Sequence[PageAnswer]) -> str | None:
    """What the page of a crawler has that none of ours has; None if it is the same page."""
    page, pages = theirs.page, [own.page for own in ours if own.page is not None]
    if page is None or not pages:
        return None
    known = {denial.agent for own in pages for denial in own.denials}
    for denial in page.denials:
        if denial.agent not in known:
            place = "in the X-Robots-Tag header" if denial.place is Place.HEADER else "in the page"
            return f"noindex {place}{f' for {denial.agent}' if denial.agent else ''}"
    named = (
        ("refresh to", page.moved_to, [own.moved_to for own in pages]),
        ("canonical", page.canonical, [own.canonical for own in pages]),
    )
    for name, url, known_urls in named:
        if url is not None and len({*known_urls}) == 1 and not _same(url, known_urls[0]):
            return f"{name} {url}"
    if theirs.size and all((own.encoding is None) is not (page.encoding is None) for own in pages):
        return "no HTML" if page.encoding is None else "HTML"
    return _other_text(theirs, ours)


def _same(one: str, other: str | None) -> bool:
    return other is not None and urls.visit_key(one) == urls.visit_key(other)


def _other_text(theirs: PageAnswer, ours: Sequence[PageAnswer]) -> str | None:
    """How the text of an answer differs from each of ours, further than these differ from one another."""
    usual = [own.page.content for own in ours if own.page is not None and own.page.content is not None]
    if theirs.size == 0 and all(own.size for own in ours):
        return "an empty body"
    content = None if theirs.page is None else theirs.page.content
    if content is None or not usual:
        return None
    if content.content_hash in {own.content_hash for own in usual}:
        return None
    least, most = min(own.words for own in usual), max(own.words for own in usual)
    span = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    many = f"{counted(content.words, 'word')}; {span} for this crawl"
    if content.words < SHARE_OF_WORDS * least and least - content.words >= FEW_WORDS:
        return f"less text: {many}"
    if most < SHARE_OF_WORDS * content.words and content.words - most >= FEW_WORDS:
        return f"more text: {many}"
    apart = max((distance(one.simhash, other.simhash) for one in usual for other in usual), default=0)
    bits = min(distance(content.simhash, own.simhash) for own in usual)
    return f"different text: {many}" if bits >= OTHER_TEXT and bits > 2 * apart else None
