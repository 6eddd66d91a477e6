"""Sites of which everything is planned: for each listed URL what it answers, and what an audit has to say of it.

`Site.routes` serves a site, `Site.plan` holds the truth by path. Each site has the faults of its kind: a blog with
moved, missing and blocked posts, a shop in four languages, a news site, and an application that renders in the browser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.crawl.documents import CORE, entry
from tests.crawl.site_server import NOT_FOUND, Reply, Route, moved

SPACES = (
    f'{CORE} xmlns:xhtml="http://www.w3.org/1999/xhtml" xmlns:news="http://www.google.com/schemas/sitemap-news/0.9"'
)
LANGUAGES = ("en", "de", "fr", "es")
PRODUCTS, DISCONTINUED = 20, 5
"""Products in each language, and how many of them the French shop no longer has."""
VIEWS = 30
"""Addresses of the application."""
WORDS = 60
"""Words of a page, more than a short error page has."""
HTML = {"Content-Type": "text/html"}


@dataclass(frozen=True)
class Planned:
    """The truth about one listed URL."""

    status: int | None = 200
    """Of the first answer; `None` where robots.txt forbids the request."""
    indexability: str = "ok"
    final: str = ""
    """Path of the page at which the redirects end; empty where there are none."""
    problems: frozenset[str] = frozenset()
    """Errors and warnings that concern its entries."""


@dataclass
class Site:
    """What a site serves, and its plan."""

    routes: dict[str, Route] = field(default_factory=dict)
    """By path; `$` in a text stands for the origin."""
    otherwise: Route = NOT_FOUND
    """Of every other path."""
    plan: dict[str, Planned] = field(default_factory=dict)
    """By path, each listed URL once."""

    def add(
        self,
        path: str,
        route: Route,
        indexability: str = "ok",
        *problems: str,
        status: int | None = 200,
        final: str = "",
    ) -> str:
        """Plan a listed URL. Returns its path."""
        self.routes[path] = route
        self.plan[path] = Planned(status, indexability, final, frozenset(problems))
        return path

    def add_each(self, folder: str, count: int, route: Callable[[int], Route], *plan: str, **more: Any) -> list[str]:
        """Plan numbered URLs in a folder; `route` makes the answer of each, `plan` and `more` are as for `add`."""
        return [self.add(f"{folder}/{number}", route(number), *plan, **more) for number in range(count)]

    def also(self, paths: Iterable[str], *problems: str) -> None:
        """Plan more problems of URLs."""
        for path in paths:
            planned = self.plan[path]
            self.plan[path] = replace(planned, problems=planned.problems.union(problems))

    def planned(self, rule: str) -> set[str]:
        """The paths that a rule concerns."""
        return {path for path, planned in self.plan.items() if rule in planned.problems}

    @property
    def rules(self) -> set[str]:
        """The rules that concern any URL."""
        return {rule for planned in self.plan.values() for rule in planned.problems}


def words(name: str) -> str:
    """A text of its own for each page."""
    return " ".join(f"{name.strip('/').replace('/', ' ')} passage {number * len(name)}" for number in range(WORDS))


def article(path: str, head: str = "", language: str = "en", canonical: str | None = None, **headers: str) -> Reply:
    """A page with title, canonical and text of its own."""
    link = f'<link rel="canonical" href="${path if canonical is None else canonical}">'
    markup = (
        f'<!doctype html><html lang="{language}"><head><title>About {path}</title>{link}{head}</head>'
        f"<body><h1>{path}</h1><p>{words(path)}</p></body></html>"
    )
    typed = {"Content-Type": "text/html; charset=utf-8"}
    return Reply(markup, 200, typed | {name.replace("_", "-"): value for name, value in headers.items()})


def error(status: int) -> Reply:
    """A page that says nothing but that there is an error."""
    return Reply("<p>Error", status, HTML)


def listing(*paths: str, more: Callable[[str], str] = lambda _path: "") -> str:
    """A urlset of pages; `more` gives the further elements of each."""
    entries = "".join(entry(f"${path}", more(path)) for path in paths)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {SPACES}>\n{entries}</urlset>'


def blog() -> Site:
    """A blog whose posts have moved, gone, been hidden and been listed twice."""
    site = Site()

    noindex = '<meta name="robots" content="noindex">'
    listed_too = ("status-redirect", "status-redirect-target-listed-too")
    copied = ("page-canonical-other", "page-canonical-other-listed-too")
    first = [site.add("/", article("/"))]
    good = site.add_each("/good", 40, lambda at: article(f"/good/{at}"))
    first += good
    first += site.add_each("/gone", 9, lambda at: NOT_FOUND, "not found", "status-404", status=404)
    first += site.add_each("/retired", 2, lambda at: error(410), "not found", "status-410", status=410)
    first += [site.add("/broken", error(500), "server error", "status-5xx", status=500)]
    for number in range(6):
        to = f"/good/{number}"
        first += [site.add(f"/moved/{number}", moved(to, 301), "redirect", *listed_too, status=301, final=to)]
    for number in range(3):
        to = f"/new/{number}"
        first += [site.add(f"/renamed/{number}", moved(to, 301), "redirect", "status-redirect", status=301, final=to)]
    second = site.add_each("/hidden", 5, lambda at: article(f"/hidden/{at}", noindex), "noindex", "page-noindex-meta")
    second += [site.add("/header", article("/header", X_Robots_Tag="noindex"), "noindex", "page-noindex-header")]
    copies = [article(f"/copy/{number}", canonical=f"/good/{10 + number}") for number in range(4)]
    second += site.add_each("/copy", 4, copies.__getitem__, "canonicalised", *copied)
    variants = [article(f"/variant/{number}", canonical=f"/main/{number}") for number in range(2)]
    second += site.add_each("/variant", 2, variants.__getitem__, "canonicalised", copied[0])
    blocked = ("blocked", "url-blocked-by-robots")
    second += site.add_each("/private", 3, lambda at: article(f"/private/{at}"), *blocked, status=None)
    second += site.add_each("/soft", 3, lambda at: Reply(SORRY, 200, HTML), "soft 404", "status-soft-404")
    second += good[:10]
    site.also(good[:10], "cross-duplicate-url")
    unlisted = [*(f"/new/{number}" for number in range(3)), *(f"/main/{number}" for number in range(2))]
    site.routes |= {path: article(path) for path in unlisted}
    site.routes |= {
        "/sitemap.xml": index("/posts.xml", "/more.xml"),
        "/posts.xml": listing(*first),
        "/more.xml": listing(*second),
        "/robots.txt": "User-agent: *\nDisallow: /private/\nSitemap: $/sitemap.xml\n",
    }
    return site


SORRY = (
    "<!doctype html><title>Page not found</title><h1>Page not found</h1>"
    "<p>Sorry, the page you are looking for does not exist.</p>"
)


def index(*paths: str) -> str:
    """An index of sitemaps."""
    children = "".join(f"<sitemap><loc>${path}</loc></sitemap>\n" for path in paths)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<sitemapindex {CORE}>\n{children}</sitemapindex>'


def shop() -> Site:
    """A shop in four languages; the French one lacks the first products, to which all others link."""
    site = Site()
    site.routes["/"] = article("/")
    for code in LANGUAGES:
        for number in range(PRODUCTS):
            is_missing = code == "fr" and number < DISCONTINUED
            path = f"/{code}/{number}"
            if is_missing:
                site.add(path, NOT_FOUND, "not found", "status-404", status=404)
            else:
                site.add(path, article(path, language=code))
    for number in range(DISCONTINUED):
        site.also([f"/{code}/{number}" for code in LANGUAGES if code != "fr"], "hreflang-target-status")
    site.routes |= {
        f"/{code}.xml": listing(*(f"/{code}/{number}" for number in range(PRODUCTS)), more=versions)
        for code in LANGUAGES
    }
    site.routes["/sitemap.xml"] = index(*(f"/{code}.xml" for code in LANGUAGES))
    site.routes["/robots.txt"] = "Sitemap: $/sitemap.xml\n"
    return site


def versions(path: str) -> str:
    """Links to all language versions of a product, and the default."""
    name = path.rpartition("/")[2]
    codes = {**{code: code for code in LANGUAGES}, "x-default": "en"}
    return "".join(
        f'<xhtml:link rel="alternate" hreflang="{code}" href="$/{folder}/{name}"/>' for code, folder in codes.items()
    )


def news() -> Site:
    """A news site: the latest articles stand in a general sitemap and in one for news, where some are old."""
    site = Site()
    site.routes["/"] = article("/")
    archive = site.add_each("/archive", 30, lambda at: article(f"/archive/{at}"))
    latest = site.add_each("/story", 20, lambda at: article(f"/story/{at}"))
    stale = site.add_each("/stale", 7, lambda at: article(f"/stale/{at}"), "ok", "news-too-old")
    twins = site.add_each("/twin", 4, lambda at: article(f"/twin/{at}"), "ok", "news-title-repeated")
    site.routes |= {
        "/sitemap.xml": listing(*archive, *latest),
        "/news.xml": listing(*latest, *stale, *twins, more=story),
        "/robots.txt": "Sitemap: $/sitemap.xml\nSitemap: $/news.xml\n",
    }
    return site


def story(path: str) -> str:
    """The news elements of an article: of today, or old."""
    date = datetime.now(UTC) - (timedelta(days=9) if "stale" in path else timedelta(hours=2))
    title = "The same story" if "twin" in path else f"The story of {path[1:].replace('/', ' ')}"
    return (
        "<news:news><news:publication><news:name>The Post</news:name><news:language>en</news:language></news:publication>"
        f"<news:publication_date>{date:%Y-%m-%dT%H:%M:%SZ}</news:publication_date><news:title>{title}</news:title></news:news>"
    )


def application() -> Site:
    """An application that answers each address, made-up ones too, with the same frame."""
    site = Site()
    shell = Reply(
        '<!doctype html><html lang="en"><head><title>App</title></head><body><div id="root"></div>'
        '<script src="/app.js"></script></body></html>',
        200,
        {"Content-Type": "text/html; charset=utf-8"},
    )
    views = site.add_each("/view", VIEWS, lambda at: shell, "unknown", "page-shell")
    site.otherwise = shell
    site.routes |= {"/": shell, "/sitemap.xml": listing(*views), "/robots.txt": "Sitemap: $/sitemap.xml\n"}
    return site


SITES: dict[str, Callable[[], Site]] = {"blog": blog, "shop": shop, "news": news, "application": application}
