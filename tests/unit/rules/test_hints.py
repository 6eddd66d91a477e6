"""The rules on changefreq and priority, beyond the files `changefreq-*` and `priority-*` in `tests/data/bad`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.tables import cases

from .expecting import CORE, places, rules_of
from .judging import judge

RULES = rules_of("changefreq", "priority")
PRIORITIES = ("priority-invalid", "priority-out-of-range", "priority-over-100-bytes")
OLD = "<lastmod>2012-01-05</lastmod><changefreq>daily</changefreq>"


def urlset(*entries: str) -> bytes:
    """A urlset with these elements behind the URLs of its entries, each on a line of its own."""
    urls = (f"<url><loc>https://example.com/{place}</loc>\n{entry}</url>\n" for place, entry in enumerate(entries))
    return f'<urlset xmlns="{CORE}">\n{"".join(urls)}</urlset>'.encode()


def prioritised(*values: str | None) -> bytes:
    """A urlset with an entry for each priority; None for an entry without one."""
    return urlset(*("" if value is None else f"<priority>{value}</priority>" for value in values))


def said(data: bytes, rule: str, **record: object) -> list[str]:
    return [finding.message for finding in judge(data, **record) if finding.rule == rule]  # type: ignore[arg-type]  # fields of the record


def test_a_feed_has_no_hints() -> None:
    item = "<item><link>https://example.com/a</link><changefreq>often</changefreq><priority>9</priority></item>"
    assert places(judge(f'<rss version="2.0"><channel>{item}</channel></rss>'.encode()), RULES, RULES) == []


def test_hints_are_counted_once_for_a_file() -> None:
    data = urlset("<changefreq>daily</changefreq>", "", "<changefreq/>", "<changefreq>Weekly</changefreq>")
    assert said(data, "changefreq-ignored") == ["2 of 4 entries (50 %) have a changefreq, which Google and Bing ignore"]
    assert said(urlset("", "<changefreq/>"), "changefreq-ignored") == []
    expected = ["2 of 4 entries (50 %) have a priority, which Google and Bing ignore; Yandex may use it"]
    assert said(prioritised("0.5", "0,8", None, "high"), "priority-ignored") == expected
    assert said(urlset(""), "priority-ignored") == []


@pytest.mark.parametrize(
    ("frequency", "date", "contradicts"),
    [
        ("daily", "2025-05-31", True),
        ("always", "2025-06-01T11:59:00Z", True),
        ("hourly", "2025-06-01T12:01:00Z", False),
        ("Weekly", "2025-05-31", True),
        ("monthly", "2025-05-31", False),
        ("monthly", "2024-05-31", True),
        ("yearly", "2006-05-31", False),
        ("never", "2006-05-31", False),
        ("often", "2006-05-31", False),
    ],
)
def test_a_page_that_should_have_changed_long_ago(frequency: str, date: str, contradicts: bool) -> None:
    data = urlset(f"<lastmod>{date}</lastmod><changefreq>{frequency}</changefreq>")
    assert bool(said(data, "changefreq-contradicts-lastmod")) is contradicts


def test_contradictions_are_counted_once_for_a_file_at_the_first_entry() -> None:
    data = urlset("<changefreq>daily</changefreq>", OLD, OLD, "<lastmod>2012-01-05</lastmod>")
    [finding] = [one for one in judge(data) if one.rule == "changefreq-contradicts-lastmod"]
    assert finding.message.startswith("2 of 3 entries with a changefreq (67 %) claim to")
    assert (finding.line, finding.url) == (4, "https://example.com/1")


@pytest.mark.parametrize(
    ("values", "rule"),
    cases(
        ([["0.8"] * 20, ["0.8"] * 19 + ["0.80"], ["0.5"] * 20 + [None], ["0.0"] * 20], "priority-all-same"),
        ([["0.8"] * 19, ["0.8"] * 500 + ["0.7"], ["0.8"] * 20 + [None], ["0.5"] * 19 + [None], ["1.0"] * 19,
          ["1.0"] * 20 + [None], ["10"] * 20, [None] * 30], None),
        ([["1.0"] * 20, ["1"] * 10 + ["1.00"] * 10], "priority-all-one"),
    ),
)  # fmt: skip
def test_one_priority_for_all(values: list[str | None], rule: str | None) -> None:
    alike = [finding.rule for finding in judge(prioritised(*values)) if finding.rule.startswith("priority-all")]
    assert alike == ([rule] if rule else [])


def test_one_priority_for_all_is_told_with_its_value() -> None:
    assert said(prioritised(*["0.80"] * 20), "priority-all-same") == ["all 20 entries have the priority 0.8"]
    assert said(prioritised(*["1"] * 20), "priority-all-one") == ["all 20 entries have the priority 1.0"]
    assert said(prioritised(*["0.5"] * 20, None), "priority-all-same") == ["all 21 entries have the priority 0.5"]


def test_a_file_that_was_not_read_to_its_end_is_not_counted() -> None:
    data = prioritised(*["0.8"] * 20)
    assert said(data[: -len("</urlset>")], "priority-all-same") == []
    assert said(data, "priority-all-same", url_count=21) == []


@given(st.decimals(-2, 2, places=3))
def test_a_plain_number_is_a_valid_priority_from_zero_to_one(value: object) -> None:
    rules = [finding.rule for finding in judge(prioritised(str(value))) if finding.rule in PRIORITIES]
    assert rules == ([] if 0 <= float(str(value)) <= 1 else ["priority-out-of-range"])
