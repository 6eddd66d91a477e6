"""The rules on what the schemas say: one finding for one fault, on every entry, at its line."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sitemapcrawler.items import FindingRecord, UrlRecord
from sitemapcrawler.namespaces.schemas import schema
from sitemapcrawler.namespaces.schemas.check import RULES as SCHEMA_RULES
from sitemapcrawler.reader.rich import read_plain
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules import judge as judging
from sitemapcrawler.rules.choice import Choice

from .judging import URL, judge
from .mutated import CORE, DOCUMENTS, Mutation, good, mutations

OFFICIAL = Path(__file__).parents[4] / "shared" / "xsd"
FILES = {"urlset": "sitemap.xsd", "sitemapindex": "siteindex.xsd"}
CASES = [*mutations()]
BESIDES = {
    r"\w+: move out loc": "xml-entry-ignored",  # the entry lacks its URL, and the root holds what is not an entry
    r"hreflang: (move out|rename|capitalise|take from its namespace|misspell href of) xhtml:link": "hreflang-self-missing",
    r"hreflang: put a wrong value into loc": "hreflang-self-missing",  # its links lead to the right URL, not to itself
}
"""Mutations that may give a second finding, which is true as well."""
SILENT = (
    r"news: drop url",  # an empty news sitemap is as it should be
)
"""Mutations that the schema does not allow, and that give no finding."""
BEYOND = r"video: double video:(?!video|tag|show_title)\w+"
"""Mutations that the schema allows, and that are wrong all the same: it cannot count parts of which some may repeat."""


def faults(data: bytes) -> list[FindingRecord]:
    """Errors, warnings, and all that the schemas say."""
    return [finding for finding in judge(data) if finding.severity != "info" or finding.rule in SCHEMA_RULES]


def rules_besides(mutation: Mutation) -> set[str]:
    return {rule for pattern, rule in BESIDES.items() if re.fullmatch(pattern, mutation.name)}


def is_silent(mutation: Mutation) -> bool:
    return any(re.fullmatch(pattern, mutation.name) for pattern in SILENT)


def is_valid(mutation: Mutation) -> bool:
    """The verdict of the official schemas; of ours where they know nothing of a namespace."""
    tree = etree.fromstring(mutation.text)
    root = etree.QName(tree).localname
    if root not in FILES or etree.QName(tree).namespace != CORE:
        return False
    if mutation.document in ("core", "index") and OFFICIAL.is_dir():
        return bool(etree.XMLSchema(file=str(OFFICIAL / FILES[root])).validate(tree))
    return bool(schema(root).validate(tree))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_documents_are_good_before_they_are_changed(name: str) -> None:
    assert faults(etree.tostring(good(name))) == []
    assert schema(etree.QName(good(name)).localname).validate(etree.fromstring(etree.tostring(good(name))))


def problem(mutation: Mutation) -> list[str] | None:
    """What was said of a mutation, where that is not one thing; None where all is well."""
    found = faults(mutation.text)
    if is_valid(mutation) and not re.fullmatch(BEYOND, mutation.name):
        return [finding.message for finding in found if finding.rule.startswith("xml-")] or None
    besides = rules_besides(mutation)
    said = [f"{finding.rule}: {finding.message}" for finding in found if finding.rule not in besides]
    return None if len(said) == (0 if is_silent(mutation) else 1) else said


@pytest.mark.slow
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_single_fault_gives_a_single_finding(name: str) -> None:
    cases = [case for case in CASES if case.document == name]
    assert {case.name: said for case in cases if (said := problem(case)) is not None} == {}


@pytest.mark.parametrize("pattern", [*BESIDES, *SILENT, BEYOND])
def test_each_exception_is_one(pattern: str) -> None:
    cases = [case for case in CASES if re.fullmatch(pattern, case.name)]
    if pattern == BEYOND:
        assert all(is_valid(case) for case in cases)
    else:
        assert any(len(faults(case.text)) != 1 for case in cases)


@pytest.mark.slow
def test_there_are_faults_of_every_kind() -> None:
    rules = {finding.rule for case in CASES for finding in faults(case.text)}
    assert rules >= SCHEMA_RULES
    assert len(CASES) > 500


# What plain entries can be


URLS = st.text("abcxyz09-._~/?=%", max_size=30).map("https://example.com/".__add__)
NUMBERS = st.text("0123456789", min_size=2, max_size=2)
DATES = st.tuples(st.text("0123456789", min_size=4, max_size=4), NUMBERS, NUMBERS).map("-".join)
FREQUENCIES = st.sampled_from(["always", "hourly", "daily", "weekly", "monthly", "yearly", "never"])
PRIORITIES = st.sampled_from(["0", "1", "0.5", "1.0000", "0.1234", "0.0"])


@st.composite
def plain_entries(draw: st.DrawFn) -> str:
    """The text of an entry as the reader's expression takes it."""
    fields = [("loc", draw(URLS))]
    for name, values in (("lastmod", DATES), ("changefreq", FREQUENCIES), ("priority", PRIORITIES)):
        if draw(st.booleans()):
            fields.append((name, draw(values)))
    blank = draw(st.sampled_from(["", "\n", " \t"]))
    return f"<url>{blank}{blank.join(f'<{name}>{text}</{name}>' for name, text in fields)}{blank}</url>"


@given(plain_entries())
def test_a_plain_entry_breaks_the_schema_by_values_alone(text: str) -> None:
    """So the schema is not asked about plain entries: rules of their own name all values."""
    records: list[UrlRecord] = []
    assert read_plain(text, 0, 1, URL, records, [])[0] == len(text)
    validator = schema("urlset")
    validator.validate(etree.fromstring(f'<urlset xmlns="{CORE}">{text}</urlset>'))
    assert [error.message for error in validator.error_log if "_VALID" not in error.type_name] == []


# Running


def document(*entries: str, declared: str = "") -> bytes:
    return f'<urlset xmlns="{CORE}" {declared}>\n{"".join(entries)}</urlset>'.encode()


def test_findings_have_the_url_of_their_entry_and_its_record_the_issue() -> None:
    text = "<url>\n<lastmod>2026-05-01</lastmod>\n<loc>https://example.com/a</loc>\n</url>\n"
    [finding] = faults(document("<url><loc>https://example.com/good</loc></url>\n", text))
    assert (finding.rule, finding.url, finding.line) == ("xml-element-order", "https://example.com/a", 5)


@pytest.mark.parametrize(("prefix", "declared"), [("", "xmlns"), ("s:", "xmlns:s")])
def test_an_attribute_of_the_root_is_a_note(prefix: str, declared: str) -> None:
    entry = f"<{prefix}url><{prefix}loc>https://example.com/a</{prefix}loc></{prefix}url>"
    found = judge(f'<{prefix}urlset {declared}="{CORE}" generatedBy="WIX">{entry}</{prefix}urlset>'.encode())
    assert [finding.severity for finding in found if finding.rule == "xml-unknown-attribute"] == ["info"]


@pytest.mark.slow
def test_lines_are_right_in_long_files() -> None:
    good = "<url><loc>https://example.com/{0}</loc>\n<!-- {0} -->\n</url>" + "\n" * 28
    wrong = "<url><loc>https://example.com/wrong/{0}</loc>\n<xhtml:link rel='alternate' hreflang='en' href='https://example.com/wrong/{0}' x='1'/></url>\n"
    many = [good.format(number) for number in range(4_000)]
    entries = [*many[:3_000], wrong.format(1), *many[3_000:], wrong.format(2)]
    found = faults(document(*entries, declared='xmlns:xhtml="http://www.w3.org/1999/xhtml"'))
    assert [(finding.rule, finding.line) for finding in found] == [
        ("xml-unknown-attribute", 90_003),
        ("xml-unknown-attribute", 120_005),
    ]


def test_rules_that_are_not_chosen_say_nothing_of_the_schema() -> None:
    data = document("<url>text<lastmod>2026-05-01</lastmod><loc>https://example.com/a</loc></url>")
    ours = {"xml-schema-violation", "xml-element-order"}
    for chosen in (("xml-element-order",), ("xml-schema-violation",), ("loc",)):
        rules = {finding.rule for finding in judge(data, choice=Choice(all_rules(), select=chosen))}
        assert rules & ours == ours & set(chosen)


@pytest.mark.parametrize("recovered", ["<loc>https://example.com/?a=1&b=2</loc>", "<loc>https://example.com/a</loc>&"])
def test_a_repaired_entry_is_not_judged_again(recovered: str) -> None:
    found = faults(document(f"<url><lastmod>2026-05-01</lastmod>{recovered}</url>"))
    assert [finding.rule for finding in found if finding.rule in SCHEMA_RULES] == []


def test_items_of_feeds_are_not_judged() -> None:
    data = b"<rss version='2.0'><channel><item>text<link>https://example.com/a</link><url/></item></channel></rss>"
    assert [finding for finding in judge(data) if finding.rule in SCHEMA_RULES] == []


def test_a_check_that_fails_is_said_and_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(judging, "violations", fail)
    monkeypatch.setattr(logging.getLogger("sitemapcrawler.rules.judge"), "disabled", True)
    found = judge(document("<url><loc>https://example.com/a b</loc><!-- --><lastmod/></url>"))
    assert [finding.value for finding in found if finding.rule == "internal-rule-failed"] == ["xml-schema-violation"]
    assert "lastmod-empty" in {finding.rule for finding in found}
