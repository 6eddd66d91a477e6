"""Takes the links of an HTML page while it arrives, by the rules of Scrapy's LinkExtractor.

It differs where LinkExtractor loses pages, or reads otherwise than browsers: files of any type count, `rel` is read
in any case, one link without `nofollow` is enough, and `<noscript>` and `<template>` hold no links. Links that scripts
make are not seen.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from sitemapcrawler import urls
from sitemapcrawler.replies.page.head import BLANK, Token, Tokens, attributes
from sitemapcrawler.replies.page.metadata import EVERYBODY, directives

PAGE_LIMIT = 2 * 2**20
"""Uncompressed bytes read of a page in search of links; most pages have less than a tenth."""
MAX_LINKS = 10_000
"""Distinct references kept of one page."""
MAX_REFERENCE = 4096
"""Characters of a reference; servers refuse longer URLs (RFC 9110, 4.1 asks them to support 8,000)."""
_LINKING = frozenset(("a", "area"))
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


class LinkReader:
    """Collects the links of one page from its text, in chunks of any size."""

    def __init__(self) -> None:
        self._tokens = Tokens()
        self._references: dict[str, bool] = {}
        self._base: str | None = None
        self._denied = False
        self._full = False

    def feed(self, text: str) -> None:
        """Read a chunk of text."""
        for token in self._tokens.feed(text):
            if token.name in _LINKING:
                self._add(token)
            elif token.name == "base" and self._base is None:
                self._base = attributes(token.attributes).get("href")
            elif token.name == "meta":
                self._read_meta(token)

    def _add(self, token: Token) -> None:
        known = attributes(token.attributes)
        reference = known.get("href")
        if reference is None or len(reference) > MAX_REFERENCE:
            return
        reference = reference.partition("#")[0].strip(BLANK)
        if reference in self._references or len(self._references) < MAX_LINKS:
            follows = "nofollow" not in known.get("rel", "").lower().replace(",", " ").split()
            self._references[reference] = follows or self._references.get(reference, False)
        else:
            self._full = True

    def _read_meta(self, token: Token) -> None:
        known = attributes(token.attributes)
        if known.get("name", "").strip().lower() == EVERYBODY:
            self._denied |= forbids_following([known.get("content", "")])

    def links(self, url: str, encoding: str, denied: bool = False, complete: bool = True) -> PageLinks:
        """Return the links of the page at `url`.

        `encoding`: of the page, in which browsers send letters of a query. `denied`: a header forbids crawlers to
        follow the links. `complete`: False if the page was cut.
        """
        base = (urls.resolve(url, self._base) if self._base else None) or url
        found: dict[str, bool] = {}
        for reference, follows in self._references.items():
            target = urls.resolve(base, _encoded(reference, encoding)) if reference else base
            if target is not None:
                target = target.partition("#")[0]
                found[target] = found.get(target, False) or (follows and not (denied or self._denied))
        return PageLinks(
            tuple(target for target, follows in found.items() if follows),
            tuple(target for target, follows in found.items() if not follows),
            complete and not self._full,
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
