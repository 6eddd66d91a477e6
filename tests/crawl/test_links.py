"""Links of pages: linked pages that are not listed, listed pages without links, clicks, and how complete that is."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook

from tests.crawl.crawling import Crawl, command, crawl
from tests.crawl.documents import robots, urlset
from tests.crawl.site_server import Reply, Route, SiteServer, moved
from tests.crawl.verified import PATIENT, html

LISTED = ("/", "/a", "/b", "/c", "/new", "/orphan", "/nofollow")
RULES = ("cross-not-in-sitemap", "cross-orphan-url")


def page(*links: str, head: str = "", more: str = "") -> Reply:
    """A page with a text of its own and these links."""
    anchors = "".join(f'<p><a href="{link}">to {link}</a></p>' for link in links)
    return html(head, body=f"Words about {links} and nothing else. " * 5 + anchors + more)


def packed(reply: Reply) -> Reply:
    body = reply.body if isinstance(reply.body, bytes) else reply.body.encode()
    return Reply(gzip.compress(body), 200, {**reply.headers, "Content-Encoding": "gzip"})


ROUTES: dict[str, Route] = {
    "/": page("/a", "/b", "/unlisted", "/old", "/secret/x", "/noindex", "/copy", "#top", "mailto:a@museum.example",
              "https://other.example/", more='<a rel="nofollow" href="/nofollow">n</a>'),
    "/a": packed(page("/", "/unlisted#part", "/c")),
    "/b": page("/", "/report.pdf"),
    "/c": page("/", "/deep"),
    "/new": page("/"),
    "/orphan": page("/", "/orphan"),
    "/nofollow": page("/"),
    "/unlisted": page("/"),
    "/deep": page("/", "/deeper"),
    "/deeper": page("/"),
    "/old": moved("/new"),
    "/secret/x": page("/"),
    "/noindex": page("/", head='<meta name="robots" content="noindex">'),
    "/copy": page("/", head='<link rel="canonical" href="/c">'),
    "/report.pdf": Reply(b"%PDF", headers={"Content-Type": "application/pdf"}),
}  # fmt: skip


def audited(folder: Path, site: SiteServer, *options: str, **arguments: Any) -> Crawl:
    return crawl(folder, *options, settings=PATIENT, domain=site.url(), verify="get", **arguments)


@pytest.fixture
def site() -> Any:
    with SiteServer() as server:
        server.otherwise = Reply("<p>Nothing here", 404, {"Content-Type": "text/html"})
        server.routes = {
            **ROUTES,
            "/robots.txt": robots(server.url("/sitemap.xml"), rules=["Disallow: /secret/"]),
            "/sitemap.xml": urlset(*map(server.url, LISTED)),
        }
        yield server


def pages(site: SiteServer, done: Crawl) -> dict[str, dict[str, Any]]:
    return {record["url"].removeprefix(site.url("")): record for record in done.of_type("page")}


def told(site: SiteServer, done: Crawl) -> set[tuple[str, str, str]]:
    found = (one for one in done.of_type("finding") if one["rule"] in RULES and one.get("url"))
    return {(one["rule"], one["severity"], one["url"].removeprefix(site.url(""))) for one in found}


def notes(done: Crawl) -> list[str]:
    """What is said of groups of pages."""
    return [one["message"] for one in done.of_type("finding") if one["rule"] in RULES and not one.get("url")]


def test_links_of_listed_pages(tmp_path: Path, site: SiteServer) -> None:
    done = audited(tmp_path, site, links="yes")
    found = pages(site, done)
    assert {path: record.get("depth") for path, record in found.items() if record["listed"]} == {
        "/": 0, "/a": 1, "/b": 1, "/c": 2, "/new": None, "/orphan": None, "/nofollow": None,
    }  # fmt: skip
    assert found["/unlisted"]["inlinks"] == 2
    assert found["/unlisted"]["linked_from"] == [site.url("/"), site.url("/a")]
    assert found["/nofollow"]["nofollow_inlinks"] == 1
    assert found["/secret/x"]["reason"] == "blocked"
    unlisted = {"/unlisted", "/old", "/noindex", "/copy", "/deep"}
    assert told(site, done) == {
        *(("cross-not-in-sitemap", "info", path) for path in unlisted),
        *(("cross-orphan-url", "warning", path) for path in ("/new", "/orphan", "/nofollow")),
    }
    graph = done.summary["graph"]
    assert (graph["pages"], graph["read"], graph["unread"]) == (14, 7, {"not-listed": 6, "blocked": 1})
    assert (graph["unlisted"], graph["not_linked"], graph["nofollow"], graph["offsite"]) == (5, 3, 1, 1)
    assert graph["groups"] == {"file": 1}
    assert notes(done) == [f"1 linked file is in no sitemap, such as '{site.url('/report.pdf')}'"]
    asked = {one.path for one in site.exchanges}
    assert not asked & {"/unlisted", "/old", "/deep", "/secret/x"}


def test_links_are_followed(tmp_path: Path, site: SiteServer) -> None:
    done = audited(tmp_path, site, "-O", "records.jsonl", "-O", "audit.xlsx", links="site", report="report")
    found = pages(site, done)
    assert {path: record.get("depth") for path, record in found.items() if not record["listed"]} == {
        "/unlisted": 1, "/old": 1, "/secret/x": 1, "/noindex": 1, "/copy": 1, "/report.pdf": 2, "/deep": 3, "/deeper": 4,
    }  # fmt: skip
    assert found["/new"]["inlinks"] == 1  # by a redirect
    assert found["/c"]["inlinks"] == 2  # by /a, and by a link to /copy, whose canonical it is
    assert told(site, done) == {
        *(("cross-not-in-sitemap", "warning", path) for path in ("/unlisted", "/deep", "/deeper")),
        *(("cross-orphan-url", "warning", path) for path in ("/orphan", "/nofollow")),
    }
    graph = done.summary["graph"]
    assert (graph["unlisted"], graph["groups"], graph["not_linked"]) == (3, {"file": 1}, 2)
    asked = [one.path for one in site.exchanges]
    assert "/secret/x" not in asked
    assert all(asked.count(path) == 1 for path in ("/unlisted", "/deep", "/deeper", "/noindex", "/a"))
    assert asked.index("/unlisted") < asked.index("/deep") < asked.index("/deeper")
    assert {"pages.jsonl", "pages.parquet"} <= {path.name for path in (tmp_path / "report").iterdir()}
    shown = (tmp_path / "report" / "report.html").read_text()
    assert "Pages that are linked but not listed" in shown
    assert "Links added by JavaScript are not seen" in shown
    book = load_workbook(tmp_path / "audit.xlsx", read_only=True)
    assert len(list(book["Links"].iter_rows())) == 1 + len(found)


def test_linked_page_that_is_no_longer_listed_is_a_new_problem_and_one_that_is_listed_by_now_solved(
    tmp_path: Path, site: SiteServer
) -> None:
    audited(tmp_path, site, links="site", report="before")
    site.routes |= {"/sitemap.xml": urlset(*map(site.url, (*LISTED, "/unlisted"))).replace(b"/b<", b"/deep<")}
    done = audited(tmp_path, site, "-O", "records.jsonl", links="site", baseline="before")
    found = {
        (one["change"], one["url"].removeprefix(site.url("")))
        for one in done.of_type("change")
        if one.get("rule") == "cross-not-in-sitemap"
    }
    assert found == {("new problem", "/b"), ("solved problem", "/unlisted"), ("solved problem", "/deep")}


def test_what_an_unread_sitemap_may_list_is_a_note(tmp_path: Path, site: SiteServer) -> None:
    site.routes["/robots.txt"] = robots(site.url("/sitemap.xml"), site.url("/lost.xml"), rules=["Disallow: /secret/"])
    site.routes["/lost.xml"] = Reply("", 500)
    done = audited(tmp_path, site, links="site")
    found = {one for one in told(site, done) if one[0] == "cross-not-in-sitemap"}
    assert found == {("cross-not-in-sitemap", "info", path) for path in ("/unlisted", "/deep", "/deeper")}
    assert all(
        one["message"].endswith("; not all sitemaps were read")
        for one in done.of_type("finding")
        if one["rule"] == "cross-not-in-sitemap" and one.get("url")
    )


def test_listed_page_of_another_site_is_no_orphan(tmp_path: Path, site: SiteServer) -> None:
    site.routes["/sitemap.xml"] = urlset(*map(site.url, LISTED), "https://other.example/")
    done = audited(tmp_path, site, links="yes")
    assert {path for rule, _, path in told(site, done) if rule == "cross-orphan-url"} == {
        "/new",
        "/orphan",
        "/nofollow",
    }
    assert done.summary["graph"]["not_linked"] == 3


def test_limit_of_found_pages(tmp_path: Path, site: SiteServer) -> None:
    site.routes = {**site.routes, "/b": page("/month?of=0")}
    for month in range(30):
        site.routes[f"/month?of={month}"] = page(f"/month?of={month + 1}", "/")
    done = audited(tmp_path, site, links="site", max_pages=12)
    assert done.summary["graph"]["partial"] == "max_pages"
    told_of = [one["message"] for one in done.of_type("finding") if one["rule"] == "cross-not-in-sitemap"]
    assert not any("links=site requests it" in message for message in told_of)
    asked = {one.path for one in site.exchanges} - {*LISTED, "/robots.txt", "/sitemap.xml"}
    assert len([path for path in asked if path in site.routes]) == 12


def test_pages_of_a_list_are_one_note(tmp_path: Path, site: SiteServer) -> None:
    site.routes |= {f"/blog/page/{number}": page("/", f"/blog/page/{number + 1}") for number in range(2, 6)}
    site.routes["/b"] = page("/blog/page/2")
    done = audited(tmp_path, site, links="site")
    assert not {path for _, _, path in told(site, done) if path.startswith("/blog/")}
    assert notes(done) == [f"4 linked paginated pages are in no sitemap, such as '{site.url('/blog/page/2')}'"]


def test_what_was_requested_is_not_called_unverified(tmp_path: Path, site: SiteServer) -> None:
    site.routes |= {
        "/sitemap.xml": urlset(*map(site.url, ("/a", "/moves", "/moves-away"))),
        "/a": page("/", "/moves-on", "/missing", "/unlisted"),
        "/moves": moved("/moves-on"),
        "/moves-on": moved("/end"),
        "/end": page("/a"),
        "/moves-away": moved("/missing"),
    }
    done = audited(tmp_path, site, links="yes")
    found = {path: record for path, record in pages(site, done).items() if not record["listed"]}
    assert {path: found[path]["indexability"] for path in ("/", "/moves-on", "/end", "/missing")} == {
        "/": "ok", "/moves-on": "redirect", "/end": "ok", "/missing": "not found",
    }  # fmt: skip
    told_of = told(site, done)
    assert ("cross-not-in-sitemap", "warning", "/") in told_of
    assert ("cross-not-in-sitemap", "warning", "/end") in told_of
    assert not {"/moves-on", "/missing"} & {path for _, _, path in told_of}
    unverified = {one["url"].removeprefix(site.url("")) for one in done.of_type("finding")
                  if one["message"].endswith("not verified, links=site requests it")}  # fmt: skip
    assert "/unlisted" in unverified
    assert not {"/", "/end", "/moves-on", "/missing"} & unverified


def test_page_behind_an_unlisted_redirect_is_verified(tmp_path: Path, site: SiteServer) -> None:
    site.routes |= {
        "/sitemap.xml": urlset(site.url("/a")),
        "/a": page("/", "/moves", "/leaves"),
        "/moves": moved("/end"),
        "/end": page("/a", "/further"),
        "/further": page("/a"),
        "/leaves": moved("/missing"),
    }
    done = audited(tmp_path, site, links="site")
    found = pages(site, done)
    assert {path: found[path]["indexability"] for path in ("/moves", "/end", "/further", "/missing")} == {
        "/moves": "redirect", "/end": "ok", "/further": "ok", "/missing": "not found",
    }  # fmt: skip
    assert {("cross-not-in-sitemap", "warning", path) for path in ("/end", "/further")} <= {*told(site, done)}
    assert [one.path for one in site.exchanges].count("/end") == 1


def test_without_the_argument_no_links_are_read(tmp_path: Path, site: SiteServer) -> None:
    done = audited(tmp_path, site, "-O", "records.jsonl", report="report")
    assert list(done.of_type("page")) == []
    assert "graph" not in done.summary
    assert "pages.jsonl" not in {path.name for path in (tmp_path / "report").iterdir()}
    assert not told(site, done)


def test_site_without_sitemaps_is_followed_from_its_home_page(tmp_path: Path, site: SiteServer) -> None:
    site.routes = {**site.routes, "/sitemap.xml": urlset(), "/robots.txt": robots(site.url("/sitemap.xml"))}
    found = pages(site, audited(tmp_path, site, links="site"))
    assert {"/", "/a", "/c", "/deeper"} <= found.keys()
    assert found["/deeper"]["depth"] == 4


def test_needs_a_database(refusal: Callable[..., str]) -> None:
    words = command(settings={"SITEMAP_STORE": "False"}, domain="127.0.0.1:1", verify="get", links="yes")
    assert "SITEMAP_STORE=True" in refusal(*words[3:])


@pytest.mark.parametrize("max_pages", [1, 2])
def test_targets_of_listed_pages_are_pages_that_were_requested(
    tmp_path: Path, site: SiteServer, max_pages: int
) -> None:
    site.routes = {
        "/robots.txt": robots(site.url("/sitemap.xml")),
        "/sitemap.xml": urlset(*map(site.url, ("/", "/moved", "/copy"))),
        "/": page("/target", "/canonical", "/linked"),
        "/moved": moved("/target"),
        "/target": page("/"),
        "/copy": page("/", head=f'<link rel="canonical" href="{site.url("/canonical")}">'),
        "/canonical": page("/"),
        "/linked": page("/"),
    }
    done = audited(tmp_path, site, "-O", "records.jsonl", links="site", max_pages=max_pages)
    found = {path: record["indexability"] for path, record in pages(site, done).items() if not record["listed"]}
    assert found == {"/target": "ok", "/canonical": "ok", "/linked": "not checked" if max_pages == 1 else "ok"}
    asked = [one.path for one in site.exchanges]
    assert asked.count("/target") == asked.count("/canonical") == 1
    assert asked.count("/linked") == max_pages - 1
