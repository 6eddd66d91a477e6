"""Rules on the sitemaps that a robots.txt names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sitemapcrawler.robots import Kind, Note, RobotsSitemap
from sitemapcrawler.robots.text import TAG
from sitemapcrawler.rules.facts.given import RobotsFacts
from sitemapcrawler.rules.families.robots import RFC, is_text
from sitemapcrawler.rules.families.robots_fields import nearest, notes
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.urls import authority, visit_key
from sitemapcrawler.urls.display import shown
from sitemapcrawler.urls.grammar import BLANK, Standing, fault_of, standing

PROTOCOL = "https://www.sitemaps.org/protocol.html#submit_robots"
CROSS = "https://www.sitemaps.org/protocol.html#sitemaps_cross_submits"
INVALID = {"Yandex": "Invalid Sitemap file URL format", "Search Console": "Invalid URL"}
QUOTES = "\"'<>`\xab\xbb\u2018\u2019\u201c\u201d,"
"""What does not belong to a URL at either end of it."""
ELSEWHERE = (Standing.OTHER_WWW, Standing.OTHER_AUTHORITY)


def _lines(facts: RobotsFacts) -> list[RobotsSitemap]:
    return facts.policy.sitemap_lines if is_text(facts) else []


def _sound(facts: RobotsFacts) -> Iterator[RobotsSitemap]:
    """The lines that name a sitemap by a valid URL, and no more than one."""
    lines = _lines(facts)
    number = Counter(sitemap.line for sitemap in lines)
    return (sitemap for sitemap in lines if number[sitemap.line] == 1 and not _fault(sitemap))


def _fault(sitemap: RobotsSitemap) -> str | None:
    """Why what a line names is no URL; None where it is."""
    if not sitemap.url:
        return "no http or https URL"
    written = sitemap.raw.partition("#")[0].rstrip()
    if TAG.search(written):
        return "there is HTML in the line"
    if not sitemap.typo and (written[-1:] in QUOTES or written.partition(":")[2].lstrip()[:1] in QUOTES):
        return "quotes or a comma stand around the URL"
    if BLANK.search(sitemap.url):
        return "there is a blank in it"
    return fault_of(sitemap.url)


def _misspelt(facts: RobotsFacts) -> list[Note]:
    """Lines that no reader takes for a sitemap, and whose field is nearly that."""
    unknown = (note for note in facts.policy.notes if note.kind is Kind.UNKNOWN_FIELD)
    return [note for note in unknown if nearest(note.text) == "Sitemap"]


@rule(
    "robots-no-sitemap",
    Severity.WARNING,
    PROTOCOL,
    Needs.ROBOTS,
    {"Semrush": "Sitemap.xml not indicated in robots.txt"},
)
def robots_no_sitemap(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt names no sitemap. For information where the site has one.

    Why: search engines that nobody submitted the sitemap to find it by this line only.
    Bad: a robots.txt of rules alone
    Good: `Sitemap: https://example.com/sitemap.xml`
    """
    named = facts.policy.sitemap_lines or notes(facts, Kind.SITEMAP_WITHOUT_URL) or _misspelt(facts)
    if not is_text(facts) or named:
        return
    if facts.has_sitemap:
        yield Message("no line names the sitemap of this site", severity=Severity.INFO)
    else:
        yield Message("no line names a sitemap")


@rule("robots-sitemap-relative", Severity.WARNING, PROTOCOL, Needs.ROBOTS, INVALID)
def robots_sitemap_relative(facts: RobotsFacts) -> Iterator[Message]:
    """A sitemap is named by a URL that is not absolute.

    Why: it must be "the complete URL"; some crawlers pass over anything else. It is resolved here, so that the crawl
    can go on.
    Bad: `Sitemap: /sitemap.xml`
    Good: `Sitemap: https://example.com/sitemap.xml`
    """
    for sitemap in _sound(facts):
        if sitemap.relative:
            would_be = "" if facts.policy.url.startswith("file:") else f"; {sitemap.url} would be"
            text = f"{shown(sitemap.raw)} is not absolute{would_be}"
            yield Message(text, sitemap.line, value=sitemap.raw)


@rule("robots-sitemap-invalid", Severity.ERROR, PROTOCOL, Needs.ROBOTS, INVALID)
def robots_sitemap_invalid(facts: RobotsFacts) -> Iterator[Message]:
    """What a Sitemap line names is no valid http or https URL, or it names several. A warning where it names nothing.

    Why: the whole rest of the line is one URL to a crawler. If that is none, the sitemap is not found.
    Bad: `Sitemap: {{ site.url }}/sitemap.xml`, `Sitemap: "https://example.com/sitemap.xml"`, `Sitemap:`, two URLs on
    one line
    Good: `Sitemap: https://example.com/sitemap.xml`, a line for each
    """
    lines = _lines(facts)
    number = Counter(sitemap.line for sitemap in lines)
    told = set()
    for sitemap in lines:
        several = f"{number[sitemap.line]} URLs stand on one line" if number[sitemap.line] > 1 else None
        fault = several or _fault(sitemap)
        if fault and sitemap.line not in told:
            told.add(sitemap.line)
            yield Message(f"{shown(sitemap.raw)} names no sitemap: {fault}", sitemap.line, value=sitemap.raw)
    for note in notes(facts, Kind.SITEMAP_WITHOUT_URL):
        text = f"{shown(note.text)} names no sitemap: the URL is missing"
        yield Message(text, note.line, value=note.text, severity=Severity.WARNING)


@rule("robots-sitemap-is-robots", Severity.ERROR, PROTOCOL, Needs.ROBOTS)
def robots_sitemap_is_robots(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt names itself as a sitemap.

    Why: it is none. As a rule a template was filled in with the wrong URL.
    Bad: `Sitemap: https://example.com/robots.txt`
    Good: `Sitemap: https://example.com/sitemap.xml`
    """
    own = visit_key(facts.policy.url)
    for sitemap in _sound(facts):
        if visit_key(sitemap.url) == own:
            yield Message("the line names robots.txt itself", sitemap.line, value=sitemap.raw)


@rule("robots-sitemap-duplicate", Severity.INFO, PROTOCOL, Needs.ROBOTS)
def robots_sitemap_duplicate(facts: RobotsFacts) -> Iterator[Message]:
    """A sitemap is named again.

    Why: it changes nothing; the list is probably put together by hand and by a plugin.
    Bad: two lines with `Sitemap: https://example.com/sitemap.xml`
    Good: one line for each sitemap
    """
    for sitemap in _lines(facts):
        if sitemap.first is not None:
            text = f"{shown(sitemap.url)} is named on line {sitemap.first} already"
            yield Message(text, sitemap.line, value=sitemap.url)


@rule("robots-sitemap-offsite", Severity.INFO, CROSS, Needs.ROBOTS)
def robots_sitemap_offsite(facts: RobotsFacts) -> Iterator[Message]:
    """A sitemap on another host is named. This is legal.

    Why: by this line the other host's sitemap may list URLs of this one. Whoever can write there can list them.
    Bad: the host of a test system, or one that was given up
    Good: `Sitemap: https://cdn.example.net/example.com/sitemap.xml`, where it is meant
    """
    for sitemap in _sound(facts):
        place = authority(sitemap.url)
        if place is not None and standing(sitemap.url, facts.policy.url) in ELSEWHERE:
            text = f"{shown(sitemap.url)} is on another host: it may list the URLs of this one, as this line says so"
            yield Message(text, sitemap.line, value=sitemap.url)


@rule("robots-sitemap-http", Severity.WARNING, PROTOCOL, Needs.ROBOTS)
def robots_sitemap_http(facts: RobotsFacts) -> Iterator[Message]:
    """A sitemap is named by http although its site is on https.

    Why: it is fetched without protection, as a rule by a redirect, and URLs on https are outside of what it may list.
    Bad: `Sitemap: http://example.com/sitemap.xml` in `https://example.com/robots.txt`
    Good: `Sitemap: https://example.com/sitemap.xml`
    """
    if not facts.policy.url.startswith("https:"):
        return
    for sitemap in _sound(facts):
        own = standing(sitemap.url, facts.policy.url) in (Standing.OTHER_SCHEME, Standing.OTHER_WWW)
        if own and sitemap.url.startswith("http:"):
            yield Message(f"{shown(sitemap.url)} is on http, its site on https", sitemap.line, value=sitemap.url)


@rule("robots-sitemap-typo", Severity.WARNING, PROTOCOL, Needs.ROBOTS)
def robots_sitemap_typo(facts: RobotsFacts) -> Iterator[Message]:
    """A line means to name a sitemap, but is not written `Sitemap: URL`.

    Why: Google takes `Sitemaps` and `Site-map` for it, and this crawler more; other crawlers pass over the line.
    Bad: `Sitemaps: https://example.com/sitemap.xml`, `Sitemap https://example.com/sitemap.xml`, the URL alone
    Good: `Sitemap: https://example.com/sitemap.xml`
    """
    for sitemap in _lines(facts):
        if sitemap.typo:
            text = f"{shown(sitemap.raw)} is to be written Sitemap: and the URL"
            yield Message(text, sitemap.line, value=sitemap.raw)
    for note in _misspelt(facts) if is_text(facts) else ():
        text = f"{shown(note.text)} is passed over: the field is named Sitemap"
        yield Message(text, note.line, value=note.text)


@rule("robots-sitemap-inline-comment", Severity.INFO, f"{RFC}#section-2.2", Needs.ROBOTS)
def robots_sitemap_inline_comment(facts: RobotsFacts) -> Iterator[Message]:
    """A comment stands behind the URL of a sitemap.

    Why: it is legal. Simple readers take it for a part of the URL.
    Bad: `Sitemap: https://example.com/sitemap.xml # pages`
    Good: the comment on a line of its own
    """
    for sitemap in _lines(facts):
        if sitemap.comment:
            yield Message(f"a comment behind the URL in {shown(sitemap.raw)}", sitemap.line, value=sitemap.raw)
