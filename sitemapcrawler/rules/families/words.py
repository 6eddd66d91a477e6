"""Rules on words in the URL of an entry: placeholders, tracking, assets and pages without content."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, unquote

from sitemapcrawler.reader.faults import Fault
from sitemapcrawler.rules.facts.given import EMPTY_VALUES, QUERY_PARAMETER, EntryFacts, UrlFacts, loc_message
from sitemapcrawler.rules.facts.objects import is_in_feed
from sitemapcrawler.rules.facts.replied import KINDS, PAGE_EXTENSIONS, kind_of
from sitemapcrawler.rules.registry import ERROR, INFO, WARNING, Message, Of, Per, UrlWith, fault_message, rule
from sitemapcrawler.urls.display import quoted
from sitemapcrawler.words import read_words

URI = "https://www.rfc-editor.org/rfc/rfc3986"
CANONICAL = "https://developers.google.com/search/docs/crawling-indexing/consolidate-duplicate-urls"

BUILD = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/build-sitemap"

TABLE = read_words("sitemapcrawler.rules.families", "words")
WORDS = TABLE["words"]
CONTAINERS = frozenset(WORDS["containers"].split())
"""Path segments that may precede such a name, besides language codes. `/docs/api/login` is a content page."""

ASSETS = WORDS["assets"].split()
FOR_PROGRAMS = WORDS["for_programs"].split()

TRACKING = re.compile(
    r"utm_[a-z_]+|mtm_[a-z_]+|pk_(?:campaign|kwd|source|medium)|[gdyw]clid|fbclid|ttclid|twclid|msclkid|gclsrc|[gw]braid"
    r"|mc_[ce]id|igsh(?:id)?|srsltid|_hsenc|_hsmi|mkt_tok|li_fat_id|_g[al]|vero_id",
    re.IGNORECASE,
)
"""Parameters that only identify the advertisement or mail a visitor came from."""

CAMPAIGNS = (
    r"utm_|mtm_|pk_|[gdyw]clid=|fbclid=|ttclid=|twclid=|msclkid=|gclsrc=|[gw]braid=|mc_[ce]id=|igsh|srsltid=|_hs|mkt_tok="
    r"|li_fat_id=|_g[al]=|vero_id="
)
"""Prefixes of the names in `TRACKING`."""


LANGUAGE = re.compile(r"[a-z]{2}(?:[-_][a-z]{2,4})?")
"""A path segment that selects a language or country."""

MAX_CONTAINERS = 3
"""Maximum number of path segments before the name of a page without content."""

ADMINISTRATION = "wp-admin"

ABOUT_WORDS = frozenset(WORDS["about_words"].split())
"""Path segments below which a word such as `null` may be the topic of a page."""

EMBEDDED = re.compile(r"(?::|%3A)/", re.IGNORECASE)
"""Follows the scheme of a URL inside a path, as in `web.archive.org/web/2020/https://example.com/`."""

ABOUT_FILES = (ABOUT_WORDS - {"api"}) | {"config", "configuration", "files", "guide", "guides", "help"}
"""Folders in which a file name such as `package.json` may be the topic of a page."""

SCRIPT_FOLDERS = frozenset(WORDS["script_folders"].split())
SCRIPT = re.compile(
    r"(?:app|bundle|chunk|common|custom|functions?|global|index|init|loader|main|polyfills?|runtime|scripts?|service-?worker"
    r"|site|sw|theme|vendors?|jquery.*|.*[.-]min|.*[.-][0-9a-f]{8,})\.js",
    re.IGNORECASE,
)
"""Names of scripts. Excludes `node.js` and `vue.js`, which are topics of pages."""


def _any_of(words: Iterable[str]) -> str:
    """An expression for one of some words, escaped or not."""
    forms = dict.fromkeys(form for word in words for form in (word, quote(word)))
    return f"(?:{'|'.join(map(re.escape, forms))})"


PLACEHOLDER = (
    r"(?i:\{\{|%7B%7B|\$\{|(?:\$|%24)%7B|\{%|%7B%25|<%|%3C%25|(?:\[|%5B)object|/%7B[a-z_]|/%5B[a-z.%]|/:[a-z])"
    rf"|[/=]{_any_of(EMPTY_VALUES)}(?:[/.?&]|$)"
)
"""Occurs in each usual URL with one of `given.MARKS`, or with one of `EMPTY_VALUES`."""


@rule("loc-placeholder", ERROR, BUILD, (UrlWith(PLACEHOLDER), Of.CHILD, Of.FAULT))
def loc_placeholder(entry: EntryFacts | Fault) -> Iterator[Message]:
    """The URL has a placeholder that was not filled in. A warning for words that programs write for a missing value
    (undefined, null, None, NaN), unless one stands in place of the site.

    Why: Such a page does not exist; the generator had no value for this entry. A word must be a whole segment or
    parameter value, and is accepted below folders such as `/docs/` and `/tags/`, where a page may be about it.
    Fix: Fill in the placeholder, or omit entries that lack the value.
    Bad: `https://example.com/blog/{{slug}}`, `https://example.com/product/undefined`, `undefined/about`
    Good: the URL of the page, or no entry
    """
    if isinstance(entry, Fault):  # the URL is nothing but a placeholder: the reader left the entry out
        yield from fault_message(entry)
        return
    if entry.placeholder is not None:
        text = f"{quoted(entry.placeholder)}: a placeholder that was not filled in"
        yield loc_message(entry, text, entry.placeholder)
        return
    if entry.lacks_site:
        text = f"{quoted(entry.written)} has no site: its value was missing when the URL was generated"
        yield loc_message(entry, text, entry.written)
        return
    word = _empty_value(entry)
    if word is not None:
        text = f"{quoted(word)} in the URL: a value was missing when the URL was generated"
        yield loc_message(entry, text, word, WARNING)


def _empty_value(entry: EntryFacts) -> str | None:
    if entry.uri is None:
        return None
    segments = entry.uri.path.split("/")
    for position, segment in enumerate(segments):
        stem, _, extension = segment.partition(".")
        word = unquote(stem)
        if word in EMPTY_VALUES and (not extension or extension in PAGE_EXTENSIONS):
            return None if ABOUT_WORDS.intersection(map(str.lower, segments[:position])) else word
    values = (unquote(value) for _, value in QUERY_PARAMETER.findall(entry.uri.query or ""))
    return next((value for value in values if value in EMPTY_VALUES), None)


@rule(
    "loc-tracking-parameter",
    WARNING,
    CANONICAL,
    (UrlWith(rf"[?&;](?i:{CAMPAIGNS})"), Of.CHILD),
    per=Per.FILE("have a tracking parameter", by_value=True),
)
def loc_tracking_parameter(entry: EntryFacts) -> Iterator[Message]:
    """The URL contains a tracking parameter. Such as utm_source, gclid, fbclid or msclkid. A note in a feed.

    Why: The page is the same without it, and a sitemap should list the canonical URL. Analytics would count visits from
    search results as visits from the campaign.
    Fix: Remove the tracking parameter from the URL.
    Bad: `https://example.com/shoes?utm_source=newsletter`
    Good: `https://example.com/shoes`
    """
    if entry.uri is None or not entry.uri.query:
        return
    names = [name for name, _ in QUERY_PARAMETER.findall(entry.uri.query) if TRACKING.fullmatch(name)]
    if names:
        severity = INFO if isinstance(entry, UrlFacts) and is_in_feed(entry) else None
        yield loc_message(
            entry, f"the parameter {names[0]} tracks visitors; the page is the same without it", names[0], severity
        )


@rule(
    "loc-double-slash",
    WARNING,
    f"{URI}#section-3.3",
    (UrlWith("[^:?]//"), Of.CHILD),
    per=Per.FILE("have two slashes in a row in their path"),
)
def loc_double_slash(entry: EntryFacts) -> Iterator[Message]:
    """The path has two slashes in a row. A URL within the path does not count.

    Why: Most servers answer it with the same page as the URL with a single slash: the page exists twice. It comes from
    joining a base URL that ends in a slash and a path that begins with one.
    Fix: Join the base URL and the path with a single slash.
    Bad: `https://example.com//shop/shoes`
    Good: `https://example.com/shop/shoes`
    """
    if entry.uri is not None and "//" in entry.uri.path:
        embedded = EMBEDDED.search(entry.uri.path)
        path = entry.uri.path[: embedded.start()] if embedded else entry.uri.path
        if "//" in path:
            yield loc_message(entry, f"the path {quoted(path)} has two slashes in a row")


ASSET = rf"\.(?i:{'|'.join(ASSETS)}|js)(?:\?|$)|/(?i:{_any_of(FOR_PROGRAMS)})(?:\?|$)"
"""Occurs in the URL of each asset."""


@rule("loc-asset", WARNING, BUILD, UrlWith(ASSET), per=Per.FILE("are files that pages or programs use"))
def loc_asset(entry: UrlFacts) -> Iterator[Message]:
    """The URL is an asset, not a page. It is a stylesheet, script, font, source map, data file or feed, or a file for
    programs such as robots.txt and llms.txt.

    Why: A sitemap lists pages. Such files are for the pages and programs that use them, and search results do not show
    them. PDFs and other documents may be listed.
    Fix: Remove the entry.
    Bad: `https://example.com/assets/app.css`, `https://example.com/robots.txt`, `https://example.com/feed.xml`
    Good: no entry
    """
    if entry.uri is None:
        return
    *folders, name = entry.uri.path.lower().split("/")
    stem, _, extension = name.rpartition(".")
    is_script = extension == "js" and (SCRIPT.fullmatch(name) or SCRIPT_FOLDERS.intersection(folders))
    is_for_programs = name in FOR_PROGRAMS
    is_topic = (extension == "json" or is_for_programs) and ABOUT_FILES.intersection(folders)
    if stem and not is_topic and (extension in ASSETS or is_script or is_for_programs):
        users = "programs" if is_for_programs else "pages"
        yield loc_message(entry, f"{quoted(name)} is a file that {users} use, not a page, judging by its name", name)


UTILITY_PAGE = rf"/(?i:{_any_of(sorted(KINDS))})(?:\.(?i:{'|'.join(PAGE_EXTENSIONS)}))?/?(?:\?|$)|/{ADMINISTRATION}/"
"""Occurs in the URL of each utility page."""


@rule("loc-utility-page", INFO, BUILD, UrlWith(UTILITY_PAGE), per=Per.FILE("are utility pages", by_value=True))
def loc_utility_page(entry: UrlFacts) -> Iterator[Message]:
    """The URL looks like a utility page. Judging by its name, it is an error, login, administration, account, cart,
    checkout, search or thank-you page.

    Why: "include the URLs that you want to see in search results". Such pages have no content of their own, differ for
    each visitor, or have `noindex`. The rule judges the last segment of the path, in several languages, if only a
    language or a folder such as `/shop/` or `/account/` comes before it.
    Fix: Remove the entry, unless people should find the page in search results.
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
    if (kind := kind_of(name)) is not None:
        yield loc_message(entry, f"{quoted(name)} looks like {kind}", name)
