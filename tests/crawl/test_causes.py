"""One cause, one finding: what a person would count as one thing to fix is not reported by several rules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

import pytest

from tests.crawl.crawling import Crawl, crawl
from tests.crawl.many_sites import Sites, visited
from tests.crawl.site_server import Reply, Route, SiteServer, moved
from tests.crawl.verified import own_words

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml"'
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
XML = {"Content-Type": "application/xml"}
PAGES = [f"/p{number}" for number in range(20)]
BAD = PAGES[:8]
"""Pages with the fault, where eight have it."""
CODES = ("en", "de", "fr", "es")
VERSIONS = [f"/{code}/{number}" for number in range(8) for code in CODES]
GERMAN = [path for path in VERSIONS if path.startswith("/de/")]
OF_THIS_MACHINE = {"loc-ip-host", "loc-port"}
"""Rules that speak of the address of the server."""

Routes = dict[str, Route]
Case = Callable[[str], Routes]
"""Makes the routes that a site at this origin has besides its pages."""


def page(url: str, head: str = "", canonical: str | None = None, code: str = "en") -> Reply:
    head += f'<title>{url}</title><link rel="canonical" href="{canonical or url}">'
    html = f'<!doctype html><html lang="{code}"><head>{head}</head><body><p>{own_words(url)} {url}</p></body></html>'
    return Reply(html, 200, {"Content-Type": "text/html; charset=utf-8"})


def urlset(origin: str, paths: Iterable[str], more: Callable[[str], str] = lambda path: "") -> Reply:
    listed = "".join(
        f"<url><loc>{origin}{path}</loc><lastmod>2025-01-{1 + number % 28:02}T10:00:00Z</lastmod>{more(path)}</url>\n"
        for number, path in enumerate(paths)
    )
    return Reply(f"{HEAD}<urlset {NS}>\n{listed}</urlset>", 200, XML)


def index(origin: str, *paths: str) -> Reply:
    listed = "".join(
        f"<sitemap><loc>{origin}{path}</loc><lastmod>2025-06-01T10:00:00Z</lastmod></sitemap>\n" for path in paths
    )
    return Reply(f"{HEAD}<sitemapindex {NS}>\n{listed}</sitemapindex>", 200, XML)


def robots(origin: str, rules: str = "User-agent: *\nDisallow: /private/") -> Reply:
    return Reply(f"{rules}\nSitemap: {origin}/sitemap.xml\n", 200, {"Content-Type": "text/plain"})


def with_child(reply: Callable[[str], Route]) -> Case:
    """An index of a sound sitemap and `/b.xml`."""
    return lambda origin: {
        "/sitemap.xml": index(origin, "/a.xml", "/b.xml"),
        "/a.xml": urlset(origin, PAGES),
        "/b.xml": reply(origin),
    }


def with_pages(reply: Callable[[str, str], Route]) -> Case:
    """A sitemap of 20 pages, of which eight have this reply; it is given origin and path."""
    return lambda origin: {"/sitemap.xml": urlset(origin, PAGES), **{path: reply(origin, path) for path in BAD}}


def links(origin: str) -> Callable[[str], str]:
    """Makes the links of a page to all its language versions."""

    def made(path: str) -> str:
        name = path.rpartition("/")[2]
        pages = [(code, f"{origin}/{code}/{name}") for code in CODES] + [("x-default", f"{origin}/en/{name}")]
        return "".join(f'<xhtml:link rel="alternate" hreflang="{code}" href="{url}"/>' for code, url in pages)

    return made


def with_german(reply: Callable[[str, str], Route]) -> Case:
    """A sitemap of eight pages in four languages, of which the German ones have this reply."""
    return lambda origin: {
        "/sitemap.xml": urlset(origin, VERSIONS, links(origin)),
        **{path: page(origin + path, code=path[1:3]) for path in VERSIONS},
        **{path: reply(origin, path) for path in GERMAN},
    }


NOT_THERE = Reply("no such page", 404, {"Content-Type": "text/plain"})

CASES: dict[str, tuple[Case, dict[str, int]]] = {
    "a child is missing": (with_child(lambda origin: NOT_THERE), {"index-child-missing": 1}),
    "a child fails": (with_child(lambda origin: Reply("no", 500)), {"doc-http-status": 1}),
    "a child is a page": (with_child(lambda origin: page(f"{origin}/b.xml")), {"doc-is-html": 1}),
    "a child is empty": (with_child(lambda origin: Reply("", 200, XML)), {"doc-empty-body": 1}),
    "a child redirects": (
        lambda origin: with_child(lambda _: moved(f"{origin}/c.xml"))(origin) | {"/c.xml": urlset(origin, ["/"])},
        {"doc-redirected": 1},
    ),
    "a child lists what another one lists": (
        with_child(lambda origin: urlset(origin, PAGES)),
        {"cross-duplicate-url": 1},
    ),
    "the sitemap is missing": (lambda origin: {}, {"doc-http-status": 1}),
    "pages are dead": (with_pages(lambda origin, path: NOT_THERE), {"status-404": 8}),
    "pages redirect": (
        lambda origin: (
            with_pages(lambda _, path: moved(f"{origin}/new{path}"))(origin)
            | {f"/new{path}": page(f"{origin}/new{path}") for path in BAD}
        ),
        {"status-redirect": 8},
    ),
    "pages redirect to a listed one": (
        with_pages(lambda origin, path: moved(f"{origin}/p10")),
        {"status-redirect": 8},
    ),
    "pages have a canonical that is listed": (
        with_pages(lambda origin, path: page(origin + path, canonical=f"{origin}/p10")),
        {"page-canonical-other": 8},
    ),
    "pages have one dead canonical": (
        with_pages(lambda origin, path: page(origin + path, canonical=f"{origin}/gone")),
        {"page-canonical-to-non-200": 1},
    ),
    "language versions are dead": (
        with_german(lambda origin, path: NOT_THERE),
        {"status-404": 8, "hreflang-target-status": 1},
    ),
    "language versions redirect": (
        lambda origin: (
            with_german(lambda _, path: moved(f"{origin}/new{path}"))(origin)
            | {f"/new{path}": page(f"{origin}/new{path}", code="de") for path in GERMAN}
        ),
        {"status-redirect": 8, "hreflang-target-redirect": 1},
    ),
    "language versions are noindex": (
        with_german(lambda origin, path: page(origin + path, '<meta name="robots" content="noindex">', code="de")),
        {"page-noindex-meta": 8, "hreflang-target-noindex": 1},
    ),
    "language versions have no entries": (
        lambda origin: (
            with_german(lambda origin, path: page(origin + path, code="de"))(origin)
            | {"/sitemap.xml": urlset(origin, [path for path in VERSIONS if path not in GERMAN], links(origin))}
        ),
        {"hreflang-target-not-in-sitemap": 1},
    ),
    "a language code is wrong": (
        lambda origin: (
            with_german(lambda origin, path: page(origin + path, code="de"))(origin)
            | {
                "/sitemap.xml": urlset(
                    origin, VERSIONS, lambda path: links(origin)(path).replace('"en"', '"en-UK"')
                )
            }
        ),
        {"hreflang-code-invalid": 1},
    ),
    "robots.txt forbids pages": (
        lambda origin: {
            "/sitemap.xml": urlset(origin, PAGES),
            "/robots.txt": robots(origin, "User-agent: *\nDisallow: /p19"),
        },
        {"url-blocked-by-robots": 1},
    ),
    "robots.txt forbids everything": (
        lambda origin: {
            "/sitemap.xml": urlset(origin, PAGES),
            "/robots.txt": robots(origin, "User-agent: *\nDisallow: /"),
        },
        {"doc-blocked-by-robots": 1},
    ),
    "robots.txt forbids everything to a crawler of AI": (
        lambda origin: {
            "/sitemap.xml": index(origin, "/a.xml", "/b.xml"),
            "/a.xml": urlset(origin, PAGES[:10]),
            "/b.xml": urlset(origin, PAGES[10:]),
            "/robots.txt": robots(origin, "User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow:"),
        },
        {},
    ),
}  # fmt: skip
"""{situation: (site, {rule: findings that are errors or warnings})}"""
NOTES = {
    "robots.txt forbids pages": Counter(),
    "robots.txt forbids everything to a crawler of AI": Counter(
        {"robots-group-denies-all": 1, "url-blocked-for-ai-agent": 1}
    ),
    "pages are dead": Counter({"status-dirt-ratio": 1}),
}
"""{situation: {rule: notes}}, where they are of interest."""


def publish(site: SiteServer, case: Case) -> None:
    origin = site.url("")
    site.routes = {"/robots.txt": robots(origin), **{path: page(origin + path) for path in ("/", *PAGES)}}
    site.routes.update(case(origin))


def told(findings: Iterable[Mapping[str, str]], *severities: str) -> Counter[str]:
    """Findings by rule."""
    found = (finding for finding in findings if finding["severity"] in severities)
    return Counter(finding["rule"] for finding in found if finding["rule"] not in OF_THIS_MACHINE)


@pytest.fixture(scope="module")
def audited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    programs = {name: partial(publish, case=case) for name, (case, _) in CASES.items()}
    folder = tmp_path_factory.mktemp("causes")
    arguments = {"verify": "get", "agents": "search,ai", "settings": {"RETRY_TIMES": 0}}
    with visited(folder, programs, "/robots.txt", **arguments) as sites:
        yield sites


@pytest.mark.parametrize("name", CASES)
def test_a_cause_has_as_many_findings_as_a_person_expects(audited: Sites, name: str) -> None:
    findings = audited.findings(name)
    assert told(findings, "error", "warning") == CASES[name][1]
    if name in NOTES:
        assert told(findings, "info") == NOTES[name]


def test_summary_counts_the_findings(audited: Sites) -> None:
    counted = {rule: count for rule, count in audited.crawl.summary["rules"].items() if rule not in OF_THIS_MACHINE}
    assert told(audited.crawl.of_type("finding"), "error", "warning", "info") == counted


def with_habits(origin: str) -> Routes:
    """Two files whose entries have images on another host, and are closed to a crawler of AI."""
    image = "<image:image><image:loc>https://cdn.example/1.png</image:loc></image:image>"
    space = f'{NS} xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
    files = {"/a.xml": PAGES[:10], "/b.xml": PAGES[10:]}
    bodies = {path: str(urlset(origin, pages, lambda _: image).body) for path, pages in files.items()}
    return {
        "/sitemap.xml": index(origin, *files),
        **{path: Reply(body.replace(NS, space), 200, XML) for path, body in bodies.items()},
        "/robots.txt": robots(origin, "User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow:"),
    }


def test_findings_on_a_site_are_the_same_from_a_job_and_beside_a_baseline(site: SiteServer, tmp_path: Path) -> None:
    publish(site, with_habits)
    runs = {"first": {}, "again": {}, "compared": {"baseline": str(tmp_path / "job")}}
    made: list[Crawl] = []
    for name, more in runs.items():
        (tmp_path / name).mkdir()
        settings = {"RETRY_TIMES": 0, **({} if more else {"JOBDIR": str(tmp_path / "job")})}
        arguments = {"sitemap": site.url("/robots.txt"), "agents": "search,ai", **more}
        made.append(crawl(tmp_path / name, settings=settings, **arguments))
    first, again, compared = made
    assert compared.sitemaps[site.url("/a.xml")]["outcome"] == "unchanged"
    assert {"image-offsite", "url-blocked-for-ai-agent"} < set(told(first.of_type("finding"), "info"))
    assert first.summary["rules"] == again.summary["rules"] == compared.summary["rules"]
    messages = [sorted(finding["message"] for finding in one.of_type("finding")) for one in made]
    assert messages[0] == messages[1] == messages[2]
    assert any(message.startswith("20 of 20 entries in 2 files have images on another host") for message in messages[0])
    assert all({"image-offsite", "url-blocked-for-ai-agent"} <= set(one["issues"]) for one in compared.of_type("url"))
