"""Memory does not grow with the document, whatever it holds."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable, Iterator

import pytest

from sitemapcrawler.reader import Document, Limits
from tests.unit.reader.reading import END, GOOD, URL, URLSET, url

CHUNK = 1 << 16  # bytes, as a body is read
CHUNKS = 80  # 5 MiB
PEAK = 3 << 20  # bytes; a chunk, its text, its records and the largest entry allowed
LIMITS = Limits(max_element=1 << 18)


def repeated(start: str, part: str, end: str = "") -> Callable[[], Iterator[bytes]]:
    def chunks() -> Iterator[bytes]:
        yield start.encode()
        piece = (part * (CHUNK // len(part))).encode()
        for _ in range(CHUNKS):
            yield piece
        yield end.encode()

    return chunks


def zipped() -> Iterator[bytes]:
    body = gzip.compress((URLSET + GOOD * (CHUNKS * CHUNK // len(GOOD)) + END).encode(), mtime=0)
    return (body[start : start + 512] for start in range(0, len(body), 512))


DOCUMENTS: dict[str, Callable[[], Iterator[bytes]]] = {
    "plain entries": repeated(URLSET, GOOD, END),
    "entries for the strict parser": repeated(URLSET, url("https://e.com/1", "<x/>"), END),
    "broken entries": repeated(URLSET, url("https://e.com/?a&b"), END),
    "cut entries": repeated(URLSET, "<url><loc>https://e.com/1</lo></url>"),
    "entries without end": repeated(URLSET, "<url><loc>https://e.com/1</loc>"),
    "entries of other prefixes": repeated(URLSET, '<a:url xmlns:a="urn:a"/>'),
    "a wrapper": repeated(f"{URLSET}<g>", GOOD, f"</g>{END}"),
    "a comment": repeated(f"{URLSET}<!--", "x"),
    "a comment behind a fault": repeated(f"{URLSET}&{GOOD}<!--", GOOD),
    "an attribute": repeated(f'{URLSET}<url a="', "x"),
    "ampersands": repeated(URLSET, "&"),
    "elements": repeated(URLSET, "<x>"),
    "white space": repeated(URLSET, " ", END),
    "words behind the root": repeated(URLSET + END, "words "),
    "documents": repeated("", "<urlset></urlset>"),
    "text": repeated("", "https://e.com/1\n"),
    "one line of text": repeated("https://e.com/1\n", "x"),
    "items": repeated("<rss><channel>", "<item><link>https://e.com/1</link></item>"),
    "gzip": zipped,
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_peak_does_not_depend_on_the_length(name: str) -> None:
    document = Document(URL, limits=LIMITS)
    chunks = DOCUMENTS[name]()
    tracemalloc.start()
    try:
        for _ in document.read(chunks):
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < PEAK
