"""Rules on the whole site in real crawls: with files, replies and a baseline. `unit/rules/test_site*.py` try each rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.facts.site import OF_FILES
from sitemapcrawler.rules.registry import ON_THE_SITE
from tests.crawl.crawling import Crawl, crawl
from tests.crawl.documents import CORE, entry, index, page, robots, text
from tests.crawl.many_sites import Sites, visited
from tests.crawl.site_server import NOT_FOUND, Reply, Route, SiteServer, moved

SPACES = (
    f'{CORE} xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
)
OLD, NEW = "<lastmod>2025-01-05</lastmod>", "<lastmod>2026-01-05</lastmod>"
WORDS = " ".join(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz")


@dataclass
class Case:
    """A site, and which of the rules it is for speak in a crawl of it."""

    files: dict[str, Any]
    """Path -> reply; `$` stands for the origin."""
    fires: Mapping[str, str | None]
    """Rule -> path of the URL, or else of the file, that it speaks of; None where that is no matter."""
    silent: tuple[str, ...] = ()
    """Rules that must not speak."""


def at(*entries: tuple[str, str]) -> str:
    """A urlset of (path, further elements)."""
    listed = "".join(entry(f"${path}", more) for path, more in entries)
    return f"<urlset {SPACES}>\n{listed}</urlset>"


def links(**codes: str) -> str:
    """Language versions by code."""
    return "".join(f'<xhtml:link rel="alternate" hreflang="{code}" href="${path}"/>' for code, path in codes.items())


def named(*paths: str) -> bytes:
    return robots(*(f"${path}" for path in paths))


def listing(*paths: str) -> bytes:
    return index(*(f"${path}" for path in paths))


def html(*head: str, name: str = "", status: int = 200, **headers: str) -> Reply:
    """A page with words of its own, so that it is no soft 404."""
    body = page(*head).replace(b"Hello.", f"{name} {WORDS}".encode())
    return Reply(body, status, {"Content-Type": "text/html", **headers})


PLAIN = {"/robots.txt": named("/a.xml", "/b.xml")}
INDEXED = {"/robots.txt": named("/index.xml"), "/index.xml": listing("/a.xml", "/b.xml")}
DE, EN, FR = "/de", "/en", "/fr"
HOST = "127.0.0.1"

FILES = {
    "a page in two files": Case(
        INDEXED | {"/a.xml": at(("/1", OLD), ("/2", "")), "/b.xml": at(("/1", NEW), ("/3", ""))},
        {"cross-duplicate-url": "/1", "cross-conflicting-lastmod": "/1", "cross-lastmod-coverage": None},
    ),
    "sitemaps listed as pages": Case(
        INDEXED
        | {"/robots.txt": named("/index.xml", "/feed"), "/index.xml": listing("/a.xml", "/list.php")}
        | {"/a.xml": at(("/1", ""), ("/list.php", "")), "/list.php": at(("/feed", "")), "/feed": text("$/2")},
        {"loc-is-sitemap": "/list.php"},
    ),
    "a sitemap that nothing names, and one that the home page links to": Case(
        PLAIN
        | {"/": page('<link rel="sitemap" href="/c.xml">')}
        | {name: at((name[:-4], "")) for name in ("/a.xml", "/b.xml", "/c.xml", "/sitemap.xml")},
        {"cross-orphan-sitemap": "/sitemap.xml", "cross-discovery-inconsistent": "/c.xml"},
    ),
    "all that can be found is named, and versions agree": Case(
        {
            "/robots.txt": named("/a.xml", "/sitemap.xml"),
            "/": page('<link rel="sitemap" href="/a.xml">'),
            "/a.xml": at((DE, OLD + links(de=DE, en=EN))),
            "/sitemap.xml": at((EN, NEW + links(de=DE, en=EN))),
        },
        {},
        (
            "cross-conflicting-lastmod",
            "cross-discovery-inconsistent",
            "cross-duplicate-url",
            "cross-orphan-sitemap",
            "hreflang-return-missing",
            "loc-is-sitemap",
        ),
    ),
    "language versions that do not link back": Case(
        INDEXED
        | {
            "/a.xml": at((DE, links(de=DE, en=EN, fr=FR)), ("/at", links(de="/at", it="/it"))),
            "/b.xml": at((EN, links(en=EN)), (FR, links(fr=FR, de=DE)), ("/it", links(es="/it", de="/at"))),
        },
        {"hreflang-return-missing": EN, "hreflang-return-inconsistent": "/at"},
    ),
}
REPLIES = {
    "a home page that is listed and links to another sitemap": Case(
        {
            "/robots.txt": named("/a.xml"),
            "/a.xml": at(("/", "")),
            "/other.xml": at(("/2", "")),
            "/": page('<link rel="sitemap" href="/other.xml">'),
            "/2": page(""),
        },
        {"cross-discovery-inconsistent": "/other.xml"},
    ),
    "pages that lead to others": Case(
        INDEXED
        | {
            "/a.xml": at(("/1", ""), ("/2", ""), (DE, links(de=DE, en=EN)), ("/it", links(it="/it", es="/es"))),
            "/b.xml": at(("/3", ""), (EN, links(de=DE, en=EN)), ("/es", links(it="/it", es="/es"))),
            "/1": html('<link rel="canonical" href="$/3">', name="one"),
            "/2": moved("/3"),
            "/3": html(name="three"),
            DE: html(name="de"),
            EN: NOT_FOUND,
            "/it": html(name="it"),
            "/es": moved("/3"),
        },
        {
            "page-canonical-other-listed-too": "/1",
            "status-redirect-target-listed-too": "/2",
            "hreflang-target-status": DE,
            "hreflang-target-redirect": "/it",
        },
    ),
    "versions that are not indexed": Case(
        INDEXED
        | {
            "/a.xml": at((DE, links(de=DE, en=EN)), ("/it", links(it="/it", es="/es"))),
            "/b.xml": at((EN, links(de=DE, en=EN)), ("/es", links(it="/it", es="/es"))),
            DE: html(name="de"),
            EN: html('<meta name="robots" content="noindex">', name="en"),
            "/it": html(name="it"),
            "/es": html('<link rel="canonical" href="$/other">', name="es"),
            "/other": html(name="other"),
        },
        {"hreflang-target-noindex": DE, "hreflang-target-noncanonical": "/it"},
        ("page-canonical-other-listed-too", "status-redirect-target-listed-too"),
    ),
}
BEFORE = PLAIN | {"/a.xml": at(*((f"/{n}", "") for n in range(1, 5))), "/b.xml": at(("/5", ""))}
"""A site in the crawl before."""
FEWER = Case(
    PLAIN | {"/a.xml": at(("/1", ""), ("/new", "")), "/b.xml": at(("/5", ""))},
    {"cross-count-drop": None, "cross-removed-url": "/a.xml", "cross-added-url": "/a.xml"},
)
"""What it is now, beside that."""


def publish(site: SiteServer, files: Mapping[str, Any]) -> None:
    """Put files on the site, `$` being its origin."""

    def placed(content: Any) -> Route:
        if isinstance(content, Reply):
            return Reply(placed(content.body), content.status, content.headers)  # type: ignore[arg-type]  # a body
        text = content.decode() if isinstance(content, bytes) else content
        return str(text).replace("$", site.url())

    site.routes = {path: placed(content) for path, content in files.items()}


def told(done: Crawl, site: SiteServer) -> dict[str, set[str]]:
    """{rule: paths of the URLs, or else of the files, that it speaks of} of the findings that name a site, or none."""
    found: dict[str, set[str]] = {}
    for one in done.of_type("finding"):
        place = one.get("url") or one.get("sitemap") or ""
        text = f"{place} {one['message']}"
        if site.place in text or HOST not in text:
            found.setdefault(one["rule"], set()).add(place.removeprefix(site.url()))
    return found


def check(case: Case, sites: Sites, name: str) -> None:
    found = told(sites.crawl, sites.servers[name])
    for rule, path in case.fires.items():
        assert rule in found, f"{rule} is silent: {found}"
        assert path is None or path in found[rule], (rule, found[rule])
    assert not found.keys() & set(case.silent), found


def check_marks(done: Crawl) -> None:
    """Each finding on a listed URL is among the problems of its row, whatever was read first."""
    issues: dict[tuple[str, str], set[str]] = {}
    for row in done.of_type("url"):
        issues.setdefault((row["sitemap"], row["loc"]), set()).update(row.get("issues", ()))
    for finding in done.of_type("finding"):
        place = finding.get("sitemap"), finding.get("url")
        if place in issues and finding["rule"] in MARKING:
            assert finding["rule"] in issues[place], finding


MARKING = {rule.id for rule in all_rules() if {*rule.of} & {*ON_THE_SITE} or rule.id in OF_FILES}
"""Rules that mark entries at the end of a crawl."""


def test_all_entries_with_a_dead_language_version_say_so_whatever_was_read_first(
    site: SiteServer, tmp_path: Path
) -> None:
    codes = ("en", "de", "fr")
    versions = {n: links(**{code: f"/{code}/{n}" for code in codes}) for n in range(6)}
    files = {f"/{code}.xml": at(*((f"/{code}/{n}", versions[n]) for n in range(6))) for code in codes}
    pages = {f"/{code}/{n}": html(name=f"{code}{n}") for code in codes for n in range(6) if code != "fr" or n >= 2}
    publish(site, {"/robots.txt": named(*files), **files, **pages})
    arguments = {
        "domain": site.url(),
        "verify": "get",
        "findings": "all",
        "settings": {"JOBDIR": str(tmp_path / "job")},
    }
    done, again = crawl(tmp_path, **arguments), crawl(tmp_path, **arguments)
    dead = {site.url(f"/{code}/{n}") for code in ("en", "de") for n in range(2)}
    for rows in (done, again):
        listed = {(one["rule"], one.get("url")) for one in rows.of_type("finding")}
        assert {(rule, row["loc"]) for row in rows.of_type("url") for rule in row.get("issues", ())} <= listed
        marked = {row["loc"] for row in rows.of_type("url") if "hreflang-target-status" in row.get("issues", ())}
        assert marked == dead
        values = {
            one["url"]: one["value"] for one in rows.of_type("finding") if one["rule"] == "hreflang-target-status"
        }
        assert values == {url: url.replace("/en/", "/fr/").replace("/de/", "/fr/") for url in dead}


@contextmanager
def published(folder: Path, cases: Mapping[str, Case], **arguments: Any) -> Iterator[Sites]:
    """One crawl over the sites of all cases."""
    programs = {name: partial(publish, files=case.files) for name, case in cases.items()}
    with visited(folder, programs, **arguments) as sites:
        check_marks(sites.crawl)
        yield sites


@pytest.mark.parametrize(
    ("cases", "arguments"),
    [(FILES, {"probe": "always"}), (REPLIES, {"verify": "get"}), (REPLIES, {"verify": "get", "sample": 100})],
    ids=["files", "replies", "a sample of replies"],
)
def test_rules_on_the_site_speak_in_a_crawl(tmp_path: Path, cases: dict[str, Case], arguments: dict[str, Any]) -> None:
    with published(tmp_path, cases, **arguments) as sites:
        for name, case in cases.items():
            check(case, sites, name)


@pytest.mark.slow
def test_what_is_told_of_a_site_does_not_depend_on_the_others_of_the_crawl(
    site: SiteServer, other: SiteServer, tmp_path: Path
) -> None:
    clean = {"/a.xml": at(("/1", "")), "/b.xml": at(("/2", ""))}
    publish(site, FILES["a page in two files"].files)
    publish(other, INDEXED | clean | {"/a.xml": Reply(b"", 503)})
    done = crawl(tmp_path, settings={"RETRY_TIMES": 0}, domain=f"{site.url()},{other.url()}")
    check(FILES["a page in two files"], Sites(done, {"site": site}), "site")
    [coverage] = [one for one in done.of_type("finding") if one["rule"] == "cross-lastmod-coverage"]
    assert coverage["message"].startswith(f"{site.place}: 2 of 4 entries (50 %)")
    missing = [one["sitemap"] for one in done.of_type("finding") if one["rule"] == "lastmod-missing"]
    assert missing == [other.url("/b.xml")]  # the site that was crawled completely is told of once
    assert done.summary["skipped"]["cross-lastmod-coverage"] == 1

    settings = {"JOBDIR": "before"}
    publish(site, BEFORE)
    publish(other, INDEXED | clean)
    crawl(tmp_path, settings=settings, domain=f"{site.url()},{other.url()}")
    publish(site, FEWER.files)
    other.routes = {"/robots.txt": Reply(b"", 503)}
    done = crawl(
        tmp_path, settings={"RETRY_TIMES": 0}, domain=f"{site.url()},{other.url()}", baseline="before/audit.duckdb"
    )
    check(FEWER, Sites(done, {"site": site}), "site")
    removed = {record["loc"] for record in done.of_type("url") if record.get("change") == "removed"}
    assert removed == {site.url(f"/{number}") for number in (2, 3, 4)}
