"""Sites of which everything is planned: for each listed URL what it answers, and what an audit has to say of it.

`Site.routes` serves a site, `Site.plan` holds the truth by path. Each site has the faults of its kind: a blog with
moved, missing and blocked posts, a shop in four languages, a news site, and an application that renders in the browser.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

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

    def also(self, paths: Iterable[str], *problems: str) -> None:
        """Plan more problems of URLs."""
        for path in paths:
            planned = self.plan[path]
            self.plan[path] = Planned(
                planned.status, planned.indexability, planned.final, planned.problems | set(problems)
            )

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


def listing(*paths: str, more: Callable[[str], str] = lambda _path: "") -> str:
    """A urlset of pages; `more` gives the further elements of each."""
    entries = "".join(entry(f"${path}", more(path)) for path in paths)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset {SPACES}>\n{entries}</urlset>'


def blog() -> Site:
    """A blog whose posts have moved, gone, been hidden and been listed twice."""
    site = Site()
    home = site.add("/", article("/"))
    good = [site.add(f"/good/{number}", article(f"/good/{number}")) for number in range(40)]
    gone = [site.add(f"/gone/{number}", NOT_FOUND, "not found", "status-404", status=404) for number in range(9)]
    retired = [
        site.add(
            f"/retired/{number}",
            Reply("<p>Gone", 410, {"Content-Type": "text/html"}),
            "not found",
            "status-410",
            status=410,
        )
        for number in range(2)
    ]
    broken = [
        site.add(
            "/broken", Reply("<p>Error", 500, {"Content-Type": "text/html"}), "server error", "status-5xx", status=500
        )
    ]
    to_listed = [
        site.add(
            f"/moved/{number}", moved(f"/good/{number}", 301), "redirect",
            "status-redirect", "status-redirect-target-listed-too", status=301, final=f"/good/{number}",
        )
        for number in range(6)
    ]  # fmt: skip
    to_new = [
        site.add(
            f"/renamed/{number}",
            moved(f"/new/{number}", 301),
            "redirect",
            "status-redirect",
            status=301,
            final=f"/new/{number}",
        )
        for number in range(3)
    ]
    site.routes |= {f"/new/{number}": article(f"/new/{number}") for number in range(3)}
    hidden = [
        site.add(
            f"/hidden/{number}",
            article(f"/hidden/{number}", '<meta name="robots" content="noindex">'),
            "noindex",
            "page-noindex-meta",
        )
        for number in range(5)
    ]
    header = [
        site.add("/header", article("/header", X_Robots_Tag="noindex"), "noindex", "page-noindex-header"),
    ]
    copies = [
        site.add(
            f"/copy/{number}", article(f"/copy/{number}", canonical=f"/good/{10 + number}"), "canonicalised",
            "page-canonical-other", "page-canonical-other-listed-too",
        )
        for number in range(4)
    ]  # fmt: skip
    variants = [
        site.add(
            f"/variant/{number}",
            article(f"/variant/{number}", canonical=f"/main/{number}"),
            "canonicalised",
            "page-canonical-other",
        )
        for number in range(2)
    ]
    site.routes |= {f"/main/{number}": article(f"/main/{number}") for number in range(2)}
    private = [
        site.add(f"/private/{number}", article(f"/private/{number}"), "blocked", "url-blocked-by-robots", status=None)
        for number in range(3)
    ]
    soft = [
        site.add(f"/soft/{number}", Reply(SORRY, 200, {"Content-Type": "text/html"}), "soft 404", "status-soft-404")
        for number in range(3)
    ]
    first = [home, *good, *gone, *retired, *broken, *to_listed, *to_new]
    second = [*hidden, *header, *copies, *variants, *private, *soft, *good[:10]]
    site.also(good[:10], "cross-duplicate-url")
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
    archive = [site.add(f"/archive/{number}", article(f"/archive/{number}")) for number in range(30)]
    latest = [site.add(f"/story/{number}", article(f"/story/{number}")) for number in range(20)]
    stale = [site.add(f"/stale/{number}", article(f"/stale/{number}"), "ok", "news-too-old") for number in range(7)]
    twins = [
        site.add(f"/twin/{number}", article(f"/twin/{number}"), "ok", "news-title-repeated") for number in range(4)
    ]
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
    views = [site.add(f"/view/{number}", shell, "unknown", "page-shell") for number in range(VIEWS)]
    site.otherwise = shell
    site.routes |= {"/": shell, "/sitemap.xml": listing(*views), "/robots.txt": "Sitemap: $/sitemap.xml\n"}
    return site


SITES: dict[str, Callable[[], Site]] = {"blog": blog, "shop": shop, "news": news, "application": application}
