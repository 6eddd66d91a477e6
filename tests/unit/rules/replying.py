"""Judging a reply in a test: what came of asking in, findings out."""

from __future__ import annotations

from collections import Counter
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from sitemapcrawler.items import FindingRecord, Hop, SitemapRecord, UrlRecord
from sitemapcrawler.reader import Document
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.replies import Reason, ReplyKind, ReplyRecord
from sitemapcrawler.replies.kinds import CUT
from sitemapcrawler.replies.page import PageFacts, read_page
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts.given import AssetFacts, Counted, FileFacts, ReplyFacts
from sitemapcrawler.rules.facts.replied import FAILURES
from sitemapcrawler.rules.judge import Judge

URL = "https://example.com/a"
SITEMAP = "https://example.com/sitemap.xml"
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
RULES = all_rules()
HTML = "text/html; charset=utf-8"
SELF = '<link rel="canonical" href="https://example.com/a">'

Fields = dict[str, Any]
"""{field of a reply: value}."""
Told = dict[str, str]
"""{rule: severity}"""


def made(kind: ReplyKind, **fields: Any) -> ReplyRecord:
    """A reply, with the status of its first answer."""
    hops, elapsed_ms = fields.get("redirects"), 0 if fields.get("attempts") else None
    status = hops[0].status if hops else fields.get("final_status")
    return ReplyRecord(kind.value, **Fields(status=status, elapsed_ms=elapsed_ms) | fields)


def ok(**fields: Any) -> ReplyRecord:
    """The listed URL answers 200."""
    return made(ReplyKind.OK, **Fields(final_status=200, final_url=URL, content_type=HTML, attempts=1) | fields)


def moved(to: str, *statuses: int, **fields: Any) -> ReplyRecord:
    """Redirects with these statuses lead to a page."""
    hops = tuple(
        Hop(status, URL if not number else f"{URL}{number}") for number, status in enumerate(statuses or (301,))
    )
    given = Fields(final_status=200, final_url=to, content_type=HTML, redirects=hops, attempts=len(hops) + 1)
    return made(ReplyKind.REDIRECTED, **given | fields)


def error(status: int, **fields: Any) -> ReplyRecord:
    """The status of an error."""
    return made(
        ReplyKind.HTTP_ERROR,
        **Fields(final_status=status, final_url=URL, error=f"HTTP status {status}", attempts=1) | fields,
    )


def failed(kind: ReplyKind, **fields: Any) -> ReplyRecord:
    """No answer."""
    return made(kind, **Fields(final_url=URL, error="it failed", attempts=3) | fields)


def page(head: str, url: str = URL, **headers: str) -> PageFacts:
    """What a page with this head says of itself. `headers`: by name, `_` for `-`."""
    sent = {name.replace("_", "-"): [value] for name, value in headers.items()}
    body = f"<!DOCTYPE html><html><head>{head}</head><body><p>Text</p></body></html>"
    return read_page(body.encode(), {"content-type": [HTML], **sent}, url)


def facts(
    reply: ReplyRecord | None = None, record: UrlRecord | None = None, soft_404: str | None = None, **fields: Any
) -> ReplyFacts:
    """Facts on an entry whose URL was asked."""
    record, reply = record or UrlRecord(URL, sitemap=SITEMAP, line=3), replace(reply or ok(), soft_404=soft_404)
    return ReplyFacts(**Fields(record=record, reply=reply, asked_at=NOW) | fields)


def findings(asked: ReplyFacts | AssetFacts) -> list[FindingRecord]:
    """Findings on a reply by all rules; that a rule raised is one too."""
    judge = Judge(Choice(RULES), per_rule=1_000_000)
    file, asked = Counted(SITEMAP), replace(asked, record=copy(asked.record))
    notes = Notes()
    judge.replies([asked], file, notes) if isinstance(asked, ReplyFacts) else judge.assets([asked], file, notes)
    return notes.findings([asked.record]) + judge.conclude(file) + judge.crawl({})


def told(asked: ReplyFacts | AssetFacts) -> Told:
    """Rules that speak, with their severities."""
    found = findings(asked)
    assert len({(one.rule, one.message) for one in found}) == len(found)
    return {one.rule: str(one.severity) for one in found}


def message(asked: ReplyFacts | AssetFacts, rule: str) -> str:
    """The one message of a rule."""
    [found] = [one for one in findings(asked) if one.rule == rule]
    return found.message


def told_of_file(**replies: int) -> list[FindingRecord]:
    """Findings of the `status-` rules on a file, of which so many entries had these replies (`_` for `-`)."""
    record = SitemapRecord(SITEMAP, format="xml-urlset", status=200)
    counted = Counter({kind.replace("_", "-"): number for kind, number in replies.items()})
    file = FileFacts(SITEMAP, record, Document(SITEMAP), replies=counted)
    return Judge(Choice(RULES, select=("status",)), per_rule=100).file(record, file)


URLS = st.one_of(
    st.sampled_from(
        [URL, "https://example.com/", "http://www.EXAMPLE.com/a/?#x", "//example.com/%zz", "/a", "", "http://[", "ftp://e/", "https://é.example/ü"]
    ),
    st.text(max_size=30),
)  # fmt: skip
"""Anything that may stand where a URL should."""
STATUSES = st.sampled_from([0, 99, 200, 204, 300, 301, 304, 308, 400, 401, 403, 404, 410, 418, 429, 500, 503, 599, 999])
TEXTS = st.none() | st.text(max_size=20)
_TRAIL: dict[str, Any] = {
    "redirects": st.lists(st.builds(Hop, STATUSES, URLS), max_size=6).map(tuple),
    "attempts": st.integers(0, 30),
    "elapsed_ms": st.integers(0, 10**6),
    "head_status": st.none() | STATUSES,
}
_ANSWER = {
    **_TRAIL,
    "final_status": STATUSES,
    "final_url": URLS,
    "content_type": TEXTS | st.sampled_from([HTML, "image/png", ";", "application/pdf"]),
    "last_modified": TEXTS | st.sampled_from(["Fri, 01 May 2026 10:00:00 GMT", "Thu, 01 Jan 1970 00:00:00 GMT", "0001-01-01"]),
    "etag": TEXTS,
}  # fmt: skip
_REACHED = {**_ANSWER, "noindex": st.none() | st.booleans(), "canonical": st.none() | URLS}


def _made(*kinds: ReplyKind, **fields: Any) -> st.SearchStrategy[ReplyRecord]:
    return st.builds(made, st.sampled_from(kinds), **fields)


REPLIES: st.SearchStrategy[ReplyRecord] = st.one_of(
    _made(ReplyKind.OK, ReplyKind.REDIRECTED, **_REACHED),
    _made(ReplyKind.HTTP_ERROR, *CUT, ReplyKind.REDIRECT_LOOP, **_ANSWER, error=st.text()),
    _made(*FAILURES, **_TRAIL, final_url=URLS, error=st.text()),
    _made(ReplyKind.ADDRESS_REFUSED, **_TRAIL, final_url=URLS, error=st.text()),
    _made(ReplyKind.UNCHECKED, **_TRAIL, reason=st.sampled_from(Reason)),
)
"""Any reply, also one that no server gives."""
