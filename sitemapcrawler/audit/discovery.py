"""Where a site says its sitemaps are: one function for each way of asking. Facts only, nothing is fetched here.

A new method is one more function that takes what a server sent and returns absolute URLs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import unescape
from io import BytesIO, TextIOWrapper

from sitemapcrawler import urls
from sitemapcrawler.robots.decode import encoding_of, escaped

# Most likely first. Each one is a request to a site that has not named a sitemap, hence at most 19.
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

HTML_BYTES = 2**20  # the head of a page, inlined scripts and styles included


@dataclass(frozen=True, slots=True)
class HtmlLinks:
    """What the `<link>` elements of a page name; absolute URLs in document order, each once."""

    sitemaps: list[str]
    """`rel=sitemap`."""
    feeds: list[str]
    """`rel=alternate` of type RSS or Atom."""


def common_paths(origin: str) -> list[str]:
    """`COMMON_PATHS` of the site that the URL `origin` belongs to."""
    start = urls.origin(origin)
    return [] if start is None else [start + path for path in COMMON_PATHS]


def from_html(body: bytes, base: str) -> HtmlLinks:
    """The sitemaps and feeds that the page `body`, fetched from the URL `base`, links to in `<link>` elements.

    Only the first `HTML_BYTES` are looked at. The charset of the page does not matter: markup is ASCII, and other
    bytes of a URL are kept as %XX.
    """
    with _text(body[:HTML_BYTES]) as page:
        tags = list(_tags(escaped(page.read())))
    bases = [attributes["href"] for name, attributes in tags if name == "base" and "href" in attributes]
    base = (urls.resolve(base, bases[0]) if bases else None) or base
    links = [attributes for name, attributes in tags if name == "link"]
    return HtmlLinks(_hrefs(filter(_is_sitemap_link, links), base), _hrefs(filter(_is_feed_link, links), base))


def _text(body: bytes) -> TextIOWrapper:
    encoding, _ = encoding_of(body)
    return TextIOWrapper(BytesIO(body), encoding, "surrogateescape" if encoding == "utf-8" else "replace", newline=None)


# Attributes are read as browsers do: a quote counts after "=" only. Possessive, so that no markup makes it slow.
_TOKEN = re.compile(
    r"""<!--(?:-?>|.*?(?:--!?>|\Z))
    |<(?P<name>[a-z][^\s/>]*+)(?P<attributes>(?:[^>=]++|=\s*+(?:"[^"]*+"|'[^']*+')?+)*+)""",
    re.IGNORECASE | re.DOTALL | re.VERBOSE,
)
_ATTRIBUTE = re.compile(r"""([^\s=/>]++)(?:\s*+=\s*+("[^"]*+"|'[^']*+'|[^\s>]++))?+""")
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#x[0-9a-f]{1,6}|[a-z][a-z0-9]{1,31});", re.IGNORECASE)
_RAW_TEXT = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "title", "textarea", "xmp", "iframe", "noembed", "noframes")
}
_FEED_TYPES = {"application/rss+xml", "application/atom+xml"}


def _tags(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Name and attributes of each `<base>` and `<link>` outside comments, scripts and other raw text."""
    position = 0
    while token := _TOKEN.search(text, position):
        position = token.end()
        name = (token["name"] or "").lower()
        if name in _RAW_TEXT:
            closing = _RAW_TEXT[name].search(text, position)
            position = closing.end() if closing else len(text)
        elif name in {"base", "link"} and text.startswith(">", position):
            yield name, _attributes(token["attributes"])


def _attributes(text: str) -> dict[str, str]:
    attributes: dict[str, str] = {}
    for name, value in _ATTRIBUTE.findall(text):
        plain = value[1:-1] if value[:1] in {'"', "'"} and value[-1:] == value[:1] else value
        attributes.setdefault(name.lower(), _REFERENCE.sub(lambda reference: unescape(reference[0]), plain))
    return attributes


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
