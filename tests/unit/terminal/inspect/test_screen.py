from __future__ import annotations

import json

import pytest

from sitemapcrawler.commands.inspect import json_row
from sitemapcrawler.envelopes import NotedBatch
from sitemapcrawler.items import Hop, UrlRecord
from sitemapcrawler.namespaces.extensions import Alternate
from sitemapcrawler.terminal.inspect import as_json
from tests.unit.terminal.inspect.shown import SITE, below, drawn, inspection, record

HOSTILE = "\x1b[2J\u202egnp.exe"


def test_tree_has_what_an_index_lists_in_its_order_with_counts() -> None:
    made = inspection(
        record("/index.xml", 0, ["/a.xml", "/sub.xml", "/index.xml"]),
        below("/index.xml", "/sub.xml", 0, ["/b.xml"]),
        below("/sub.xml", "/b.xml", 7),
        below("/index.xml", "/a.xml", 1_200, lastmod_max="2024-05-01T10:00:00Z"),
    )
    tree = [line.rstrip() for line in drawn(made) if line[:1] in "├└│ " and "xml" in line]
    assert tree == [
        "├── /a.xml      1,200 URLs  2024-05-01",
        "├── /sub.xml     1 sitemap",
        "│   └── /b.xml      7 URLs",
        "└── /index.xml                          read elsewhere",
    ]


def test_wide_index_is_cut_and_the_rest_summed_up() -> None:
    names = [f"/{number}.xml" for number in range(50_000)]
    made = inspection(record("/index.xml", 0, names), *(below("/index.xml", name, 2) for name in names[:100]))
    lines = drawn(made, unicode=False)
    assert sum("|--" in line for line in lines) == 20
    [rest] = [line for line in lines if "more" in line]
    assert rest.split() == ["`--", "...", "and", "49,980", "more", "160", "URLs"]


def test_failures_that_the_tree_leaves_out_are_named() -> None:
    names = [f"/{number}.xml" for number in range(100)]
    last = below("/index.xml", names[99], 0, outcome="failed", error="HTTP status 404")
    lines = drawn(inspection(record("/index.xml", 0, names), last), 80)
    at = lines.index(f"{SITE}/99.xml")
    assert lines[at + 1] == "    failed: HTTP status 404"


@pytest.mark.parametrize("width", [20, 40, 80, 120, 200])
@pytest.mark.parametrize("unicode", [True, False])
def test_no_line_is_wider_than_the_terminal(width: int, unicode: bool) -> None:
    long = "/" + "deep/" * 60 + "map.xml"
    failed = below("/index.xml", long, 0, outcome="failed", error="the connection ended " * 9)
    made = inspection(record("/index.xml", 0, [long, "/a.xml"]), failed, below("/index.xml", "/a.xml"))
    dates = [UrlRecord(lastmod_at=f"{2000 + n // 40}-01-01T00:00:00Z") for n in range(1_000)]
    made.add(NotedBatch(SITE, dates))
    least = 60 if width < 60 else width
    assert max(map(len, drawn(made, width, unicode))) <= least


def test_pipe_gets_everything_uncut() -> None:
    long = "/" + "deep/" * 60 + "map.xml"
    assert any(long in line for line in drawn(inspection(record("/index.xml", 0, [long]))))


def test_ascii_output_has_no_other_character() -> None:
    made = inspection(record("/index.xml", 0, ["/a.xml"]), below("/index.xml", "/a.xml"))
    made.add(NotedBatch(SITE, [UrlRecord(lastmod_at=f"{year}-01-01T00:00:00Z") for year in (1990, 2020, 2024)]))
    text = "\n".join(drawn(made, 80, unicode=False))
    assert text.isascii() and "####" in text


@pytest.mark.parametrize("colour", [True, False])
def test_text_of_strangers_is_inert(colour: bool) -> None:
    failed = below("/index.xml", f"/{HOSTILE}", 0, outcome="failed", error=HOSTILE)
    made = inspection(record("/index.xml", 0, [f"/{HOSTILE}"], error=HOSTILE, encoding=HOSTILE), failed)
    made.add(NotedBatch(SITE, [UrlRecord(alternates=[Alternate(HOSTILE)], extra={HOSTILE: []})]))
    text = "".join(drawn(made, 80, colour=colour))
    assert "\x1b[2J" not in text and "\u202e" not in text and "\\u202e" in text


def test_colours_are_for_terminals_only() -> None:
    made = inspection(record("/a.xml"))
    assert any("\x1b[" in line for line in drawn(made, 80, colour=True))
    assert not any("\x1b" in line for line in drawn(made, 80))


def test_redirects_and_compression_are_told() -> None:
    hops = [Hop(301, "http://site.example/a.xml")]
    lines = drawn(
        inspection(record("/a.xml", hops=hops, status=200, final_url=f"{SITE}/b.xml", bytes=20, bytes_fetched=9))
    )
    assert lines[3:6] == [
        "size        20 bytes (9 bytes compressed)",
        "answer      301 http://site.example/a.xml",
        f"            200 {SITE}/b.xml",
    ]


def test_site_says_how_each_file_was_found() -> None:
    named = record("/index.xml", 0, ["/a.xml"], found_by="robots", parent=f"{SITE}/robots.txt")
    linked = record("/feed.xml", 3, format="rss", found_by="html-link", parent=f"{SITE}/")
    guessed = record("/sitemap.xml", 4, found_by="common-path")
    lines = [line.rstrip() for line in drawn(inspection(named, linked, guessed, site=True, expanded=False))]
    at = lines.index(f"named in {SITE}/robots.txt")
    assert lines[at + 1].split() == ["└──", "/index.xml", "1", "sitemap", "line", "7"]
    assert lines[lines.index(f"linked from {SITE}/") + 1].endswith("3 URLs  RSS feed")
    assert lines[lines.index("at common paths") + 1].split() == ["└──", f"{SITE}/sitemap.xml", "4", "URLs"]
    assert "lists       1 sitemap in 1 index, not read without --expand" in lines


def test_document_is_ascii_with_records_as_in_feeds() -> None:
    named = record("/index.xml", 0, ["/a.xml", f"/{HOSTILE}"], found_by="robots", parent=f"{SITE}/robots.txt")
    text = as_json.text(inspection(named, site=True), json_row)
    [told] = json.loads(text)["sitemaps"]
    assert text.isascii()
    assert (told["robots_line"], told["url_count"], told["children"][0]) == (7, 2, {"loc": f"{SITE}/a.xml"})
    assert told["children"][1]["loc"] == f"{SITE}/{HOSTILE}" and "error" not in told


@pytest.mark.parametrize(
    ("url", "encoding", "line"),
    [
        ("https://e.com/é", "utf-8", "https://e.com/é"),
        ("https://e.com/é", "ascii", "https://e.com/%C3%A9"),
        ("https://e.com/a\nb\x1b\u202e", "utf-8", "https://e.com/a%0Ab%1B%E2%80%AE"),
        ("https://e.com/\ud800", "utf-8", "https://e.com/%3F"),
    ],
)
def test_url_is_one_line_that_means_the_same(url: str, encoding: str, line: str) -> None:
    made = inspection(record("/a.xml"))
    assert as_json.lines([UrlRecord(url)], made, encoding) == line + "\n"


def test_urls_of_an_index_are_its_children_until_it_is_expanded() -> None:
    index = record("/index.xml", 0, ["/a.xml", "/b.xml"])
    assert as_json.lines([index], inspection(index, expanded=False), "utf-8") == f"{SITE}/a.xml\n{SITE}/b.xml\n"
    assert as_json.lines([index], inspection(index), "utf-8") == ""


def test_urls_of_a_site_are_its_sitemaps_until_it_is_expanded() -> None:
    read, failed = record("/a.xml"), record("/b.xml", outcome="failed")
    made = inspection(read, failed, site=True, expanded=False)
    assert as_json.lines([read, failed], made, "utf-8") == f"{SITE}/a.xml\n"
    assert as_json.lines([UrlRecord(f"{SITE}/page")], made, "utf-8") == ""
