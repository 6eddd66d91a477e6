"""The rules on how much one file, one entry or one site may hold."""

from __future__ import annotations

import gzip
import zlib
from datetime import UTC, datetime

import pytest
from scrapy.utils.test import get_crawler

from sitemapcrawler.crawl.frontier import Frontier, Selection, Visit
from sitemapcrawler.crawl.params import Params
from sitemapcrawler.crawl.reading import Children, Reading
from sitemapcrawler.download.answers import FetchResult
from sitemapcrawler.download.bodies import Body
from sitemapcrawler.download.shared import Stop
from sitemapcrawler.envelopes import SitemapEnd
from sitemapcrawler.reader import Limits
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.families import file_bytes
from sitemapcrawler.rules.judge import Judge

from .expecting import CORE, rules_of
from .judging import judge

OURS = rules_of("limit")
ONE = f'<urlset xmlns="{CORE}"><url><loc>https://example.com/a</loc></url></urlset>'.encode()
LISTS = (ONE, b"https://example.com/a\n")
INDEX = f'<sitemapindex xmlns="{CORE}"><sitemap><loc>https://example.com/a.xml</loc></sitemap></sitemapindex>'.encode()


def rules_on(data: bytes, **record: object) -> list[tuple[str, str]]:
    return [(one.rule, one.severity) for one in judge(data, **record) if one.rule in OURS]  # type: ignore[arg-type]  # fields of the record


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


def test_a_large_file_is_counted_to_its_end() -> None:
    entries = "".join(f"<url><loc>{url}</loc></url>\n" for url in urls(50_001))
    data = f'<?xml version="1.0"?>\n<urlset xmlns="{CORE}">{entries}</urlset>'.encode()
    severe = [(one.rule, one.value) for one in judge(gzip.compress(data, 1)) if one.severity != "info"]
    assert severe == [("limit-urls-exceeded", "50001")]


@pytest.fixture
def most_bytes(monkeypatch: pytest.MonkeyPatch) -> int:
    """A smaller limit of bytes; a file beyond the real one is measured in `test_document`."""
    most = 1_000_000
    monkeypatch.setattr(file_bytes, "MAX_BYTES", most)
    return most


def test_a_file_beyond_both_limits_is_told_both(most_bytes: int) -> None:
    found = judge(ONE, url_count=50_001, bytes=most_bytes + 1)
    assert {one.rule for one in found if one.severity == "error"} == {"doc-too-large", "limit-urls-exceeded"}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("beyond", [0, 1])
def test_a_file_of_just_the_bytes_that_are_allowed_is_no_byte_too_large(
    beyond: int, packed: bool, most_bytes: int
) -> None:
    start = f'<?xml version="1.0"?>\n<urlset xmlns="{CORE}"><url><loc>https://example.com/a</loc></url>'.encode()
    end = b"</urlset>"
    comment = f"<!--{'-'.join(['a' * 62] * 1000)}-->\n".encode()
    filling = most_bytes + beyond - len(start) - len(end)
    data = start + (comment * (filling // len(comment))).ljust(filling) + end
    assert len(data) == most_bytes + beyond
    packer = zlib.compressobj(1, wbits=31, strategy=zlib.Z_HUFFMAN_ONLY)  # too little for a decompression bomb
    sent = packer.compress(data) + packer.flush() if packed else data
    findings = [(one.rule, one.value) for one in judge(sent) if one.severity != "info"]
    assert findings == ([("doc-too-large", str(len(data)))] if beyond else [])


@pytest.mark.slow
def test_a_large_index_is_counted_to_its_end() -> None:
    entries = "".join(f"<sitemap><loc>{url}.xml</loc><lastmod>2026-01-05</lastmod></sitemap>\n" for url in urls(50_001))
    data = f'<?xml version="1.0"?>\n<sitemapindex xmlns="{CORE}">{entries}</sitemapindex>'.encode()
    assert [one.rule for one in judge(data) if one.severity != "info"] == ["limit-index-entries"]


@pytest.mark.parametrize("number", [1000, 1001])
def test_number_of_images(number: int) -> None:
    images = "".join(f"<i:image><i:loc>{url}.jpg</i:loc></i:image>\n" for url in urls(number))
    entry = f"<url><loc>https://example.com/a</loc>{images}</url>"
    data = f'<urlset xmlns="{CORE}" xmlns:i="http://www.google.com/schemas/sitemap-image/1.1">{entry}</urlset>'.encode()
    assert [one.rule for one in judge(data) if one.severity != "info"] == ["image-too-many"] * (number > 1000)


def test_pages_that_max_urls_leaves_out_are_told_with_the_file() -> None:
    data = f'<urlset xmlns="{CORE}">{"".join(f"<url><loc>{url}</loc></url>" for url in urls(3))}</urlset>'.encode()
    told = {}
    at = datetime(2026, 1, 5, tzinfo=UTC)
    for most in (2, 3):
        selection = Selection(Params.parse({"domain": "example.com", "max_urls": str(most)}))
        frontier = Frontier(1, 1, 1, 1)
        reading = Reading(selection, frontier, Limits(), Stop(get_crawler()), Children(frontier), judging=True)
        body = Body()
        body.write(data)
        visit = Visit("https://example.com/s.xml", "argument")
        judging = Judge(Choice(all_rules(), ("limit", "doc-partly-read")), per_rule=100)
        *_, record = reading.read(visit, FetchResult(visit.url, visit.url, body, 200, at=at))
        assert isinstance(record, SitemapEnd) and record.facts is not None
        assert record.facts.fetched_at == at
        told[most] = [(one.rule, one.severity) for one in judging.file(record, record.facts)]
        body.close()
    assert told == {2: [("limit-max-urls", "info")], 3: []}


@pytest.mark.parametrize(("number", "told"), [(100, False), (101, True)])
def test_number_of_alternates(number: int, told: bool) -> None:
    links = '<x:link rel="alternate" hreflang="en" href="https://example.com/a"/>' * number
    entry = f"<url><loc>https://example.com/a</loc>{links}</url>"
    data = f'<urlset xmlns="{CORE}" xmlns:x="http://www.w3.org/1999/xhtml">{entry}</urlset>'.encode()
    assert rules_on(data) == ([("limit-alternates", "info")] if told else [])
