"""Lists to compare with: what they have and no sitemap lists, and what none of them has."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from tests.crawl.crawling import FEED, Crawl, command, crawl
from tests.crawl.documents import robots, urlset
from tests.crawl.site_server import Reply, SiteServer, moved
from tests.crawl.verified import PATIENT, html

LISTED = ("/", "/a", "/shop/b", "/shop/only", "/caf%C3%A9")
LISTS = "@crawl.csv, @access.log,mine.txt"
NOT_LISTED, LISTED_ONLY = "coverage-not-listed", "coverage-listed-only"


def page(head: str = "", words: str = "") -> Reply:
    return html(head, body=f"Words of {words} and nothing else, but enough of them to be a page. " * 5)


@contextmanager
def shop() -> Iterator[SiteServer]:
    with SiteServer() as server:
        server.otherwise = Reply("<p>Nothing here", 404, {"Content-Type": "text/html"})
        paths = ("/", "/a", "/shop/b", "/shop/only", "/caf%C3%A9", "/unlisted", "/shop/unlisted", "/visited")
        server.routes = {
            **{path: page(words=path) for path in paths},
            "/robots.txt": robots(server.url("/sitemap.xml"), rules=["Disallow: /secret/"]),
            "/sitemap.xml": urlset(*map(server.url, LISTED)),
            "/noindex": page('<meta name="robots" content="noindex">', "noindex"),
            "/copy": page(f'<link rel="canonical" href="{server.url("/a")}">', "copy"),
            "/old": moved("/a"),
            "/secret/x": page(words="secret"),
        }
        yield server


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with shop() as server:
        yield server


@pytest.fixture
def lists(tmp_path: Path, site: SiteServer) -> str:
    return written(tmp_path, site)


def written(folder: Path, site: SiteServer) -> str:
    """Write three lists: a crawl, an access log and a text."""
    crawled = ["/", "/a", "/unlisted", "/noindex", "/copy", "/old", "/gone", "/secret/x", "/%63af%c3%a9"]
    rows = [f'"{site.url(path)}","text/html","Indexable"' for path in crawled]
    rows += ['"https://other.example/","text/html","Indexable"', f'"{site.url("/i.png")}","image/png","Indexable"']
    (folder / "crawl.csv").write_text("\n".join(['"Address","Content Type","Indexability"', *rows]) + "\n")
    asked = ["/unlisted?utm_source=x", "/unlisted", "/visited", "/shop/b", "/style.css", "/shop/unlisted"]
    log = [f'203.0.113.9 - - [01/May/2026:10:00:00 +0000] "GET {path} HTTP/1.1" 200 1' for path in asked]
    (folder / "access.log").write_text("\n".join(log) + "\n")
    (folder / "mine.txt").write_text(f"# mine\n{site.url('/a')}\n")
    return LISTS


def compared(folder: Path, site: SiteServer, lists: str, *options: str, **arguments: Any) -> Crawl:
    return crawl(folder, *options, settings=PATIENT, domain=site.url(), compare=lists, **arguments)


def told(site: SiteServer, done: Crawl) -> dict[tuple[str, str], tuple[str, str]]:
    return {
        (one["rule"], one["url"].removeprefix(site.url())): (one["severity"], one["message"])
        for one in done.of_type("finding")
        if one["rule"] in (NOT_LISTED, LISTED_ONLY)
    }


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SiteServer, Crawl]]:
    """A crawl that compares with all lists, and writes a report and a workbook."""
    folder = tmp_path_factory.mktemp("verified")
    with shop() as server:
        feeds = ("-O", FEED, "-O", "audit.xlsx", "-s", "JOBDIR=job")
        yield server, compared(folder, server, written(folder, server), *feeds, verify="get", report="report")


BY_PAGE = {"/unlisted", "/visited", "/shop/unlisted"}


def test_missing_pages_are_requested_and_only_indexable_ones_reported(verified: tuple[SiteServer, Crawl]) -> None:
    site, done = verified
    found = told(site, done)
    missing = {path: found[rule, path] for rule, path in found if rule == NOT_LISTED}
    assert set(missing) == BY_PAGE
    assert {severity for severity, _ in missing.values()} == {"warning"}
    assert "is in no sitemap, but in 3 rows of crawl.csv, access.log" in missing["/unlisted"][1]
    assert {path for rule, path in found if rule == LISTED_ONLY} == {"/shop/only"}
    asked = [one.path for one in site.exchanges]
    assert len(asked) == len(set(asked))
    assert "/secret/x" not in asked


def test_a_job_asks_once(verified: tuple[SiteServer, Crawl]) -> None:
    site, first = verified
    asked = len(site.exchanges)
    again = compared(first.folder, site, LISTS, "-O", "again.jsonl", "-s", "JOBDIR=job", verify="get")
    assert len(site.exchanges) == asked
    assert told(site, first)
    assert again.code == first.code


def test_pages_whose_html_is_unknown_are_notes(tmp_path: Path, site: SiteServer, lists: str) -> None:
    found = told(site, compared(tmp_path, site, lists, verify="head", agents="none"))
    assert {path: severity for (rule, path), (severity, _) in found.items() if rule == NOT_LISTED} == dict.fromkeys(
        BY_PAGE | {"/noindex", "/copy"}, "info"
    )


def test_sample_of_the_listed_pages_and_some_of_the_lists_are_requested(
    tmp_path: Path, site: SiteServer, lists: str
) -> None:
    done = compared(tmp_path, site, lists, verify="get", sample="2", max_pages=1)
    kinds = [one["reply"]["kind"] for one in done.of_type("url")]
    assert sorted(kinds) == ["ok", "ok", *["unchecked"] * (len(LISTED) - 2)]
    assert done.summary["coverage"]["partial"] == "max_pages"
    assert told(site, done)[NOT_LISTED, "/unlisted"][0] == "warning", "in the most lists, and so the first"
    assert told(site, done)[NOT_LISTED, "/visited"][0] == "info"


def test_targets_of_listed_pages_are_known_without_another_request(tmp_path: Path, site: SiteServer) -> None:
    site.routes |= {
        "/sitemap.xml": urlset(*map(site.url, ("/", "/dup", "/dup-of-hidden", "/moves"))),
        "/dup": page(f'<link rel="canonical" href="{site.url("/canonical")}">', "dup"),
        "/canonical": page(words="canonical"),
        "/dup-of-hidden": page(f'<link rel="canonical" href="{site.url("/noindex")}">', "dup of hidden"),
        "/moves": moved("/end"),
        "/end": page(words="end"),
    }
    unlisted = ("/canonical", "/noindex", "/end")
    (tmp_path / "mine.txt").write_text("".join(f"{site.url(path)}\n" for path in unlisted))
    done = compared(tmp_path, site, "mine.txt", verify="get", agents="none")
    found = {path: severity for (rule, path), (severity, _) in told(site, done).items() if rule == NOT_LISTED}
    assert found == {"/canonical": "warning", "/end": "warning"}
    asked = [one.path for one in site.exchanges]
    assert [asked.count(path) for path in unlisted] == [1, 1, 1]


def test_summary_counts_by_list_and_folder(verified: tuple[SiteServer, Crawl]) -> None:
    coverage = verified[1].summary["coverage"]
    assert coverage["lists"] == [
        {"name": "crawl.csv", "format": "Screaming Frog", "rows": 11, "left_out": 1, "unread": 0, "offsite": 1, "inspected": 0, "urls": 9,
         "listed": 3, "not_listed": 1},
        {"name": "access.log", "format": "access log", "rows": 6, "left_out": 1, "unread": 0, "offsite": 0, "inspected": 0, "urls": 4,
         "listed": 1, "not_listed": 3,
         "since": "2026-05-01T10:00:00Z", "until": "2026-05-01T10:00:00Z"},
        {"name": "mine.txt", "format": "text", "rows": 1, "left_out": 0, "unread": 0, "offsite": 0, "inspected": 0, "urls": 1,
         "listed": 1, "not_listed": 0},
    ]  # fmt: skip
    assert {name: coverage[name] for name in ("not_listed", "not_verified", "not_indexable", "listed_only")} == {
        "not_listed": 3, "not_verified": 0, "not_indexable": 5, "listed_only": 1,
    }  # fmt: skip
    assert coverage["folders"] == [
        {"folder": "/", "listed": 3, "not_listed": 2, "listed_only": 0, "by_list": {"crawl.csv": 1, "access.log": 2}},
        {"folder": "/shop/", "listed": 1, "not_listed": 1, "listed_only": 1, "by_list": {"access.log": 1}},
    ]


def test_listed_page_that_a_list_calls_an_error_is_in_the_list(tmp_path: Path, site: SiteServer) -> None:
    site.routes["/sitemap.xml"] = urlset(*map(site.url, (*LISTED, "/noindex")))
    rows = [f"{site.url(path)},{status}" for path, status in (("/shop/only", 404), ("/gone", 404), ("/a", 200))]
    (tmp_path / "crawl.csv").write_text("\n".join(["Address,Status Code", *rows]) + "\n")
    done = compared(tmp_path, site, "crawl.csv", verify="get")
    found = told(site, done)
    assert {path for rule, path in found if rule == LISTED_ONLY} == {"/", "/shop/b", "/caf%C3%A9"}, "and not /noindex"
    assert not {path for rule, path in found if rule == NOT_LISTED}
    coverage = done.summary["coverage"]
    assert (coverage["listed_only"], coverage["left_out"], coverage["lists"][0]["left_out"]) == (3, 1, 2)


def test_feeds_files_and_pagination_are_one_note_each(tmp_path: Path, site: SiteServer) -> None:
    lists = ("/feed/", "/prices.pdf", "/blog/page/2", "/blog/page/3?x=1", "/list?page=4", "/prices", "/page/about")
    listed = ("/", "/list?page=9", "/catalogue.PDF")
    site.routes["/sitemap.xml"] = urlset(*map(site.url, listed))
    (tmp_path / "mine.txt").write_text("".join(f"{site.url(path)}\n" for path in lists))
    done = compared(tmp_path, site, "mine.txt", report="report")
    assert "3 in a list but in no sitemap, 1 listed but in no list" in (tmp_path / "report" / "report.html").read_text()
    found = [one for one in done.of_type("finding") if one["rule"] in (NOT_LISTED, LISTED_ONLY)]
    urls = {(one["rule"], one["url"].removeprefix(site.url(""))) for one in found if one.get("url")}
    assert urls == {(NOT_LISTED, "/prices"), (NOT_LISTED, "/page/about"), (LISTED_ONLY, "/")}
    assert {one["message"] for one in found if not one.get("url")} == {
        f"1 feed of mine.txt is in no sitemap, such as '{site.url('/feed/')}'",
        f"1 file of mine.txt is in no sitemap, such as '{site.url('/prices.pdf')}'",
        f"3 paginated pages of mine.txt are in no sitemap, such as '{site.url('/blog/page/2')}'",
        f"1 listed file is in none of the lists, such as '{site.url('/catalogue.PDF')}'",
        f"1 listed paginated page is in none of the lists, such as '{site.url('/list?page=9')}'",
    }
    coverage = done.summary["coverage"]
    assert (coverage["not_listed"], coverage["listed_only"]) == (2, 1)
    assert coverage["groups"] == [
        {"group": "paginated page", "not_listed": 3, "listed_only": 1},
        {"group": "file", "not_listed": 1, "listed_only": 1},
        {"group": "feed", "not_listed": 1, "listed_only": 0},
    ]


def test_without_verify_missing_pages_are_notes(tmp_path: Path, site: SiteServer, lists: str) -> None:
    done = compared(tmp_path, site, lists)
    found = told(site, done)
    assert {severity for (rule, _), (severity, _) in found.items() if rule == NOT_LISTED} == {"info"}
    assert ("coverage-not-listed", "/noindex") in found
    assert "not verified" in found[NOT_LISTED, "/unlisted"][1]
    assert {one.path for one in site.exchanges} <= {"/robots.txt", "/sitemap.xml", "/"}


def test_what_an_unread_sitemap_may_list_is_a_note(tmp_path: Path, site: SiteServer, lists: str) -> None:
    site.routes["/robots.txt"] = robots(site.url("/sitemap.xml"), site.url("/lost.xml"))
    site.routes["/lost.xml"] = Reply("", 500)
    severity, message = told(site, compared(tmp_path, site, lists, verify="get"))[NOT_LISTED, "/unlisted"]
    assert severity == "info"
    assert message.endswith("; not all sitemaps were read")


def test_a_list_without_urls_is_refused_before_any_request(
    tmp_path: Path, site: SiteServer, refusal: Callable[..., str]
) -> None:
    (tmp_path / "bad.csv").write_text("name,views\na,1\n")
    said = "has no column with URLs; its columns are 'name', 'views'"
    assert said in refusal(*command(domain=site.url(), compare="@bad.csv")[3:])
    assert not site.exchanges


def test_report_and_workbook_show_the_lists(verified: tuple[SiteServer, Crawl]) -> None:
    folder = verified[1].folder
    page = (folder / "report" / "report.html").read_text("utf-8")
    assert "3 pages" in page
    for words in ("crawl.csv, access.log", "Pages of lists that no sitemap lists", "/shop/unlisted", "/shop/only"):
        assert words in page
    sheet = load_workbook(folder / "audit.xlsx")["Coverage"]
    rows = list(sheet.iter_rows(values_only=True))
    assert rows[0] == ("folder", "list", "in_list_and_sitemaps", "only_in_list", "only_in_sitemaps")
    assert ("all folders", "crawl.csv", 3, 1, None) in rows
    assert ("/shop/", "all lists", 1, 1, 1) in rows
    assert ("/shop/", "access.log", None, 1, None) in rows


def test_access_logs_say_what_crawlers_have_fetched(tmp_path: Path, site: SiteServer) -> None:
    asked = [("66.249.66.1", "/a", "Googlebot/2.1"), ("203.0.113.9", "/shop/b", "Googlebot/2.1"),
             ("203.0.113.9", "/", "bingbot/2.0")]  # fmt: skip
    log = [
        f'{address} - - [01/May/2026:10:00:00 +0000] "GET {path} HTTP/1.1" 200 1 "-" "{agent}"\n'
        for address, path, agent in asked
    ]
    for number, one in enumerate(log):
        (tmp_path / f"access.log.{number}").write_text(one)
    (tmp_path / "googlebot.txt").write_text("66.249.64.0/19\n")
    done = compared(
        tmp_path,
        site,
        "@access.log.*",
        "-O",
        FEED,
        crawler_addresses="@googlebot.txt",
        report="report",
        agents="Googlebot",
    )
    [google, bing] = done.summary["crawlers"]
    assert (google["may_fetch"], google["fetches"]["fetched"], google["fetches"]["pretended"]) == (5, 1, 1)
    assert (bing["crawler"], bing["fetches"]["fetched"]) == ("Bingbot", 1)
    assert "may_fetch" not in bing
    fetched = {row["loc"].removeprefix(site.url("")): row["fetched"] for row in done.of_type("url") if "fetched" in row}
    assert fetched == {"/a": {"Googlebot": "2026-05-01T10:00:00Z"}, "/": {"Bingbot": "2026-05-01T10:00:00Z"}}
    page = (tmp_path / "report" / "report.html").read_text("utf-8")
    assert "1 request of other programs under its name" in page
    assert "Share of listed pages fetched, by sitemap" in page
