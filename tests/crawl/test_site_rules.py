"""Every rule on the whole site in real crawls: a site that has the fault, and one that nearly has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.facts.site import OF_FILES
from sitemapcrawler.rules.registry import ON_THE_SITE
from tests.crawl.crawling import Crawl, crawl
from tests.crawl.documents import CORE, entry, index, page, robots, text, urlset
from tests.crawl.many_sites import Sites, visited
from tests.crawl.site_server import NOT_FOUND, Reply, Route, SiteServer, moved

SPACES = (
    f'{CORE} xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1"'
)
NEWS = (
    "<news:news><news:publication><news:name>Daily</news:name><news:language>en</news:language></news:publication>"
    "<news:publication_date>2026-01-05</news:publication_date><news:title>Title</news:title></news:news>"
)
OLD, NEW = "<lastmod>2025-01-05</lastmod>", "<lastmod>2026-01-05</lastmod>"
IMAGE = "<image:image><image:loc>$/no-image.png</image:loc></image:image>"
VIDEO = (
    "<video:video><video:thumbnail_loc>$/us.png</video:thumbnail_loc><video:title>Us</video:title>"
    "<video:description>Who we are</video:description><video:content_loc>$/us.mp4</video:content_loc></video:video>"
)
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
    probe: str = "auto"
    before: dict[str, Any] | None = None
    """What the files were in the crawl before, where that is the baseline."""


def at(*entries: tuple[str, str]) -> str:
    """A urlset of (path, further elements)."""
    listed = "".join(entry(f"${path}", more) for path, more in entries)
    return f"<urlset {SPACES}>\n{listed}</urlset>"


def of_all(more: str, start: int, end: int) -> list[tuple[str, str]]:
    """Numbered pages with the same further elements."""
    return [(f"/{number}", more) for number in range(start, end)]


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

CASES = {
    "a page in two files": Case(
        INDEXED | {"/a.xml": at(("/1", OLD), ("/2", "")), "/b.xml": at(("/1", NEW), ("/3", ""))},
        {"cross-duplicate-url": "/1", "cross-conflicting-lastmod": "/1", "cross-lastmod-coverage": None},
    ),
    "pages in a file each": Case(
        INDEXED | {"/a.xml": at(("/1", OLD)), "/b.xml": at(("/2", NEW))},
        {},
        ("cross-duplicate-url", "cross-conflicting-lastmod", "cross-lastmod-coverage"),
    ),
    "some articles": Case(
        INDEXED | {"/a.xml": at(("/1", NEWS), ("/2", ""), ("/3", ""), ("/4", "")), "/b.xml": at(("/5", NEWS))},
        {"cross-news-in-general": "/a.xml"},
    ),
    "articles alone": Case(
        INDEXED | {"/a.xml": at(("/1", NEWS), ("/2", NEWS)), "/b.xml": at(("/3", ""))}, {}, ("cross-news-in-general",)
    ),
    "robots.txt with an index and what it lists": Case(
        INDEXED | {"/robots.txt": named("/index.xml", "/a.xml"), "/a.xml": at(("/1", "")), "/b.xml": at(("/2", ""))},
        {"robots-lists-child-and-index": "/robots.txt"},
    ),
    "sitemaps listed as pages": Case(
        INDEXED
        | {"/robots.txt": named("/index.xml", "/feed"), "/index.xml": listing("/a.xml", "/list.php")}
        | {"/a.xml": at(("/1", ""), ("/list.php", "")), "/list.php": at(("/feed", "")), "/feed": text("$/2")},
        {"loc-is-sitemap": "/list.php"},
    ),
    "pages with names like those of sitemaps": Case(
        INDEXED | {"/a.xml": at(("/list.php", "")), "/b.xml": at(("/feed", ""), ("/A.xml", ""))},
        {},
        ("loc-is-sitemap",),
    ),
    "robots.txt with an index and another file": Case(
        INDEXED
        | {"/robots.txt": named("/index.xml", "/c.xml")}
        | {name: at((name[:-4], "")) for name in ("/a.xml", "/b.xml", "/c.xml")},
        {},
        ("robots-lists-child-and-index", "cross-orphan-sitemap", "cross-discovery-inconsistent"),
    ),
    "a sitemap that nothing names, and one that the home page links to": Case(
        PLAIN
        | {"/": page('<link rel="sitemap" href="/c.xml">')}
        | {name: at((name[:-4], "")) for name in ("/a.xml", "/b.xml", "/c.xml", "/sitemap.xml")},
        {"cross-orphan-sitemap": "/sitemap.xml", "cross-discovery-inconsistent": "/c.xml"},
        probe="always",
    ),
    "a sitemap with a usual name that the home page links to": Case(
        PLAIN
        | {"/": page('<link rel="sitemap" href="/sitemap.xml">')}
        | {name: at((name[:-4], "")) for name in ("/a.xml", "/b.xml", "/sitemap.xml")},
        {"cross-discovery-inconsistent": "/sitemap.xml"},
        ("cross-orphan-sitemap",),
        probe="always",
    ),
    "all that can be found is named": Case(
        {"/robots.txt": named("/a.xml", "/sitemap.xml"), "/": page('<link rel="sitemap" href="/a.xml">')}
        | {name: at((name[:-4], "")) for name in ("/a.xml", "/sitemap.xml")},
        {},
        ("cross-orphan-sitemap", "cross-discovery-inconsistent"),
        probe="always",
    ),
    "what robots.txt names is gone": Case(
        {"/robots.txt": named("/gone.xml"), "/sitemap.xml": at(("/1", ""))},
        {"cross-discovery-inconsistent": "/robots.txt"},
        probe="always",
    ),
    "a folder and its index page": Case(
        INDEXED | {"/a.xml": at(("/", "")), "/b.xml": at(("/index.html", ""))}, {"cross-same-page": "/index.html"}
    ),
    "a folder and a page of its name": Case(
        INDEXED | {"/a.xml": at(("/about/", "")), "/b.xml": at(("/about.html", ""))}, {}, ("cross-same-page",)
    ),
    "one image and one video on 50 pages": Case(
        INDEXED | {"/a.xml": at(*of_all(IMAGE + VIDEO, 0, 25)), "/b.xml": at(*of_all(IMAGE + VIDEO, 25, 50))},
        {"image-repeated": None, "video-repeated": None},
    ),
    "one image and one video on 49 pages": Case(
        INDEXED | {"/a.xml": at(*of_all(IMAGE + VIDEO, 0, 25)), "/b.xml": at(*of_all(IMAGE + VIDEO, 25, 49))},
        {},
        ("image-repeated", "video-repeated"),
    ),
    "language versions that do not link back": Case(
        INDEXED
        | {
            "/a.xml": at((DE, links(de=DE, en=EN, fr=FR)), ("/at", links(de="/at", it="/it"))),
            "/b.xml": at((EN, links(en=EN)), (FR, links(fr=FR, de=DE)), ("/it", links(es="/it", de="/at"))),
        },
        {"hreflang-return-missing": EN, "hreflang-return-inconsistent": "/at"},
    ),
    "language versions of which some know more": Case(
        INDEXED | {"/a.xml": at((DE, links(de=DE, en=EN))), "/b.xml": at((EN, links(de=DE, en=EN, fr="/gone")))},
        {"hreflang-cluster-inconsistent": DE, "hreflang-target-not-in-sitemap": EN},
    ),
    "language versions that agree": Case(
        INDEXED | {"/a.xml": at((DE, links(de=DE, en=EN))), "/b.xml": at((EN, links(de=DE, en=EN)))},
        {},
        (
            "hreflang-return-missing",
            "hreflang-return-inconsistent",
            "hreflang-cluster-inconsistent",
            "hreflang-target-not-in-sitemap",
        ),
    ),
}
VERIFIED = {
    "a home page that is listed and links to another sitemap": Case(
        {"/robots.txt": named("/a.xml"), "/a.xml": at(("/", "")), "/": page('<link rel="sitemap" href="/other.xml">')},
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
    "pages that answer": Case(
        INDEXED
        | {
            "/a.xml": at((DE, links(de=DE, en=EN)), ("/1", "")),
            "/b.xml": at((EN, links(de=DE, en=EN))),
            DE: html(name="de"),
            EN: html(name="en"),
            "/1": moved("/2"),
            "/2": html(name="two"),
        },
        {},
        (
            "hreflang-target-status",
            "hreflang-target-redirect",
            "hreflang-target-noindex",
            "hreflang-target-noncanonical",
            "page-canonical-other-listed-too",
            "status-redirect-target-listed-too",
        ),
    ),
}
COMPARED = {
    "fewer pages than before": Case(
        PLAIN | {"/a.xml": at(("/1", ""), ("/new", "")), "/b.xml": at(("/5", ""))},
        {"cross-count-drop": None, "cross-removed-url": "/a.xml", "cross-added-url": "/a.xml"},
        before=PLAIN | {"/a.xml": at(*((f"/{n}", "") for n in range(1, 5))), "/b.xml": at(("/5", ""))},
    ),
    "as many pages as before": Case(
        PLAIN | {"/a.xml": at(("/1", NEW)), "/b.xml": at(("/2", ""))},
        {},
        ("cross-count-drop", "cross-removed-url", "cross-added-url"),
        before=PLAIN | {"/a.xml": at(("/1", OLD)), "/b.xml": at(("/2", ""))},
    ),
}
LOCAL = {
    "pages on two hosts and protocols": (
        (["https://example.com/1", "https://example.com/2"], ["https://www.example.com/3"], ["http://shop.example/4"],
         ["https://shop.example/5", "https://shop.example/6"]),
        {"cross-mixed-host": "https://www.example.com/3", "cross-mixed-protocol": "http://shop.example/4"},
    ),
    "pages of two sites": (
        (["https://example.com/1"], ["https://www.example.org/2"], ["http://shop.example/3"]),
        {},
    ),
}  # fmt: skip


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


WITH_ARGUMENTS = {
    "cross-not-in-sitemap": "links", "cross-orphan-url": "links",
    "coverage-not-listed": "compare", "coverage-listed-only": "compare",
}  # fmt: skip
"""Rules that need an argument, and the module that tries them: tests/crawl/test_NAME.py."""


def on_the_site() -> Iterator[str]:
    found = (rule.id for rule in all_rules() if {*rule.of} & {*ON_THE_SITE})
    yield from (rule for rule in found if rule not in WITH_ARGUMENTS)


def test_each_rule_on_the_site_has_a_crawl_that_it_speaks_in_and_one_that_it_does_not() -> None:
    cases = [*CASES.values(), *VERIFIED.values(), *COMPARED.values()]
    fired = {rule for case in cases for rule in case.fires} | {rule for _, fires in LOCAL.values() for rule in fires}
    spared = {rule for case in cases for rule in case.silent} | {"cross-mixed-host", "cross-mixed-protocol"}
    assert set(on_the_site()) - fired == set()
    assert set(on_the_site()) - spared == set()
    for rule, name in WITH_ARGUMENTS.items():
        assert f'"{rule}"' in (Path(__file__).parent / f"test_{name}.py").read_text("utf-8")


@contextmanager
def published(folder: Path, cases: Mapping[str, Case], **arguments: Any) -> Iterator[Sites]:
    """One crawl over the sites of all cases."""
    programs = {name: partial(publish, files=case.files) for name, case in cases.items()}
    with visited(folder, programs, **arguments) as sites:
        check_marks(sites.crawl)
        yield sites


@pytest.fixture(scope="module")
def probed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Sites]]:
    """The crawl of the cases of each `probe`."""
    with ExitStack() as stack:
        by_probe: dict[str, Sites] = {}
        for probe in ("auto", "always"):
            cases = {name: case for name, case in CASES.items() if case.probe == probe}
            by_probe[probe] = stack.enter_context(published(tmp_path_factory.mktemp(probe), cases, probe=probe))
        yield by_probe


@pytest.fixture(scope="module", params=[{}, {"sample": 100}], ids=["all", "a sample"])
def verified(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    with published(tmp_path_factory.mktemp("verified"), VERIFIED, verify="get", **request.param) as sites:
        yield sites


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    folder = tmp_path_factory.mktemp("compared")
    programs = {name: partial(publish, files=case.before or {}) for name, case in COMPARED.items()}
    with visited(folder, programs, settings={"JOBDIR": "before"}) as before:
        for name, server in before.servers.items():
            publish(server, COMPARED[name].files)
        done = crawl(folder, domain=before.starts, baseline="before/audit.duckdb")
        check_marks(done)
        yield Sites(done, before.servers)


@pytest.mark.parametrize("name", CASES)
def test_files(probed: dict[str, Sites], name: str) -> None:
    check(CASES[name], probed[CASES[name].probe], name)


@pytest.mark.parametrize("name", VERIFIED)
def test_replies(verified: Sites, name: str) -> None:
    check(VERIFIED[name], verified, name)


@pytest.mark.parametrize("name", COMPARED)
def test_comparisons(compared: Sites, name: str) -> None:
    check(COMPARED[name], compared, name)


@pytest.mark.slow
def test_what_is_told_of_a_site_does_not_depend_on_the_others_of_the_crawl(
    site: SiteServer, other: SiteServer, tmp_path: Path
) -> None:
    clean = {"/a.xml": at(("/1", "")), "/b.xml": at(("/2", ""))}
    publish(site, CASES["a page in two files"].files)
    publish(other, INDEXED | clean | {"/a.xml": Reply(b"", 503)})
    done = crawl(tmp_path, settings={"RETRY_TIMES": 0}, domain=f"{site.url()},{other.url()}")
    check(CASES["a page in two files"], Sites(done, {"site": site}), "site")
    [coverage] = [one for one in done.of_type("finding") if one["rule"] == "cross-lastmod-coverage"]
    assert coverage["message"].startswith(f"{site.place}: 2 of 4 entries (50 %)")
    missing = [one["sitemap"] for one in done.of_type("finding") if one["rule"] == "lastmod-missing"]
    assert missing == [other.url("/b.xml")]  # the site that was crawled completely is told of once
    assert done.summary["skipped"]["cross-lastmod-coverage"] == 1

    settings = {"JOBDIR": "before"}
    publish(site, COMPARED["fewer pages than before"].before or {})
    publish(other, INDEXED | clean)
    crawl(tmp_path, settings=settings, domain=f"{site.url()},{other.url()}")
    publish(site, COMPARED["fewer pages than before"].files)
    other.routes = {"/robots.txt": Reply(b"", 503)}
    done = crawl(
        tmp_path, settings={"RETRY_TIMES": 0}, domain=f"{site.url()},{other.url()}", baseline="before/audit.duckdb"
    )
    check(COMPARED["fewer pages than before"], Sites(done, {"site": site}), "site")
    removed = {record["loc"] for record in done.of_type("url") if record.get("change") == "removed"}
    assert removed == {site.url(f"/{number}") for number in (2, 3, 4)}


@pytest.mark.parametrize(("files", "fires"), LOCAL.values(), ids=LOCAL)
def test_local_files(files: tuple[list[str], ...], fires: dict[str, str], tmp_path: Path) -> None:
    for number, locs in enumerate(files):
        (tmp_path / f"{number}.xml").write_bytes(urlset(*locs))
    names = ",".join(f"./{number}.xml" for number in range(len(files)))
    done = crawl(tmp_path, sitemap=names, offline="yes")
    mixed = [(one["rule"], one.get("url")) for one in done.of_type("finding") if one["rule"].startswith("cross-mixed-")]
    assert sorted(mixed) == sorted(fires.items())
