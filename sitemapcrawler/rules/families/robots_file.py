"""Rules on robots.txt as a file, and on the sitemaps it names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from sitemapcrawler.robots import LineNote, NoteKind, Policy, RobotsOutcome, RobotsSitemap
from sitemapcrawler.robots.agents import agent
from sitemapcrawler.robots.policy import MAX_HOPS, TOO_MANY_REQUESTS
from sitemapcrawler.robots.text import BOM, MAX_BYTES, TAG
from sitemapcrawler.rules.facts.given import RobotsFacts
from sitemapcrawler.rules.facts.robots_notes import (
    GOOGLE,
    NO_RULES,
    RFC,
    file_scheme,
    is_of_site,
    is_parsed,
    is_text,
    nearest,
    notes,
    sitemap_lines,
)
from sitemapcrawler.rules.registry import ERROR, INFO, WARNING, Message, Of, Per, rule
from sitemapcrawler.urls import authority, visit_key
from sitemapcrawler.urls.display import counted, quoted
from sitemapcrawler.urls.grammar import BLANK, Standing, fault_of, standing

GOOGLEBOT = agent("Googlebot")
OURS = ("which is not public", "the crawl was stopped")
"""Parts of the reason if this crawler did not request the file, so nothing is known."""
REFUSED = {
    401: "the server asks for a login; crawlers that get the same take it that everything may be crawled",
    403: "the server refuses it to this crawler; others that get the same take it that everything may be crawled",
}
"""Statuses that mean more than a missing file."""


@rule("robots-missing", INFO, f"{RFC}#section-2.3.1.3", Of.ROBOTS)
def robots_missing(facts: RobotsFacts) -> Iterator[Message]:
    """There is no robots.txt. It answers with a status 4xx, or a redirect that leads nowhere. For 429 see
    `robots-unreachable`.

    Why: everything may be crawled then, which is fine if it is meant. Sitemaps have to be submitted elsewhere.
    Fix: Create a robots.txt with a `Sitemap:` line.
    Bad: `HTTP/1.1 404 Not Found`
    Good: a file with a `Sitemap:` line, be it the only one
    """
    status = facts.policy.status or 0
    if is_of_site(facts) and facts.policy.outcome is RobotsOutcome.UNAVAILABLE and status != TOO_MANY_REQUESTS:
        without = "it leads nowhere" if 300 <= status < 400 else "there is none, so everything may be crawled"
        yield Message(f"HTTP status {status}: {REFUSED.get(status, without)}", value=str(status))


@rule("robots-unreachable", ERROR, f"{RFC}#section-2.3.1.4", Of.ROBOTS)
def robots_unreachable(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt cannot be fetched: status 5xx, or no answer. Or status 429, which is a server error to Google, while
    others take it that there is no robots.txt. Of another host only where listed URLs depend on it. A note for a third
    party's host, and for a site named without its scheme that has no https and was read over http.

    Why: crawlers must take it that everything is forbidden. Google goes by its last copy for 30 days. The listed URLs
    of the host are no findings of their own.
    Fix: Check the host name, and repair its server, so that /robots.txt answers 200, or 404 if it does not exist.
    Bad: `HTTP/1.1 503 Service Unavailable`, a rate limit that includes /robots.txt
    Good: status 200, or 404 if it does not exist
    """
    reason = facts.policy.reason or "no answer"
    if not facts.policy.closed_to(GOOGLEBOT) or any(words in reason for words in OURS):
        return
    if facts.given_up and not facts.record.urls:
        yield Message(f"{reason}: the site is read over http", value=reason, severity=INFO)
    elif facts.start or facts.record.urls:
        denied = f", {_listed_urls(facts.record.urls)} of this host too" if facts.record.urls else ""
        severity = INFO if facts.third_party else None
        to, others = "", ""
        if facts.policy.status == TOO_MANY_REQUESTS:
            to, others = " to Google's crawlers", "; to most others as allowed"
        yield Message(f"{reason}: everything counts as forbidden{to}{denied}{others}", value=reason, severity=severity)


def _listed_urls(number: int) -> str:
    return f"{number:,} listed URL{'s' if number > 1 else ''}"


@rule("robots-redirects-too-many", WARNING, f"{RFC}#section-2.3.1.2", Of.ROBOTS)
def robots_redirects_too_many(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt redirects more than five times.

    Why: crawlers follow five redirects at least, and may then take it that there is no robots.txt.
    Fix: Serve robots.txt with status 200, or with one redirect to the site's main host.
    Bad: `/robots.txt` redirects to `/robots.txt/`, which redirects back
    Good: status 200, or one redirect to the site's main host
    """
    if is_of_site(facts) and facts.policy.outcome is RobotsOutcome.TOO_MANY_REDIRECTS:
        yield Message(f"more than {MAX_HOPS} redirects: crawlers go on as if there were none", value=facts.policy.url)


@rule("robots-too-large", WARNING, f"{RFC}#section-2.5", Of.ROBOTS)
def robots_too_large(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt has more than 500 KiB.

    Why: a crawler has to read so much. Google and Yandex read no more, so that the rules beyond do not exist.
    Fix: Replace rules for single pages with patterns, until the file has less than 500 KiB.
    Bad: a line for each of 20,000 pages
    Good: patterns such as `Disallow: /archive/*/print$`
    """
    known = facts.policy.facts
    if is_text(facts) and known.too_large:
        text = f"{known.size:,} bytes; the limit is {MAX_BYTES:,}: the rules from line {known.cut_at:,} on are lost"
        yield Message(text, known.cut_at, value=str(known.size))


@rule("robots-is-html", WARNING, f"{RFC}#section-2.3", Of.ROBOTS)
def robots_is_html(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt is not a text file with rules. It is an HTML page, JSON or binary data.

    Why: crawlers look for rules in whatever comes with status 200, and find none, or wrong ones. Servers that answer
    every path with their app shell do this. Prerenderers wrap robots.txt in a page: its sitemaps are read all the same.
    Fix: Serve robots.txt as plain text, or answer 404 if it does not exist.
    Bad: `<!DOCTYPE html><html>...`
    Good: plain text with rules, or status 404
    """
    content = facts.policy.facts.content
    if is_parsed(facts) and content in NO_RULES:
        yield Message(f"{NO_RULES[content]} in place of robots.txt; {_found_in(facts.policy)}", value=str(content))


def _found_in(policy: Policy) -> str:
    groups, sitemaps = len(policy.groups), len(policy.sitemaps)
    found = [f"rules for {counted(groups, 'crawler')}"] if groups else []
    found += [f"{sitemaps:,} sitemap{'s' if sitemaps > 1 else ''}"] if sitemaps else []
    verb = "is" if not groups and sitemaps == 1 else "are"
    return f"{' and '.join(found)} {verb} found in it all the same" if found else "it holds no rules"


@rule("robots-markup", WARNING, f"{RFC}#section-2.2", Of.ROBOTS)
def robots_markup(facts: RobotsFacts) -> Iterator[Message]:
    """Lines of robots.txt contain HTML. Reported once, at the first one.

    Why: crawlers skip a line of markup, and take a tag behind a path for part of the path. A plugin, a cache or an
    error message of PHP wrote it there, so that the rest of the file may be wrong as well.
    Fix: Remove the HTML, and turn off the plugin or error output that writes it.
    Bad: `<!-- WP Super Cache is installed but broken. -->`, `<b>Notice</b>: Undefined index`, `Disallow: /cart<br>`
    Good: plain text; comments begin with `#`
    """
    found = [note for note in facts.policy.notes if note.kind is NoteKind.MARKUP]
    if is_text(facts) and found:
        first, number = found[0], facts.policy.note_counts[NoteKind.MARKUP]
        lines = f" and {number - 1:,} more line{'s' if number > 2 else ''}" if number > 1 else ""
        contain = "contain" if number > 1 else "contains"
        yield Message(f"{quoted(first.text)}{lines} {contain} HTML", first.line, value=first.text)


@rule("robots-not-utf8", WARNING, f"{RFC}#section-2.3", Of.ROBOTS)
def robots_not_utf8(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt is not encoded in UTF-8. For information where the first such bytes are in a comment, and no rule has
    any.

    Why: paths with such bytes match nothing, or something else. UTF-16 is unreadable to most crawlers.
    Fix: Save robots.txt as UTF-8.
    Bad: a file saved as `Unicode` or `ANSI` by an editor
    Good: UTF-8, or escapes such as `/caf%C3%A9`
    """
    known = facts.policy.facts
    if not is_text(facts):
        return
    if known.encoding != "utf-8":
        yield Message(f"the file is in {known.encoding[:6].upper()}; it must be in UTF-8", 1, value=known.encoding)
    elif known.not_utf8 is not None:
        severity = None if _garbled(facts.policy, known.not_utf8) else INFO
        yield Message(f"bytes that are no UTF-8, first on line {known.not_utf8}", known.not_utf8, severity=severity)


def _garbled(policy: Policy, first: int) -> bool:
    """True if bytes that are not UTF-8 occur in a rule, or first occur in another field."""
    lines = {note.line for note in policy.notes} | {sitemap.line for sitemap in policy.sitemap_lines}
    in_rules = {rule.line for group in policy.groups.values() for rule in group.rules}
    return first in lines or not in_rules.isdisjoint(policy.facts.garbled)


@rule("robots-bom", WARNING, GOOGLE, Of.ROBOTS)
def robots_bom(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt has a byte order mark. It stands in front of the first line, or in a line further down.

    Why: Google ignores it at the start of the file only. Other crawlers take it for part of the first line, and lose
    the first group with it. Further down it hides the line from all of them. Joined files have it there.
    Fix: Save robots.txt without a byte order mark.
    Bad: `EF BB BF` before `User-agent: *`
    Good: UTF-8 without a byte order mark
    """
    if not is_text(facts):
        return
    if facts.policy.facts.bom and facts.policy.facts.encoding == "utf-8":
        yield Message("a byte order mark (U+FEFF) in front of the first line", 1)
    for note in facts.policy.notes:
        if note.kind is NoteKind.BYTE_ORDER_MARK:
            fault = "hides the line from crawlers" if note.text.startswith(BOM) else "is part of the field or value"
            text = note.text.replace(BOM, "")
            yield Message(f"a byte order mark (U+FEFF) in {quoted(text)} {fault}", note.line, value=note.text)


PROTOCOL = "https://www.sitemaps.org/protocol.html#submit_robots"

CROSS = "https://www.sitemaps.org/protocol.html#sitemaps_cross_submits"

INVALID = {"Yandex": "Invalid Sitemap file URL format", "Search Console": "Invalid URL"}

QUOTES = "\"'<>`\xab\xbb\u2018\u2019\u201c\u201d,"
"""Characters that do not belong at either end of a URL."""

ELSEWHERE = (Standing.OTHER_WWW, Standing.OTHER_AUTHORITY)


def _valid_sitemaps(facts: RobotsFacts) -> Iterator[RobotsSitemap]:
    """Return the lines that name exactly one sitemap by a valid URL."""
    lines = sitemap_lines(facts)
    number = Counter(sitemap.line for sitemap in lines)
    return (sitemap for sitemap in lines if number[sitemap.line] == 1 and not _sitemap_fault(sitemap))


def _sitemap_fault(sitemap: RobotsSitemap) -> str | None:
    """Why the value of a Sitemap line is not a URL; None if it is."""
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


def _misspelt_sitemaps(facts: RobotsFacts) -> list[LineNote]:
    """Lines with a misspelt Sitemap field that no crawler recognises."""
    unknown = (note for note in facts.policy.notes if note.kind is NoteKind.UNKNOWN_FIELD)
    return [note for note in unknown if nearest(note.text) == "Sitemap"]


@rule("robots-no-sitemap", WARNING, PROTOCOL, Of.ROBOTS, also={"Semrush": "Sitemap.xml not indicated in robots.txt"})
def robots_no_sitemap(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt names no sitemap. For information where the site has one.

    Why: search engines to which the sitemap was not submitted find it by this line only.
    Fix: Add a line `Sitemap:` with the full URL of the sitemap.
    Bad: a robots.txt of rules alone
    Good: `Sitemap: https://example.com/sitemap.xml`
    """
    named = facts.policy.sitemap_lines or notes(facts, NoteKind.SITEMAP_WITHOUT_URL) or _misspelt_sitemaps(facts)
    if not is_text(facts) or named:
        return
    if facts.has_sitemap:
        yield Message("no line names the sitemap of this site", severity=INFO)
    else:
        yield Message("no line names a sitemap")


@rule("robots-sitemap-relative", WARNING, PROTOCOL, Of.ROBOTS, also=INVALID)
def robots_sitemap_relative(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt names a sitemap by a relative URL.

    Why: it must be "the complete URL"; some crawlers pass over anything else. It is resolved here, so that the crawl
    can continue.
    Fix: Write the whole URL of the sitemap with scheme and host.
    Bad: `Sitemap: /sitemap.xml`
    Good: `Sitemap: https://example.com/sitemap.xml`
    """
    for sitemap in _valid_sitemaps(facts):
        if sitemap.relative:
            would_be = "" if facts.policy.url.startswith("file:") else f"; {sitemap.url} would be"
            text = f"{quoted(sitemap.raw)} is not absolute{would_be}"
            yield Message(text, sitemap.line, value=sitemap.raw)


@rule("robots-sitemap-invalid", ERROR, PROTOCOL, Of.ROBOTS, also=INVALID)
def robots_sitemap_invalid(facts: RobotsFacts) -> Iterator[Message]:
    """A Sitemap line has no valid URL. It must name one valid http or https URL. A warning if it names nothing. A
    `file:` or `ftp:` URL is `security-scheme-refused` instead.

    Why: the whole rest of the line is one URL to a crawler. If that is not the sitemap's, the sitemap is not found.
    Fix: Write one full URL per `Sitemap:` line, without quotes or placeholders.
    Bad: `Sitemap: {{ site.url }}/sitemap.xml`, `Sitemap: "https://example.com/sitemap.xml"`, `Sitemap:`, two URLs on
    one line
    Good: `Sitemap: https://example.com/sitemap.xml`, a line for each
    """
    lines = sitemap_lines(facts)
    number = Counter(sitemap.line for sitemap in lines)
    told = set()
    for sitemap in lines:
        several = f"{number[sitemap.line]} URLs stand on one line" if number[sitemap.line] > 1 else None
        fault = several or _sitemap_fault(sitemap)
        if fault and sitemap.line not in told and file_scheme(sitemap) is None:
            told.add(sitemap.line)
            yield Message(f"{quoted(sitemap.raw)} names no sitemap: {fault}", sitemap.line, value=sitemap.raw)
    for note in notes(facts, NoteKind.SITEMAP_WITHOUT_URL):
        text = f"{quoted(note.text)} names no sitemap: the URL is missing"
        yield Message(text, note.line, value=note.text, severity=WARNING)


@rule("robots-sitemap-is-robots", ERROR, PROTOCOL, Of.ROBOTS)
def robots_sitemap_is_robots(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt names itself as a sitemap.

    Why: it is not a sitemap. As a rule a template was filled in with the wrong URL.
    Fix: Name the sitemap's URL in place of robots.txt.
    Bad: `Sitemap: https://example.com/robots.txt`
    Good: `Sitemap: https://example.com/sitemap.xml`
    """
    own = visit_key(facts.policy.url)
    for sitemap in _valid_sitemaps(facts):
        if visit_key(sitemap.url) == own:
            yield Message("the line names robots.txt itself", sitemap.line, value=sitemap.raw)


@rule("robots-sitemap-duplicate", INFO, PROTOCOL, Of.ROBOTS, per=Per.FILE("name a sitemap again"))
def robots_sitemap_duplicate(facts: RobotsFacts) -> Iterator[Message]:
    """A sitemap is named again.

    Why: it changes nothing; the list is probably put together by hand and by a plugin.
    Fix: Remove the repeated `Sitemap:` line.
    Bad: two lines with `Sitemap: https://example.com/sitemap.xml`
    Good: one line for each sitemap
    """
    for sitemap in sitemap_lines(facts):
        if sitemap.first is not None:
            text = f"{quoted(sitemap.url)} is named on line {sitemap.first} already"
            yield Message(text, sitemap.line, value=sitemap.url)


@rule("robots-sitemap-offsite", INFO, CROSS, Of.ROBOTS, per=Per.FILE("name a sitemap on another host"))
def robots_sitemap_offsite(facts: RobotsFacts) -> Iterator[Message]:
    """A sitemap on another host is named. This is legal.

    Why: by this line the other host's sitemap may list URLs of this one. Whoever can write there can list them.
    Fix: Check that the other host is yours and still in use; else remove the line.
    Bad: the host of a test system, or one that was given up
    Good: `Sitemap: https://cdn.example.net/example.com/sitemap.xml`, where it is meant
    """
    for sitemap in _valid_sitemaps(facts):
        place = authority(sitemap.url)
        if place is not None and standing(sitemap.url, facts.policy.url) in ELSEWHERE:
            text = f"{quoted(sitemap.url)} is on another host: it may list the URLs of this one, as this line says so"
            yield Message(text, sitemap.line, value=sitemap.url)


@rule("robots-sitemap-http", WARNING, PROTOCOL, Of.ROBOTS)
def robots_sitemap_http(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt names a sitemap over http on an https site.

    Why: it is fetched without protection, as a rule by a redirect, and URLs on https are outside of what it may list.
    Fix: Name the sitemap by its https URL.
    Bad: `Sitemap: http://example.com/sitemap.xml` in `https://example.com/robots.txt`
    Good: `Sitemap: https://example.com/sitemap.xml`
    """
    if not facts.policy.url.startswith("https:"):
        return
    for sitemap in _valid_sitemaps(facts):
        own = standing(sitemap.url, facts.policy.url) in (Standing.OTHER_SCHEME, Standing.OTHER_WWW)
        if own and sitemap.url.startswith("http:"):
            yield Message(f"{quoted(sitemap.url)} is on http, its site on https", sitemap.line, value=sitemap.url)


@rule("robots-sitemap-typo", WARNING, PROTOCOL, Of.ROBOTS)
def robots_sitemap_typo(facts: RobotsFacts) -> Iterator[Message]:
    """A Sitemap line is misspelt. It must be written `Sitemap: URL`.

    Why: Google takes `Sitemaps` and `Site-map` for it, and this crawler more; other crawlers pass over the line.
    Fix: Write the line as `Sitemap:` followed by the full URL.
    Bad: `Sitemaps: https://example.com/sitemap.xml`, `Sitemap https://example.com/sitemap.xml`, the URL alone
    Good: `Sitemap: https://example.com/sitemap.xml`
    """
    for sitemap in sitemap_lines(facts):
        if sitemap.typo:
            text = f"{quoted(sitemap.raw)} is to be written Sitemap: and the URL"
            yield Message(text, sitemap.line, value=sitemap.raw)
    for note in _misspelt_sitemaps(facts) if is_text(facts) else ():
        text = f"{quoted(note.text)} is passed over: the field is named Sitemap"
        yield Message(text, note.line, value=note.text)


@rule(
    "robots-sitemap-inline-comment",
    INFO,
    f"{RFC}#section-2.2",
    Of.ROBOTS,
    per=Per.FILE("have a comment behind the URL of a sitemap"),
)
def robots_sitemap_inline_comment(facts: RobotsFacts) -> Iterator[Message]:
    """A comment stands behind the URL of a sitemap.

    Why: it is legal. Simple readers take it for a part of the URL.
    Fix: Move the comment to a line of its own.
    Bad: `Sitemap: https://example.com/sitemap.xml # pages`
    Good: the comment on a line of its own
    """
    for sitemap in sitemap_lines(facts):
        if sitemap.comment:
            yield Message(f"a comment behind the URL in {quoted(sitemap.raw)}", sitemap.line, value=sitemap.raw)
