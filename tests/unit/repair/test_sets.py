"""Sets of several files: which URL each one has, what indexes list, and what README.txt says."""

from __future__ import annotations

import csv
import errno
import json
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote, unquote, urljoin

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler import read_sitemap
from sitemapcrawler.feeds.columns import Cells
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces import CORE
from sitemapcrawler.repair import site_repair, writing
from sitemapcrawler.repair.change_list import NAME
from sitemapcrawler.repair.page_list import MAX_FOLDERS
from sitemapcrawler.repair.site_repair import SiteRepair
from sitemapcrawler.repair.sources import LocalFiles, Source, SourceError
from sitemapcrawler.repair.streaming import Rules, Verdict
from tests.examples import briefly
from tests.unit.repair.repairing import HOME, Outcome, index, nowhere, repair, repair_list, urlset


def page(path: str, *parts: str) -> str:
    return f"<url><loc>{HOME}{path}</loc>{''.join(parts)}</url>"


def listed(outcome: Outcome, name: str = "sitemap.xml") -> list[str]:
    text = outcome.data(name).decode()
    return [part.partition("</loc>")[0].removeprefix(HOME) for part in text.split("<loc>")[1:]]


def counts(outcome: Outcome) -> tuple[int, int, int, int, int]:
    found = outcome.result
    return found.read, found.kept, found.changed, found.dropped, found.unrepaired


def test_files_of_one_name_keep_their_folders(tmp_path: Path) -> None:
    names = ["sitemap.xml", "en/sitemap.xml", "ar/sitemap.xml"]
    outcome = repair(
        tmp_path, index(HOME + names[1], HOME + names[2]), urlset(page("en/1")), urlset(page("ar/1")), names=names
    )
    assert outcome.names == sorted(names)
    assert listed(outcome) == names[1:]
    assert outcome.rows == []
    assert counts(outcome) == (4, 4, 0, 0, 0)
    assert f"upload/ -> {HOME}\n" in outcome.readme


def test_a_url_with_a_query_gets_a_name_that_the_index_lists(tmp_path: Path) -> None:
    names = ["sitemap.xml", "sitemap.xml?page=1", "sitemap.xml?page=2"]
    documents = [index(HOME + names[1], HOME + names[2]), urlset(page("a")), urlset(page("b"))]
    outcome = repair(tmp_path, *documents, names=names)
    assert outcome.names == ["sitemap-page-1.xml", "sitemap-page-2.xml", "sitemap.xml"]
    assert listed(outcome) == ["sitemap-page-1.xml", "sitemap-page-2.xml"]
    assert [(row["action"], row["old"], row["new"]) for row in outcome.rows] == [
        ("moved", HOME + names[number], f"{HOME}sitemap-page-{number}.xml") for number in (1, 2)
    ]
    assert "These files have a new URL. The indexes" in outcome.readme
    assert f"{HOME}sitemap.xml?page=1 -> {HOME}sitemap-page-1.xml\n" in outcome.readme
    assert counts(outcome) == (4, 2, 2, 0, 0)


def test_a_file_that_loses_all_entries_is_not_written(tmp_path: Path) -> None:
    other = "<url><loc>https://other.example/</loc></url>"
    outcome = repair(
        tmp_path, index(f"{HOME}a.xml", f"{HOME}b.xml"), urlset(other), urlset(page("b")),
        names=["sitemap.xml", "a.xml", "b.xml"], may_list=nowhere,
    )  # fmt: skip
    assert outcome.names == ["b.xml", "sitemap.xml"]
    assert listed(outcome) == ["b.xml"]
    assert [(row["action"], row["rule"], row["old"]) for row in outcome.rows] == [
        ("dropped", "loc-offsite", other),
        ("dropped", "xml-empty-urlset", f"{HOME}a.xml"),
        ("not written", "xml-empty-urlset", f"{HOME}a.xml"),
    ]
    assert f"list nothing else:\n  https://other.example: 1 entry; Sitemap: {HOME}a.xml\n" in outcome.readme
    assert "Remove them" not in outcome.readme
    assert counts(outcome) == (4, 2, 0, 2, 0)


def test_a_file_of_which_nothing_is_left_is_to_be_removed(tmp_path: Path) -> None:
    outcome = repair(
        tmp_path, index(f"{HOME}a.xml", f"{HOME}b.xml"), urlset(page("{slug}")), urlset(page("b")),
        names=["sitemap.xml", "a.xml", "b.xml"],
    )  # fmt: skip
    assert f"Remove them from robots.txt, Search Console and the\nserver:\n  {HOME}a.xml\n" in outcome.readme


def test_a_file_whose_urls_cannot_be_decoded_stays_on_the_server(tmp_path: Path) -> None:
    outcome = repair(
        tmp_path, index(f"{HOME}a.xml"), urlset(page("caf")).replace(b"caf", b"caf\xe9"), names=["sitemap.xml", "a.xml"]
    )
    assert (outcome.names, listed(outcome)) == (["sitemap.xml"], ["a.xml"])
    assert [(row["action"], row["rule"]) for row in outcome.rows if row["action"] in ("dropped", "unread")] == [
        ("dropped", "doc-encoding-not-utf8"),
        ("unread", "doc-encoding-not-utf8"),
    ]
    stays = (
        f"stay on the\nserver as they are:\n  {HOME}a.xml: 1 URL has bytes that are not UTF-8; save the file as UTF-8\n"
    )
    assert stays in outcome.readme
    assert "Remove them" not in outcome.readme


@pytest.mark.parametrize("is_first", [True, False])
def test_an_index_lists_a_file_and_a_redirect_to_it_once(is_first: bool, tmp_path: Path) -> None:
    www = "https://www.example.com/a.xml"
    names = ["sitemap.xml", *((www, "a.xml") if is_first else ("a.xml", www)), "old.xml"]
    outcome = repair(
        tmp_path, index(*(name if "://" in name else HOME + name for name in names[1:])), urlset(page("a")),
        urlset(page("a")), urlset(page("b")), names=names, redirects={www: f"{HOME}a.xml", f"{HOME}old.xml": f"{HOME}b.xml"},
    )  # fmt: skip
    assert listed(outcome) == ["a.xml", "b.xml"]
    (dropped,) = [row["url"] for row in outcome.rows if row["rule"] == "index-child-duplicate"]
    assert dropped == (f"{HOME}a.xml" if is_first else www)
    assert counts(outcome)[3:] == (1, 0)


def test_an_index_that_loses_all_entries_is_not_written(tmp_path: Path) -> None:
    other = "<url><loc>https://other.example/</loc></url>"
    outcome = repair(tmp_path, index(f"{HOME}a.xml"), urlset(other), names=["sitemap.xml", "a.xml"], may_list=nowhere)
    assert outcome.names == []
    assert [row["rule"] for row in outcome.rows if row["action"] == "not written"] == [
        "index-empty",
        "xml-empty-urlset",
    ]


def test_a_file_of_which_nothing_could_be_read_is_not_written(tmp_path: Path) -> None:
    entry = f"<URL><loc>{HOME}a</loc></url>"
    outcome = repair(tmp_path, urlset(entry, entry))
    assert outcome.names == []
    assert ("not written", "xml-empty-urlset") in {(row["action"], row["rule"]) for row in outcome.rows}


def test_a_file_that_was_empty_stays(tmp_path: Path) -> None:
    outcome = repair(tmp_path, index(f"{HOME}news.xml"), urlset(), names=["sitemap.xml", "news.xml"])
    assert outcome.names == ["news.xml", "sitemap.xml"]
    assert outcome.rows == []


def test_an_index_in_an_index_is_replaced_by_what_it_lists(tmp_path: Path) -> None:
    documents = [
        index(f"{HOME}a.xml", f"{HOME}inner.xml", f"{HOME}c.xml"), urlset(page("a")),
        index(f"{HOME}b.xml", f"{HOME}a.xml", f"{HOME}sitemap.xml"), urlset(page("b")), urlset(page("c")),
    ]  # fmt: skip
    outcome = repair(tmp_path, *documents, names=["sitemap.xml", "a.xml", "inner.xml", "b.xml", "c.xml"])
    assert listed(outcome) == ["a.xml", "b.xml", "c.xml"]
    assert listed(outcome, "inner.xml") == ["b.xml", "a.xml"]
    assert [(row["action"], row["rule"], row["new"]) for row in outcome.rows] == [
        ("dropped", "index-loop", ""),
        ("changed", "index-nested", f"{HOME}b.xml"),
    ]
    assert counts(outcome) == (9, 7, 1, 1, 0)


def test_the_line_that_keeps_pages_of_another_host_is_said(tmp_path: Path) -> None:
    other = [f"<url><loc>https://other.example/{number}</loc></url>" for number in (1, 2)]
    outcome = repair(tmp_path, urlset(page("a"), *other), may_list=nowhere)
    assert outcome.locs == [f"{HOME}a"]
    assert f"  https://other.example: 2 entries; Sitemap: {HOME}sitemap.xml\n" in outcome.readme


def test_pages_of_another_host_stay_where_its_robots_txt_is_not_known(tmp_path: Path) -> None:
    (tmp_path / "map.xml").write_bytes(urlset(page("a"), "<url><loc>https://other.example/</loc></url>"))
    local = LocalFiles([(tmp_path / "map.xml").as_uri()], str(tmp_path), HOME)
    out = tmp_path / "out"
    outcome = Outcome(out, SiteRepair(Rules.chosen(), local.children).run(local.sources, out, tmp_path))
    assert outcome.locs == [f"{HOME}a", "https://other.example/"]
    assert [(row["action"], row["rule"]) for row in outcome.rows] == [("not repaired", "loc-offsite")]
    assert f"  https://other.example: 1 entry; Sitemap: {HOME}map.xml\n" in outcome.readme


def test_a_file_of_another_host_that_an_index_gets_from_one_in_it_has_a_row(tmp_path: Path) -> None:
    outer, inner, page_of_host = "https://cdn.example.net/all.xml", f"{HOME}inner.xml", f"{HOME}a.xml"
    outcome = repair(tmp_path, index(inner), index(page_of_host), urlset(page("a")), names=[outer, inner, page_of_host])
    assert [(row["action"], row["rule"], row["url"], row["sitemap"]) for row in outcome.rows] == [
        ("changed", "index-nested", inner, outer),
        ("not repaired", "index-child-offsite", page_of_host, outer),
    ]
    assert counts(outcome) == (3, 2, 0, 0, 1)
    assert f"  https://example.com: 1 entry; Sitemap: {outer}\n" in outcome.readme


def test_a_robots_txt_that_names_an_index_lets_it_list_the_files_of_its_host(tmp_path: Path) -> None:
    outer, file = "https://cdn.example.net/all.xml", f"{HOME}a.xml"
    documents, names = [index(file), urlset(page("a"))], [outer, file]
    outcome = repair(tmp_path, *documents, names=names, may_list=lambda url, files: (url, *files) == (file, outer))
    assert outcome.rows == []


def test_a_run_says_when_it_must_not_be_stopped_any_more(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(urlset(page("a")))
    out, told = tmp_path / "out", list[bool]()
    source = Source(f"{HOME}a.xml", tmp_path / "a.xml")
    SiteRepair(Rules.chosen(), lambda *_: []).run([source], out, tmp_path, lambda: told.append(out.exists()))
    assert told == [False]
    assert out.exists()


def of_folder(folder: Path, files: dict[str, bytes], base: str | None) -> dict[str, str]:
    """Repair the files of a folder, compressed; return {name: content} of the set with its list of changes."""
    for name, data in files.items():
        path = folder / "site" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    local = LocalFiles([(folder / "site" / name).as_uri() for name in files], str(folder / "site"), base)
    out = folder / f"out-{base is None}"
    outcome = Outcome(out, SiteRepair(Rules.chosen(), local.children, compress=True).run(local.sources, out, folder))
    return {NAME: (out / NAME).read_text("utf-8")} | {name: outcome.data(name).decode() for name in outcome.names}


@pytest.mark.parametrize(
    "files",
    [
        {"a_index.xml": index("p.xml"), "p.xml": urlset(page("p")), "z_index.xml": index(f"{HOME}a_index.xml")},
        {"a/index.xml": index("/p.xml", "q.xml"), "p.xml": urlset(page("p")), "a/q.xml": urlset(page("q")),
         "z.xml": index(f"{HOME}p.xml")},
        {"sitemap_index.xml": index(f"{HOME}sub/idx.xml"), "p.xml": urlset(page("p")),
         "sub/idx.xml": index(f"{HOME}sitemap_index.xml", f"{HOME}p.xml")},
        {"a_index.xml": index("p.xml", "gone.xml", "/gone.xml"), "p.xml": urlset(page("p")), "z_index.xml": index(f"{HOME}p.xml")},
    ],
    ids=["found by the last index", "found by another index", "found by a loop", "with missing files"],
)  # fmt: skip
def test_a_folder_whose_url_an_index_tells_is_repaired_as_if_it_were_known(
    files: dict[str, bytes], tmp_path: Path
) -> None:
    assert of_folder(tmp_path, files, None) == of_folder(tmp_path, files, HOME)


def test_an_index_stays_as_it_is_where_it_is_right(tmp_path: Path) -> None:
    listing = index(f"{HOME}b.xml", f"{HOME}a.xml", dates=("2026-05-01T10:00:00+02:00", "2026-05-02"))
    listing = listing.replace(b"<sitemapindex", b'<?xml-stylesheet href="/s.xsl"?>\n<!-- all files -->\n<sitemapindex')
    dated = page("a", "<lastmod>2026-05-01T09:00:00+02:00</lastmod>")
    outcome = repair(tmp_path, listing, urlset(dated), urlset(page("b")), names=["sitemap.xml", "a.xml", "b.xml"])
    assert outcome.data("sitemap.xml") == listing
    assert outcome.rows == []


@pytest.mark.parametrize(
    ("loc", "date", "action", "rule", "written"),
    [
        (f"{HOME}a.xml", "2025-01-01", "changed", "index-lastmod-older-than-child", "2026-05-01"),
        (f"{HOME}a.xml", "1 May 2026", "changed", "lastmod-invalid", "2026-05-01"),
        ("/a.xml", "2026-05-01", "changed", "index-child-relative", f"{HOME}a.xml"),
        (f"http://{HOME}a.xml", "2026-05-01", "changed", "loc-invalid-uri", f"{HOME}a.xml"),
        (f'"{HOME}a.xml', "2026-05-01", "changed", "loc-invalid-uri", f"{HOME}a.xml"),
        ("https://other.example/a.xml", "2026-05-01", "not repaired", "index-child-offsite", "https://other.example/a.xml"),
        ("ftp://example.com/a.xml", "2026-05-01", "dropped", "loc-bad-scheme", None),
        ("undefined/a.xml", "2026-05-01", "dropped", "loc-placeholder", None),
    ],
)  # fmt: skip
def test_an_entry_of_an_index(loc: str, date: str, action: str, rule: str, written: str | None, tmp_path: Path) -> None:
    files = [index(loc, f"{HOME}b.xml", dates=(date, "2026-05-01")), urlset(page("a", "<lastmod>2026-05-01</lastmod>"))]
    outcome = repair(tmp_path, *files, urlset(page("b")), names=["sitemap.xml", "a.xml", "b.xml"])
    assert [(row["action"], row["rule"]) for row in outcome.rows] == [(action, rule)]
    assert (written is None) or (f">{written}</" in outcome.data("sitemap.xml").decode())
    assert sum(counts(outcome)[1:]) == counts(outcome)[0] == 4


@pytest.mark.parametrize(
    ("hours", "form", "is_future"),
    [
        (2, "%Y-%m-%dT%H:%M:%SZ", True),
        (2, "%Y-%m-%d %H:%M:%S", True),
        (10, "%Y-%m-%d", False),
        (50, "%Y-%m-%d", True),
        (50, "%a, %d %b %Y %H:%M:%S GMT", True),
    ],
)
def test_a_date_in_the_future_gives_way_to_the_newest_entry(
    hours: int, form: str, is_future: bool, tmp_path: Path
) -> None:
    date = (datetime.now(UTC) + timedelta(hours=hours)).strftime(form)
    dated = urlset(page("a", "<lastmod>2026-05-01</lastmod>"))
    outcome = repair(tmp_path, index(f"{HOME}a.xml", dates=(date,)), dated, names=["sitemap.xml", "a.xml"])
    changes = [("lastmod-future", date, ""), ("index-lastmod-missing", "", "2026-05-01")]
    assert [(row["rule"], row["old"], row["new"]) for row in outcome.rows] == (changes if is_future else [])


def test_what_an_index_loses_has_a_row(tmp_path: Path) -> None:
    head = f'<s:sitemapindex xmlns:s="{CORE}" version="1">\n'
    entries = [
        f'<s:sitemap id="1"><s:loc>{HOME}a.xml?x&y</s:loc></s:sitemap>', "text",
        f"<s:sitemap><s:loc>{HOME}b.xml</s:loc><s:priority>1</s:priority></s:sitemap>", "<s:other>2</s:other>",
        f"<s:sitemap><s:loc>{HOME}c.x",
    ]  # fmt: skip
    outcome = repair(tmp_path, (head + "\n".join(entries)).encode())
    assert [(row["action"], row["rule"], row["old"]) for row in outcome.rows] == [
        ("changed", "xml-unknown-element", "<s:other>2</s:other>"),
        ("dropped", "doc-xml-malformed", entries[-1]),
        ("changed", "xml-unknown-attribute", 'version="1"'),
        ("changed", "xml-schema-violation", "text"),
        ("unread", "doc-truncated", "the file ends before the document does: 1 entry left out"),
        ("changed", "xml-unknown-attribute", "id"),
        ("changed", "doc-unescaped-ampersand", "&y</s:loc></s:sitemap>"),
        ("changed", "xml-unknown-element", "priority"),
    ]
    assert counts(outcome) == (3, 0, 2, 1, 0)
    assert outcome.result.unread == 1
    assert outcome.data("sitemap.xml").decode().count("<s:sitemap>") == 2


def test_an_entry_that_an_index_loses_has_no_row_on_what_else_was_wrong_with_it(tmp_path: Path) -> None:
    head = f'<sitemapindex xmlns="{CORE}">'
    entries = "<sitemap><loc>ftp://example.com/a.xml</loc>></sitemap>", f"<sitemap><loc>{HOME}b.xml</loc>></sitemap>"
    outcome = repair(tmp_path, "\n".join([head, *entries, "</sitemapindex>"]).encode())
    assert [(row["action"], row["rule"], row["line"]) for row in outcome.rows] == [
        ("dropped", "loc-bad-scheme", "2"), ("changed", "xml-schema-violation", "3"),
    ]  # fmt: skip


def test_an_entry_that_loses_its_article_may_repeat_another(tmp_path: Path) -> None:
    news = (
        "<news:news><news:publication><news:name>Times</news:name><news:language>jp</news:language></news:publication>"
        "<news:publication_date>2026-01-05</news:publication_date><news:title>A</news:title></news:news>"
    )
    outcome = repair(tmp_path, urlset(page("a")), urlset(page("a", news), page("b")))
    assert [(row["action"], row["rule"], news in row["old"]) for row in outcome.rows] == [
        ("dropped", "news-language-invalid", True)
    ]


@pytest.mark.parametrize("other", ["", "<priority>0.5</priority>"])
def test_an_entry_that_loses_its_last_link_may_repeat_another(other: str, tmp_path: Path) -> None:
    lost = "ftp://example.com/"
    link = f'<xhtml:link rel="alternate" hreflang="de" href="{lost}"/>'
    files = [urlset(page("a", other)), urlset(page("a", link), page("b"), f"<url><loc>{lost}</loc></url>")]
    outcome = repair(tmp_path / "once", *files)
    assert [(row["action"], row["rule"]) for row in outcome.rows] == [
        ("dropped", "loc-bad-scheme"), ("dropped", "hreflang-href-invalid"),
    ]  # fmt: skip
    assert repair(tmp_path / "again", *map(outcome.data, outcome.names)).rows == []


def test_a_split_file_of_an_index_keeps_its_url_as_the_first_part(tmp_path: Path) -> None:
    articles = [page(f"{number}", NEWS) for number in range(1_001)]
    outcome = repair(tmp_path, index(f"{HOME}news.xml"), urlset(*articles), names=["sitemap.xml", "news.xml"])
    assert outcome.names == ["news-2.xml", "news.xml", "sitemap.xml"]
    assert listed(outcome) == ["news.xml", "news-2.xml"]
    assert len(listed(outcome, "news.xml")) == 1_000


NEWS = (
    "<news:news><news:publication><news:name>n</news:name><news:language>en</news:language></news:publication>"
    "<news:publication_date>2026-05-01</news:publication_date><news:title>t</news:title></news:news>"
)


def test_an_index_beyond_the_limit_keeps_its_url_as_the_first_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(site_repair, "MAX_ENTRIES", 100)
    names = [f"{number}.xml" for number in range(101)]
    outcome = repair(tmp_path, index(*(HOME + name for name in names)), names=["sitemap.xml"])
    assert outcome.names == ["sitemap-2.xml", "sitemap.xml"]
    assert (listed(outcome), listed(outcome, "sitemap-2.xml")) == (names[:100], names[100:])
    assert [(row["rule"], row["new"]) for row in outcome.rows] == [
        ("limit-urls-exceeded", f"{HOME}sitemap.xml {HOME}sitemap-2.xml")
    ]
    assert f"Add them to robots.txt:\n  Sitemap: {HOME}sitemap-2.xml\n" in outcome.readme
    assert outcome.errors() == []
    assert counts(outcome) == (101, 101, 0, 0, 0)


def test_a_split_text_file_has_new_files_for_robots_txt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MAX_ENTRIES", 100)
    outcome = repair(tmp_path, "".join(f"{HOME}{number}\n" for number in range(101)).encode(), names=["sitemap.txt"])
    assert [outcome.data(name).count(b"\n") for name in ("sitemap.txt", "sitemap-2.txt")] == [100, 1]
    assert f"Add them to robots.txt:\n  Sitemap: {HOME}sitemap-2.txt\n" in outcome.readme


def test_compressed_files_stay_so(tmp_path: Path) -> None:
    names = ["sitemap_index.xml.gz", "a/sitemap.xml.gz"]
    outcome = repair(tmp_path, index(HOME + names[1]), urlset(page("a")), names=names)
    assert outcome.names == sorted(names)
    assert (outcome.folder / "upload" / names[1]).read_bytes()[:2] == b"\x1f\x8b"
    assert listed(outcome, names[0]) == [names[1]]


@pytest.mark.parametrize(
    ("code", "error"), [(errno.EMFILE, OSError), (errno.EACCES, SourceError), (errno.EIO, SourceError)]
)
def test_an_error_of_this_machine_is_not_one_of_the_file(
    code: int, error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path, mode: str) -> None:
        raise OSError(code, "failed")

    source = Source(f"{HOME}a.xml", tmp_path / "a.xml")
    monkeypatch.setattr(Path, "open", fail)
    with pytest.raises(error, match="failed"):
        [*source.chunks()]


def test_a_set_is_written_again_as_it_was(tmp_path: Path) -> None:
    names = ["sitemap.xml", "sitemap.xml?page=1", "inner.xml", "b.xml"]
    documents = [index(*(HOME + name for name in names[1:3])), urlset(page("a"), page("a")), index(f"{HOME}b.xml"),
                 urlset(page("b", "<lastmod>2026-05-01</lastmod>"))]  # fmt: skip
    once = repair(tmp_path / "once", *documents, names=names)
    again = repair(tmp_path / "again", *map(once.data, once.names), names=once.names)
    assert again.rows == []
    assert [again.data(name) for name in again.names] == [once.data(name) for name in once.names]


NAMES = ["sitemap.xml", "a/sitemap.xml", "b/sitemap.xml", "A/sitemap.xml", "sitemap", "sitemap/1.xml", "sitemap.xml?page=1",
         "sitemap-page-1.xml", "x.xml.gz", "feed/", "%2e%2e/x.xml", "sitemap.txt"]  # fmt: skip
sites = st.lists(
    st.tuples(
        st.sampled_from(NAMES),
        st.one_of(
            st.lists(st.sampled_from(["p", "q", "r s", "//other.example/", "~p"]), max_size=4).map(lambda pages: (pages, [])),
            st.lists(st.sampled_from([*NAMES, "missing.xml"]), min_size=1, max_size=5).map(lambda files: ([], files)),
        ),
    ),
    min_size=1, max_size=6, unique_by=lambda file: file[0],
)  # fmt: skip


@given(sites)
@briefly(30)
def test_any_site_adds_up_and_is_stable(site: list[tuple[str, tuple[list[str], list[str]]]]) -> None:
    names = [name for name, _ in site]
    documents = [
        index(*(HOME + file for file in files))
        if files
        else urlset(*(f"<url><loc>{urljoin(HOME, path)}</loc></url>" for path in pages))
        for _, (pages, files) in site
    ]
    with tempfile.TemporaryDirectory() as folder:
        once = repair(Path(folder, "once"), *documents, names=names)
        assert sum(counts(once)[1:]) == counts(once)[0] == sum(len(pages) + len(files) for _, (pages, files) in site)
        gone = {row["old"] for row in once.rows if row["action"] in ("moved", "not written")}
        assert all((HOME + name in gone) != (unquote(name) in once.names) for name in names)
        assert len(once.names) == len(names) - sum(row["action"] == "not written" for row in once.rows)
        if once.names:
            again = repair(Path(folder, "again"), *map(once.data, once.names), names=[*map(quote, once.names)])
            assert [row for row in again.rows if row["action"] != "not repaired"] == []
            assert {name: again.data(name) for name in again.names} == {name: once.data(name) for name in once.names}


GOOD = sorted(
    path
    for pattern in (
        "image*", "video*", "news.xml", "hreflang*", "mixed.xml", "namespaces-on-entries.xml", "rss-media.xml",
    )
    for path in (Path(__file__).parents[2] / "data/good").glob(pattern)
)  # fmt: skip
LINKS = (
    '<xhtml:link rel="alternate" hreflang="de" href="https://example.com/a"/>'
    '<xhtml:link rel="alternate" hreflang="en-GB" href="https://example.com/b?x=1;y"/>'
)
IMAGES = "".join(
    f"<image:image><image:loc>https://example.com/{name}</image:loc></image:image>" for name in ("1.png", "2.png")
)
VIDEO = {
    "thumbnail_loc": "https://user:secret@example.com/t.jpg", "title": "A & <B>", "description": "One\nline", "duration": None,
    "content_loc": "https://example.com/v.mp4", "tag": ["a", "b"], "uploader": {"value": "Me", "info": "https://example.com/me"},
    "restriction": {"relationship": "allow", "value": "DE FR", "x onload='y'>": "z"}, "tvshow": {}, "price": [],
}  # fmt: skip
WRITTEN_VIDEO = (
    "<video:video><video:thumbnail_loc>https://example.com/t.jpg</video:thumbnail_loc>"
    "<video:title>A &amp; &lt;B&gt;</video:title><video:description>One line</video:description>"
    "<video:content_loc>https://example.com/v.mp4</video:content_loc>"
    '<video:restriction relationship="allow">DE FR</video:restriction>'
    '<video:uploader info="https://example.com/me">Me</video:uploader>'
    "<video:tag>a</video:tag><video:tag>b</video:tag></video:video>"
)
ARTICLE = {
    "publication": {"name": "N", "language": "en", "a><b": "x"}, "publication_date": "2026-05-01", "title": "T", "extra": None,
}  # fmt: skip
WRITTEN_ARTICLE = (
    "<news:news><news:publication><news:name>N</news:name><news:language>en</news:language></news:publication>"
    "<news:publication_date>2026-05-01</news:publication_date><news:title>T</news:title></news:news>"
)
CELLS: dict[str, tuple[str, str, str]] = {
    "images between semicolons": ("images", "https://example.com/1.png; https://example.com/2.png", IMAGES),
    "images between blanks": ("images", "https://example.com/1.png\n https://user:secret@example.com/2.png", IMAGES),
    "images between commas": ("images", "https://example.com/1.png,https://example.com/2.png", IMAGES),
    "images between commas and blanks": ("images", "https://example.com/1.png, https://example.com/2.png", IMAGES),
    "images between bars": ("images", "https://example.com/1.png|https://example.com/2.png", IMAGES),
    "comma in an image": (
        "images",
        "https://example.com/1,2.png",
        IMAGES.split("1.png")[0] + "1,2.png</image:loc></image:image>",
    ),
    "images as JSON": ("images", '["https://example.com/1.png", {"loc": "https://example.com/2.png"}]', IMAGES),
    "number of images": ("images", "2", ""),
    "versions as text": ("alternates", "de=https://example.com/a; en-GB=https://example.com/b?x=1;y", LINKS),
    "versions between commas": ("alternates", "de=https://example.com/a, en-GB=https://example.com/b?x=1;y", LINKS),
    "versions between bars": ("alternates", "de=https://example.com/a|en-GB=https://example.com/b?x=1;y", LINKS),
    "versions as JSON": (
        "alternates",
        '[{"hreflang": "de", "href": "https://example.com/a"}, {"hreflang": "en-GB", "href": "https://example.com/b?x=1;y"},'
        ' {"hreflang": "fr", "href": "/c", "rel": "next"}]',
        LINKS,
    ),
    "number of versions": ("alternates", "2", ""),
    "version without a code": (
        "alternates",
        '[{"hreflang": null, "href": "android-app://com.example/a", "attributes": {"media": "tv", "a b>": "c"}}]',
        '<xhtml:link rel="alternate" media="tv" href="android-app://com.example/a"/>',
    ),
    "video with parts of all kinds": (
        "videos",
        json.dumps([{**VIDEO, "unknown": "x", "extra": [{"name": "x"}]}]),
        WRITTEN_VIDEO,
    ),
    "videos as text": ("videos", "https://example.com/v.mp4", ""),
    "number of videos": ("videos", "2", ""),
    "article": ("news", json.dumps(ARTICLE), WRITTEN_ARTICLE),
    "article as text": ("news", "News of the day", ""),
    "date": ("Last_Modified", "2024-05-01", "<lastmod>2024-05-01</lastmod>"),
    "date with control characters": ("lastmod", "2024-\x0005-01", "<lastmod>2024-05-01</lastmod>"),
    "date that is none": ("lastmod", "17. Mai 2024", ""),
    "date with markup": ("lastmod", "<b>&", ""),
    "priority": ("priority", "0.5", "<priority>0.5</priority>"),
    "priority that is none": ("priority", "high", ""),
}


@pytest.mark.parametrize("name", CELLS)
def test_cell_of_a_list(name: str, tmp_path: Path) -> None:
    column, cell, written = CELLS[name]
    with (tmp_path / "list.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["loc", column], [f"{HOME}a", Cells().disarmed(cell)]])
    outcome = repair_list(tmp_path / "list.csv")
    assert f"<url><loc>{HOME}a</loc>{written}</url>" in outcome.data("sitemap-pages.xml").decode()
    assert outcome.errors() + outcome.violations() == []


def test_rows_that_are_equal_once_links_are_gone_become_one(tmp_path: Path) -> None:
    rows = [{"loc": f"{HOME}a", "alternates": [{"hreflang": code, "href": f"{HOME}b"}]} for code in ("de", "fr")]
    (tmp_path / "list.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    outcome = repair_list(tmp_path / "list.jsonl")
    assert outcome.locs == [f"{HOME}a"]
    assert [(row["action"], row["rule"], row["line"]) for row in outcome.rows] == [
        ("changed", "hreflang-self-missing", "1"), ("dropped", "loc-duplicate", "2"),
    ]  # fmt: skip


def test_a_link_of_a_new_set_that_has_followed_its_page_goes_all_the_same(tmp_path: Path) -> None:
    rows = [{"loc": f"{HOME}a", "alternates": [{"hreflang": "de", "href": f"{HOME}b"}]}, {"loc": f"{HOME}b"}]
    (tmp_path / "list.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    moves = {f"{HOME}b": Verdict("status-redirect", f"{HOME}new")}
    outcome = repair_list(
        tmp_path / "list.jsonl", verified=lambda listed: {url: moves[url] for url in listed if url in moves}
    )
    assert outcome.locs == [f"{HOME}a", f"{HOME}new"]
    assert outcome.errors() == []


EXTENSIONS = ("images", "videos", "news", "alternates")


def records(data: bytes) -> dict[str, UrlRecord]:
    """The url records of a file, by URL."""
    return {one.loc: one for one in read_sitemap(data, url=f"{HOME}sitemap.xml") if isinstance(one, UrlRecord)}


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.name)
def test_records_of_a_good_file_give_its_extensions_again(path: Path, tmp_path: Path) -> None:
    before = {loc: one for loc, one in records(path.read_bytes()).items() if loc.isascii() and loc.startswith(HOME)}
    rows = [{"loc": loc, **{name: getattr(one, name) for name in EXTENSIONS}} for loc, one in before.items()]
    (tmp_path / "list.jsonl").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    after = records(repair_list(tmp_path / "list.jsonl").data("sitemap-pages.xml"))
    assert after.keys() == before.keys()
    for loc, one in after.items():
        assert [getattr(one, name) for name in EXTENSIONS] == [getattr(before[loc], name) for name in EXTENSIONS]


def test_folders_of_a_list(tmp_path: Path) -> None:
    paths = ["", "a", "about/", "blog/", "blog/1", "Blog/1", "root/1", "k%C3%B6ln/1", "..%2F/1", "blog/2"]
    paths += [f"f{number}/{page}" for number in range(MAX_FOLDERS) for page in range(2)]
    (tmp_path / "list.txt").write_text("".join(f"{HOME}{path}\n" for path in paths))
    outcome = repair_list(tmp_path / "list.txt", by_folder=True)
    assert sorted(outcome.locs) == sorted(f"{HOME}{path}" for path in paths)
    assert outcome.data("sitemap-root.xml").decode().count("<loc>") == 3
    assert outcome.data("sitemap-blog.xml").decode().count("<loc>") == 3
    assert outcome.data("sitemap-others.xml").decode().count("<loc>") == 6
    assert len(outcome.names) == MAX_FOLDERS + len(["sitemap.xml", "sitemap-root.xml", "sitemap-others.xml"])
    assert outcome.errors() == []


def test_names_of_folders_differ_in_more_than_upper_and_lower_case(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text(f"{HOME}blog/1\n{HOME}Blog/1\n{HOME}root/1\n{HOME}\n{HOME}a%2F..%00/1\n")
    names = repair_list(tmp_path / "list.txt", by_folder=True).names
    assert len({name.casefold() for name in names}) == len(names) == 6
    assert {"sitemap.xml", "sitemap-root.xml", "sitemap-blog.xml", "sitemap-a.xml"} < {*names}


@pytest.mark.slow
def test_large_list_is_split_and_the_index_lists_all_parts(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("".join(f"{HOME}{number}\n" for number in range(writing.MAX_ENTRIES + 1)))
    outcome = repair_list(tmp_path / "list.txt")
    assert outcome.names == ["sitemap-pages-2.xml", "sitemap-pages.xml", "sitemap.xml"]
    assert listed(outcome) == ["sitemap-pages.xml", "sitemap-pages-2.xml"]
    assert (counts(outcome)[1], outcome.rows) == (writing.MAX_ENTRIES + 1, [])
