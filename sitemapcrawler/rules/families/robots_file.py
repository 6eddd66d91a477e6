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
from sitemapcrawler.urls.grammar import BLANK, Form, Standing, fault_of, form_of, standing

GOOGLEBOT = agent("Googlebot")
REFUSED = {
    401: "the server asks for a login; crawlers that get this answer may crawl everything",
    403: "the server refuses this crawler; others that get this answer may crawl everything",
}
"""Statuses that mean more than a missing file."""


@rule("robots-missing", INFO, f"{RFC}#section-2.3.1.3", Of.ROBOTS)
def robots_missing(facts: RobotsFacts) -> Iterator[Message]:
    """There is no robots.txt. It answers with a status 4xx, or with a redirect that leads nowhere. For 429, see
    `robots-unreachable`.

    Why: Crawlers may fetch everything, which is fine if intended. Search engines learn of sitemaps only if you submit
    them.
    Fix: Create a robots.txt with a `Sitemap:` line.
    Bad: `HTTP/1.1 404 Not Found`
    Good: a robots.txt with at least a `Sitemap:` line
    """
    status = facts.policy.status or 0
    if is_of_site(facts) and facts.policy.outcome is RobotsOutcome.UNAVAILABLE and status != TOO_MANY_REQUESTS:
        without = "it leads nowhere" if 300 <= status < 400 else "there is none, so everything may be crawled"
        yield Message(f"HTTP status {status}: {REFUSED.get(status, without)}", value=str(status))


@rule("robots-unreachable", ERROR, f"{RFC}#section-2.3.1.4", Of.ROBOTS)
def robots_unreachable(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt cannot be fetched: status 5xx, 429, or no answer. Google treats 429 as a server error, others as a
    missing robots.txt. Reported for another host only if listed URLs depend on it. A note for a third party's host, and
    for a site that was named without a scheme, has no https and was read over http.

    Why: Crawlers must assume that everything is forbidden. Google uses its last copy for 30 days. The host's listed
    URLs are not reported as blocked.
    Fix: Check the host name, and repair the server until /robots.txt answers 200, or 404 if it does not exist.
    Bad: `HTTP/1.1 503 Service Unavailable`, a rate limit that includes /robots.txt
    Good: status 200, or 404 if it does not exist
    """
    reason = facts.policy.reason or "no answer"
    if not facts.policy.closed_to(GOOGLEBOT) or facts.policy.is_ours:
        return
    if facts.given_up and not facts.record.urls:
        yield Message(f"{reason}: the site is read over http", value=reason, severity=INFO)
    elif facts.start or facts.record.urls:
        listed = f", including {_listed_urls(facts.record.urls)}" if facts.record.urls else ""
        severity = INFO if facts.third_party else None
        who, others = "crawlers", ""
        if facts.policy.status == TOO_MANY_REQUESTS:
            who, others = "Google's crawlers", "; most others treat it as allowed"
        text = f"{reason}: {who} treat everything as disallowed{listed}{others}"
        yield Message(text, value=reason, severity=severity)


def _listed_urls(number: int) -> str:
    return f"{number:,} listed URL{'s' if number > 1 else ''}"


@rule("robots-redirects-too-many", WARNING, f"{RFC}#section-2.3.1.2", Of.ROBOTS)
def robots_redirects_too_many(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt redirects more than five times.

    Why: Crawlers follow at least five redirects, and may then assume that there is no robots.txt.
    Fix: Serve robots.txt with status 200, or with one redirect to the site's main host.
    Bad: `/robots.txt` redirects to `/robots.txt/`, which redirects back
    Good: status 200, or one redirect to the site's main host
    """
    if is_of_site(facts) and facts.policy.outcome is RobotsOutcome.TOO_MANY_REDIRECTS:
        yield Message(
            f"more than {MAX_HOPS} redirects: crawlers may continue as if there were none", value=facts.policy.url
        )


@rule("robots-too-large", WARNING, f"{RFC}#section-2.5", Of.ROBOTS)
def robots_too_large(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt is larger than 500 KiB.

    Why: Crawlers must read 500 KiB. Google and Yandex ignore the rest.
    Fix: Replace rules for single pages with patterns until the file is smaller than 500 KiB.
    Bad: a line for each of 20,000 pages
    Good: patterns such as `Disallow: /archive/*/print$`
    """
    known = facts.policy.facts
    if is_text(facts) and known.too_large:
        text = (
            f"{known.size:,} bytes; the limit is {MAX_BYTES:,}; crawlers may ignore rules from line {known.cut_at:,} on"
        )
        yield Message(text, known.cut_at, value=str(known.size))


@rule("robots-is-html", WARNING, f"{RFC}#section-2.3", Of.ROBOTS)
def robots_is_html(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt is not a text file with rules. It is an HTML page, JSON or binary data.

    Why: Crawlers look for rules in whatever has status 200, and find none, or wrong ones. Usual causes are servers that
    answer every path with their app shell, and prerenderers that wrap robots.txt in a page.
    Fix: Serve robots.txt as plain text, or answer 404 if it does not exist.
    Bad: `<!DOCTYPE html><html>...`
    Good: plain text with rules, or status 404
    """
    content = facts.policy.facts.content
    if is_parsed(facts) and content in NO_RULES:
        yield Message(f"{NO_RULES[content]} instead of robots.txt; {_found_in(facts.policy)}", value=str(content))


def _found_in(policy: Policy) -> str:
    groups, sitemaps = len(policy.groups), len(policy.sitemaps)
    found = [f"rules for {counted(groups, 'crawler')}"] if groups else []
    found += [f"{sitemaps:,} sitemap{'s' if sitemaps > 1 else ''}"] if sitemaps else []
    verb = "is" if not groups and sitemaps == 1 else "are"
    return f"{' and '.join(found)} {verb} found in it anyway" if found else "it holds no rules"


@rule("robots-markup", WARNING, f"{RFC}#section-2.2", Of.ROBOTS)
def robots_markup(facts: RobotsFacts) -> Iterator[Message]:
    """Lines of robots.txt contain HTML. Once per file, on the first such line.

    Why: Crawlers skip a line of markup, and read a tag after a path as part of the path. A plugin, a cache or a PHP
    error message wrote it, so the rest of the file may be wrong too.
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
    """robots.txt is not encoded in UTF-8. A note if only comments have such bytes.

    Why: Paths with such bytes match nothing, or the wrong URLs. Most crawlers cannot read UTF-16.
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
        yield Message(f"bytes that are not UTF-8, first on line {known.not_utf8}", known.not_utf8, severity=severity)


def _garbled(policy: Policy, first: int) -> bool:
    """True if bytes that are not UTF-8 occur in a rule, or first occur in another field."""
    lines = {note.line for note in policy.notes} | {sitemap.line for sitemap in policy.sitemap_lines}
    in_rules = {rule.line for group in policy.groups.values() for rule in group.rules}
    return first in lines or not in_rules.isdisjoint(policy.facts.garbled)


@rule("robots-bom", WARNING, GOOGLE, Of.ROBOTS)
def robots_bom(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt has a byte order mark. At the start, or in a later line.

    Why: Google ignores it, but only at the start of the file. Other crawlers read it as part of the first line, and
    lose the first group. In a later line, where it comes from joined files, it hides that line from all crawlers.
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
    written = sitemap.raw.partition("#")[0].rstrip()
    value = written.partition(":")[2].lstrip()
    if not sitemap.url:
        return (fault_of(value) if form_of(value) is Form.ABSOLUTE else None) or "not an http or https URL"
    if TAG.search(written):
        return "there is HTML in the line"
    if not sitemap.typo and (written[-1:] in QUOTES or value[:1] in QUOTES):
        return "there are quotes or a comma around the URL"
    if form_of(value) is Form.QUOTED:
        return "there is other text around the URL"
    if BLANK.search(sitemap.url):
        return "there is whitespace in it"
    return fault_of(sitemap.url)


def _misspelt_sitemaps(facts: RobotsFacts) -> list[LineNote]:
    """Lines with a misspelt Sitemap field that no crawler recognises."""
    unknown = (note for note in facts.policy.notes if note.kind is NoteKind.UNKNOWN_FIELD)
    return [note for note in unknown if nearest(note.text) == "Sitemap"]


@rule("robots-no-sitemap", WARNING, PROTOCOL, Of.ROBOTS, also={"Semrush": "Sitemap.xml not indicated in robots.txt"})
def robots_no_sitemap(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt names no sitemap. A note if the site has one.

    Why: A search engine to which you did not submit the sitemap finds it only by this line.
    Fix: Add a line `Sitemap:` with the full URL of the sitemap.
    Bad: a robots.txt with rules only
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

    Why: It must be "the complete URL"; some crawlers skip anything else. This crawl resolves it and continues.
    Fix: Write the full URL of the sitemap with scheme and host.
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

    Why: To a crawler, the rest of the line is one URL. If that is not the sitemap's, crawlers do not find it.
    Fix: Write one full URL per `Sitemap:` line, without quotes or placeholders.
    Bad: `Sitemap: {{ site.url }}/sitemap.xml`, `Sitemap: "https://example.com/sitemap.xml"`, `Sitemap:`, two URLs on
    one line
    Good: `Sitemap: https://example.com/sitemap.xml`, a line for each
    """
    lines = sitemap_lines(facts)
    number = Counter(sitemap.line for sitemap in lines)
    told = set()
    for sitemap in lines:
        several = f"{number[sitemap.line]} URLs are on one line" if number[sitemap.line] > 1 else None
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

    Why: It is not a sitemap. Usually a template was filled in with the wrong URL.
    Fix: Name the sitemap's URL instead of that of robots.txt.
    Bad: `Sitemap: https://example.com/robots.txt`
    Good: `Sitemap: https://example.com/sitemap.xml`
    """
    own = visit_key(facts.policy.url)
    for sitemap in _valid_sitemaps(facts):
        if visit_key(sitemap.url) == own:
            yield Message("the line names robots.txt itself", sitemap.line, value=sitemap.raw)


@rule("robots-sitemap-duplicate", INFO, PROTOCOL, Of.ROBOTS, per=Per.FILE("name a sitemap again"))
def robots_sitemap_duplicate(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt names a sitemap more than once.

    Why: It has no effect. Probably both a person and a plugin maintain the list.
    Fix: Remove the repeated `Sitemap:` line.
    Bad: two lines with `Sitemap: https://example.com/sitemap.xml`
    Good: one line for each sitemap
    """
    for sitemap in sitemap_lines(facts):
        if sitemap.first is not None:
            text = f"{quoted(sitemap.url)} is already named on line {sitemap.first}"
            yield Message(text, sitemap.line, value=sitemap.url)


@rule("robots-sitemap-offsite", INFO, CROSS, Of.ROBOTS, per=Per.FILE("name a sitemap on another host"))
def robots_sitemap_offsite(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt names a sitemap on another host. This is legal.

    Why: This line allows the other host's sitemap to list URLs of this one. Whoever can write there can list them.
    Fix: Check that the other host is yours and still in use; otherwise remove the line.
    Bad: the host of a test system, or an abandoned one
    Good: `Sitemap: https://cdn.example.net/example.com/sitemap.xml`, if intended
    """
    for sitemap in _valid_sitemaps(facts):
        place = authority(sitemap.url)
        if place is not None and standing(sitemap.url, facts.policy.url) in ELSEWHERE:
            text = f"{quoted(sitemap.url)} is on another host: this line allows it to list URLs of this one"
            yield Message(text, sitemap.line, value=sitemap.url)


@rule("robots-sitemap-http", WARNING, PROTOCOL, Of.ROBOTS)
def robots_sitemap_http(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt names a sitemap over http on an https site.

    Why: Crawlers fetch it without encryption, usually through a redirect, and it may not list URLs on https.
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

    Why: Google accepts `Sitemaps` and `Site-map`, and this crawler more misspellings; other crawlers skip the line.
    Fix: Write the line as `Sitemap:` followed by the full URL.
    Bad: `Sitemaps: https://example.com/sitemap.xml`, `Sitemap https://example.com/sitemap.xml`, the URL alone
    Good: `Sitemap: https://example.com/sitemap.xml`
    """
    for sitemap in sitemap_lines(facts):
        if sitemap.typo:
            text = f"{quoted(sitemap.raw)} must be written as Sitemap: and the URL"
            yield Message(text, sitemap.line, value=sitemap.raw)
    for note in _misspelt_sitemaps(facts) if is_text(facts) else ():
        text = f"{quoted(note.text)} is skipped: the field is named Sitemap"
        yield Message(text, note.line, value=note.text)


@rule(
    "robots-sitemap-inline-comment",
    INFO,
    f"{RFC}#section-2.2",
    Of.ROBOTS,
    per=Per.FILE("have a comment after the URL of a sitemap"),
)
def robots_sitemap_inline_comment(facts: RobotsFacts) -> Iterator[Message]:
    """A comment follows the URL of a sitemap.

    Why: It is legal, but simple readers take it for part of the URL.
    Fix: Move the comment to a line of its own.
    Bad: `Sitemap: https://example.com/sitemap.xml # pages`
    Good: the comment on a line of its own
    """
    for sitemap in sitemap_lines(facts):
        if sitemap.comment:
            yield Message(f"a comment after the URL in {quoted(sitemap.raw)}", sitemap.line, value=sitemap.raw)
