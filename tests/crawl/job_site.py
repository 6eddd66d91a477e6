"""A site to audit as a job: a dozen sitemaps of all kinds, pages of all kinds, answers that take their time."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import PurePosixPath

from tests.crawl.documents import CORE, DECLARATION, entry, index, packed, robots, rss, text, urlset
from tests.crawl.site_server import PATIENCE_S, Exchange, Reply, Route, SiteServer, by_method, conditional, moved
from tests.crawl.verified import html

INDEX = "/index.xml"
MISSING = "/missing.xml"
QUERY = "?a=1&b=2"
IMAGES = ("/0.png", "/1.png")
DAY = "2024-05-{:02}"
NAMESPACES = (
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9" '
    'xmlns:xhtml="http://www.w3.org/1999/xhtml"'
)
KINDS = ("page", "page", "page", "gone", "moved", "hidden", "page", "canonical", "private", "page")
"""What every tenth page of a file is: its first name. `/moved/1` leads to `/page/1`, `/canonical/1` names that."""
GONE = (404, 410, 403, 451)
"""Statuses of pages that are gone, in turn: none that is asked again."""
FOUND = 40
"""Pages that no sitemap lists, and that others link to."""
MANY, FEW = 12, 8
"""Pages of a file."""
Entry = Callable[[str, int], str]
"""From a page's URL and its number to an entry, as markup."""


def numbered(first: int, count: int) -> list[str]:
    """Paths of pages, of all kinds in turn."""
    return [f"/{KINDS[number % len(KINDS)]}/{number}" for number in range(first, first + count)]


PLAIN = [f"/plain-{number}.xml" for number in range(1, 5)]
LISTED: dict[str, list[str]] = {
    PLAIN[0]: numbered(0, MANY),
    PLAIN[1]: numbered(100, MANY),
    PLAIN[2]: [*numbered(200, MANY), *numbered(0, FEW)],
    PLAIN[3]: [*numbered(300, MANY), *numbered(104, 4)],
    "/images.xml": numbered(400, FEW),
    "/alternates.xml": numbered(500, FEW),
    "/news.xml": numbered(600, FEW),
    "/broken.xml": numbered(700, FEW),
    "/packed.xml.gz": numbered(800, MANY),
    "/list.txt": numbered(900, FEW),
    "/deep/feed.rss": numbered(1000, FEW),
    "/deep/last.xml": [*numbered(1100, FEW), *numbered(800, 4)],
}
"""The pages of each file, some of them in several; the files in `/deep` stand in an index of their own."""
DEEP = "/deep/index.xml"
SITEMAPS = [INDEX, DEEP, MISSING, *LISTED]


def behind(sitemap: str) -> set[str]:
    """Paths that a crawl may ask for because of what a file lists: the pages, what they lead to, their images."""
    listed = LISTED.get(sitemap, [])
    others = {f"/page/{page.rpartition('/')[2]}" for page in listed}
    others |= {f"/found/{number}" for number in range(FOUND)}
    return others.union(listed, (f"{page}{end}" for page in listed for end in (QUERY, *IMAGES)))


class JobSite(SiteServer):
    """The site; every answer takes `delay_s` seconds, and waits until `gate` is open."""

    def __init__(self, delay_s: float = 0.005) -> None:
        super().__init__()
        self.delay_s = delay_s
        self.gate = threading.Event()
        self.gate.set()
        self.routes = {path: self._slow(route) for path, route in self._routes()}

    def wait_for_requests(self, count: int, lives: Callable[[], bool]) -> bool:
        """True when there were so many requests since `forget`; False where there will be no more."""
        while len(self.exchanges) < count and lives():
            with self._asked:
                self._asked.wait_for(lambda: len(self.exchanges) >= count, 0.05)
        return len(self.exchanges) >= count

    def has(self, path: str) -> bool:
        """False for what nothing names: nonsense, by which a crawl tells how the site says that a page is missing."""
        return path in self.routes or path == MISSING

    def forget(self) -> list[Exchange]:
        """Begin to count anew; the requests so far."""
        before, self.exchanges = self.exchanges, []
        return before

    def _slow(self, route: Route) -> Route:
        answer = by_method(route, route)

        def wait(exchange: Exchange) -> None:
            time.sleep(self.delay_s)  # the server is slow
            self.gate.wait(PATIENCE_S)
            answer(exchange)

        return wait

    def _routes(self) -> Iterator[tuple[str, Route]]:
        yield "/", html(body="Home. " * 50 + anchors(page for pages in LISTED.values() for page in pages[:3]))
        for number in range(FOUND):
            yield f"/found/{number}", html(body=f"Found {number}. " * 60 + anchors([f"/found/{2 * number % FOUND}"]))
        yield "/robots.txt", robots(self.url(INDEX), rules=["Disallow: /private/"])
        top = [path for path in LISTED if not path.startswith("/deep/")]
        yield INDEX, index(*map(self.url, [*top, MISSING, DEEP]))
        yield DEEP, index(*(self.url(path) for path in LISTED if path not in top))
        for path, pages in LISTED.items():
            yield path, conditional(self._file(path, [self.url(page) for page in pages]), etag=f'"{path}"')
        for path in set(chain.from_iterable(LISTED.values())):
            yield from self._page(path)

    def _file(self, path: str, locs: list[str]) -> bytes:
        if path.endswith(".txt"):
            return text(*locs)
        if path.endswith(".rss"):
            return rss(*locs)
        if path == "/broken.xml":
            return urlset(f"{locs[0]}{QUERY}", *locs[1:]).replace(b"&amp;", b"&")
        written = {"/images.xml": illustrated, "/alternates.xml": translated, "/news.xml": reported}.get(path, dated)
        body = document(written(loc, place) for place, loc in enumerate(locs, len(path)))
        return packed(body) if path.endswith(".gz") else body

    def _page(self, path: str) -> Iterator[tuple[str, Route]]:
        kind, number = PurePosixPath(path).parts[1:]
        other = f"/page/{number}"
        linked = anchors([other, f"/page/{int(number) + 1}", f"/moved/{number}", f"/found/{int(number) % FOUND}"])
        usual = html(body=f"Page {number}. " + f"What stands on page {number} only. " * 20 + linked)
        special: dict[str, Route] = {
            "gone": Reply("", GONE[int(number) // 10 % len(GONE)]),
            "moved": moved(self.url(other), 301),
            "hidden": html('<meta name="robots" content="noindex">', body=f"Hidden {number}. " * 40),
            "canonical": html(f'<link rel="canonical" href="{other}">', body=f"Twin {number}. " * 40),
        }
        yield path, special.get(kind, usual)
        for end in (QUERY, *IMAGES):
            yield f"{path}{end}", usual
        if kind in ("moved", "canonical"):
            yield other, usual


def anchors(paths: Iterable[str]) -> str:
    """Links to these paths."""
    return "".join(f'<a href="{path}">Next</a>' for path in paths)


def document(entries: Iterable[str]) -> bytes:
    """A urlset of these entries."""
    return f"{DECLARATION}<urlset {CORE} {NAMESPACES}>\n{''.join(entries)}</urlset>".encode()


def dated(loc: str, number: int) -> str:
    """An entry with a date, which differs from file to file."""
    return entry(loc, f"<lastmod>{DAY.format(1 + number % 28)}</lastmod>")


def illustrated(loc: str, number: int) -> str:
    """An entry with two images."""
    images = (f"<image:image><image:loc>{loc}{name}</image:loc></image:image>" for name in IMAGES)
    return entry(loc, "".join(images))


def translated(loc: str, number: int) -> str:
    """An entry with two language versions, of which only one is listed."""
    links = {"en": loc, "de": f"{loc}/de"}
    return entry(
        loc, "".join(f'<xhtml:link rel="alternate" hreflang="{code}" href="{href}"/>' for code, href in links.items())
    )


def reported(loc: str, number: int) -> str:
    """An entry with a news article."""
    publication = "<news:publication><news:name>Paper</news:name><news:language>en</news:language></news:publication>"
    when = f"<news:publication_date>{DAY.format(number % 28 + 1)}</news:publication_date>"
    return entry(loc, f"<news:news>{publication}{when}<news:title>News {number}</news:title></news:news>")
