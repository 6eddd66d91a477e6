"""Links of an HTML page, by the rules of Scrapy's LinkExtractor.

It differs where LinkExtractor loses pages, or reads otherwise than browsers: files of any type count, `rel` is read
in any case, one link without `nofollow` is enough, and `<noscript>` and `<template>` hold no links. Links that scripts
make are not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from selectolax.lexbor import LexborHTMLParser

from sitemapcrawler import urls
from sitemapcrawler.replies.page.metadata import EVERYBODY, directives
from sitemapcrawler.replies.page.tree import BLANK

MAX_LINKS = 10_000
"""Distinct references kept of one page."""
MAX_REFERENCE = 4096
"""Characters of a reference; servers refuse longer URLs (RFC 9110, 4.1 asks them to support 8,000)."""
MAX_FILES = 5
"""Files that may be sitemaps, of one page: each costs a request."""
_SITEMAP_FILE = re.compile(
    r"[^?#]*/(?![^/?#]*(?:rss|feed|atom|opml|podcast|opensearch))"
    r"(?:[^/?#]+\.xml|[^/?#]*sitemap[^/?#]*\.txt)(?:\.gz)?(?:\?[^#]*)?",
    re.IGNORECASE,
)
"""URL of a file that may be a sitemap by its name: any XML but feeds, and text that is named so."""
OF_LINKS = ("onclick", "routerlink", "ng-click", "@click", "v-on:click", "(click)", "data-href", "data-url", "role")
"""Attributes that an `<a>` without an address has only if it is to work as a link, the most telling first. `rel` and
`target` are left over where a link is switched off, as to the page before the first."""
NO_SCRIPT = frozenset(("", "void(0)", "void0", "void(null)", "undefined"))
"""Scripts without effect, as in the `javascript:` URLs of buttons."""
SCRIPT = "javascript:"
MAX_SHOWN = 60
"""Characters of an attribute in an example."""
_NOFOLLOW = frozenset(("nofollow", "none"))
_ASCII = "".join(map(chr, range(0x21, 0x7F)))


@dataclass(frozen=True, slots=True)
class PageLinks:
    """Links of one page to web URLs: absolute, without fragments, each target once."""

    followed: tuple[str, ...] = ()
    """Targets of at least one link that crawlers may follow, in document order."""
    nofollow: tuple[str, ...] = ()
    """Targets of `nofollow` links alone; all, if the page forbids crawlers to follow its links."""
    complete: bool = True
    """False if the page was cut, or has more than `MAX_LINKS`."""


@dataclass(frozen=True, slots=True)
class UncrawlableLinks:
    """Links of one page that crawlers cannot follow."""

    number: int
    example: str
    """The first one, as a start tag with the attribute that makes it a link."""


def uncrawlable_links(tree: LexborHTMLParser) -> UncrawlableLinks | None:
    """Return the `<a>` elements that scripts alone make links: those whose URL is a script, and those without an
    address that react to a click. Buttons, anchors and placeholders do not count.
    Source: https://developers.google.com/search/docs/crawling-indexing/links-crawlable
    """
    number, example = 0, ""
    for element in tree.css('a:not([href]),a[href*="javascript:" i]'):
        attributes = element.attributes
        url = (attributes.get("href") or "").strip(BLANK)
        is_script = url[: len(SCRIPT)].lower() == SCRIPT
        name = next((name for name in OF_LINKS if name in attributes), "") if is_script or not url else ""
        if is_script and url[len(SCRIPT) :].strip(f"{BLANK};").lower() not in NO_SCRIPT:
            name = "href"
        if name and (attributes.get("role") or "link").strip().lower() == "link":
            number += 1
            example = example or f'<a {name}="{(attributes[name] or "").strip(BLANK)[:MAX_SHOWN]}">'
    return UncrawlableLinks(number, example) if number else None


def links_of(tree: LexborHTMLParser, base: str, encoding: str, denied: bool, whole: bool) -> PageLinks:
    """Return the links of a page.

    `base`: URL that its references are relative to. `encoding`: of the page, in which browsers send letters of a
    query. `denied`: a header forbids crawlers to follow the links. `whole`: False if the page was cut.
    """
    references, complete = _references(tree)
    denied = denied or _forbids_following(tree)
    found: dict[str, bool] = {}
    for reference, follows in references.items():
        target = urls.resolve(base, _encoded(reference, encoding)) if reference else base
        if target is not None:
            target = target.partition("#")[0]
            found[target] = found.get(target, False) or (follows and not denied)
    return PageLinks(
        tuple(target for target, follows in found.items() if follows),
        tuple(target for target, follows in found.items() if not follows),
        whole and complete,
    )


def sitemap_files(tree: LexborHTMLParser, base: str, url: str) -> list[str]:
    """Return the URLs of files of the page's own site that it links to and that may be sitemaps, by their names.
    `url`: that of the page."""
    found: dict[str, str] = {}
    for element in tree.css('a[href*=".xml" i],a[href*="sitemap" i]'):
        target = urls.resolve(base, (element.attributes["href"] or "")[:MAX_REFERENCE].strip(BLANK))
        if target and _SITEMAP_FILE.fullmatch(target) and urls.site_of(target) == urls.site_of(url):
            found.setdefault(urls.visit_key(target), target)
            if len(found) == MAX_FILES:
                break
    return list(found.values())


def _references(tree: LexborHTMLParser) -> tuple[dict[str, bool], bool]:
    """Return the distinct references, each with whether crawlers may follow it, and whether these are all."""
    found: dict[str, bool] = {}
    complete = True
    for element in tree.css("a[href],area[href]"):
        attributes = element.attributes
        reference = attributes["href"] or ""
        if len(reference) > MAX_REFERENCE:
            continue
        reference = reference.partition("#")[0].strip(BLANK)
        if reference in found or len(found) < MAX_LINKS:
            rel = attributes.get("rel")
            follows = not rel or "nofollow" not in rel.lower().replace(",", " ").split()
            found[reference] = follows or found.get(reference, False)
        else:
            complete = False
    return found, complete


def _forbids_following(tree: LexborHTMLParser) -> bool:
    metas = (meta.attributes for meta in tree.css("meta[name][content]"))
    return forbids_following(
        meta["content"] or "" for meta in metas if (meta["name"] or "").strip().lower() == EVERYBODY
    )


def forbids_following(values: Iterable[str], prefixed: bool = False) -> bool:
    """Return whether robots directives for all crawlers forbid following links. `prefixed`: they are header values."""
    found = (directive for value in values for directive in directives(value[:1000], prefixed=prefixed))
    return any(directive.name in _NOFOLLOW and not directive.agent for directive in found)


def _encoded(reference: str, encoding: str) -> str:
    """Escape the letters of a query in the encoding of its page; those that it lacks become references, as in
    browsers. Source: https://url.spec.whatwg.org/#query-state"""
    path, mark, query = reference.partition("?")
    if query.isascii() or encoding.startswith("utf"):
        return reference
    return path + mark + quote(query.encode(encoding, "xmlcharrefreplace"), _ASCII)
