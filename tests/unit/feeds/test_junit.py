"""The JUnit feed: a report that CI systems take, with the right counts, whatever strangers wrote."""

from __future__ import annotations

import io
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from sitemapcrawler.envelopes import NotedBatch
from sitemapcrawler.feeds.findings import MAX_LINES, JUnitExporter
from sitemapcrawler.feeds.setup import check_feeds
from sitemapcrawler.items import Breach, FindingRecord, SitemapRecord, SummaryRecord, UrlRecord, records
from sitemapcrawler.reader.notes import Note, Notes

from . import exporting
from .findings_written import SITEMAP, a_finding, peak, with_findings

OTHER = "https://e.com/other.xml"
SHAPE: dict[str, tuple[set[str], set[str], set[str]]] = {
    "testsuites": ({"testsuite"}, set(), {"name", "time", "tests", "failures", "errors"}),
    "testsuite": (
        {"properties", "testcase", "system-out", "system-err"},
        {"name", "tests", "failures", "errors"},
        {"time", "skipped", "timestamp", "hostname", "id", "package"},
    ),
    "properties": ({"property"}, set(), set()),
    "property": (set(), {"name", "value"}, set()),
    "testcase": ({"skipped", "error", "failure", "system-out", "system-err"}, {"name"}, {"time", "classname"}),
    "failure": (set(), set(), {"type", "message"}),
    "error": (set(), set(), {"type", "message"}),
    "skipped": (set(), set(), {"type", "message"}),
    "system-out": (set(), set(), set()),
}
"""Of each element: its children, the attributes it must have, and those it may have besides.
Source: junit-10.xsd of the xunit plugin of Jenkins"""
TEXT = st.text(alphabet=st.characters(exclude_categories=[]))
FINDINGS = st.builds(
    FindingRecord,
    rule=st.sampled_from(["loc-relative", "doc-bom"]) | TEXT,
    severity=st.sampled_from(["error", "warning", "info"]) | TEXT,
    message=TEXT,
    sitemap=st.none() | st.sampled_from([SITEMAP, OTHER]) | TEXT,
    line=st.none() | st.integers(),
    column=st.none() | st.integers(),
    url=st.none() | TEXT,
    value=st.none() | TEXT,
)


write = partial(exporting.write, JUnitExporter)
export = partial(exporting.export, JUnitExporter)


def report(*items: Any, **options: Any) -> Any:
    """The root of the report, which is as Jenkins asks and whose figures are right."""
    root = etree.fromstring(export(*items, **options), etree.XMLParser(no_network=True, resolve_entities=False))
    for element in root.iter():
        children, required, others = SHAPE[element.tag]
        assert {child.tag for child in element} <= children, element.tag
        assert required <= set(element.attrib) <= required | others, element.tag
    for suite in root:
        found = {"tests": "testcase", "failures": "*/failure", "errors": "*/error", "skipped": "*/skipped"}
        assert {name: int(suite.get(name)) for name in found} == {
            name: len(suite.findall(path)) for name, path in found.items()
        }
        assert int(suite.get("tests")) > 0
    names = [suite.get("name") for suite in root]
    assert len({*names}) == len(names)
    tests = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    assert len({*tests}) == len(tests)
    return root


def cases(*items: Any, **options: Any) -> list[tuple[str, str, str]]:
    """(file, test, how it ended) of every test, in order."""
    return [
        (case.get("classname"), case.get("name"), case[0].tag if len(case) else "passed")
        for case in report(*items, **options).iter("testcase")
    ]


def failure(*findings: FindingRecord) -> Any:
    (only,) = report(*findings).iter("failure")
    return only


def test_a_report_on_nothing_is_whole() -> None:
    assert report().tag == "testsuites"
    assert cases() == []
    assert cases(SummaryRecord()) == [("crawl", "reached its end", "passed")]


def test_a_rule_is_a_test_of_the_file_wherever_its_findings_ride() -> None:
    entry = UrlRecord()
    notes = Notes.table([Note(entry, findings=[a_finding(line=3, column=7, url="https://e.com/x")])])
    file = with_findings(
        SitemapRecord(sitemap=SITEMAP),
        a_finding(line=9),
        a_finding(rule="xml-empty-urlset", severity="warning", message="no entry"),
        a_finding(rule="doc-bom", severity="info", message="a byte order mark", line=1),
    )
    items = [NotedBatch(SITEMAP, [UrlRecord(), entry], notes), file, {"name": "no record"}]
    assert cases(*items) == [
        (SITEMAP, "loc-relative", "failure"),
        (SITEMAP, "xml-empty-urlset", "failure"),
        (SITEMAP, "doc-bom", "system-out"),
    ]
    first, second = report(*items).iter("failure")
    assert dict(first.attrib) == {"type": "error", "message": "2 findings, the first: '/x' is not absolute"}
    assert first.text == (
        f"{SITEMAP}:3:7: error: '/x' is not absolute (https://e.com/x)\n{SITEMAP}:9: error: '/x' is not absolute"
    )
    assert dict(second.attrib) == {"type": "warning", "message": "no entry"}
    assert report(*items).find(".//system-out").text == f"{SITEMAP}:1: info: a byte order mark"


def test_batches_and_single_records_give_the_same_bytes() -> None:
    notes = [Note(UrlRecord(), findings=[a_finding(line=line)]) for line in (3, 4)]
    batch = NotedBatch(SITEMAP, [note.record for note in notes], Notes.table(notes))
    file = SitemapRecord(sitemap=SITEMAP)
    assert export(batch, file) == export(*records(batch), file)


@pytest.mark.parametrize(
    ("outcome", "ended"),
    [("ok", "passed"), ("recovered", "passed"), ("truncated", "passed"), ("failed", "skipped"), ("blocked", "skipped")],
)
def test_a_file_without_findings_passes_if_it_was_read(outcome: str, ended: str) -> None:
    file = SitemapRecord(sitemap=SITEMAP, outcome=outcome, error="HTTP status 404")
    assert cases(file) == [(SITEMAP, "no findings", ended)]
    assert [each.get("message") for each in report(file).iter("skipped")] == ["HTTP status 404"] * (ended == "skipped")


def test_a_file_of_which_only_the_whole_site_has_findings_has_one_suite() -> None:
    other = SitemapRecord(sitemap="https://e.com/other.xml")
    items = [SitemapRecord(sitemap=SITEMAP), other, a_finding(rule="cross-duplicate-url")]
    assert cases(*items) == [(other.sitemap, "no findings", "passed"), (SITEMAP, "cross-duplicate-url", "failure")]


def test_a_rule_that_finds_something_in_a_file_and_on_the_site_is_one_test() -> None:
    items = [a_finding(line=1), SitemapRecord(sitemap=SITEMAP), SitemapRecord(sitemap=OTHER), a_finding(line=2)]
    assert cases(*items) == [(OTHER, "no findings", "passed"), (SITEMAP, "loc-relative", "failure")]
    assert failure(*items).text.count("\n") == 1


def test_files_of_one_path_have_their_urls_as_names() -> None:
    urls = ["https://a.com/s.xml", "https://b.com/s.xml", "https://b.com/t.xml"]
    roots = {"https://a.com/": "public/", "https://b.com/": "public/"}
    files = [item for url in urls for item in (a_finding(sitemap=url), SitemapRecord(sitemap=url))]
    found = report(*files, roots=roots)
    assert [suite.get("name") for suite in found] == [*urls[:2], "public/t.xml"]
    assert found.find(".//failure").text.startswith("https://a.com/s.xml: error")


def test_the_order_in_which_files_are_read_makes_no_difference() -> None:
    files = [with_findings(SitemapRecord(sitemap=url), a_finding(sitemap=url)) for url in (SITEMAP, OTHER)]
    assert export(*files) == export(*files[::-1])


def test_files_that_are_read_at_once_are_kept_apart() -> None:
    items = [
        a_finding(line=1),
        a_finding(sitemap=OTHER, line=1),
        a_finding(line=2),
        SitemapRecord(sitemap=SITEMAP),
        a_finding(sitemap=OTHER, line=2),
        SitemapRecord(sitemap=OTHER),
    ]
    assert [(suite.get("name"), suite.get("failures")) for suite in report(*items)] == [(OTHER, "1"), (SITEMAP, "1")]
    assert [each.text.count("\n") for each in report(*items).iter("failure")] == [1, 1]


@pytest.mark.parametrize(
    ("severities", "kind"),
    [
        (("info", "warning", "error", "info"), "error"),
        (("warning", "info"), "warning"),
        (("info", "warning"), "warning"),
    ],
)
def test_a_test_is_as_bad_as_its_worst_finding(severities: tuple[str, ...], kind: str) -> None:
    assert failure(*(a_finding(severity=severity) for severity in severities)).get("type") == kind


def test_more_findings_than_a_person_reads_are_counted() -> None:
    found = failure(*(a_finding(line=line) for line in range(1, 1501)))
    assert found.get("message").startswith("1,500 findings, the first: ")
    assert len(found.text.splitlines()) == MAX_LINES + 1
    assert found.text.endswith(f"{SITEMAP}:100: error: '/x' is not absolute\nand 1,400 more")


def test_a_url_that_the_message_names_is_not_repeated() -> None:
    assert (
        failure(a_finding(message="https://e.com/x is odd", url="https://e.com/x")).text.count("https://e.com/x") == 1
    )


def test_findings_on_the_crawl_are_in_its_own_suite() -> None:
    summary = SummaryRecord(["e.com"], "2026-11-21T10:00:00Z", 1.5, sitemaps=2, urls=10)
    items = [a_finding(rule="allow-expired", severity="warning", message="ended", sitemap=None), summary]
    assert cases(*items) == [("crawl", "allow-expired", "failure"), ("crawl", "reached its end", "passed")]
    assert failure(*items).text == "crawl: warning: ended"
    assert {each.get("name"): each.get("value") for each in report(*items).iter("property")} == {
        "started": "2026-11-21T10:00:00Z",
        "elapsed_s": "1.5",
        "sitemaps": "2",
        "urls": "10",
    }


def test_a_crawl_that_ended_early_is_an_error() -> None:
    summary = SummaryRecord(partial="max_urls")
    assert cases(summary) == [("crawl", "reached its end", "error")]
    assert dict(report(summary).find(".//error").attrib) == {"type": "partial", "message": "max_urls"}


def test_a_crawl_that_a_file_limits_has_a_skipped_test() -> None:
    summary = SummaryRecord(limited_by="pyproject.toml: select = none")
    assert cases(summary) == [("crawl", "reached its end", "passed"), ("crawl", "has no limits", "skipped")]
    assert report(summary).find(".//skipped").get("message") == "pyproject.toml: select = none"


@pytest.mark.parametrize(
    ("breaches", "tests"),
    [
        (None, []),
        ([], [("crawl", "policy", "passed")]),
        (
            [Breach("a=1", "b\u202e"), Breach("", "c")],
            [("crawl", "policy a=1", "failure"), ("crawl", "policy", "failure")],
        ),
    ],
)
def test_each_broken_limit_of_the_policy_is_a_failed_test(breaches: list[Breach] | None, tests: list[Any]) -> None:
    summary = SummaryRecord(breaches=breaches)
    assert cases(summary) == [("crawl", "reached its end", "passed"), *tests]
    suite = report(summary).find("testsuite")
    assert int(suite.get("failures")) == len(breaches or ())
    assert [one.get("message") for one in suite.iter("failure")] == ["b\\u202e", "c"][: len(breaches or ())]


def test_a_file_of_this_machine_has_its_path(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = with_findings(
        SitemapRecord(sitemap=(sitemap := (tmp_path / "public/s.xml").as_uri())), a_finding(sitemap=sitemap)
    )
    assert cases(file) == [("public/s.xml", "loc-relative", "failure")]
    found = report(a_finding(sitemap=sitemap, message=f"is listed in '{sitemap}' too"))
    assert [one.get("message") for one in found.iter("failure")] == ["is listed in 'public/s.xml' too"]


def test_roots_make_paths_of_urls() -> None:
    assert cases(SitemapRecord(sitemap=SITEMAP), roots={"https://e.com/": "public/"}) == [
        ("public/sitemap.xml", "no findings", "passed")
    ]


@settings(max_examples=80)
@given(
    st.lists(FINDINGS | TEXT.map(lambda text: SitemapRecord(sitemap=text, error=text, outcome="failed")), max_size=5)
)
def test_whatever_strangers_wrote_the_report_is_valid_and_shows_it(items: list[Any]) -> None:
    root = report(*items)
    for element in root.iter():
        assert all(value.isprintable() for value in element.attrib.values())
        assert all(line.isprintable() for line in (element.text or "").split("\n"))


def test_what_they_wrote_is_text() -> None:
    found = failure(a_finding(message="</failure>\0\u202e&amp;\ufffe\ud800 é", url='https://e.com/?a=1&b="2"\''))
    assert found.get("message") == r"</failure>\x00\u202e&amp;\ufffe\ud800 é"
    assert found.text.endswith('é (https://e.com/?a=1&b="2"\')')


def test_it_is_utf_8_whatever_is_asked_for() -> None:
    assert "é".encode() in export(a_finding(message="é"), encoding="utf-16", indent=2)


def test_a_report_is_not_appended_to() -> None:
    with pytest.raises(ValueError, match=r"^junit cannot be appended to; use -O"):
        check_feeds({"x.xml": {"format": "junit"}})

    class Earlier(io.BytesIO):
        appending = True

    with pytest.raises(ValueError, match=r"^junit cannot be appended to; use overwrite$"):
        JUnitExporter(Earlier()).start_exporting()


def test_memory_does_not_grow_with_files_or_findings() -> None:
    few, _ = peak(write, 20)
    many, written = peak(write, 400)
    assert written > 1_000_000
    assert many < few + 500_000
