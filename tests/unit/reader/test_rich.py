"""Entries of usual shapes: expressions that read what the strict parser reads, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.entries import ROOTS, rich, unusual
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.reader.rich import EXTENSIONS, SECRET, RichReader, pattern
from sitemapcrawler.reader.xml import XmlReader
from sitemapcrawler.urls.display import masked_url
from tests.unit.reader import mutating
from tests.unit.reader.reading import Reading, encoded, read
from tests.unit.rules.judging import judge

ROOT = ROOTS["rich"]
LOC = "<loc>https://e.com/a</loc>"
IMAGE = "<image:image><image:loc>https://e.com/i.png</image:loc></image:image>"
LINK = '<xhtml:link rel="alternate" hreflang="de" href="https://e.com/?a=1&amp;b=2"/>'
NEWS = (
    "<news:news><news:publication><news:name>T</news:name><news:language>en</news:language></news:publication>"
    "<news:publication_date>2026-01-01</news:publication_date><news:title>A &lt; B</news:title></news:news>"
)
VIDEO = "<video:video><video:title> \u00a0Ä &amp;amp; B </video:title><video:tag>a</video:tag><video:tag>b</video:tag></video:video>"


@contextmanager
def strictly() -> Iterator[None]:
    """Leave all but plain entries to the strict parser."""
    with patch.object(XmlReader, "_rich_reader", lambda self: None):
        yield


def tree(element: Element | None) -> object:
    if element is None:
        return None
    parts = [part if isinstance(part, str) else tree(part) for part in element.content]
    return element.uri, element.name, element.attributes, element.line, parts


def facts(reading: Reading) -> dict[str, Any]:
    return {**reading.facts(), "elements": [tree(element) for element in reading.elements]}


def same(text: str | bytes, size: int | None = None) -> None:
    """Assert that the expressions change neither records nor faults, elements or findings."""
    body = encoded(text)
    found = facts(read(body, size, keep_elements=True)), judge(body)
    with strictly():
        assert found == (facts(read(body, size, keep_elements=True)), judge(body))


def is_taken(entry: str) -> bool:
    """Whether the expressions read an entry."""
    made, taken = RichReader._record, []

    def recording(reader: RichReader, match: re.Match[str], line: int) -> UrlRecord | None:
        taken.append(made(reader, match, line))
        return taken[-1]

    with patch.object(RichReader, "_record", recording):
        read(f"{ROOT}{entry}</urlset>")
    return taken != [] and taken[-1] is not None


ODD = f"<url>{LOC}<lastmod>2026-01-01 10:00:00</lastmod><priority>0.5</priority></url>\n"
"""An entry behind which one without objects is expected first."""
RICH = [
    f"<url>{LOC}{IMAGE}</url>",
    f"<url>\n {LOC}\n<lastmod>2026-01-01</lastmod>\n{IMAGE}\n{IMAGE}\n{LINK}{VIDEO}{NEWS}\t</url>",
    f"<url>{LOC}{LINK}<priority>0.5</priority><changefreq>daily</changefreq><lastmod>2026-01-01T10:00Z</lastmod></url>",
    f'<url>{LOC}<xhtml:link rel="alternate" href="https://e.com/" hreflang="xx"></xhtml:link></url>',
    f'<url>{LOC}<xhtml:link rel="alternate" hreflang="" href=" " /></url>',
    f"<url>{LOC}<image:image>\n<image:title>&quot;x&quot;</image:title><image:loc> /é.png</image:loc></image:image></url>",
    f"<url>{LOC}{IMAGE.replace('i.png', 'i@2x.png?a&amp;b')}</url>",
    f"<url>{LOC}<news:news><news:title>x</news:title><news:genres>Blog</news:genres></news:news></url>",
    f"<url>{LOC}<lastmod>2026-01-01 10:00:00</lastmod></url>",
    f"<url>{LOC}<priority>0.5</priority><lastmod>2026-01-01</lastmod></url>",
    f"<url>{LOC}<changefreq>sometimes</changefreq><priority>3</priority></url>",
]


@pytest.mark.parametrize("entry", RICH)
def test_usual_shapes_are_read_by_the_expressions_as_strictly(entry: str) -> None:
    assert is_taken(entry)
    same(f"{ROOT}{entry}</urlset>")
    same(f"{ROOT}{ODD}{entry}{ODD}{entry}</urlset>")


NOT_RICH = [
    f"<url>{LOC}</url>",
    f"<url>{LOC}<lastmod> 2026-01-01</lastmod></url>",
    f"<url>{LOC}<lastmod>2026-01-01</lastmod><lastmod>2026-01-01</lastmod></url>",
    f"<url>{LOC}<changefreq>Daily</changefreq></url>",
    f"<url>{LOC}<priority>0,5</priority></url>",
    f"<url>{LOC}<priority>.</priority></url>",
    f"<url>{LOC}{IMAGE}<foo/></url>",
    f"<url>{LOC}{IMAGE}<!-- c --></url>",
    f"<url>{LOC}{IMAGE}text</url>",
    f"<url>{LOC}<image:image/></url>",
    f"<url>{LOC}<image:image><image:loc></image:loc></image:image></url>",
    f"<url>{LOC}<image:image><image:loc>x</image:loc><image:loc>y</image:loc></image:image></url>",
    f"<url>{LOC}<image:image><image:loc>x]]></image:loc></image:image></url>",
    f"<url>{LOC}<image:image><image:loc>x&#65;</image:loc></image:image></url>",
    f"<url>{LOC}<image:image><image:loc>x\x01</image:loc></image:image></url>",
    f"<url>{LOC}<image:image><image:loc>https://u:p@e.com/</image:loc></image:image></url>",
    f"<url>{LOC}<image:image><image:loc>x</image:loc><image:license>y</image:license></image:image></url>",
    f"<url>{LOC}{LINK.replace('alternate', 'canonical')}</url>",
    f"<url>{LOC}{LINK.replace('href=', 'media=')}</url>",
    f'<url>{LOC}{LINK}<xhtml:link rel="alternate" href="x" hreflang="y"/></url>',
    f"<url>{LOC}{NEWS}{NEWS}</url>",
    f"<url>{LOC}<video:video><video:title>x</video:title><video:title>y</video:title></video:video></url>",
    f"<url>{LOC}<video:video><video:uploader info='x'>y</video:uploader></video:video></url>",
    f"<url><loc>https://u:p@e.com/</loc>{IMAGE}</url>",
    f"<url><loc>https://-e.com/</loc>{IMAGE}</url>",
    f"<url>{IMAGE}{LOC}</url>",
    f"<url a='b'>{LOC}{IMAGE}</url>",
    f"<url>{LOC}{IMAGE * 2000}</url>",
]


@pytest.mark.parametrize("entry", NOT_RICH, ids=range(len(NOT_RICH)))
def test_other_shapes_are_left_to_the_strict_parser(entry: str) -> None:
    assert not is_taken(entry)
    same(f"{ROOT}{entry}</urlset>")
    same(f"{ROOT}{ODD}{entry}{ODD}</urlset>")


@pytest.mark.parametrize(
    "root",
    [
        ROOT.replace("sitemap-image/1.1", "sitemap-image/1.0"),
        ROOT.replace("xmlns:image", "xmlns:img"),
        ROOT.replace("http://www.sitemaps", "https://www.sitemaps"),
        ROOT.replace("xmlns=", "xmlns:s="),
    ],
)
def test_namespaces_count_not_prefixes(root: str) -> None:
    same(f"{root}<url>{LOC}{IMAGE}</url></urlset>")


def test_objects_of_undeclared_namespaces_are_not_read() -> None:
    assert pattern(("xhtml",)).fullmatch(f"<url>{LOC}{LINK}</url>")
    assert pattern(("xhtml",)).fullmatch(f"<url>{LOC}{IMAGE}</url>") is None


HOST = "https://example.com"
ENTRIES = [*(rich(Random(3), HOST, number) for number in (1, 4, 5, 20)), unusual(Random(3), HOST, 1), *RICH]


@pytest.mark.slow
@given(st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=4), st.data())
def test_mutated_entries_are_read_as_strictly(entries: list[str], data: st.DataObject) -> None:
    before = data.draw(st.sampled_from(("", ODD)))
    body = f"{ROOT}{before}{before.join(entries)}</urlset>".encode()
    body = data.draw(mutating.mutated(body))
    same(body, data.draw(st.sampled_from((None, 61, 700))))


@given(st.text(alphabet="hts:/\\\\@?#ux. ", max_size=20))
def test_secrets_are_never_read_by_the_expressions(text: str) -> None:
    assert masked_url(text) == text or SECRET.search(text)


def test_long_entries_without_an_end_cost_no_more_than_their_length() -> None:
    expression = pattern(tuple(EXTENSIONS))
    for part in (IMAGE, LINK, VIDEO, NEWS, "&amp;a"):
        assert expression.match(f"<url>{LOC}" + part * 20_000) is None
