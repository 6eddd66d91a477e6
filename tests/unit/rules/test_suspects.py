"""Which entries need a closer look: all that a rule could name, and hardly any other."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader import Document
from sitemapcrawler.reader.entries import ChildRecord
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.rules.facts import suspects as seen
from sitemapcrawler.rules.facts.given import ChildFacts, UrlFacts
from sitemapcrawler.rules.facts.suspects import MAX_CLOSELY, MAX_LENGTH, Seen, Suspects

from .judging import NOW
from .listing import file_at, listed, said_of

CORE = "http://www.sitemaps.org/schemas/sitemap/0.9"
SITEMAPS = [
    "https://example.com/sitemap.xml", "https://example.com/urls.txt",
    "https://example.com/maps/all/sitemap.xml.gz?page=2", "https://example.com/caf%c3%a9/s.xml",
    "https://example.com/a/../b/s.xml", "https://example.com/;jsessionid=1/s.xml", "https://example.com:8443/s.xml",
    "http://127.0.0.1:8000/s.xml", "http://localhost/s.xml", "https://xn--mnchen-3ya.example/s.xml",
    "https://münchen.example/s.xml", "file:///srv/sitemap.xml",
]  # fmt: skip
HOSTS = [
    "https://example.com", "http://example.com", "https://www.example.com", "https://Example.com", "https://a.b-c.example.com",
    "https://example.com:8443", "https://example.com:443", "http://127.0.0.1:8000", "http://localhost", "http://web",
    "http://a.local", "http://xn--a.com", "https://xn--mnchen-3ya.example", "https://u:p@example.com", "http://1.2.3.4",
    "https://exam_ple.com", "https://-a.com", "https://a-.com", f"https://{'a' * 64}.com", f"https://{'a.' * 127}com",
    "https://a.b", "https://a.0x1", "https://example.com.", "http://[::1]",
]  # fmt: skip
PIECES = [
    "/", "//", "a", "B", "-", "_", "~", ".", "..", "/.", "/./", "/../", "%C3%A9", "%c3", "%2e", "%2E", "%", "%zz", "?", "&", "=",
    "#", ";", "&amp;", "sid", "PHPSESSID=", "jsessionid=", "token=1", "e-mail=a@b", "E%2Dmail=", "password=", "session=",
    "1a2b3c", "sitemap", ".xml", ".gz", "[", "|", "é", "\u00a0", " ", "\n", "@", ":", "urls.txt", "maps/all/", "a" * 1000,
]  # fmt: skip
HARMLESS = ["a", "b-c", "/", "1", "%C3%A9", "?", "&x=", ".html"]


@st.composite
def places(draw: st.DrawFn) -> tuple[str, str]:
    """A sitemap, and a URL that it may list: mostly a usual one."""
    sitemap = draw(st.sampled_from(SITEMAPS))
    home = (re.findall(r"https?://[^/]+(?:/.*/|/)", sitemap) or ["https://example.com/"])[0]
    start = draw(st.just(home) | st.just(home) | st.sampled_from(HOSTS))
    pieces = draw(st.lists(st.sampled_from(HARMLESS), max_size=4))
    pieces[draw(st.integers(0, len(pieces))) : 0] = draw(st.lists(st.sampled_from(PIECES), max_size=2))
    return sitemap, start + "".join(pieces)


@given(places())
def test_no_rule_can_name_a_url_that_is_called_usual(place: tuple[str, str]) -> None:
    sitemap, url = place
    file = file_at(sitemap)
    if file.suspects.is_usual(url):
        [record] = listed(file, url)
        assert record.loc_raw is None
        assert said_of(UrlFacts(record, file)) == {}


@given(places(), st.sampled_from(["https://example.com/", "https://example.com/a", "https://example.com/%c3%a9"]))
@example(("https://example.com/s.xml", "https://example.com/%C3%A9"), "https://example.com/%c3%a9")
@example(("https://example.com/é.xml", "https://example.com/%c3%a9.xml"), "https://example.com/")
def test_no_rule_names_a_child_with_a_usual_url(place: tuple[str, str], above: str) -> None:
    sitemap, url = place
    file = file_at(sitemap, format="xml-index")
    file.ancestors = (above,)
    [record] = listed(file, url)
    child = ChildRecord(record.loc, record.loc_raw)
    file.list_child(child)
    if not file.odd_children():
        assert said_of(ChildFacts(child, file)) == {}


@pytest.mark.parametrize(
    "path",
    [
        "/", "/about", "/shop/red-shoes.html", "/shop/red-shoes.html?size=40&colour=red",
        "/2024/05/01/title-of-the-post/", "/%d0%bf%d1%80%d0%b8%d0%b2%d0%b5%d1%82/", "/caf%C3%A9?q=%C3%A9",
        "/wiki/Main_Page_(disambiguation)", "/@user/video,1:2", "/a/b/",
        "/index.php?route=product/product&product_id=42", "/go?to=https://example.net/", "/data.pdf",
    ],
)  # fmt: skip
@pytest.mark.parametrize("sitemap", ["https://example.com/s.xml", "file:///s.xml"])
def test_the_urls_of_most_sites_are_usual(path: str, sitemap: str) -> None:
    assert file_at(sitemap).suspects.is_usual(f"https://example.com{path}")


def taken(text: str) -> list[tuple[str, bool]]:
    """The entries of a document that need a closer look."""
    document = Document("https://example.com/s.xml", keep_elements=True)
    suspects = file_at("https://example.com/s.xml").suspects
    return [
        (record.loc, again)
        for records in document.read([text.encode()])
        for record, again, *_ in suspects.odd_entries(records, document.notes)
    ]


def urlset(entry: str) -> str:
    return f'<urlset xmlns="{CORE}">{entry}</urlset>'


@pytest.mark.parametrize(
    "rest",
    [
        "",
        "<lastmod>2026-01-05</lastmod>",
        "<lastmod>2026-01-05T10:00:00+01:00</lastmod><changefreq>daily</changefreq><priority>0.5</priority>",
        "<!-- written by hand --><lastmod>2026-01-05T10:00:00.123Z</lastmod>",
        "<lastmod><![CDATA[2026-01-05]]></lastmod>",
        "<priority>.8</priority>",
    ],
)
def test_an_entry_that_says_no_more_than_a_plain_one_is_clean(rest: str) -> None:
    assert taken(urlset(f"<url><loc>https://example.com/a</loc>{rest}</url>")) == []


def test_a_repeated_entry_is_looked_at_whatever_it_is() -> None:
    entry = "<url><loc>https://example.com/a</loc></url>"
    assert taken(urlset(entry * 3)) == [("https://example.com/a", number > 0) for number in range(3)]


def records(start: int, stop: int) -> list[UrlRecord]:
    return [UrlRecord(f"https://example.com/{number}") for number in range(start, stop)]


def suspects() -> Suspects:
    return Suspects(["https://example.com/"], ["https://example.com/s.xml"], NOW)


@pytest.mark.parametrize("size", [1, 999, 200_000])
def test_repetition_is_found_whatever_the_batches(size: int) -> None:
    finder = suspects()
    entries = [*records(0, 60_000 if size > 1 else 3000), *records(0, 3)]
    found = [
        pair for at in range(0, len(entries), size) for pair in finder.odd_entries(entries[at : at + size], Notes())
    ]
    # the first of two in one batch is told too, as what is not repeated
    assert [record.loc for record, again, *_ in found if again] == [
        f"https://example.com/{number}" for number in range(3)
    ]


def test_the_start_of_a_file_alone_is_compared_closely() -> None:
    finder = suspects()
    list(finder.odd_entries(records(0, MAX_CLOSELY), Notes()))
    assert list(finder.odd_entries([UrlRecord("https://example.com/1/")], Notes())) == []
    assert len(finder.first) == MAX_CLOSELY


def test_urls_that_are_too_long_are_not_kept_for_it() -> None:
    finder = suspects()
    long, short = (f"https://example.com/{'a' * size}" for size in (MAX_LENGTH, 5))
    entries = [UrlRecord(long), UrlRecord(short), UrlRecord(f"{short}/"), UrlRecord(f"{long}/")]
    taken = list(finder.odd_entries(entries, Notes()))
    assert [url for url, _ in finder.first.values()] == [short]
    assert [record.loc for record, *_ in taken] == [long, f"{short}/", f"{long}/"], "as too long, or as alike"


def test_hashes_are_known_again_until_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seen, "MAX_SEEN", 2000)
    known = Seen()
    assert not any(known.add(set(range(start, start + 100))) for start in range(0, 2000, 100))
    assert not known.full
    assert known.add({7, 2000}) == {7}
    assert known.full
    assert known.add({8, 2000}) == {8}
