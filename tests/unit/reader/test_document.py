"""A document as a whole: what is known of it when it is read."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import pytest

from sitemapcrawler.reader import Document, Limits
from tests.unit.reader.reading import CORE, DECLARATION, END, GOOD, INDEX, URL, URLSET, read, url, urlset

NAMESPACED = (
    f'{DECLARATION}<urlset xmlns="{CORE}" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"\n'
    ' xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml"\n'
    ' xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">\n'
)
PARTS = (
    "<image:image><image:loc>i</image:loc></image:image><image:image/><video:video/><news:news/>"
    '<xhtml:link rel="alternate" hreflang="de" href="x"/><xhtml:link rel="alternate" hreflang="en" href="y"/>'
)


def test_the_facts_of_a_good_document() -> None:
    text = NAMESPACED + url("https://e.com/1", f"<lastmod>2024-05-01</lastmod>{PARTS}") + GOOD + END
    document = read(text).document
    assert (document.format, document.outcome, document.error) == ("xml-urlset", "ok", None)
    assert (document.url_count, document.bytes, document.encoding) == (2, len(text), "utf-8")
    counts = document.counts
    assert (counts.images, counts.videos, counts.news, counts.alternates) == (2, 1, 1, 2)
    assert document.namespaces[0] == CORE
    assert len(document.namespaces) == 5
    assert len(document.faults) == 0


def test_the_span_of_dates() -> None:
    dates = ("2024-05-01", "2023-01-01T00:00:00+05:00", "", "nonsense", "2024-06-01T00:00:00Z")
    document = read(urlset(*(url("https://e.com/1", f"<lastmod>{date}</lastmod>") for date in dates))).document
    assert (document.lastmod_min, document.lastmod_max) == ("2022-12-31T19:00:00Z", "2024-06-01T00:00:00Z")


@pytest.mark.parametrize("text", [urlset(), "<urlset/>", f"{INDEX}</sitemapindex>", "<urlset></urlset>"])
def test_an_empty_sitemap_is_no_failure(text: str) -> None:
    document = read(text).document
    assert (document.outcome, document.error, document.url_count) == ("ok", None, 0)


@pytest.mark.parametrize(
    ("body", "error"),
    [
        (b"", "an empty body"),
        (b" \n ", "no sitemap"),
        (b"<error>not found</error>", "not a sitemap"),
        (b"<html></html>", "an HTML page, not a sitemap"),
        (b"\x00" * 100, "not a sitemap"),
    ],
)
def test_what_is_no_sitemap_fails_with_its_reason(body: bytes, error: str) -> None:
    document = read(body).document
    assert (document.outcome, document.url_count) == ("failed", 0)
    assert (document.error or "").startswith(error)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        (urlset(GOOD), "ok"),
        (urlset(url("https://e.com/?a&b")), "recovered"),
        (urlset("junk & more", GOOD), "recovered"),
        (urlset(GOOD) + "junk", "recovered"),
        ("junk" + urlset(GOOD), "recovered"),
        (URLSET + GOOD, "truncated"),
        (URLSET + GOOD + "<url><loc>", "truncated"),
        (URLSET, "failed"),
        (URLSET + "<url><loc>https://e.com/", "failed"),
        (urlset("<url><loc>https://e.com/1</lok></url>"), "failed"),
    ],
)
def test_the_outcome_says_how_reading_ended(text: str, outcome: str) -> None:
    document = read(text).document
    assert document.outcome == outcome
    assert (document.error is None) is (outcome == "ok")


def test_a_body_known_to_be_cut_is_truncated_with_its_reason() -> None:
    document = read(URLSET + GOOD + "<url><lo", cut="the connection was lost").document
    assert (document.outcome, document.error) == ("truncated", "the connection was lost")
    assert dict(document.faults.counts) == {"doc-truncated": 1}


def test_a_body_known_to_be_cut_within_gzip_is_reported_once() -> None:
    body = gzip.compress(urlset(*[GOOD] * 1000).encode(), mtime=0)[:-100]
    document = read(body, cut="the connection was lost").document
    assert document.outcome == "truncated"
    assert document.faults.counts["doc-truncated"] == 1


def test_entries_over_the_limit_are_not_read() -> None:
    reading = read(urlset(*(url(f"https://e.com/{number}") for number in range(50))), limits=Limits(max_entries=7))
    assert reading.locs == [f"https://e.com/{number}" for number in range(7)]
    assert (reading.document.outcome, reading.document.url_count) == ("truncated", 7)
    assert reading.rules == {"limit-entries": 1}


def test_a_limit_stops_taking_bytes() -> None:
    taken = 0

    def endless() -> Iterator[bytes]:
        nonlocal taken
        yield URLSET.encode()
        while True:
            taken += 1
            yield GOOD.encode() * 100

    document = Document(URL, limits=Limits(max_entries=1000))
    assert sum(map(len, document.read(endless()))) == 1000
    assert taken < 20


def test_records_come_as_they_arrive() -> None:
    """Streaming: what a chunk completes is given before the next chunk is taken."""
    seen: list[int] = []
    given = 0

    def chunks() -> Iterator[bytes]:
        yield URLSET.encode() + b" " * 1024
        for _ in range(5):
            yield GOOD.encode() * 1000
            seen.append(given)
        yield END.encode()

    for records in Document(URL).read(chunks()):
        given += len(records)
    assert given == 5000
    assert seen[-1] >= 3999


def test_stopping_early_is_a_fault_with_its_reason() -> None:
    document = Document(URL)
    for _ in document.read([urlset(GOOD).encode()]):
        document.cut_short("max_urls reached")
    assert (document.outcome, document.error) == ("truncated", "max_urls reached")


def test_lines_beyond_65535_are_right() -> None:
    """libxml2 stops counting there."""
    lines = 70_000
    text = URLSET + "<url>\n<loc>https://e.com/1</loc>\n</url>\n" * (lines // 3)
    last = text.count("\n") + 1
    broken = f"{url('https://e.com/?a&b')}{url('https://e.com/2', '<x/>')}"
    reading = read(text + broken + GOOD + END, 1 << 16)
    assert reading.lines[-3:] == [last, last + 1, last + 2]
    assert reading.lines[: lines // 3] == list(range(3, last, 3))
    (fault,) = (fault for fault in reading.document.faults if fault.rule == "doc-unescaped-ampersand")
    assert fault.line == last


def test_an_entry_of_many_lines_begins_on_its_first() -> None:
    text = urlset(f"<url>{chr(10) * 70_000}<loc>https://e.com/1</loc></url>\n", GOOD)
    assert read(text, 1 << 12).lines == [3, 70_004]


def test_lines_are_right_after_each_kind_of_fault() -> None:
    faults = [
        "\n<url>\n<loc>https://e.com/?a&b</loc>\n</url>\n", "\n<url>\n<loc>https://e.com/1\n</url>\n", "\n & \n",
        "\n</b>\n\n", "<!-- \n\n -->\n", "<x>\n<![CDATA[\n</url>\n]]></x>\n",
        "<url>\n<loc>https://e.com/1</loc>\n</ur>\n", "\n<url/>\n",
    ]  # fmt: skip
    text = urlset(*(part for fault in faults for part in (fault, url("https://e.com/here"))))
    expected = [number for number, line in enumerate(text.split("\n"), 1) if "https://e.com/here" in line]
    for size in (1, 50, len(text)):
        here = [record.line for record in read(text, size).records if record.loc == "https://e.com/here"]
        assert here == expected


def test_the_start_tag_that_entries_were_read_under_is_known() -> None:
    assert read(urlset(GOOD)).document.root == f'<urlset xmlns="{CORE}">'
    assert read("https://e.com/1").document.root == ""
