"""The rules on the priority of pages, beyond the files `priority-*` in `tests/data/bad`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.tables import cases

from .expecting import CORE, rules_of
from .judging import judge

RULES = rules_of("priority")
VALUES = ("priority-invalid", "priority-out-of-range", "priority-over-100-bytes")


def urlset(*values: str | None) -> bytes:
    """A urlset with an entry for each priority; None for an entry without one."""
    elements = ("" if value is None else f"<priority>{value}</priority>" for value in values)
    urls = (f"<url><loc>https://example.com/{place}</loc>\n{element}</url>\n" for place, element in enumerate(elements))
    return f'<urlset xmlns="{CORE}">\n{"".join(urls)}</urlset>'.encode()


def found(value: str) -> list[str]:
    return [finding.rule for finding in judge(urlset(value)) if finding.rule in VALUES]


def said(data: bytes, rule: str, **record: object) -> list[str]:
    return [finding.message for finding in judge(data, **record) if finding.rule == rule]  # type: ignore[arg-type]  # fields of the record


def test_priorities_are_counted_once_for_a_file() -> None:
    expected = ["2 of 4 entries (50 %) have a priority, which Google and Bing ignore; Yandex may use it"]
    assert said(urlset("0.5", "0,8", None, "high"), "priority-ignored") == expected
    assert said(urlset(None), "priority-ignored") == []


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
    alike = [finding.rule for finding in judge(urlset(*values)) if finding.rule.startswith("priority-all")]
    assert alike == ([rule] if rule else [])


def test_one_priority_for_all_is_told_with_its_value() -> None:
    assert said(urlset(*["0.80"] * 20), "priority-all-same") == ["all 20 entries have the priority 0.8"]
    assert said(urlset(*["1"] * 20), "priority-all-one") == ["all 20 entries have the priority 1.0"]
    assert said(urlset(*["0.5"] * 20, None), "priority-all-same") == ["all 21 entries have the priority 0.5"]


def test_a_file_that_was_not_read_to_its_end_is_not_counted() -> None:
    data = urlset(*["0.8"] * 20)
    assert said(data[: -len("</urlset>")], "priority-all-same") == []
    assert said(data, "priority-all-same", url_count=21) == []


@given(
    st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="<&]"), max_size=130)
    | st.decimals(allow_nan=False).map(str)
)
def test_no_text_makes_a_rule_fail_or_two_speak(value: str) -> None:
    findings = judge(urlset(value))
    assert "internal-rule-failed" not in {finding.rule for finding in findings}
    assert len([finding for finding in findings if finding.rule in VALUES]) <= 1


@given(st.decimals(-2, 2, places=3))
def test_a_plain_number_is_valid_from_zero_to_one(value: object) -> None:
    assert found(str(value)) == ([] if 0 <= float(str(value)) <= 1 else ["priority-out-of-range"])
