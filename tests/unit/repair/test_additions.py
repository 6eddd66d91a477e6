"""Pages that no sitemap lists, and the file that each is added to."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.repair import writing
from sitemapcrawler.repair.additions import FoundPage
from sitemapcrawler.repair.streaming import COMPARED, LINKED, Verdict
from tests.examples import briefly
from tests.unit.repair.repairing import HOME, Outcome, check, index, repair, urlset

IMAGE = "<image:image><image:loc>https://example.com/1.png</image:loc></image:image>"
VIDEO = (
    "<video:video><video:thumbnail_loc>https://example.com/1.png</video:thumbnail_loc><video:title>T</video:title>"
    "<video:description>D</video:description><video:content_loc>https://example.com/1.mp4</video:content_loc></video:video>"
)
NEWS = (
    "<news:news><news:publication><news:name>N</news:name><news:language>en</news:language></news:publication>"
    "<news:publication_date>2026-05-01</news:publication_date><news:title>T</news:title></news:news>"
)


def page(path: str, *parts: str) -> str:
    return f"<url><loc>{HOME}{path}</loc>{''.join(parts)}</url>"


def found(path: str, *, modified: str | None = None, indexable: bool = True, rule: str = LINKED) -> FoundPage:
    return FoundPage(path if "://" in path else HOME + path, rule, indexable, modified)


def added(outcome: Outcome) -> dict[str, str]:
    """{path of an added page: name of its file}."""
    rows = (row for row in outcome.rows if row["action"] == "added")
    return {row["url"].removeprefix(HOME): row["sitemap"].removeprefix(HOME) for row in rows}


def not_added(outcome: Outcome) -> dict[str, str]:
    """{path of a page that is not added: why}."""
    return {row["url"].removeprefix(HOME): row["rule"] for row in outcome.rows if row["action"] == "not added"}


FILES = {
    "pages.xml": urlset(page(""), page("about"), page("blog/")),
    "blog.xml": urlset(page("blog/1"), page("blog/2"), page("blog/2026/1")),
    "shop.xml": urlset(*(page(f"shop/{number}") for number in range(9))),
    "archive.xml": urlset(page("blog/2026/2"), page("blog/2026/3")),
}


@pytest.mark.parametrize(
    ("path", "file"),
    [
        ("blog/3", "blog.xml"),
        ("blog/2026/4", "archive.xml"),
        ("blog/2025/1", "blog.xml"),
        ("shop/a/b/c", "shop.xml"),
        ("contact", "shop.xml"),
    ],
)
def test_page_goes_to_the_file_with_most_pages_of_its_folder(path: str, file: str, tmp_path: Path) -> None:
    outcome = repair(tmp_path, *FILES.values(), names=FILES, pages=[found(path)])
    check(outcome)
    assert added(outcome) == {path: file}
    assert outcome.result.added == 1
    assert f"  {HOME}{file}: 1 page\n" in outcome.readme


@pytest.mark.parametrize(
    ("files", "file"),
    [
        ({"images.xml": urlset(page("a/1", IMAGE), page("a/3", IMAGE)), "pages.xml": urlset(page("a/1"))}, "pages.xml"),
        ({"posts.xml": urlset(page("a/1", IMAGE)), "pages.xml": urlset(page(""))}, "posts.xml"),
        ({"videos.xml": urlset(page("a/1", VIDEO)), "pages.xml": urlset(page(""))}, "pages.xml"),
        ({"videos.xml": urlset(page("a/1", VIDEO))}, "videos.xml"),
        ({"news.xml": urlset(page("a/1", NEWS)), "pages.xml": urlset()}, "pages.xml"),
        ({"news.xml": urlset(page("a/1", NEWS))}, ""),
        ({"news.xml": urlset(page("a/1", NEWS), page("a/3", NEWS), page("a/4"))}, ""),
        ({"all.xml": urlset(page("a/1", NEWS), page("a/3"))}, "all.xml"),
        ({"index.xml": index(f"{HOME}pages.txt"), "pages.txt": f"{HOME}a/1\n".encode()}, "pages.txt"),
        ({"feed.rss": b"<rss version='2.0'><channel><item><link>https://example.com/a/1</link></item></channel></rss>"}, ""),
    ],
)  # fmt: skip
def test_file_of_pages_comes_before_one_of_media(files: Mapping[str, bytes], file: str, tmp_path: Path) -> None:
    outcome = repair(tmp_path, *files.values(), names=files, pages=[found("a/2", modified="2026-05-01")])
    assert added(outcome) == ({"a/2": file} if file else {})
    assert not_added(outcome) == ({} if file else {"a/2": "add-no-file"})
    if file.endswith(".txt"):
        assert outcome.data(file) == f"{HOME}a/1\n{HOME}a/2\n".encode()


def test_problem_of_an_added_page_counts_for_no_entry_that_was_read(tmp_path: Path) -> None:
    links = "".join(f'<xhtml:link rel="alternate" hreflang="{code}" href="{HOME}{code}"/>' for code in ("en", "de"))
    outcome = repair(tmp_path, urlset(page("en", links)), pages=[found("de")])
    assert (outcome.result.read, outcome.result.kept, outcome.result.unrepaired, outcome.result.added) == (1, 1, 0, 1)
    assert [(row["rule"], row["url"]) for row in outcome.rows] == [
        (LINKED, f"{HOME}de"), ("hreflang-return-missing", f"{HOME}de")
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("modified", "written"),
    [
        ("2026-05-01", "2026-05-01"),
        ("2026-05-01T10:00:00+02:00", "2026-05-01T08:00:00Z"),
        ("2099-01-01", None),
        ("1970-01-01", None),
        ("17. Mai 2024", None),
        (None, None),
    ],
)
def test_date_that_a_page_states_is_written_if_it_is_plausible(
    modified: str | None, written: str | None, tmp_path: Path
) -> None:
    documents = [index(f"{HOME}pages.xml"), urlset(page(""))]
    outcome = repair(tmp_path, *documents, names=["index.xml", "pages.xml"], pages=[found("a", modified=modified)])
    check(outcome)
    date = f"<lastmod>{written}</lastmod>" if written else ""
    assert f"<url><loc>{HOME}a</loc>{date}</url>\n" in outcome.data("pages.xml").decode()
    assert date in outcome.data("index.xml").decode()


@pytest.mark.parametrize(
    ("url", "loc"),
    [
        ("a&b'c", "a&amp;b'c"),
        ("größe/日本", "gr%C3%B6%C3%9Fe/%E6%97%A5%E6%9C%AC"),
        ('a"b<c>', "a%22b%3Cc%3E"),
        ("a#part", "a"),
        ("HTTPS://EXAMPLE.com:443/a", "a"),
        ("a b", "a%20b"),
        ("a?", "a"),
    ],
)
def test_url_of_an_added_page_is_escaped(url: str, loc: str, tmp_path: Path) -> None:
    once = repair(tmp_path / "once", urlset(page("")), pages=[found(url)])
    check(once)
    assert f"<loc>{HOME}{loc}</loc>" in once.data("sitemap.xml").decode()
    again = repair(tmp_path / "again", once.data("sitemap.xml"), pages=[found(url)])
    assert again.rows == []
    assert again.data("sitemap.xml") == once.data("sitemap.xml")


@pytest.mark.parametrize(
    ("page_found", "why"),
    [
        (found("a", indexable=False), "add-not-verified"),
        (found("a")._replace(is_behind=True), "status-redirect"),
        (found("a" * 3000), "loc-too-long"),
        (found("http://example.com/a"), "loc-protocol-mismatch"),
        (found("https://www.example.com/a"), "loc-www-mismatch"),
        (found("https://other.example/a"), "loc-offsite"),
        (found("list?color=red"), "add-parameters"),
        (found("item?id=7&sort=price"), "add-parameters"),
        (found("item?id=7&PHPSESSID=0123456789abcdef0123456789abcdef"), "add-parameters"),
    ],
)
def test_page_that_does_not_belong_in_a_sitemap_is_not_added(page_found: FoundPage, why: str, tmp_path: Path) -> None:
    document = urlset(page(""), page("item?id=1"))
    outcome = repair(tmp_path, document, pages=[page_found])
    assert list(not_added(outcome).values()) == [why]
    assert outcome.data("sitemap.xml") == document
    assert outcome.result.added == 0


def test_query_is_added_where_its_parameters_are_listed(tmp_path: Path) -> None:
    outcome = repair(tmp_path, urlset(page("item?lang=en&amp;id=1")), pages=[found("item?id=7&lang=de")])
    assert added(outcome) == {"item?id=7&lang=de": "sitemap.xml"}


def test_page_outside_the_folder_of_a_file_goes_to_one_above(tmp_path: Path) -> None:
    files = {"blog/sitemap.xml": urlset(page("blog/1"), page("blog/2")), "sitemap.xml": urlset(page(""))}
    outcome = repair(tmp_path, *files.values(), names=files, pages=[found("about")])
    assert added(outcome) == {"about": "sitemap.xml"}


def test_page_that_takes_the_place_of_a_listed_one_is_not_added_again(tmp_path: Path) -> None:
    verdicts = {f"{HOME}old": Verdict("status-redirect", f"{HOME}new")}
    outcome = repair(tmp_path, urlset(page("old")), verified=lambda listed: verdicts, pages=[found("new")])
    check(outcome)
    assert outcome.locs == [f"{HOME}new"]
    assert (outcome.result.changed, outcome.result.added) == (1, 0)


def test_full_file_is_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "MAX_ENTRIES", 2)
    documents = [index(f"{HOME}pages.xml"), urlset(page("1"), page("2"))]
    outcome = repair(tmp_path, *documents, names=["index.xml", "pages.xml"], pages=[found("3")])
    assert outcome.names == ["index.xml", "pages-2.xml", "pages.xml"]
    assert f"<loc>{HOME}3</loc>" in outcome.data("pages-2.xml").decode()


def test_only_the_pages_of_a_rule_are_added(tmp_path: Path) -> None:
    pages = [found("linked"), found("compared", rule=COMPARED)]
    outcome = repair(tmp_path, urlset(page("")), only=[COMPARED], pages=pages)
    assert added(outcome) == {"compared": "sitemap.xml"}


PATHS = st.sampled_from(
    ["", "a", "a/b", "a/c", "b/c/d", "x?id=1", "x?id=2", "y?z=1", "é", "A", "a&b", "a#b", "%7Ea", "~a"]
)


@pytest.mark.slow
@given(
    st.lists(st.lists(PATHS, max_size=5), min_size=1, max_size=4),
    st.lists(st.tuples(PATHS, st.booleans(), st.sampled_from([None, "2026-05-01", "2099-01-01", "x"])), max_size=8),
)
@briefly(20)
def test_what_stands_is_what_was_there_and_what_was_added(
    files: list[list[str]], pages: list[tuple[str, bool, str | None]]
) -> None:
    documents = [urlset(*(page(path.replace("&", "&amp;")) for path in paths)) for paths in files]
    to_add = [found(path, indexable=indexable, modified=date) for path, indexable, date in pages]
    with tempfile.TemporaryDirectory() as folder:
        without = repair(Path(folder, "without"), *documents)
        once = repair(Path(folder, "once"), *documents, pages=to_add)
        check(once)
        new = [row["url"] for row in once.rows if row["action"] == "added"]
        assert sorted(once.locs) == sorted([*without.locs, *new])
        assert once.result.added == len(new)
        assert (once.result.read, once.result.kept) == (without.result.read, without.result.kept)
        again = repair(Path(folder, "again"), *map(once.data, once.names), names=once.names, pages=to_add)
        assert not [row for row in again.rows if row["action"] != "not added"]
        assert {name: again.data(name) for name in again.names} == {name: once.data(name) for name in once.names}
