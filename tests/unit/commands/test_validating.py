"""The command validate without a run: options to arguments and a feed, what came of a run to an exit code."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

from sitemapcrawler import urls
from sitemapcrawler.commands.validate import ValidationResult, arguments_of, named_in, set_feed
from sitemapcrawler.items import RobotsRecord, SitemapRecord, SummaryRecord
from sitemapcrawler.options.base import check_choice
from sitemapcrawler.options.targets import Targets

FILE, WEB = "file:///dir/a.xml", "https://e.com/s.xml"
FILES = Targets(sitemaps=[FILE, "file:///dir/b.xml"], names={FILE: "a.xml", "file:///dir/b.xml": "b.xml"})
URL = Targets(sitemaps=[WEB])
BOTH = Targets(sites=["e.com", "f.com"], sitemaps=[WEB, FILE], names={FILE: "a.xml"})


@pytest.mark.parametrize(
    ("targets", "options", "given", "arguments"),
    [
        (URL, {}, {}, {"sitemap": WEB}),
        (FILES, {}, {}, {"sitemap": f"{FILE},file:///dir/b.xml", "agents": "none", "offline": "yes"}),
        (FILES, {"agents": "none", "select": None}, {}, {"agents": "none", "offline": "yes"}),
        (FILES, {"agents": "ai"}, {}, {"agents": "ai"}),
        (FILES, {"verify": "head"}, {}, {"verify": "head"}),
        (FILES, {}, {"verify": "get"}, {"verify": "get"}),
        (FILES, {"verify": "off"}, {}, {"verify": "off", "agents": "none", "offline": "yes"}),
        (FILES, {}, {"offline": "no"}, {"agents": "none", "offline": "no"}),
        (FILES, {"select": "loc"}, {"select": "doc"}, {"select": "doc", "agents": "none", "offline": "yes"}),
        (
            BOTH,
            {},
            {"max_urls": "5"},
            {"domain": "e.com,f.com", "sitemap": f"{WEB},{FILE}", "max_urls": "5", "agents": "none"},
        ),
    ],
)
def test_files_are_read_without_a_network_unless_it_is_asked_for(
    targets: Targets, options: dict[str, str | None], given: dict[str, str], arguments: dict[str, str]
) -> None:
    named = {"sitemap": ",".join(targets.sitemaps)}
    assert arguments_of(targets, options, given) == named | arguments


@pytest.mark.parametrize("name", ["domain", "sitemap", "urls"])
def test_what_is_validated_is_no_argument(name: str) -> None:
    with pytest.raises(ValueError, match=f"-a {name}=: .*without -a"):
        arguments_of(URL, {}, {name: "x"})


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["a.xml", "-", "b.xml"], ["a.xml", "-", "b.xml"]),
        (["a.xml", "--", "-x.xml", "--"], ["a.xml", "-x.xml", "--"]),
        (["--", "--help"], ["--help"]),
    ],
)
def test_names_are_told_from_options(arguments: list[str], named: list[str]) -> None:
    assert named_in(arguments) == named


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [([], "name a URL"), (["--"], "name a URL"), (["a", "--fromat", "x"], "'--fromat' is not known")],
)
def test_wrong_command_lines_are_one_line(arguments: list[str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as caught:
        named_in(arguments)
    assert str(caught.value).isprintable()


def test_word_that_an_option_does_not_take() -> None:
    check_choice("--format", "text", ("text", "json"))
    with pytest.raises(ValueError, match=r"^--format 'xml': accepted: text, json$"):
        check_choice("--format", "xml", ("text", "json"))


def project() -> Settings:
    settings = Settings()
    settings.setmodule("sitemapcrawler.settings")
    return settings


def test_feed_of_text_brings_its_exporter(tmp_path: Path) -> None:
    settings, out = project(), str(tmp_path / "out.txt")
    set_feed(settings, out, "text", encoding="ascii", names={FILE: "a.xml"}, colour=True)
    feed = settings.getdict("FEEDS")[out]
    assert (feed["format"], feed["encoding"]) == ("text", "ascii")
    assert feed["item_export_kwargs"] == {"names": {FILE: "a.xml"}, "colour": True}
    assert {"csv", "text"} <= settings.getdict("FEED_EXPORTERS").keys()


@pytest.mark.parametrize("format", ["json", "sarif", "junit"])
def test_other_feeds_are_those_of_a_crawl(tmp_path: Path, format: str) -> None:
    settings, out = project(), str(tmp_path / "out")
    set_feed(settings, out, format, encoding="ascii", names={}, colour=False)
    feed = settings.getdict("FEEDS")[out]
    assert feed["format"] == format
    assert feed.get("encoding") == ("ascii" if format == "json" else None)
    assert ("item_filter" in feed) == (format == "json")  # findings ride on batches


# Exit codes

ERRORS, WARNINGS, NOTES = {"error": 1, "warning": 2}, {"warning": 1, "info": 1}, {"info": 3}
READ = SitemapRecord(sitemap=WEB, status=200)
LOCAL = SitemapRecord(sitemap=FILE, outcome="failed", error="an empty body")
PAGE = SitemapRecord(sitemap=WEB, status=200, outcome="failed", format="html")
MISSING = SitemapRecord(sitemap=WEB, status=404, outcome="failed")
FORBIDDEN = SitemapRecord(sitemap=WEB, outcome="blocked")
SILENT = SitemapRecord(sitemap=WEB, outcome="failed", error="no answer in time")
SILENT_CHILD = SitemapRecord(sitemap="https://e.com/2.xml", found_by="index", outcome="failed")
FINISHED, FEED_LOST, STOPPED, NOTHING_READ = 0, 1, 3, 4

CODES: list[tuple[str, list[SitemapRecord], dict[str, int], int, dict[str, Any], int]] = [
    ("clean", [READ], {}, FINISHED, {}, 0),
    ("notes", [READ], NOTES, FINISHED, {}, 0),
    ("notes", [READ], NOTES, FINISHED, {"fail_on": "warning"}, 0),
    ("warnings", [READ], WARNINGS, FINISHED, {}, 0),
    ("warnings", [READ], WARNINGS, FINISHED, {"fail_on": "warning"}, 1),
    ("errors", [READ], ERRORS, FINISHED, {}, 1),
    ("errors", [READ], ERRORS, FINISHED, {"fail_on": "warning"}, 1),
    ("errors", [READ], ERRORS, FINISHED, {"fail_on": "never"}, 0),
    ("empty file", [LOCAL], ERRORS, NOTHING_READ, {}, 1),
    ("page", [PAGE], ERRORS, NOTHING_READ, {}, 1),
    ("status 404", [MISSING], ERRORS, NOTHING_READ, {}, 1),
    ("status 404", [MISSING], ERRORS, NOTHING_READ, {"fail_on": "never"}, 0),
    ("forbidden", [FORBIDDEN], ERRORS, NOTHING_READ, {}, 1),
    ("child without an answer", [READ, SILENT_CHILD], ERRORS, FINISHED, {}, 1),
    ("no answer", [SILENT], ERRORS, NOTHING_READ, {}, 2),
    ("no answer", [SILENT], ERRORS, NOTHING_READ, {"fail_on": "never"}, 2),
    ("no answer beside a good file", [LOCAL, SILENT], ERRORS, FINISHED, {}, 2),
    ("no answer for anything that was found", [SILENT_CHILD], ERRORS, NOTHING_READ, {}, 2),
    ("site without an answer", [READ], ERRORS, FINISHED, {"lost": True}, 2),
    ("site without sitemaps", [], {}, NOTHING_READ, {}, 2),
    ("nothing read, and no rule says so", [MISSING], {}, NOTHING_READ, {}, 2),
    ("nothing read, and no rule says so", [PAGE], NOTES, NOTHING_READ, {"fail_on": "never"}, 2),
    ("nothing read, and a warning says so", [LOCAL], WARNINGS, NOTHING_READ, {"fail_on": "warning"}, 1),
    ("stopped", [READ], {}, STOPPED, {}, 2),
    ("stopped", [READ], ERRORS, STOPPED, {"fail_on": "never"}, 2),
    ("feed lost", [READ], {}, FEED_LOST, {}, 2),
]
LIMITS: list[tuple[str, list[SitemapRecord], dict[str, int], int]] = [
    ("max_urls", [READ], {}, 0),
    ("max_urls", [READ], ERRORS, 1),
    ("max_sitemaps", [READ], NOTES, 0),
    ("max_sitemaps", [MISSING], {}, 2),
    ("max_sitemaps", [SILENT], {}, 2),
    ("max_time", [READ], {}, 2),
    ("shutdown", [READ], ERRORS, 2),
    ("internal error", [READ], {}, 2),
]
"""`partial`, records, severities, the exit code where the limit was named."""


@pytest.mark.parametrize(
    ("situation", "records", "severities", "code", "how", "wanted"), CODES, ids=lambda value: str(value)[:30]
)
def test_exit_code(
    situation: str,
    records: list[SitemapRecord],
    severities: dict[str, int],
    code: int,
    how: dict[str, Any],
    wanted: int,
) -> None:
    outcome = ValidationResult()
    for item in (*records, SummaryRecord(severities=severities)):
        outcome.add(item)
    assert outcome.exit_code(code, **{"lost": False, "fail_on": "error", **how}) == wanted


@pytest.mark.parametrize(("partial", "records", "severities", "wanted"), LIMITS)
def test_limit_that_was_asked_for_leaves_findings_to_decide(
    partial: str, records: list[SitemapRecord], severities: dict[str, int], wanted: int
) -> None:
    named, not_named = (
        ValidationResult(named={"max_urls", "max_sitemaps", "max_time"}),
        ValidationResult(named={"sitemap"}),
    )
    for item in (*records, SummaryRecord(severities=severities, partial=partial)):
        named.add(item)
        not_named.add(item)
    assert named.exit_code(STOPPED, lost=False, fail_on="error") == wanted
    assert not_named.exit_code(STOPPED, lost=False, fail_on="error") == 2


def test_run_that_did_not_start_has_its_code() -> None:
    assert ValidationResult().exit_code(1, lost=False, fail_on="never") == 2


NOT_FOUND = replace(MISSING, error="HTTP status 404")
REFUSED = RobotsRecord("https://e.com/robots.txt", status=403, outcome="unavailable", error="HTTP status 403")


@pytest.mark.parametrize(
    ("domains", "items", "lost", "told"),
    [
        ([], (SILENT, SILENT_CHILD, SummaryRecord(sitemaps=2)), False, [f"{WEB}: no answer in time"]),
        (["e.com"], (), True, []),
        (["e.com"], (), False, ["e.com: no sitemap was found"]),
        (["e.com"], (REFUSED,), False, ["e.com: no sitemap was found; robots.txt answers with HTTP status 403"]),
        ([], (NOT_FOUND, PAGE, SummaryRecord(sitemaps=2)), False, [f"nothing could be read; {WEB}: HTTP status 404"]),
        ([], (MISSING, SummaryRecord(sitemaps=1, severities=ERRORS)), False, []),
    ],
    ids=[
        "no answer",
        "site without an answer",
        "site without sitemaps",
        "site that refuses",
        "nothing read",
        "a rule says it",
    ],
)
def test_why_there_is_no_result_is_told_where_no_rule_says_it(
    domains: list[str], items: tuple[Any, ...], lost: bool, told: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    outcome = ValidationResult(SummaryRecord(domains=domains)) if domains else ValidationResult()
    for item in items:
        outcome.add(item)
    outcome.explain(lost=lost)
    assert caplog.messages == told


def test_standard_input_is_a_file_for_the_spider() -> None:
    targets = Targets(sitemaps=[urls.STANDARD_INPUT], names={urls.STANDARD_INPUT: "<stdin>"})
    assert arguments_of(targets, {}, {})["offline"] == "yes"
