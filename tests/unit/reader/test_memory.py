"""Memory does not grow with the document, whatever it holds. Bytes allocated are counted, which is the same everywhere."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from sitemapcrawler.reader import Document, Limits, faults, formats, pieces, xml
from sitemapcrawler.reader import entries as extensions
from tests.unit.reader.reading import CORE, END, GOOD, URL, URLSET, url

CHUNK = 1 << 11  # bytes
FEW, MANY = 6, 22  # chunks
FEW_NUMBERED, MANY_NUMBERED = 16, 64  # chunks: tables of names grow in steps
MORE = 15_000
"""Bytes that the peak may differ by. The text differs by 32,000."""
LIMITS = Limits(max_element=1 << 12, max_head=1 << 12, max_depth=8)
SMALL = ((faults, "MAX_KEPT", 20), (pieces, "MAX_NAMES", 20), (extensions, "MAX_IGNORED", 20), (formats, "MAX_LINE", CHUNK),
         (xml, "PIECE_SIZE", CHUNK))  # fmt: skip
"""What bounds memory, made smaller than in a crawl, so that little text will do."""
BROKEN = url("https://e.com/?a&b")
MISMATCHED = "<url><loc>https://e.com/1</lok></url>\n"

REPEATED = {
    "plain entries": (URLSET, GOOD),
    "entries for the strict parser": (URLSET, url("https://e.com/1", "<x/>")),
    "broken entries": (URLSET, BROKEN),
    "entries with tags that do not match": (URLSET, MISMATCHED),
    "entries with an ampersand between them": (URLSET, f"&{GOOD}"),
    "entries with words between them": (URLSET, f"words{GOOD}"),
    "entries without end": (URLSET, "<url><loc>https://e.com/1</loc>"),
    "entries without content": (URLSET, "<url/>"),
    "entries behind the root": (URLSET + END, GOOD),
    "a wrapper": (f"{URLSET}<g>", GOOD),
    "wrappers in wrappers": (URLSET, f"<g xmlns:o='urn:o'>{GOOD}"),
    "wrappers in wrappers behind faults": (URLSET, f"<g xmlns:o='urn:o'>{GOOD}&{GOOD}"),
    "a comment": (f"{URLSET}<!--", GOOD),
    "a comment behind a fault": (f"{URLSET}&{GOOD}<!--", GOOD),
    "comments without end": (URLSET, "<!--"),
    "a CDATA section": (f"{URLSET}<![CDATA[", GOOD),
    "a processing instruction": (f"{URLSET}<?x ", GOOD),
    "an attribute": (f'{URLSET}<url a="', "x"),
    "a URL": (f"{URLSET}<url><loc>", "&#65;"),
    "an entry": (f"{URLSET}<url>", "<loc>https://e.com/1</loc>"),
    "an end tag": (f"{URLSET}<url></url", " "),
    "ampersands": (URLSET, "&"),
    "less-than signs": (URLSET, "<"),
    "half end tags": (URLSET, "</"),
    "elements": (URLSET, "<x>"),
    "elements with an end": (URLSET, "<x></x>"),
    "start tags": (URLSET, "<url>"),
    "end tags": (URLSET, "</url>"),
    "white space": (URLSET, " "),
    "words": (URLSET, "words "),
    "words behind the root": (URLSET + END, "words "),
    "documents": ("", "<urlset></urlset>"),
    "documents with an entry each": ("", f"<urlset>{GOOD}</urlset>"),
    "documents of another kind": (URLSET + END, "<sitemapindex></sitemapindex>"),
    "roots": ("", "<urlset>"),
    "text": ("", "https://e.com/1\n"),
    "a line of text": ("https://e.com/1\n", "x"),
    "items": ("<rss><channel>", "<item><link>https://e.com/1</link></item>"),
    "broken items": ("<rss><channel>", "<item><link>https://e.com/?a&b</link></item>"),
}
"""Name -> how the document begins, and what is repeated in it."""
NUMBERED: dict[str, Callable[[int], str]] = {
    "names": lambda n: f"<url><loc>https://e.com/1</loc><a{n}/></url>\n",
    "prefixes": lambda n: f"<url><loc>https://e.com/1</loc><p{n}:a/></url>\n",
    "namespaces": lambda n: f"<url><loc>https://e.com/1</loc><a xmlns='urn:{n}'/></url>\n",
    "long namespaces": lambda n: f"<url><loc>https://e.com/1</loc><a xmlns='urn:{'x' * 3000}{n}'/></url>\n",
    "namespaces of images": lambda n: f"<url><loc>https://e.com/1</loc><i xmlns='{n}/sitemap-image'/></url>\n",
    "wrappers of any name": lambda n: f"<g{n} xmlns='{CORE}'>{GOOD}</g{n}>\n",
}
"""Name -> a part of the document by its number."""


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in SMALL:
        monkeypatch.setattr(module, name, value)


def chunks(start: str, part: Callable[[int], str], count: int) -> Iterator[bytes]:
    yield start.encode()
    number = 0
    for _ in range(count):
        parts, size = [], 0
        while size < CHUNK:
            parts.append(part(number))
            size += len(parts[-1])
            number += 1
        yield "".join(parts).encode()


def peak(start: str, part: Callable[[int], str], count: int) -> int:
    """Bytes allocated at most while a document of `count` chunks is read; its garbage waits for no collector."""
    document = Document(URL, limits=LIMITS)
    gc.disable()
    tracemalloc.start()
    try:
        for _ in document.read(chunks(start, part, count)):
            pass
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.enable()


def grows(start: str, part: Callable[[int], str], few: int = FEW, many: int = MANY) -> int:
    """Bytes by which the peak grows from `few` chunks to `many`; what is allocated once for all documents is before."""
    peak(start, part, few)
    return peak(start, part, many) - peak(start, part, few)


@pytest.mark.slow
@pytest.mark.parametrize("name", REPEATED)
def test_the_peak_does_not_depend_on_the_length(name: str) -> None:
    start, part = REPEATED[name]
    assert grows(start, lambda _: part) < MORE


@pytest.mark.slow
@pytest.mark.parametrize("name", NUMBERED)
def test_what_is_different_each_time_is_not_remembered_without_end(name: str) -> None:
    assert grows(URLSET, NUMBERED[name], FEW_NUMBERED, MANY_NUMBERED) < MORE
