"""Where a site says its sitemaps are: one function for each way of asking. Facts only, nothing is fetched here.

A new method is one more function that takes what a server sent and returns absolute URLs.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import unescape
from io import BytesIO, TextIOWrapper

from sitemapcrawler import urls

# Most likely first. Each one is a request to a site that has not named a sitemap, hence at most 16.
COMMON_PATHS = (
    "/sitemap.xml",  # sitemaps.org's own example; Shopify, Wix, Squarespace, Drupal, Next.js
    "/sitemap_index.xml",  # WordPress with Yoast SEO or Rank Math
    "/sitemap-index.xml",  # Astro, Gatsby
    "/wp-sitemap.xml",  # WordPress itself, since 5.5
    "/sitemap.xml.gz",  # sitemap_generator (Ruby on Rails)
    "/sitemap.txt",  # sitemaps.org/protocol.html#otherformats
    "/sitemap.php",  # scripts of small PHP sites
    "/sitemapindex.xml",  # Vanilla Forums
    "/sitemap/sitemap.xml",  # generators that write into a folder of their own
    "/sitemap/",
    "/sitemaps.xml",
    "/sitemap1.xml",  # first part of a numbered set without an index
    "/news-sitemap.xml",  # Yoast SEO News, Rank Math
    "/sitemap-news.xml",  # XML Sitemap & Google News (WordPress)
    "/sitemap_news.xml",
    "/video-sitemap.xml",  # Yoast SEO Video
)

MAX_ROBOTS_BYTES = 2 * 2**20  # four times what Google reads (500 KiB, RFC 9309 2.5): a line beyond is still true
MAX_ROBOTS_LINE = 16_664  # characters; google/robotstxt cuts there, and a cut URL would be a wrong one
MAX_ROBOTS_SITEMAPS = 50_000  # as many as one index may list, sitemaps.org/protocol.html#index
HTML_BYTES = 2**20  # the head of a page, inlined scripts and styles included
_HTML_SNIFF_CHARS = 1024

# Beginnings of field names that are read as `Sitemap`, and why.
SITEMAP_FIELDS = {
    "sitemap": "the name itself (sitemaps.org/protocol.html#submit_robots); Google takes whatever begins so: sitemaps",
    "site-map": "google/robotstxt, KeyIsSitemap",
    "site map": "as google/robotstxt reads `user agent`",
    "site_map": "the same with the other joint",
}
_FIELD = re.compile(rf"(?:{'|'.join(SITEMAP_FIELDS)})[^\s:]{{0,20}}", re.IGNORECASE)
_NEXT_URL = re.compile(r"[\s,](?=https?://)", re.IGNORECASE)
_MARKUP_LINE = re.compile(r"^[ \t]*<(?:!doctype|!--|\?|/?[a-z][a-z0-9]*[\s>])", re.IGNORECASE | re.MULTILINE)
_WEB_START = re.compile(r"https?://", re.IGNORECASE)
_UNDECODED = re.compile("[\udc80-\udcff]")
_QUOTES = "\"'<>`\xab\xbb\u2018\u2019\u201c\u201d"  # the typographic ones come from word processors
_BLANKS = " \t\v\f\0\xa0\ufeff"


@dataclass(frozen=True, slots=True)
class RobotsSitemap:
    """One sitemap that a robots.txt names."""

    url: str
    """Absolute http or https URL, without fragment."""
    line: int
    """Line of robots.txt, counted from 1."""
    raw: str
    """The line as written, blanks around it removed; bytes that are not UTF-8 as %XX."""
    typo: bool = False
    """True where the line is not `Sitemap: URL`: another field name, no colon, or a URL alone."""
    relative: bool = False
    """True where the URL was not written in full."""
    comment: bool = False
    """True where a comment follows on the line."""


@dataclass(frozen=True, slots=True)
class HtmlLinks:
    """What the `<link>` elements of a page name; absolute URLs in document order, each once."""

    sitemaps: list[str]
    """`rel=sitemap`."""
    feeds: list[str]
    """`rel=alternate` of type RSS or Atom."""


def from_robots(body: bytes, base: str) -> list[RobotsSitemap]:
    """The sitemaps that the robots.txt `body`, fetched from the URL `base`, names, each once, in order.

    Every `Sitemap:` line counts, wherever it stands (RFC 9309 2.2.4 leaves them outside the groups), in UTF-8, UTF-16
    and with any line end. An HTML page in place of robots.txt names none.
    """
    if _is_html(body):
        return []
    found: dict[str, RobotsSitemap] = {}
    for number, line in _lines(body):
        for sitemap in _sitemaps_of_line(number, line, base):
            found.setdefault(urls.visit_key(sitemap.url), sitemap)
        if len(found) >= MAX_ROBOTS_SITEMAPS:
            break
    return list(found.values())


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
        tags = list(_tags(_escaped(page.read())))
    bases = [attributes["href"] for name, attributes in tags if name == "base" and "href" in attributes]
    base = (urls.resolve(base, bases[0]) if bases else None) or base
    links = [attributes for name, attributes in tags if name == "link"]
    return HtmlLinks(_hrefs(filter(_is_sitemap_link, links), base), _hrefs(filter(_is_feed_link, links), base))


def _lines(body: bytes) -> Iterator[tuple[int, str]]:
    """Numbered lines; the last one is left out where the size limit cut it."""
    cut = len(body) > MAX_ROBOTS_BYTES
    with _text(body[:MAX_ROBOTS_BYTES]) as text:
        for number, line in enumerate(text, 1):
            if 1 < len(line) <= MAX_ROBOTS_LINE and not (cut and not line.endswith("\n")):
                yield number, _escaped(line).strip(_BLANKS + "\n")


def _text(body: bytes) -> TextIOWrapper:
    encoding = _unicode_encoding(body)
    return TextIOWrapper(BytesIO(body), encoding, "surrogateescape" if encoding == "utf-8" else "replace", newline=None)


def _escaped(text: str) -> str:
    """Bytes that were no UTF-8 as %XX, which is what they would be in a request."""
    return _UNDECODED.sub(lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}", text)


def _unicode_encoding(body: bytes) -> str:
    """UTF-16 by byte order mark or by the zeros of its ASCII characters, else UTF-8."""
    if body.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16-le" if body.startswith(codecs.BOM_UTF16_LE) else "utf-16-be"
    sample = body[:256]
    zeros_even, zeros_odd = sample[::2].count(0), sample[1::2].count(0)
    if zeros_odd > len(sample) // 4 and zeros_even == 0:
        return "utf-16-le"
    return "utf-16-be" if zeros_even > len(sample) // 4 and zeros_odd == 0 else "utf-8"


def _is_html(body: bytes) -> bool:
    start = "\n".join(line for _, line in _lines(body[: 4 * _HTML_SNIFF_CHARS]))
    return _MARKUP_LINE.search(start[:_HTML_SNIFF_CHARS]) is not None


def _sitemaps_of_line(number: int, line: str, base: str) -> Iterator[RobotsSitemap]:
    content, mark, _ = line.partition("#")
    comment = bool(mark) and content[-1:].isspace()
    found = _field_value(content.strip(_BLANKS))
    if found is None:
        return
    value, typo = found
    for written in _NEXT_URL.split(value):
        reference = written.strip(_BLANKS + _QUOTES + ",")
        url = urls.resolve(base, reference)
        if url is not None:
            yield RobotsSitemap(url, number, line, typo, _WEB_START.match(reference) is None, comment)


def _field_value(content: str) -> tuple[str, bool] | None:
    """The text after `Sitemap:` and whether that was misspelt; None for a line of another kind."""
    field = _FIELD.match(content)
    if field is None:
        return (content, True) if _is_bare_sitemap(content.strip(_QUOTES)) else None
    after = content[field.end() :]
    rest = after.lstrip(_BLANKS)
    if rest.startswith(":"):
        return rest[1:], field[0].lower() != "sitemap"
    # As google/robotstxt: white space stands for a forgotten colon where one word follows.
    forgotten = rest != after and len(rest.split()) == 1 and re.match(r"/|https?://", rest, re.IGNORECASE)
    return (rest, True) if forgotten else None


def _is_bare_sitemap(text: str) -> bool:
    if _WEB_START.match(text) is None or any(character.isspace() for character in text):
        return False
    name = text.partition("?")[0].rpartition("/")[2].lower()
    return name.endswith((".xml", ".xml.gz")) or "sitemap" in name


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
