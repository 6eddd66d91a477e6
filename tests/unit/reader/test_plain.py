"""Plain entries: one expression that reads what the strict parser reads, and nothing else."""

from __future__ import annotations

from dataclasses import asdict

import pytest

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.rich import ENTRY, read_plain
from tests.unit.reader.reading import CORE, URL, read, url, urlset


def taken(text: str, line: int = 1) -> tuple[list[UrlRecord], int, int]:
    records: list[UrlRecord] = []
    position, line = read_plain(text, 0, line, URL, records, [])
    return records, position, line


PLAIN = [
    "<url><loc>https://e.com/</loc></url>",
    "<url>\n  <loc>\n https://e.com/a?b=1&amp;c=2&amp;amp;#d \t</loc>\n</url>",
    "<url><loc>http://e.com/~!$()*+,;=:@%20'</loc><lastmod>2024-02-29</lastmod></url>",
    "<url><loc>https://e.com/</loc><lastmod>2024-05-01T10:00:00Z</lastmod><changefreq>daily</changefreq></url>",
    "<url><loc>https://e.com/</loc><lastmod>2024-05-01T10:00:00-11:30</lastmod><priority>0.1234</priority></url>",
    "<url><loc>https://e.com/</loc><changefreq>never</changefreq><priority>1.0</priority></url>",
    "<url><loc>https://e.com/</loc><priority>0</priority></url>",
    "<url><loc>https://e.com/</loc><lastmod>2024-02-30</lastmod></url>",
    "<url><loc>https://e.com/</loc><lastmod>0000-00-00</lastmod></url>",
]


@pytest.mark.parametrize("entry", PLAIN)
def test_a_plain_entry_is_read_as_the_strict_parser_reads_it(entry: str) -> None:
    """The prefixed core never goes the plain way."""
    prefixed = entry.replace("</", "</s:").replace("<", "<s:").replace("<s:/s:", "</s:")
    strictly = read(f'<s:urlset xmlns:s="{CORE}">{prefixed}</s:urlset>').records
    records, position, _ = taken(entry)
    assert position == len(entry)
    assert [asdict(record) for record in records] == [asdict(record) for record in strictly]


NOT_PLAIN = [
    "<url><loc></loc></url>", "<url><loc>/relative</loc></url>", "<url><loc>HTTPS://e.com/</loc></url>",
    "<url><loc>https://e.com/é</loc></url>", "<url><loc>https://e.com/?a&b</loc></url>",
    "<url><loc>https://e.com/&lt;</loc></url>", "<url><loc>https://e.com/&#65;</loc></url>",
    "<url><loc>https://e.com/a b</loc></url>", "<url><loc>https://e.com/\x7f</loc></url>",
    "<url><loc>https://e.com/]]></loc></url>", "<url><loc><![CDATA[https://e.com/]]></loc></url>",
    "<url ><loc>https://e.com/</loc></url>", "<url><loc >https://e.com/</loc></url>",
    '<url a="b"><loc>https://e.com/</loc></url>', "<url><loc>https://e.com/</loc><loc>https://e.com/2</loc></url>",
    "<url><lastmod>2024-05-01</lastmod><loc>https://e.com/</loc></url>",
    "<url><loc>https://e.com/</loc><lastmod></lastmod></url>",
    "<url><loc>https://e.com/</loc><lastmod> 2024-05-01</lastmod></url>",
    "<url><loc>https://e.com/</loc><changefreq>Daily</changefreq></url>",
    "<url><loc>https://e.com/</loc><priority>2.0</priority></url>",
    "<url><loc>https://e.com/</loc><priority>0,5</priority></url>", "<url><loc>https://e.com/</loc>text</url>",
    "<url><loc>https://e.com/</loc><!-- c --></url>", "<url><loc>https://e.com/</loc><x/></url>",
    "<url><loc>https://e.com/</loc></url", "<url><loc>https://e.com/</lo", "</urlset>", "",
]  # fmt: skip


@pytest.mark.parametrize("entry", NOT_PLAIN)
def test_anything_else_is_left_to_the_strict_parser(entry: str) -> None:
    assert taken(entry) == ([], 0, 1)


def test_plain_entries_end_before_the_first_other_one() -> None:
    first = "\n<url><loc>https://e.com/1</loc></url>\n\n<url><loc>https://e.com/2</loc></url>\n"
    records, position, line = taken(first + "<url><x/></url>", line=7)
    assert [(record.loc, record.line) for record in records] == [("https://e.com/1", 8), ("https://e.com/2", 10)]
    assert (position, line) == (len(first), 11)


def test_plain_entries_within_a_foreign_default_namespace_are_entries_of_that_root() -> None:
    assert read(f'<urlset xmlns="urn:x">{url("https://e.com/1")}</urlset>').locs == ["https://e.com/1"]


def test_plain_looking_entries_inside_another_element_are_parsed() -> None:
    inner = url("https://e.com/1")
    reading = read(f'<urlset xmlns="{CORE}"><g xmlns="urn:other">{inner}{inner}</g>{url("https://e.com/2")}</urlset>')
    assert reading.locs == ["https://e.com/2"]


def test_a_long_url_without_an_end_costs_no_more_than_its_length() -> None:
    """Possessive: what does not match is not tried again in other ways."""
    text = "<url><loc>https://e.com/" + "&amp;a" * 200_000
    assert ENTRY.match(text) is None
    assert read(urlset(text)).records == []
