"""The rules on the replies of language versions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces.extensions import Alternate
from sitemapcrawler.reader import Document
from sitemapcrawler.replies import Reason, ReplyKind, ReplyRecord
from tests.unit.tables import cases

from .replying import REPLIES, SITEMAP, URL, URLS, Told, error, facts, failed, findings, made, message, moved, ok, told

DE, FR = "https://example.com/de", "https://example.com/fr"


def versions(
    targets: dict[str, ReplyRecord], *, reply: ReplyRecord | None = None, soft_404: str | None = None, **codes: str
) -> Any:
    alternates = [Alternate(code, href) for code, href in codes.items()]
    record = UrlRecord(URL, sitemap=SITEMAP, alternates=alternates, line=3)
    return facts(reply, record, soft_404, targets=targets)


@pytest.mark.parametrize(
    ("reply", "rules"),
    cases(
        ([ok(final_url=DE), ok(final_url=DE, canonical=DE), ok(final_url=DE, canonical="https://EXAMPLE.com:443/%64e#x"),
          ok(final_url=DE, noindex_agents=("bingbot",)), error(429),
          made(ReplyKind.TRUNCATED, final_status=200, final_url=DE, error="cut"),
          ReplyRecord(reason=Reason.BLOCKED)], {}),
        ([ok(final_url=DE, canonical=FR)], {"hreflang-target-noncanonical": "warning"}),
        ([ok(final_url=DE, noindex=True), ok(final_url=DE, noindex_agents=("googlebot",)),
          ok(final_url=DE, noindex=True, canonical=FR)], {"hreflang-target-noindex": "error"}),
        ([moved(FR, noindex=True, canonical=DE), ok(final_url=DE, refresh=FR, canonical=FR)],
         {"hreflang-target-redirect": "warning"}),
        ([error(404), error(500), failed(ReplyKind.TIMEOUT), ok(final_url=DE, soft_404="empty", noindex=True)],
         {"hreflang-target-status": "error"}),
    ),
)  # fmt: skip
def test_a_language_version(reply: ReplyRecord, rules: Told) -> None:
    assert told(versions({DE: reply}, en=URL, de=DE)) == rules


def test_what_was_not_asked_and_the_page_itself_have_no_finding() -> None:
    assert told(versions({}, en=URL, de=DE)) == {}
    assert told(versions({URL: error(404)}, en=URL)) == {}


def test_an_entry_that_does_not_work_has_one_finding() -> None:
    assert told(versions({DE: error(404)}, reply=error(404), en=URL, de=DE)) == {"status-404": "error"}
    assert told(versions({DE: error(404)}, soft_404="empty", en=URL, de=DE)) == {"status-soft-404": "warning"}


def test_an_entry_that_was_not_asked_is_judged() -> None:
    asked = versions({DE: error(404)}, reply=ReplyRecord(reason=Reason.SAMPLED_OUT), en=URL, de=DE)
    assert told(asked) == {"hreflang-target-status": "error"}


def test_several_are_one_message_for_each_entry() -> None:
    asked = versions({DE: error(404), FR: failed(ReplyKind.DNS)}, en=URL, de=DE, fr=FR, at=DE)
    assert message(asked, "hreflang-target-status") == (
        "the de version 'https://example.com/de' answers 404 (and 1 more of its language versions)"
    )


def test_a_relative_link_is_found_by_its_url() -> None:
    assert told(versions({DE: error(404)}, de="/de")) == {"hreflang-target-status": "error"}


def test_the_line_is_that_of_the_link() -> None:
    data = f"""<?xml version="1.0"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">
<url><loc>{URL}</loc>
<xhtml:link rel="alternate" hreflang="en" href="{URL}"/>
<xhtml:link rel="alternate" hreflang="de" href="{DE}"/>
</url></urlset>"""
    document = Document(SITEMAP, keep_elements=True)
    [(record, element)] = [
        (note.record, note.element) for _ in document.read([data.encode()]) for note in document.notes.values()
    ]
    [found] = findings(facts(record=record, targets={DE: error(404)}, element=element))
    assert (found.rule, found.line) == ("hreflang-target-status", 5)


@pytest.mark.slow
@given(st.lists(st.tuples(st.none() | st.text(max_size=5), st.none() | URLS, REPLIES), max_size=4), URLS)
def test_no_replies_make_a_rule_fail(listed: list[tuple[str | None, str | None, ReplyRecord]], loc: str) -> None:
    record = UrlRecord(loc, sitemap=SITEMAP, alternates=[Alternate(code, href) for code, href, _ in listed])
    targets = {href: reply for _, href, reply in listed if href is not None}
    rules = [one.rule for one in findings(facts(record=record, targets=targets))]
    assert len(rules) == len(set(rules))
    assert "internal-rule-failed" not in rules
