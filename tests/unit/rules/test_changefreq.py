"""The rules on how often a page is said to change, beyond the files `changefreq-*` in `tests/data/bad`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.reader.entries import FREQUENCIES

from .expecting import CORE, places, rules_of
from .judging import judge

RULES = rules_of("changefreq")


def urlset(*entries: str) -> bytes:
    """A urlset with these elements behind the URLs of its entries, each on a line of its own."""
    urls = (f"<url><loc>https://example.com/{place}</loc>\n{entry}</url>\n" for place, entry in enumerate(entries))
    return f'<urlset xmlns="{CORE}">\n{"".join(urls)}</urlset>'.encode()


def said(data: bytes, rule: str) -> list[str]:
    return [finding.message for finding in judge(data) if finding.rule == rule]


def test_a_feed_has_no_changefreq() -> None:
    item = "<item><link>https://example.com/a</link><changefreq>often</changefreq></item>"
    assert places(judge(f'<rss version="2.0"><channel>{item}</channel></rss>'.encode()), RULES, RULES) == []


def test_frequencies_are_counted_once_for_a_file() -> None:
    data = urlset("<changefreq>daily</changefreq>", "", "<changefreq/>", "<changefreq>Weekly</changefreq>")
    assert said(data, "changefreq-ignored") == ["2 of 4 entries (50 %) have a changefreq, which Google and Bing ignore"]
    assert said(urlset("", "<changefreq/>"), "changefreq-ignored") == []


@pytest.mark.parametrize(
    ("frequency", "date", "contradicts"),
    [
        ("daily", "2025-05-31", True), ("always", "2025-06-01T11:59:00Z", True),
        ("hourly", "2025-06-01T12:01:00Z", False), ("Weekly", "2025-05-31", True), ("monthly", "2025-05-31", False),
        ("monthly", "2024-05-31", True), ("yearly", "2006-05-31", False), ("never", "2006-05-31", False),
        ("often", "2006-05-31", False),
    ],
)  # fmt: skip
def test_a_page_that_should_have_changed_long_ago(frequency: str, date: str, contradicts: bool) -> None:
    data = urlset(f"<lastmod>{date}</lastmod><changefreq>{frequency}</changefreq>")
    assert bool(said(data, "changefreq-contradicts-lastmod")) is contradicts


def test_contradictions_are_counted_once_for_a_file() -> None:
    old = "<lastmod>2012-01-05</lastmod><changefreq>daily</changefreq>"
    [message] = said(
        urlset(old, old, "<changefreq>daily</changefreq>", "<lastmod>2012-01-05</lastmod>"),
        "changefreq-contradicts-lastmod",
    )
    assert message.startswith("2 of 3 entries with a changefreq (67 %) are said to")


def test_a_contradiction_has_the_place_of_the_first_entry() -> None:
    old = "<lastmod>2012-01-05</lastmod><changefreq>daily</changefreq>"
    [finding] = [one for one in judge(urlset("", old, old)) if one.rule == "changefreq-contradicts-lastmod"]
    assert (finding.line, finding.url) == (4, "https://example.com/1")


@given(st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="<&]\x00"), max_size=130))
def test_no_text_makes_a_rule_fail_and_any_other_than_the_seven_is_told(value: str) -> None:
    findings = judge(urlset(f"<changefreq>{value}</changefreq>"))
    assert "internal-rule-failed" not in {finding.rule for finding in findings}
    told = [finding.rule for finding in findings if finding.rule in ("changefreq-invalid", "changefreq-over-100-bytes")]
    assert len(told) == (value not in FREQUENCIES)
