"""The rules on how much one file, one entry or one site may hold."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import get_args

import pytest

import sitemapcrawler.reader
from sitemapcrawler.reader.sniff import Format
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.document import MAX_BYTES

from .expecting import bad_files, rules_of
from .judged_as import check
from .judging import judge

OURS = rules_of("limit")
CORE = "http://www.sitemaps.org/schemas/sitemap/0.9"
ONE = f'<urlset xmlns="{CORE}"><url><loc>https://example.com/a</loc></url></urlset>'.encode()
LISTS = (ONE, b"https://example.com/a\n")
INDEX = f'<sitemapindex xmlns="{CORE}"><sitemap><loc>https://example.com/a.xml</loc></sitemap></sitemapindex>'.encode()
TOLD_ELSEWHERE = {"limit-bytes", "limit-entries", "limit-stopped", "limit-element", "limit-depth"}
"""Limits of ours, which `doc-partly-read` tells."""


def rules_on(data: bytes, **record: object) -> list[tuple[str, str]]:
    return [(one.rule, one.severity) for one in judge(data, **record) if one.rule in OURS]  # type: ignore[arg-type]  # fields of the record


@pytest.mark.parametrize("name", bad_files("limit"))
def test_a_bad_file_gives_what_it_expects_and_nothing_else(name: str) -> None:
    check(name)


@pytest.mark.parametrize("data", LISTS, ids=["xml", "text"])
@pytest.mark.parametrize(
    ("count", "rules"),
    [
        (44_999, []),
        (45_000, [("limit-urls-near", "info")]),
        (50_000, [("limit-urls-near", "info")]),
        (50_001, [("limit-urls-exceeded", "error")]),
    ],
)
def test_number_of_urls(data: bytes, count: int, rules: list[tuple[str, str]]) -> None:
    assert rules_on(data, url_count=count) == rules


@pytest.mark.parametrize(
    ("count", "rules"),
    [
        (1000, []),
        (1001, [("limit-gsc-report", "info")]),
        (50_000, [("limit-gsc-report", "info")]),
        (50_001, [("limit-index-entries", "error")]),
    ],
)
def test_number_of_sitemaps(count: int, rules: list[tuple[str, str]]) -> None:
    assert rules_on(INDEX, url_count=count) == rules


def test_the_limit_of_an_index_tells_its_history() -> None:
    [finding] = [one for one in judge(INDEX, url_count=60_000) if one.rule == "limit-index-entries"]
    assert "60,000" in finding.message
    assert "1,000 at first" in finding.message


def urls(number: int, length: int = 0) -> list[str]:
    return [f"https://example.com/{at:0{length}}" for at in range(number)]


@pytest.mark.parametrize("number", [50_000, 50_001])
@pytest.mark.parametrize("form", ["text", "xml", "gzip"])
def test_a_large_file_is_counted_to_its_end(form: str, number: int) -> None:
    data = "\n".join(urls(number)).encode()
    if form != "text":
        entries = "".join(f"<url><loc>{url}</loc></url>\n" for url in urls(number))
        data = f'<?xml version="1.0"?>\n<urlset xmlns="{CORE}">{entries}</urlset>'.encode()
    findings = judge(gzip.compress(data, 1) if form == "gzip" else data)
    severe = [(one.rule, one.value) for one in findings if one.severity != "info"]
    assert severe == ([("limit-urls-exceeded", "50001")] if number > 50_000 else [])


def test_a_file_beyond_both_limits_is_told_both() -> None:
    lines = [f"{url}\n" for url in urls(50_001, 1030)]
    data = "".join(lines).encode()
    assert len(data) > MAX_BYTES
    severe = [(one.rule, one.value) for one in judge(data) if one.severity != "info"]
    assert severe == [("doc-too-large", str(len(data))), ("limit-urls-exceeded", "50001")]


def test_a_large_index_is_counted_to_its_end() -> None:
    entries = "".join(f"<sitemap><loc>{url}.xml</loc><lastmod>2026-01-05</lastmod></sitemap>\n" for url in urls(50_001))
    data = f'<?xml version="1.0"?>\n<sitemapindex xmlns="{CORE}">{entries}</sitemapindex>'.encode()
    assert [one.rule for one in judge(data) if one.severity != "info"] == ["limit-index-entries"]


@pytest.mark.parametrize(("number", "told"), [(100, False), (101, True)])
def test_number_of_alternates(number: int, told: bool) -> None:
    links = '<x:link rel="alternate" hreflang="en" href="https://example.com/a"/>' * number
    entry = f"<url><loc>https://example.com/a</loc>{links}</url>"
    data = f'<urlset xmlns="{CORE}" xmlns:x="http://www.w3.org/1999/xhtml">{entry}</urlset>'.encode()
    assert rules_on(data) == ([("limit-alternates", "info")] if told else [])


def test_each_fault_that_the_reader_notes_has_a_rule() -> None:
    sources = [path.read_text("utf-8") for path in Path(sitemapcrawler.reader.__file__).parent.glob("*.py")]
    noted = {id for source in sources for id in re.findall(r'"((?:loc|limit|index)-[a-z0-9-]+)"', source)}
    assert noted >= {"loc-empty", "loc-invalid-uri", "limit-bytes"}
    assert noted - {rule.id for rule in all_rules()} - set(get_args(Format)) == TOLD_ELSEWHERE
