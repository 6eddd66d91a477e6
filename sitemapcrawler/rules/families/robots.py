"""Rules on robots.txt as a file: whether it was answered, and with what."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.robots import Content, Kind, Outcome, Policy, robots_url
from sitemapcrawler.robots.policy import MAX_HOPS
from sitemapcrawler.robots.text import BOM, MAX_BYTES
from sitemapcrawler.rules.facts.given import RobotsFacts
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.urls.display import shown
from sitemapcrawler.words import counted

RFC = "https://www.rfc-editor.org/rfc/rfc9309"
GOOGLE = "https://developers.google.com/search/docs/crawling-indexing/robots/robots_txt"
OURS = ("which is not public", "the crawl was stopped")
"""What the reason says where it was this crawler that did not ask: nothing is known then."""
REFUSED = {
    401: "the server asks for a login; crawlers that get the same take it that everything may be crawled",
    403: "the server refuses it to this crawler; others that get the same take it that everything may be crawled",
    429: "too many requests; most crawlers take it that everything may be crawled, Google that nothing may",
}
"""Statuses that say more than that there is no file. Google on 429: the same page as `GOOGLE`"""
WRONG = {
    Content.MARKUP: "an HTML page or other markup",
    Content.JSON: "JSON",
    Content.BINARY: "binary data",
}


def is_told(facts: RobotsFacts) -> bool:
    """True for the robots.txt of a site of the crawl. Where that of another site answered, it is told there."""
    final = facts.record.final_url
    return facts.start and (final is None or final != robots_url(final))


def is_parsed(facts: RobotsFacts) -> bool:
    """True for such a file where it was answered, so that its rules hold."""
    return is_told(facts) and facts.policy.outcome is Outcome.PARSED


def is_text(facts: RobotsFacts) -> bool:
    """True for such a file that is what it should be, line by line."""
    return is_parsed(facts) and facts.policy.facts.content not in WRONG


@rule("robots-missing", Severity.INFO, f"{RFC}#section-2.3.1.3", Needs.ROBOTS)
def robots_missing(facts: RobotsFacts) -> Iterator[Message]:
    """There is no robots.txt: status 4xx, or a redirect that leads nowhere.

    Why: everything may be crawled then, which is fine if it is meant. Sitemaps have to be submitted elsewhere.
    Bad: `HTTP/1.1 404 Not Found`
    Good: a file with a `Sitemap:` line, be it the only one
    """
    if is_told(facts) and facts.policy.outcome is Outcome.UNAVAILABLE:
        status = facts.policy.status or 0
        without = "it leads nowhere" if 300 <= status < 400 else "there is none, so everything may be crawled"
        yield Message(f"HTTP status {status}: {REFUSED.get(status, without)}", value=str(status))


@rule("robots-unreachable", Severity.ERROR, f"{RFC}#section-2.3.1.4", Needs.ROBOTS)
def robots_unreachable(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt cannot be had: status 5xx, or no answer. Of another host only where listed URLs depend on it; only
    worth knowing where a site was named without its scheme, has no https, and was read over http.

    Why: crawlers must take it that everything is forbidden. Google goes by its last copy for 30 days. The listed URLs
    of the host are no findings of their own.
    Bad: `HTTP/1.1 503 Service Unavailable`
    Good: status 200, or 404 where there is none
    """
    reason = facts.policy.reason or "no answer"
    if facts.policy.outcome is not Outcome.UNREACHABLE or any(words in reason for words in OURS):
        return
    if facts.given_up and not facts.record.urls:
        yield Message(f"{reason}: the site is read over http", value=reason, severity=Severity.INFO)
    elif facts.start or facts.record.urls:
        denied = f", {_urls(facts.record.urls)} of this host too" if facts.record.urls else ""
        yield Message(f"{reason}: everything counts as forbidden{denied}", value=reason)


def _urls(number: int) -> str:
    return f"{number:,} listed URL{'s' if number > 1 else ''}"


@rule("robots-redirects-too-many", Severity.WARNING, f"{RFC}#section-2.3.1.2", Needs.ROBOTS)
def robots_redirects_too_many(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt redirects more than five times.

    Why: crawlers follow five redirects at least, and may then take it that there is no robots.txt.
    Bad: `/robots.txt` redirects to `/robots.txt/`, which redirects back
    Good: status 200, or one redirect to the site's main host
    """
    if is_told(facts) and facts.policy.outcome is Outcome.TOO_MANY_REDIRECTS:
        yield Message(f"more than {MAX_HOPS} redirects: crawlers go on as if there were none", value=facts.policy.url)


@rule("robots-too-large", Severity.WARNING, f"{RFC}#section-2.5", Needs.ROBOTS)
def robots_too_large(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt has more than 500 KiB.

    Why: a crawler has to read so much. Google and Yandex read no more, so that the rules beyond do not exist.
    Bad: a line for each of 20,000 pages
    Good: patterns such as `Disallow: /archive/*/print$`
    """
    known = facts.policy.facts
    if is_text(facts) and known.too_large:
        text = f"{known.size:,} bytes; the limit is {MAX_BYTES:,}: the rules from line {known.cut_at:,} on are lost"
        yield Message(text, known.cut_at, value=str(known.size))


@rule("robots-is-html", Severity.WARNING, f"{RFC}#section-2.3", Needs.ROBOTS)
def robots_is_html(facts: RobotsFacts) -> Iterator[Message]:
    """The answer is no text with rules, but an HTML page, JSON or binary data.

    Why: crawlers look for rules in whatever comes with status 200, and find none, or wrong ones. Servers that answer
    every path with their app shell do this. Prerenderers wrap robots.txt in a page: its sitemaps are read all the same.
    Bad: `<!DOCTYPE html><html>...`
    Good: plain text with rules, or status 404
    """
    content = facts.policy.facts.content
    if is_parsed(facts) and content in WRONG:
        yield Message(f"{WRONG[content]} in place of robots.txt; {_found_in(facts.policy)}", value=str(content))


def _found_in(policy: Policy) -> str:
    groups, sitemaps = len(policy.groups), len(policy.sitemaps)
    found = [f"rules for {counted(groups, 'crawler')}"] if groups else []
    found += [f"{sitemaps:,} sitemap{'s' if sitemaps > 1 else ''}"] if sitemaps else []
    verb = "is" if not groups and sitemaps == 1 else "are"
    return f"{' and '.join(found)} {verb} found in it all the same" if found else "it holds no rules"


@rule("robots-markup", Severity.WARNING, f"{RFC}#section-2.2", Needs.ROBOTS)
def robots_markup(facts: RobotsFacts) -> Iterator[Message]:
    """Lines of robots.txt contain HTML. Reported once, at the first one.

    Why: crawlers skip a line of markup, and take a tag behind a path for part of the path. A plugin, a cache or an
    error message of PHP wrote it there, so that the rest of the file may be wrong as well.
    Bad: `<!-- WP Super Cache is installed but broken. -->`, `<b>Notice</b>: Undefined index`, `Disallow: /cart<br>`
    Good: plain text; comments begin with `#`
    """
    found = [note for note in facts.policy.notes if note.kind is Kind.MARKUP]
    if is_text(facts) and found:
        first, number = found[0], facts.policy.note_counts[Kind.MARKUP]
        lines = f" and {number - 1:,} more line{'s' if number > 2 else ''}" if number > 1 else ""
        contain = "contain" if number > 1 else "contains"
        yield Message(f"{shown(first.text)}{lines} {contain} HTML", first.line, value=first.text)


@rule("robots-not-utf8", Severity.WARNING, f"{RFC}#section-2.3", Needs.ROBOTS)
def robots_not_utf8(facts: RobotsFacts) -> Iterator[Message]:
    """robots.txt is in another encoding than UTF-8. For information where the first such bytes are in a comment, and no
    rule has any.

    Why: paths with such bytes match nothing, or something else. UTF-16 is unreadable to most crawlers.
    Bad: a file saved as `Unicode` or `ANSI` by an editor
    Good: UTF-8, or escapes such as `/caf%C3%A9`
    """
    known = facts.policy.facts
    if not is_text(facts):
        return
    if known.encoding != "utf-8":
        yield Message(f"the file is in {known.encoding[:6].upper()}; it must be in UTF-8", 1, value=known.encoding)
    elif known.not_utf8 is not None:
        severity = None if _garbled(facts.policy, known.not_utf8) else Severity.INFO
        yield Message(f"bytes that are no UTF-8, first on line {known.not_utf8}", known.not_utf8, severity=severity)


def _garbled(policy: Policy, first: int) -> bool:
    """True where bytes that are no UTF-8 stand in a rule, or the first of them in another field."""
    lines = {note.line for note in policy.notes} | {sitemap.line for sitemap in policy.sitemap_lines}
    in_rules = {rule.line for group in policy.groups.values() for rule in group.rules}
    return first in lines or not in_rules.isdisjoint(policy.facts.garbled)


@rule("robots-bom", Severity.WARNING, GOOGLE, Needs.ROBOTS)
def robots_bom(facts: RobotsFacts) -> Iterator[Message]:
    """A byte order mark stands in front of the first line, or in a line further down.

    Why: Google ignores it at the start of the file only. Other crawlers take it for part of the first line, and lose
    the first group with it. Further down it hides the line from all of them. Joined files have it there.
    Bad: `EF BB BF` before `User-agent: *`
    Good: UTF-8 without a byte order mark
    """
    if not is_text(facts):
        return
    if facts.policy.facts.bom and facts.policy.facts.encoding == "utf-8":
        yield Message("a byte order mark (U+FEFF) in front of the first line", 1)
    for note in facts.policy.notes:
        if note.kind is Kind.BYTE_ORDER_MARK:
            fault = "hides the line from crawlers" if note.text.startswith(BOM) else "is part of the field or value"
            text = note.text.replace(BOM, "")
            yield Message(f"a byte order mark (U+FEFF) in {shown(text)} {fault}", note.line, value=note.text)
