"""Rules on the URL of an entry: what it stands for, as far as its words tell."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from sitemapcrawler.rules.facts.fields import is_in_feed
from sitemapcrawler.rules.facts.given import Listed, UrlFacts
from sitemapcrawler.rules.families.loc import PARAMETER, URI, told
from sitemapcrawler.rules.registry import Message, Severity, entry_rule, rule
from sitemapcrawler.rules.telltales import ASSETS, CONTAINERS, EMPTY_VALUES, KINDS, MARKS, PAGE_EXTENSIONS, TRACKING
from sitemapcrawler.urls.display import shown
from sitemapcrawler.urls.grammar import Form

CANONICAL = "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls"
BUILD = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap"
LANGUAGE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2,4})?")
"""A segment that chooses a language or a country."""
MAX_CONTAINERS = 3
"""Segments in front of the name of a page without content."""
ADMINISTRATION = "wp-admin"
ABOUT_WORDS = frozenset((
    "api", "author", "authors", "brand", "brands", "define", "definition", "dictionary", "doc", "docs",
    "documentation", "global_objects", "glossary", "java", "javascript", "js", "keyword", "keywords", "label",
    "labels", "language", "learn", "manual", "meaning", "operators", "php", "python", "questions", "ref",
    "reference", "sql", "tag", "tagged", "tags", "topic", "topics", "typescript", "user", "users", "wiki", "word",
    "words",
))  # fmt: skip
"""Segments below which a word such as `null` may be what the page is about."""
EMBEDDED = re.compile(r"(?::|%3A)/", re.IGNORECASE)
"""What follows the scheme of a URL within a path, as in `web.archive.org/web/2020/https://example.com/`."""
ABOUT_FILES = ABOUT_WORDS | {"config", "configuration", "files", "guide", "guides", "help"}
"""Folders in which a page may be about a file such as `package.json`."""
SCRIPT_FOLDERS = frozenset((
    "_next", "_nuxt", "asset", "assets", "build", "bundles", "cdn", "chunks", "dist", "includes", "js", "javascript",
    "javascripts", "lib", "libs", "node_modules", "plugins", "script", "scripts", "static", "themes", "wp-content",
    "wp-includes", "webpack",
))  # fmt: skip
SCRIPT = re.compile(
    r"(?:app|bundle|chunk|common|custom|functions?|global|index|init|loader|main|polyfills?|runtime|scripts?|service-?worker"
    r"|site|sw|theme|vendors?|jquery.*|.*[.-]min|.*[.-][0-9a-f]{8,})\.js",
    re.IGNORECASE,
)
"""Names of scripts; `node.js` and `vue.js` are topics of pages."""


@entry_rule("loc-placeholder", Severity.ERROR, BUILD)
def loc_placeholder(entry: Listed) -> Iterator[Message]:
    """The URL has a placeholder that was not filled in. A warning for a word that programs write for a missing value:
    undefined, null, None, NaN.

    Why: it is no page of the site; the generator had no value for this entry. Words count as whole segments or values
    of parameters, but not below folders such as `/docs/` and `/tags/`, where a page may be about them.
    Bad: `https://example.com/blog/{{slug}}`, `https://example.com/product/undefined`
    Good: the URL of the page, or no entry
    """
    if entry.usual or entry.form not in (Form.ABSOLUTE, Form.RELATIVE):
        return
    found = MARKS.search(entry.record.loc)
    if found is not None:
        yield told(entry, f"{shown(found[0])}: a placeholder that was not filled in", found[0])
        return
    word = _empty_value(entry)
    if word is not None:
        text = f"{shown(word)} in the URL: a value was missing when it was made"
        yield told(entry, text, word, Severity.WARNING)


def _empty_value(entry: Listed) -> str | None:
    if entry.uri is None:
        return None
    segments = entry.uri.path.split("/")
    for position, segment in enumerate(segments):
        stem, _, extension = segment.partition(".")
        word = unquote(stem)
        if word in EMPTY_VALUES and (not extension or extension in PAGE_EXTENSIONS):
            return None if ABOUT_WORDS.intersection(map(str.lower, segments[:position])) else word
    values = (unquote(value) for _, value in PARAMETER.findall(entry.uri.query or ""))
    return next((value for value in values if value in EMPTY_VALUES), None)


@entry_rule("loc-tracking-parameter", Severity.WARNING, CANONICAL)
def loc_tracking_parameter(entry: Listed) -> Iterator[Message]:
    """The URL has a parameter of a campaign or an advertisement: utm_source, gclid, fbclid, msclkid and others. For
    information in a feed.

    Why: the page is the same without it; a sitemap lists the canonical URL. Visits from search results are counted as
    visits from the campaign.
    Bad: `https://example.com/shoes?utm_source=newsletter`
    Good: `https://example.com/shoes`
    """
    if entry.uri is None or not entry.uri.query:
        return
    names = [name for name, _ in PARAMETER.findall(entry.uri.query) if TRACKING.fullmatch(name)]
    if names:
        severity = Severity.INFO if isinstance(entry, UrlFacts) and is_in_feed(entry) else None
        yield told(
            entry, f"the parameter {names[0]} tracks visitors; the page is the same without it", names[0], severity
        )


@entry_rule("loc-double-slash", Severity.WARNING, f"{URI}#section-3.3")
def loc_double_slash(entry: Listed) -> Iterator[Message]:
    """The path has two slashes in a row. A URL within the path does not count.

    Why: it is another URL than the one with a single slash, which most servers answer alike: the page is there twice.
    It comes from joining a base that ends in a slash with a path that begins with one.
    Bad: `https://example.com//shop/shoes`
    Good: `https://example.com/shop/shoes`
    """
    if entry.uri is not None and "//" in entry.uri.path:
        embedded = EMBEDDED.search(entry.uri.path)
        path = entry.uri.path[: embedded.start()] if embedded else entry.uri.path
        if "//" in path:
            yield told(entry, f"the path {shown(path)} has two slashes in a row")


@rule("loc-asset", Severity.WARNING, BUILD)
def loc_asset(entry: UrlFacts) -> Iterator[Message]:
    """The URL is that of a stylesheet, script, font, source map or data file.

    Why: an entry is a page; such files are fetched with the pages that use them, and are not shown in results. PDFs and
    other documents may be listed.
    Bad: `https://example.com/assets/app.css`, `https://example.com/app.js.map`
    Good: no entry
    """
    if entry.uri is None:
        return
    *folders, name = entry.uri.path.lower().split("/")
    stem, _, extension = name.rpartition(".")
    is_script = extension == "js" and (SCRIPT.fullmatch(name) or SCRIPT_FOLDERS.intersection(folders))
    is_topic = extension == "json" and ABOUT_FILES.intersection(folders)
    if stem and not is_topic and (extension in ASSETS or is_script):
        yield told(entry, f"{shown(name)} is a file that pages use, not a page, by its name", name)


@rule("loc-utility-page", Severity.INFO, BUILD)
def loc_utility_page(entry: UrlFacts) -> Iterator[Message]:
    """By its name the page is an error, login, administration, account, cart, checkout, search or thank-you page.

    Why: "include the URLs that you want to see in search results". Such pages have no content of their own, differ for
    each visitor, or have `noindex`. The last segment of the path is judged, in several languages, if only a language or
    a folder such as `/shop/` or `/account/` stands before it.
    Bad: `https://example.com/de/warenkorb`, `https://example.com/wp-login.php`
    Good: no entry
    """
    if entry.uri is None:
        return
    *above, name = [unquote(segment).lower() for segment in entry.uri.path.rstrip("/").split("/")[1:]] or [""]
    if ADMINISTRATION in above:
        name = ADMINISTRATION
    elif len(above) > MAX_CONTAINERS or not all(part in CONTAINERS or LANGUAGE.fullmatch(part) for part in above):
        return
    stem, _, extension = name.partition(".")
    kind = KINDS.get(stem) if not extension or extension in PAGE_EXTENSIONS else None
    if kind is not None:
        yield told(entry, f"{shown(name)} looks like {kind}", name)
