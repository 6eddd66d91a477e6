"""Discovery methods: how the sitemaps of a site are found, in the order in which they are tried.

A method is a function from what a server sent to absolute URLs. It fetches nothing. A plug-in adds one with `register`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from sitemapcrawler import urls
from sitemapcrawler.namespaces import plugins
from sitemapcrawler.replies.page.anchors import sitemap_files
from sitemapcrawler.replies.page.tree import attributes, base_of, parsed, shortened
from sitemapcrawler.robots.text import encoding_of, text_of

# Most likely first: they are tried in this order up to the first sitemap. Each costs a request, hence at most 19.
COMMON_PATHS = (
    "/sitemap.xml",  # sitemaps.org's own example; Shopify, Wix, Squarespace, Drupal, Next.js
    "/sitemap_index.xml",  # WordPress with Yoast SEO or Rank Math
    "/sitemap-index.xml",  # Astro, Gatsby
    "/wp-sitemap.xml",  # WordPress itself, since 5.5
    "/sitemap.xml.gz",  # sitemap_generator (Ruby on Rails)
    "/sitemap_index.xml.gz",  # vBulletin with vBSEO; sitemap_generator before 4.0
    "/sitemap-index.xml.gz",  # sitemap.js, Gatsby with it
    "/sitemap.txt",  # sitemaps.org/protocol.html#otherformats
    "/sitemap.php",  # scripts of small PHP sites
    "/sitemapindex.xml",  # Vanilla Forums
    "/sitemapindex.xml.gz",
    "/sitemap/sitemap.xml",  # generators that write into a folder of their own
    "/sitemap/",
    "/sitemaps.xml",
    "/sitemap1.xml",  # first part of a numbered set without an index
    "/news-sitemap.xml",  # Yoast SEO News, Rank Math
    "/sitemap-news.xml",  # XML Sitemap & Google News (WordPress)
    "/sitemap_news.xml",
    "/video-sitemap.xml",  # Yoast SEO Video
)

HTML_BYTES = 2**20  # the head of a page, inlined scripts and styles included, or another page that names sitemaps


@dataclass(frozen=True, slots=True)
class HtmlLinks:
    """Absolute URLs from the elements of a page, without duplicates, in document order."""

    sitemaps: list[str]
    """`rel=sitemap`."""
    feeds: list[str]
    """`rel=alternate` of type RSS or Atom."""
    files: list[str] = field(default_factory=list)
    """Targets of `<a>` elements that may be sitemaps, by their names."""


def common_paths(origin: str) -> list[str]:
    """`COMMON_PATHS` on the origin of a URL; empty if the URL has none."""
    start = urls.origin(origin)
    return [] if start is None else [start + path for path in COMMON_PATHS]


def from_html(body: bytes, url: str) -> HtmlLinks:
    """Sitemaps and feeds that the page `body`, fetched from `url`, links to.

    Reads only the first `HTML_BYTES`. The charset is irrelevant: markup is ASCII, and other bytes of a URL stay %XX.
    """
    start = body[:HTML_BYTES]
    encoding, mark = encoding_of(start)
    tree = parsed(shortened(text_of(start[mark:], encoding)))
    base = base_of(tree, url)
    links = list(map(attributes, tree.css("link[rel][href]")))
    sitemaps, feeds = (_hrefs(filter(is_wanted, links), base) for is_wanted in (_is_sitemap_link, _is_feed_link))
    return HtmlLinks(sitemaps, feeds, sitemap_files(tree, base, url))


_FEED_TYPES = {"application/rss+xml", "application/atom+xml"}


def _is_sitemap_link(link: dict[str, str]) -> bool:
    return "sitemap" in link.get("rel", "").lower().split()


def _is_feed_link(link: dict[str, str]) -> bool:
    media_type = link.get("type", "").partition(";")[0].strip().lower()
    return "alternate" in link.get("rel", "").lower().split() and media_type in _FEED_TYPES


def _hrefs(links: Iterable[dict[str, str]], base: str) -> list[str]:
    found: dict[str, str] = {}
    for link in links:
        url = urls.resolve(base, link.get("href", ""))
        if url is not None:
            found.setdefault(urls.visit_key(url), url)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Clue:
    """What a discovery method is given about a site."""

    url: str
    """Final URL of the method's page; of robots.txt for a method without a page."""
    content: bytes = b""
    """Start of the page, up to `HTML_BYTES`; empty for a method without a page."""
    named: Sequence[str] = ()
    """Sitemaps that robots.txt names."""
    found: int = 0
    """Number of sitemaps found so far."""


@dataclass(frozen=True, slots=True)
class Way:
    """How a sitemap came into a crawl."""

    name: str
    """Value of `SitemapRecord.found_by`: lower-case letters, digits and hyphens."""
    label: str
    """Name after a number of files: `3 by robots.txt`."""
    heading: str
    """Heading of a group of files; `{parent}` is what names them."""


@dataclass(frozen=True, slots=True)
class Method(Way):
    """A discovery method. It runs if the methods before it found nothing, or with `probe=always`."""

    find: Callable[[Clue], Iterable[str]]
    """Returns absolute URLs of sitemaps."""
    page: str | None = None
    """Path of the page that is requested for it, such as `/`; None if it needs none."""
    guesses: bool = False
    """True if its URLs are guesses, which are tried in order up to the first sitemap, or all with `probe=always`. Those
    that are no sitemaps leave no record. `probe=never` skips the method."""


def _linked(clue: Clue) -> list[str]:
    """Return the sitemaps that a home page links to, or its feeds if the site has no sitemap."""
    links = from_html(clue.content, clue.url)
    return links.sitemaps or ([] if clue.found else links.feeds)


ROBOTS = Method("robots", "robots.txt", "named in {parent}", lambda clue: clue.named)
COMMON_PATH = Method("common-path", "usual paths", "at common paths", lambda clue: common_paths(clue.url), guesses=True)
HTML_LINK = Method("html-link", "home page", "linked from {parent}", _linked, page="/")
INDEX = Way("index", "indexes", "listed in {parent}")
ARGUMENT = Way("argument", "argument", "named")

METHODS: list[Method] = [ROBOTS, COMMON_PATH, HTML_LINK]
"""Discovery methods in order. robots.txt always comes first, because it also says what may be requested."""
NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def register(method: Method, before: str | None = None) -> Method:
    """Add a discovery method in front of another one, by default at the end. Raises ValueError if its name is invalid
    or taken, its page is no path, or `before` is not the name of a method after robots.txt."""
    if not NAME.fullmatch(method.name) or method.name in ways():
        raise ValueError(f"discovery method {method.name!r}: the name is taken, or not letters, digits and hyphens")
    if method.page is not None and (method.guesses or not method.page.startswith("/")):
        raise ValueError(f"discovery method {method.name!r}: a page is a path, and names sitemaps without guesses")
    places = {other.name: place for place, other in enumerate(METHODS) if other is not ROBOTS}
    if before is not None and before not in places:
        raise ValueError(f"discovery method {method.name!r}: before is one of {', '.join(places)}")
    METHODS.insert(len(METHODS) if before is None else places[before], method)
    return method


def methods() -> Sequence[Method]:
    """Return the discovery methods in order, those of installed plug-ins included. Raises ValueError if one cannot be
    imported."""
    plugins.load(plugins.DISCOVERY)
    return METHODS


def ways() -> dict[str, Way]:
    """Return all ways by name: the methods, and those of files that an index lists or the user named."""
    return {way.name: way for way in (*methods(), INDEX, ARGUMENT)}


def way_named(name: str) -> Way:
    """Return a way. One that is not registered is called by its name, as in the database of a crawl with a plug-in."""
    return ways().get(name) or Way(name, name, name)
