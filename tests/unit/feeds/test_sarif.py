"""The SARIF feed: valid by the official schema and by what code hosts ask beyond it, whatever strangers wrote."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler import __version__
from sitemapcrawler.envelopes import NotedBatch
from sitemapcrawler.feeds.findings import Places, SarifExporter, descriptor
from sitemapcrawler.feeds.setup import check_feeds
from sitemapcrawler.items import Breach, FindingRecord, SitemapRecord, SummaryRecord, UrlRecord, records
from sitemapcrawler.reader.notes import Note, Notes
from sitemapcrawler.rules import Of, Rule, Severity, all_rules
from sitemapcrawler.urls.display import MAX_TEXT, inert
from tests.examples import briefly

from . import exporting, findings_written
from .findings_written import SITEMAP, a_finding, peak, with_findings

IDS = list(dict.fromkeys(rule.id for rule in all_rules()))
RULE, INDEX = "loc-relative", IDS.index("loc-relative")
URI = re.compile(
    r"(?:[A-Za-z][A-Za-z0-9+.-]*:)?(?://(?:\[[0-9A-Fa-f:.]+\])?)?(?:[\w.~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*", re.ASCII
)
"""Characters of a URI reference without fragment. Source: RFC 3986, appendix A"""
TEXT = st.text(alphabet=st.characters(exclude_categories=[]))
FINDINGS = st.builds(
    FindingRecord,
    rule=st.sampled_from([RULE, "doc-bom", "unheard-of"]) | TEXT,
    severity=st.sampled_from(["error", "warning", "info"]) | TEXT,
    message=TEXT,
    sitemap=st.none() | TEXT | TEXT.map("https://e.com/".__add__) | TEXT.map("file:///".__add__),
    line=st.none() | st.integers(),
    column=st.none() | st.integers(),
    url=st.none() | TEXT,
    value=st.none() | TEXT,
)


@pytest.fixture(scope="module")
def validate() -> Any:
    return findings_written.validator_of_sarif()


write = partial(exporting.write, SarifExporter)
export = partial(exporting.export, SarifExporter)


def run(*items: Any, **options: Any) -> dict[str, Any]:
    (only,) = json.loads(export(*items, **options).decode("utf-8"))["runs"]
    return dict(only)


def results(*items: Any, **options: Any) -> list[dict[str, Any]]:
    return list(run(*items, **options)["results"])


def result(*, roots: Any = None, **values: Any) -> dict[str, Any]:
    (only,) = results(a_finding(**values), roots=roots)
    return only


def location(**values: Any) -> dict[str, Any]:
    (only,) = result(**values)["locations"]
    return dict(only["physicalLocation"])


def fingerprints(*items: Any) -> list[str]:
    return [each["partialFingerprints"]["primaryLocationLineHash"] for each in results(*items)]


def a_batch(*findings: FindingRecord) -> NotedBatch:
    """A batch of which every second entry has one of the findings."""
    notes = [Note(UrlRecord(), findings=[each]) for each in findings]
    entries = [entry for note in notes for entry in (UrlRecord(), note.record)]
    return NotedBatch(SITEMAP, entries, Notes.table(notes))


def texts(value: Any) -> Iterator[str]:
    """Every text in a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for part in value:
            yield from texts(part)
            if isinstance(value, dict):
                yield from texts(value[part])


def test_a_log_without_findings_is_whole(validate: Any) -> None:
    validate(json.loads(export()))
    assert run()["results"] == []
    assert run(NotedBatch(SITEMAP, [UrlRecord()]), SitemapRecord(), SummaryRecord())["results"] == []


def test_the_schema_notices_what_is_wrong(validate: Any) -> None:
    log = json.loads(export(a_finding(line=3)))
    log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"]["startLine"] = 0
    with pytest.raises(import_module("jsonschema").ValidationError, match="less than the minimum"):
        validate(log)


def test_findings_of_a_batch_an_entry_a_file_and_the_crawl_are_written_in_order(validate: Any) -> None:
    a, b, c, d, e = (a_finding(message=name, line=3) for name in "abcde")
    items = [a_batch(a, b), with_findings(UrlRecord(), c), with_findings(SitemapRecord(), d), e, {"name": "no record"}]
    validate(json.loads(export(*items)))
    assert [each["message"]["text"] for each in results(*items)] == ["a", "b", "c", "d", "e"]


def test_batches_and_single_records_give_the_same_bytes() -> None:
    batch = a_batch(a_finding(line=3), a_finding(line=4, url="https://e.com/x"))
    assert export(batch) == export(*records(batch))
    assert export(batch).count(b'"ruleId"') == 2


def test_a_result_is_a_line_of_utf_8() -> None:
    lines = export(a_finding(message="é"), a_finding(), encoding="latin-1", indent=4).decode("utf-8").splitlines()
    assert [line.startswith('{"ruleId":') for line in lines] == [False, True, True, False]
    assert '"text":"é"' in lines[1]


def test_everything_known_of_a_finding_is_there(validate: Any) -> None:
    items = [a_finding(line=3, column=14, url="https://e.com/x", value="/x")]
    validate(json.loads(export(*items)))
    (whole,) = results(*items)
    assert re.fullmatch("[0-9a-f]{16}:1", whole["partialFingerprints"].pop("primaryLocationLineHash"))
    assert whole == {
        "ruleId": RULE,
        "ruleIndex": INDEX,
        "level": "error",
        "message": {"text": "'/x' is not absolute"},
        "locations": [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": SITEMAP},
                    "region": {"startLine": 3, "startColumn": 14},
                },
                "logicalLocations": [{"fullyQualifiedName": "https://e.com/x", "kind": "resource"}],
            }
        ],
        "partialFingerprints": {},
        "properties": {"value": "/x"},
    }


@pytest.mark.parametrize(("severity", "level"), [("error", "error"), ("warning", "warning"), ("info", "note")])
def test_the_level_is_that_of_the_finding_whatever_the_rule_says(severity: str, level: str) -> None:
    rules = run()["tool"]["driver"]["rules"]
    assert result(severity=severity)["level"] == level
    assert rules[INDEX]["defaultConfiguration"]["level"] == "error"


def test_a_rule_that_nobody_registered_is_named_without_index(validate: Any) -> None:
    validate(json.loads(export(a_finding(rule="unheard-of"))))
    unheard = result(rule="unheard-of")
    assert unheard["ruleId"] == "unheard-of"
    assert "ruleIndex" not in unheard


@pytest.mark.parametrize(
    ("line", "column", "region"),
    [
        (None, None, None), (None, 4, None), (0, 4, None), (3, None, {"startLine": 3}), (3, 0, {"startLine": 3}),
        (3, 4, {"startLine": 3, "startColumn": 4}),
    ],
)  # fmt: skip
def test_a_region_stands_only_where_the_line_is_known(line: int | None, column: int | None, region: Any) -> None:
    assert location(line=line, column=column).get("region") == region
    assert run()["columnKind"] == "unicodeCodePoints"


class TestRules:
    def test_all_are_there_in_order(self) -> None:
        driver = run()["tool"]["driver"]
        assert [rule["id"] for rule in driver["rules"]] == IDS
        assert (driver["name"], driver["version"]) == ("sitemapcrawler", __version__)

    @pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
    def test_each_says_what_code_hosts_ask_for(self, rule: Any) -> None:
        told = descriptor(rule)
        assert re.fullmatch(r"(?:[A-Z][a-z0-9]*)+", told["name"]) and len(told["name"]) <= 255
        assert 0 < len(told["shortDescription"]["text"]) < len(told["fullDescription"]["text"]) <= 1024
        assert all(part in told["help"]["text"] for part in ("Why: ", "Fix: ", "Bad: ", "Good: ", rule.source))
        assert all(
            part in told["help"]["markdown"]
            for part in ("\n\n**Why:** ", "\n\n**Fix:** ", "\n\n**Bad:** ", "\n\n**Good:** ")
        )
        assert told["helpUri"] == rule.address
        assert told["properties"]["tags"] == [rule.family]

    def test_one_of_them_in_full(self) -> None:
        def check(_: object) -> Iterator[Any]:
            """The URL
            is not absolute.

            Why: a search engine needs
            the whole URL.
            Bad: `/shop/`
            Good: `https://example.com/shop/`
            """
            yield from ()

        assert descriptor(Rule("loc-x", Severity.INFO, "https://e.com/#loc", Of.ENTRY, check)) == {
            "id": "loc-x",
            "name": "LocX",
            "shortDescription": {"text": "The URL is not absolute."},
            "fullDescription": {"text": "The URL is not absolute. A search engine needs the whole URL."},
            "help": {
                "text": "The URL\nis not absolute.\n\nWhy: a search engine needs\nthe whole URL.\nBad: `/shop/`\n"
                "Good: `https://example.com/shop/`\n\nSource: https://e.com/#loc",
                "markdown": "The URL\nis not absolute.\n\n**Why:** a search engine needs\nthe whole URL.\n\n"
                "**Bad:** `/shop/`\n\n**Good:** `https://example.com/shop/`\n\nSource: <https://e.com/#loc>",
            },
            "helpUri": "https://e.com/#loc",
            "defaultConfiguration": {"level": "note"},
            "properties": {"tags": ["loc"], "problem.severity": "recommendation"},
        }


class TestFingerprints:
    def test_they_do_not_hang_on_lines(self) -> None:
        before = [
            a_finding(line=line, column=1, url=f"https://e.com/{line}", message=f"line {line}") for line in (3, 4)
        ]
        after = [a_finding(line=line + 10, column=9, url=f"https://e.com/{line}") for line in (3, 4)]
        assert fingerprints(*before) == fingerprints(*after)
        assert len(set(fingerprints(*before))) == 2

    @pytest.mark.parametrize(
        "values", [{"rule": "doc-bom"}, {"sitemap": "https://e.com/b.xml"}, {"url": "https://e.com/x"}, {"value": "x"}]
    )
    def test_what_differs_has_another(self, values: dict[str, Any]) -> None:
        first, second = fingerprints(a_finding(), a_finding(**values))
        assert first.endswith(":1") and second.endswith(":1") and first != second

    def test_sizes_change_by_themselves(self) -> None:
        assert fingerprints(a_finding(value="50,001")) == fingerprints(a_finding(value="61,234"))

    def test_what_is_alike_is_numbered_within_the_file(self) -> None:
        other = a_finding(sitemap="https://e.com/b.xml")
        numbers = [each.partition(":")[2] for each in fingerprints(a_finding(), other, a_finding(), other, a_finding())]
        assert numbers == ["1", "1", "2", "2", "3"]

    def test_what_the_whole_site_finds_in_a_file_has_another_than_what_the_file_shows(self) -> None:
        file = with_findings(SitemapRecord(sitemap=SITEMAP), a_finding())
        first, second = fingerprints(file, a_finding())
        assert (first[-2:], second[-2:]) == (":1", ":2")

    def test_files_of_one_path_have_different_ones(self) -> None:
        urls = ("https://a.com/s.xml", "https://b.com/s.xml")
        files = [with_findings(SitemapRecord(sitemap=url), a_finding(sitemap=url)) for url in urls]
        roots = {"https://a.com/": "public/", "https://b.com/": "public/"}
        hashes = [each["partialFingerprints"]["primaryLocationLineHash"] for each in results(*files, roots=roots)]
        assert len({*hashes}) == 2

    def test_the_same_crawl_in_another_folder_has_the_same(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        found = []
        for name in ("a", "b"):
            (tmp_path / name).mkdir()
            monkeypatch.chdir(tmp_path / name)
            found += fingerprints(a_finding(sitemap=(tmp_path / name / "public" / "s.xml").as_uri()))
        assert found[0] == found[1]


class TestPlaces:
    def test_a_file_in_the_folder_of_the_crawl_is_relative_to_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, validate: Any
    ) -> None:
        monkeypatch.chdir(tmp_path)
        odd = a_finding(sitemap=(tmp_path / "public" / "a b:[é]#%41.xml").as_uri(), line=1)
        uri = "public/a%20b%3A%5B%C3%A9%5D%23%2541.xml"
        assert results(odd)[0]["locations"][0]["physicalLocation"]["artifactLocation"] == {
            "uri": uri,
            "uriBaseId": "%SRCROOT%",
        }
        assert "%SRCROOT%" in run(odd)["originalUriBaseIds"]
        validate(json.loads(export(odd)))

    def test_no_path_of_this_machine_is_told(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        one, other = ((tmp_path / name).as_uri() for name in ("s.xml", "t.xml"))
        found = a_finding(sitemap=one, message=f"is listed in '{other}' too", value=other)
        assert str(tmp_path).encode() not in export(found)
        assert results(found)[0]["message"]["text"] == "is listed in 't.xml' too"

    def test_a_file_elsewhere_and_a_url_stay_absolute(self, tmp_path: Path) -> None:
        for uri in ((tmp_path / "s.xml").as_uri(), SITEMAP, "http://[::1]:8000/s.xml?from=1&to=2"):
            assert location(sitemap=uri)["artifactLocation"] == {"uri": uri}

    @pytest.mark.parametrize(
        ("url", "place"),
        [
            ("https://e.com/a/s.xml?n=1", "public/a/s.xml?n=1"),
            ("https://e.com/blog/s.xml", "posts/s.xml"),
            ("https://e.com/one.xml", "two.xml"),
            ("https://other.com:8443/s.xml", "other.com%3A8443/s.xml"),
        ],
    )
    def test_roots_say_what_stands_for_urls(self, url: str, place: str) -> None:
        roots = {
            "https://": "",
            "https://e.com/": "/public/",
            "https://e.com/blog": "posts",
            "https://e.com/one.xml": "two.xml",
        }
        assert location(sitemap=url, roots=roots)["artifactLocation"] == {"uri": place, "uriBaseId": "%SRCROOT%"}

    @given(TEXT, st.sampled_from(["", "https://", "file:///", "https://e.com/"]))
    def test_any_text_becomes_a_uri(self, text: str, start: str) -> None:
        for places in (Places(folder=Path("/")), Places({"https://": "", "": "x"}), Places({"": ""})):
            uri, relative = places.reference(start + text)
            assert URI.fullmatch(uri), uri
            assert not relative or (uri and not uri.startswith("/") and ":" not in uri)

    @pytest.mark.parametrize(
        ("options", "problem"),
        [
            ({"root": {}}, "root is not known; accepted: roots"),
            (
                {"roots": ["https://e.com/"]},
                "roots ['https://e.com/'] is not an object of texts, such as {'https://example.com/': 'public/'}",
            ),
            (
                {"roots": {"https://e.com/": None}},
                "roots {'https://e.com/': None} is not an object of texts, such as {'https://example.com/': 'public/'}",
            ),
        ],
    )
    def test_options_that_cannot_work_are_refused(self, options: Any, problem: str) -> None:
        for name in ("x.sarif", "x.junit"):
            with pytest.raises(ValueError) as refusal:
                check_feeds({name: {"overwrite": True, "item_export_kwargs": options}})
            assert str(refusal.value) == f"item_export_kwargs of {name} cannot work: {problem}"
        check_feeds({"x.sarif": {"overwrite": True, "item_export_kwargs": {"roots": {"https://e.com/": ""}}}})


class TestStrangers:
    @pytest.mark.slow
    @briefly(8)
    @given(st.lists(FINDINGS, min_size=1, max_size=3))
    def test_whatever_they_wrote_the_log_is_valid_and_shows_it(
        self, validate: Any, findings: list[FindingRecord]
    ) -> None:
        log = json.loads(export(a_batch(*findings)).decode("utf-8"))
        validate(log)
        (only,) = log["runs"]
        told = only["invocations"][0].get("toolConfigurationNotifications", [])
        assert len(only["results"]) + len(told) == len(findings)
        for each in only["results"]:
            assert all(text.isprintable() for text in texts(each))
            assert each["message"]["text"] or not each["ruleId"]
            assert URI.fullmatch(each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"])

    @pytest.mark.parametrize(
        ("text", "shown"),
        [
            ("a\0b\x1b[31m", r"a\x00b\x1b[31m"),
            ("\u202egnp.exe\u2066", r"\u202egnp.exe\u2066"),
            ("\ud800 \ufffe \ue000", r"\ud800 \ufffe \ue000"),
            ("line\r\nline\u2028", r"line\r\nline\u2028"),
            ("Grüße 日本 😀 <b>&amp;", "Grüße 日本 😀 <b>&amp;"),
        ],
    )
    def test_what_cannot_be_seen_is_shown(self, text: str, shown: str) -> None:
        told = result(message=text, value=text, url=text)
        assert told["message"]["text"] == told["properties"]["value"] == shown
        assert told["locations"][0]["logicalLocations"][0]["fullyQualifiedName"] == shown

    def test_what_they_wrote_is_no_link(self) -> None:
        assert result(message="see [here](https://evil.example) or [1](2)")["message"]["text"] == (
            r"see [here]\(https://evil.example) or [1]\(2)"
        )

    def test_a_long_text_is_cut(self) -> None:
        assert result(message="x" * 5000)["message"]["text"] == "x" * (MAX_TEXT - 3) + "..."
        assert inert("x" * MAX_TEXT) == "x" * MAX_TEXT
        assert inert("\ud800" * 5000) == ("\\ud800" * MAX_TEXT)[: MAX_TEXT - 3] + "..."

    def test_a_finding_without_message_has_one(self) -> None:
        assert result(message="")["message"]["text"] == RULE


class TestCrawl:
    SUMMARY = SummaryRecord(["e.com"], "2026-11-21T10:00:00Z", 90.5, 100.0, 2, 10, {RULE: 300}, {"error": 300})

    def test_its_end_is_told(self, validate: Any) -> None:
        validate(json.loads(export(self.SUMMARY)))
        only = run(self.SUMMARY)
        assert only["invocations"] == [
            {
                "executionSuccessful": True,
                "startTimeUtc": "2026-11-21T10:00:00Z",
                "endTimeUtc": "2026-11-21T10:01:30.500000Z",
            }
        ]
        assert only["properties"] == {
            "domains": ["e.com"],
            "sitemaps": 2,
            "urls": 10,
            "rules": {RULE: 300},
            "severities": {"error": 300},
            "reach": {},
            "severity_reach": {},
            "skipped": {},
        }

    @pytest.mark.parametrize(
        ("summary", "succeeded", "kind", "text"),
        [
            (SummaryRecord(partial="max_urls \u202e reached"), False, "toolExecutionNotifications",
             r"The crawl ended early: max_urls \u202e reached"),
            (SummaryRecord(limited_by="pyproject.toml: select = none"), True, "toolConfigurationNotifications",
             "Limited by pyproject.toml: select = none"),
        ],
        ids=["early end", "limited by a file"],
    )  # fmt: skip
    def test_what_limits_the_crawl_is_a_notification(
        self, validate: Any, summary: SummaryRecord, succeeded: bool, kind: str, text: str
    ) -> None:
        validate(json.loads(export(summary)))
        notification = {"level": "warning", "message": {"text": text}}
        assert run(summary)["invocations"] == [{"executionSuccessful": succeeded, kind: [notification]}]

    def test_broken_limits_of_the_policy_are_notifications(self, validate: Any) -> None:
        summary = SummaryRecord(breaches=[Breach("must-list=/a", "no [x](http://e.com) \u202e")])
        validate(json.loads(export(summary)))
        [found] = run(summary)["invocations"][0]["toolExecutionNotifications"]
        assert (found["level"], found["descriptor"]) == ("error", {"id": "policy"})
        assert found["message"]["text"] == r"must-list=/a: no [x]\(http://e.com) \u202e"

    def test_a_finding_on_the_crawl_is_no_result_since_it_has_no_place(self, validate: Any) -> None:
        finding = a_finding(rule="allow-expired", severity="warning", sitemap=None)
        validate(json.loads(export(finding)))
        assert results(finding) == []
        assert run(finding)["invocations"][0]["toolConfigurationNotifications"] == [
            {
                "level": "warning",
                "message": {"text": "'/x' is not absolute"},
                "associatedRule": {"id": "allow-expired", "index": IDS.index("allow-expired")},
            }
        ]

    def test_a_finding_on_the_crawl_names_the_url_that_it_is_about(self) -> None:
        finding = a_finding(rule="crawler-gets-errors", message="Bingbot got 503", sitemap=None, url="https://e.com/a")
        [told] = run(finding)["invocations"][0]["toolConfigurationNotifications"]
        assert told["message"] == {"text": "Bingbot got 503 (https://e.com/a)"}


def test_a_log_is_not_appended_to() -> None:
    with pytest.raises(ValueError, match=r"^sarif cannot be appended to; use -O"):
        check_feeds({"x.sarif": {}})

    class Earlier(io.BytesIO):
        appending = True

    with pytest.raises(ValueError, match=r"^sarif cannot be appended to; use overwrite$"):
        SarifExporter(Earlier()).start_exporting()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_findings() -> None:
    few, _ = peak(write, 20)
    many, written = peak(write, 400)
    assert written > 5_000_000
    assert many < few + 500_000
