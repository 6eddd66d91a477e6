"""Wording of the report: template filters, tables of terms, and the verdict on a site's health.

Text from the crawled site is untrusted input: filters escape and shorten it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from urllib.parse import quote, urlencode

from markupsafe import Markup, escape

from sitemapcrawler.items import (
    PROXY,
    READ,
    ChangeCounts,
    ComparedGroup,
    ComparedList,
    IndexCounts,
    LinkGraph,
    ReplyRecord,
    Revisits,
    RobotsRecord,
    SegmentCounts,
    SummaryRecord,
    UrlRecord,
    Verdict,
)
from sitemapcrawler.reader.formats import format_label
from sitemapcrawler.replies import status_error
from sitemapcrawler.replies.indexability import UNKNOWN, Indexability, why_unread
from sitemapcrawler.replies.rendered import RenderResult
from sitemapcrawler.report.model import Report, RuleReach
from sitemapcrawler.robots.policy import TOO_MANY_REQUESTS
from sitemapcrawler.rules.facts.robots_changes import in_words
from sitemapcrawler.rules.reach import places
from sitemapcrawler.urls import is_web
from sitemapcrawler.urls.display import counted, elapsed, inert, percent, size

READING = {
    "ok": "complete",
    "recovered": "with repairs",
    "truncated": "cut short",
    "failed": "not read",
    "blocked": "blocked by robots.txt",
    "unchanged": "complete, unchanged",
}
"""How much of a file was read, by outcome."""
NOT_INDEXABLE_MEANS = "errors, redirects, soft 404s, noindex, other canonicals, blocked by robots.txt"
"""What is counted as not indexable."""
UNCHECKED = {
    "blocked": "blocked by robots.txt",
    "sampled-out": "not in the sample",
    "off-site": "on another host",
    "unreadable": "bytes of the URL are not in the file's encoding",
    "stopped": "the crawl ended first, or gave up on the host or a proxy",
}
"""Why URLs were not requested, by reason in the summary."""
REPLIES = {
    "ok": "answered with a page",
    "redirected": "redirected to another URL",
    "http-error": "answered with an HTTP error",
    "timeout": "no answer in time",
    "dns": "host not found",
    "tls": "no secure connection",
    "refused": "connection refused",
    "reset": "connection closed early",
    "truncated": "answer truncated",
    "too-large": "answer too large",
    "redirect-loop": "redirect loop",
    "address-refused": "address is never requested",
    "unchecked": "not requested",
} | {reason: f"not requested: {why}" for reason, why in UNCHECKED.items()}
"""Results of many requests, by kind of reply, and of URLs not requested, by reason."""
GETS = {
    "refused": "refused",
    "no-answer": "no answer",
    "payment": "must pay",
    "other-content": "a different page",
    "slow": "the same page, slowly",
    "same": "the same page as this crawl",
    "not-asked": "not requested: blocked by robots.txt",
}
ROBOTS = {
    "parsed": "read",
    "unavailable": "missing: everything is allowed",
    "too-many-redirects": "too many redirects: everything is allowed",
    "unreachable": "no answer: everything is disallowed",
}
"""Result of fetching robots.txt, by outcome; see `robots_result`."""
EVIDENCE = {
    "future": "in the future",
    "epoch": "the zero value of a clock",
    "at_fetch": "the time of the request",
    "identical": "made in one batch",
    "older_than_header": "older than the server says",
    "newer_than_header": "newer than the server says",
    "older_than_page": "older than the page says",
    "newer_than_page": "newer than the page says",
}
"""Evidence against lastmod dates, by kind."""
SHELL = "the HTML is the same as for a made-up URL (rendered by scripts, or behind a login or bot wall)"
"""Why nothing is known of a shell."""
DIFFERING = {
    "rules": "applied by one crawl only",
    "compare": "different lists, or none",
    "max_pages": "not all links were followed",
    "agents": "different crawlers",
    "content_hash": "the earlier version hashed contents differently",
}
"""Why rules are not compared with a baseline, by reason; others are arguments that differ."""
WHAT_CHANGED = {"entry": "sitemap entry", "lastmod": "lastmod only", "robots": "robots.txt"}
"""Values of `what_changed` in words, where they differ."""
ALL_CRAWLERS = "all crawlers"
"""What several crawlers are called if they are all of those that robots.txt was checked for."""
SEVERITIES = {"error": "Error", "warning": "Warning", "info": "Note"}
LEFT_OUT = "Not computed: the crawl was stopped, or there was no room for it. Resume the crawl, or run it again."


DAY = len("2026-11-25")
"""Characters of an ISO 8601 time that are its date."""
MAX_TEXT = 400
"""Maximum length in characters of any other text; the feeds hold it in full."""
MAX_LINK = 1000
"""Maximum length in characters of a URL that becomes a link."""
MAX_SHOWN = 160
"""Maximum length in characters of a shown URL: two lines on a wide screen, five on a phone."""
ON_PAPER = 10
"""Number of rules that a printed page shows, as in page.css."""
MAX_LISTED = 12
"""Maximum number of items listed in a sentence."""
MAX_ROBOTS_CHANGES = 3
"""Changed robots.txt files that sentences are about."""
_CODE = re.compile("`([^`]+)`")
_SENTENCE_END = re.compile(r"\. (?=[A-Z`])")


def shown(value: object) -> object:
    """Make all text in templates inert (Jinja finalizer)."""
    return inert(value, MAX_TEXT) if isinstance(value, str) and not isinstance(value, Markup) else value


def number(value: float) -> str:
    """`1,234,567`."""
    return f"{value:,}"


def moment(text: str | None, clock: bool = True) -> Markup | str:
    """`3 May 2024, 10:00 UTC` for an ISO 8601 time; without `clock`, the date as written. Returns other text as is."""
    if not text:
        return ""
    try:
        at = datetime.fromisoformat(text)
        words = f"{at.day} {at:%b} {at.year}"
        if clock:
            at = at.astimezone(UTC) if at.tzinfo else at
            words = f"{at.day} {at:%b} {at.year}, {at:%H:%M} UTC"
    except (ValueError, OverflowError):
        return text
    return Markup("<time datetime='{}'>{}</time>").format(at.isoformat(), words)


def address(url: str | None, origin: str = "", line: int | None = None, column: int | None = None) -> Markup:
    """Link without a referrer for an http(s) URL, text for any other.

    URLs on `origin` are shown without it. Line and column are appended as in compiler messages.
    """
    if not url:
        return Markup("")
    label = url[len(origin) :] if origin and url.startswith(origin + "/") else url
    place = "".join(f":{at}" for at in (line, column) if at is not None)
    text = escape(inert(label, MAX_SHOWN))
    if place:
        text += Markup("<span class=at>{}</span>").format(place)
    if not may_be_opened(url):
        return Markup("<span class=url>{}</span>").format(text)
    return Markup('<a class=url rel="noreferrer noopener" href="{}">{}</a>').format(url, text)


def duration(ms: float) -> str:
    """`85 ms`, `1.2 s`."""
    return f"{ms:.0f} ms" if ms < 1000 else f"{ms / 1000:.1f} s"


def details(record: UrlRecord, origin: str = "") -> Markup:
    """What the reply adds to the indexability of a URL: target, canonical, crawlers or error."""
    reply, why = record.reply or ReplyRecord(), record.indexability
    parts = []
    if reply.final_url and reply.final_url != record.loc:
        parts.append(Markup("leads to {}").format(address(reply.final_url, origin)))
    if reply.refresh and why == Indexability.REDIRECT:
        parts.append(Markup("refresh to {}").format(address(reply.refresh, origin)))
    if reply.canonical and why == Indexability.CANONICALISED:
        parts.append(Markup("canonical {}").format(address(reply.canonical, origin)))
    if not reply.noindex and why == Indexability.NOINDEX:
        parts.append(escape(f"for {listed(reply.noindex_agents)}"))
    error = reply.error if reply.error != f"HTTP status {reply.final_status}" else None
    notes = [inert(text, MAX_TEXT) for text in (reply.soft_404, error) if text]
    return Markup("").join([Markup(", ").join(parts), *map(Markup("<span class=sub>{}</span>").format, notes)])


def sentences(text: str) -> list[str]:
    """First sentence without its full stop, and the rest if there is any."""
    return [part for part in _SENTENCE_END.split(text.removesuffix("."), 1) if part]


def coded(text: str) -> Markup:
    """Text of a rule's documentation, with backticks turned into code."""
    text = str(escape(inert(text, MAX_TEXT)))
    return Markup(_CODE.sub(r"<code>\1</code>", text))


def value_code(text: str) -> Markup:
    """A value of the crawled site as code."""
    return Markup("<code>{}</code>").format(inert(text, MAX_TEXT))


def may_be_opened(url: str) -> bool:
    """True for an http(s) URL of printable characters, of at most `MAX_LINK`."""
    return len(url) <= MAX_LINK and url.isprintable() and is_web(url)


def beside(name: str) -> str:
    """Relative URL of a file in the page's folder."""
    return quote(name, safe="", errors="replace")


def chosen(column: str, *values: str) -> str:
    """Fragment of the page's URL that shows the entries with these values in the table of all URLs."""
    return f"#urls?{urlencode([(column, inert(value, MAX_LINK)) for value in values])}"


def not_indexable_chosen(report: Report) -> str:
    """Fragment that shows the entries that are not indexable."""
    reasons = [value for value in report.summary.indexability if value not in (Indexability.OK, *UNKNOWN)]
    return chosen("indexability", *reasons)


def listed(words: Sequence[str], most: int = MAX_LISTED) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b and 98 more`."""
    if len(words) > most:
        words = [*words[:most], f"{len(words) - most:,} more"]
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


FILTERS = {
    function.__name__: function
    for function in (
        number,
        counted,
        percent,
        size,
        elapsed,
        moment,
        address,
        details,
        duration,
        coded,
        sentences,
        beside,
        listed,
        format_label,
        status_error,
    )
}


ALL_PROBLEMS = "SELECT loc, unnest(issues) AS rule FROM 'urls.parquet' (DuckDB), or FROM urls in the database of a job"
"""How to list each URL with each of its problems, however many there are."""
MAX_LACKING = 3
"""Rules to name of those of which rows are missing."""


def lacking(summary: SummaryRecord) -> str:
    """What lists of findings lack, and where it is; empty if nothing."""
    counts = Counter(summary.findings_left_out)
    if not counts:
        return ""
    rules = listed([f"{number:,} of {rule}" for rule, number in counts.most_common()], MAX_LACKING)
    missing = f"{counted(counts.total(), 'more finding is', 'more findings are')} not listed: {rules}"
    more = "-a findings=all lists up to 1,000,000 of each rule"
    return f"{missing}. {more}; the url records name all rules: {ALL_PROBLEMS}"


def rest_of(rule: RuleReach, report: Report) -> str:
    """How many findings of a rule the page shows, and where the others are."""
    files, rows = files_of_findings(report), "the table of all URLs shows"
    if any(name.startswith("urls.") for name in report.feeds):
        rows = "the url records name"
    if not files:
        rest = f"no file beside this page has the others, but {rows} the rule"
    elif rule.left_out:
        rest = f"{counted(rule.left_out, 'finding is', 'findings are')} in no file of findings, but {rows} the rule"
    else:
        changed = " those on entries that have changed" if report.summary.only == "changes" else " all"
        rest = f"{listed(files)} beside this page {'has' if len(files) == 1 else 'have'}{changed}"
    return f"{len(rule.examples):,} of {counted(rule.count, 'finding')}; {rest}."


def files_of_findings(report: Report) -> list[str]:
    """The files beside the page that list all findings, else the workbook, which has a sheet of them."""
    return [name for name in report.feeds if name.startswith("findings.")] or [
        name for name in report.feeds if name.endswith(".xlsx")
    ]


PARTIAL = {
    "max_urls": "it reached max_urls",
    "max_sitemaps": "it reached max_sitemaps",
    "max_site_time": "a site exceeded its time budget (SITEMAP_MAX_SITE_TIME)",
    "max_time": "it reached max_time",
    "shutdown": "it was stopped",
    "store": "what it read could not be stored",
    PROXY: "a proxy failed",
    "internal error": "an internal error occurred, see the log",
}
"""Why a crawl ended early, by `partial` of the summary."""
SKIPPED = {
    "include": ("entry was", "entries were", "left out: not matched by include"),
    "exclude": ("entry was", "entries were", "left out: matched by exclude"),
    "since": ("entry was", "entries were", "left out: older than since, or undated"),
    "max_urls": ("entry was", "entries were", "left out: beyond max_urls"),
    "follow": ("file was", "files were", "left out: not matched by follow"),
    "addresses_refused": ("request was", "requests were", "refused: the address is not public"),
    "max_depth": ("file was", "files were", "left out: deeper than max_depth"),
    "max_sitemaps": ("file was", "files were", "left out: beyond max_sitemaps"),
    "max_site_time": ("file was", "files were", "left out: the site exceeded its time budget"),
    "robots": ("URL was", "URLs were", "not checked against robots.txt, which was not requested on that host"),
    "removed": ("URL", "URLs", "of the baseline may or may not have been removed"),
}
"""Wording of skipped entries, by reason in the summary: singular, plural, rest of the sentence."""
NOT_REQUESTED = frozenset({*UNCHECKED, "unchecked"})
"""Keys of `replies` in the summary for URLs that were not requested."""

UNREACHABLE = "unreachable"
"""Outcome of a robots.txt that could not be fetched."""
MAX_RULES = 3
"""Maximum number of rules named as incomplete; one broken file affects many."""


class Level(StrEnum):
    """Level of a site's health."""

    ERROR = "error"
    WARNING = "warning"
    OK = "ok"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Health:
    """The report's verdict: a headline and its reasons."""

    level: Level
    headline: str
    sentences: Sequence[str]


NEEDS_REPAIR, NOT_JUDGED = "Needs repair", "Not judged"
"""Headlines of sites with errors, and of sites to which no rule was applied."""
BROKEN = "Breaks the policy"
"""Headline of sites without errors that break the policy."""


def works(*, with_warnings: bool, pages_checked: bool) -> str:
    """Headline of sites without errors. `pages_checked`: whether listed pages were requested."""
    if with_warnings:
        return "Works, with warnings" if pages_checked else "Sitemap files are valid, with warnings"
    return "Healthy" if pages_checked else "Sitemap files are valid"


def health(report: Report) -> Health:
    """Verdict on the crawled sites, and on whether they keep the policy."""
    found, breaches = _health(report), report.summary.breaches
    if breaches is None:
        return found
    if not breaches:
        return replace(found, sentences=[*found.sentences, "The crawl meets the policy."])
    number = sum(bool(breach.limit) for breach in breaches)
    limits = f"{counted(number, 'policy limit')} {'is' if number == 1 else 'are'}"
    broken = f"{limits} broken, or could not be checked." if number else "The policy could not be checked."
    headline = found.headline if found.level == Level.ERROR else BROKEN
    return Health(Level.ERROR, headline, [*found.sentences, broken])


def _health(report: Report) -> Health:
    if (nothing := _nothing(report)) is not None:
        return nothing
    lists_none = not report.summary.urls and report.summary.only is None
    troubles, unchecked = _troubles(report), [*_unchecked_pages(report), *shells(report)]
    is_unproven = lists_none or report.summary.indexability.keys() == {Indexability.SHELL}
    pages_checked = not _unchecked_pages(report) and not is_unproven
    if lists_none:
        unchecked += _left_out(report)
    found = places(report.summary.severity_reach)
    scope = "in what was read" if report.summary.partial else "in any file"
    notes = _sampled(report)
    if "info" in found:
        notes.append(f"Worth knowing: {found['info']}.")
    if "error" in found:
        first = "; ".join(found.values())
        misread = "Search engines reject, ignore or misread entries and files with errors."
        return Health(Level.ERROR, NEEDS_REPAIR, [f"{first[0].upper()}{first[1:]}.", *troubles, *unchecked, misread])
    if report.judged == 0:
        unknown = "No rules were applied, so its health is unknown."
        return Health(Level.UNKNOWN, NOT_JUDGED, [unknown, *troubles])
    if "warning" in found:
        warned = [f"No errors {scope}; {found['warning']}.", *troubles, *unchecked, *notes]
        return Health(Level.WARNING, works(with_warnings=True, pages_checked=pages_checked), warned)
    clean = [f"No errors and no warnings {scope}.", *troubles, *unchecked, *notes]
    if troubles:  # rules that report them were not selected
        return Health(Level.WARNING, "Not everything works", clean)
    healthy = works(with_warnings=False, pages_checked=pages_checked)
    return Health(Level.OK, f"{healthy} so far" if report.summary.partial else healthy, clean)


def verdict(report: Report) -> Verdict:
    """The verdict for the summary record, with all sentences about it."""
    found = health(report)
    return Verdict(str(found.level), found.headline, [*reasons(report, found), *answers(report)])


def reasons(report: Report, found: Health) -> list[str]:
    """The sentences below the headline of a report, whose health was `found`."""
    return [sentence for sentence in (partial(report), *found.sentences, limited(report)) if sentence]


def partial(report: Report) -> str:
    """Why the crawl is incomplete; empty if it is complete."""
    reason = report.summary.partial
    return f"The crawl ended early: {PARTIAL.get(reason, reason)}." if reason else ""


def limited(report: Report) -> str:
    """What a configuration file leaves out; empty if nothing."""
    return f"Limited by {report.summary.limited_by}." if report.summary.limited_by else ""


def answers(report: Report) -> list[str]:
    """Sentences that answer `compare`, `links` and `baseline`, if they were requested."""
    found, coverage, graph = [], report.summary.coverage, report.summary.graph
    if coverage is not None and coverage.compares_pages:
        lists = listed([one.name for one in coverage.lists])
        found.append(
            f"Compared with {lists}: {_are(coverage.not_listed, 'page')} in a list but in no sitemap"
            f"{f' ({coverage.not_verified:,} not verified)' if coverage.not_verified else ''}, "
            f"{_are(coverage.listed_only, 'listed page')} in no list."
        )
    if report.summary.google is not None:
        found.append(index_status(report.summary.google))
    if graph is not None:
        found.append(
            f"Links: {_are(graph.unlisted, 'page')} linked but not listed, "
            f"{_are(graph.not_linked, 'listed page')} not linked from any page that was read."
        )
    if report.summary.rendered:
        found.append(rendered(report.summary.rendered))
    if report.summary.revisits is not None:
        found.append(true_dates(report.summary.revisits))
    if report.summary.changes is not None:
        missing = report.summary.skipped.get("removed", 0)
        found += [since(report.summary.changes, missing), *robots_since(report.summary.changes)]
        found += not_compared(report.summary.changes)
    return found


NOT_ASKED = {
    "quota": "the quota of Search Console is used up for today",
    "credentials": "Google does not accept the credentials, or they have expired",
    "permission": "the credentials have no permission for the property",
    "no answer": "Search Console does not answer",
    "stopped": "the crawl was stopped",
    "other property": "no listed URL belongs to the property",
}
"""Why URLs were not inspected, by `partial`."""


def index_status(found: IndexCounts) -> str:
    """What Google says of the listed URLs, in one sentence."""
    reasons = [f"{number:,} {inert(reason) or 'without a reason'}" for reason, number in found.reasons.items()]
    known = found.indexed + found.not_indexed
    told = [f"Google has indexed {found.indexed:,} of {counted(known, 'inspected URL')}"] if known else []
    if found.not_indexed:
        told.append(
            f"{found.not_indexed:,} {'is' if found.not_indexed == 1 else 'are'} not indexed ({listed(reasons)})"
        )
    if unknown := found.urls - known:
        told.append(
            f"{counted(unknown, 'inspected URL')} may be indexed: reasons are understood in English only, which "
            "Search Console exports with hl=en in its address"
        )
    if found.other_canonical:
        told.append(f"another URL is indexed instead of {found.other_canonical:,}")
    if found.not_crawled_since:
        were = "was" if found.not_crawled_since == 1 else "were"
        told.append(f"{found.not_crawled_since:,} {were} not crawled since lastmod")
    if found.partial is not None:
        told.append(f"{counted(found.not_asked, 'URL')} not inspected: {NOT_ASKED.get(found.partial, found.partial)}")
    return f"{'; '.join(told) or 'No listed URL has an index status'}."


def rendered(results: Mapping[str, int]) -> str:
    """How many pages were rendered, and how many of them not to their end. `results`: pages by result."""
    early = ", ".join(f"{name} {number:,}" for name, number in results.items() if name != RenderResult.RENDERED)
    pages = counted(sum(results.values()), "page")
    return f"Rendered {pages} in a browser{f'; of these, ended early: {early}' if early else ''}."


def true_dates(found: Revisits) -> str:
    """How many dates proved true since the baseline, in one sentence."""
    dates = f"{found.true:,} of {counted(found.compared, 'lastmod date')}"
    if found.true == found.compared:
        return f"Dates follow the content: {dates} changed or stayed with it."
    faults = [
        f"{found.moved:,} changed although the page did not" if found.moved else "",
        f"{found.stayed:,} did not change although the content did" if found.stayed else "",
    ]
    return f"Google can trust {dates}: {' and '.join(filter(None, faults))}."


def _are(number: int, noun: str) -> str:
    return f"{counted(number, noun)} {'is' if number == 1 else 'are'}"


def gaps(report: Report) -> list[str]:
    """Sentences about what the crawl did not check."""
    return [*_not_judged(report), *_not_asked(report), *_left_out(report)]


def unfinished_rules(report: Report) -> list[str]:
    """Return the rules that could not check everything, since not everything was read or requested."""
    return sorted(report.summary.skipped.keys() - SKIPPED.keys())


def _troubles(report: Report) -> list[str]:
    """Problems that show even if no rule reports them."""
    told = []
    if unread := sum(file.is_unread for file in report.files):
        # A limit or a stop leaves out files that might have been read.
        failed = f"{'was' if unread == 1 else 'were'} not read" if report.summary.partial else "could not be read"
        told.append(f"{counted(unread, 'file')} {failed}.")
    if not report.summary.partial:
        told += _not_requested(report, "stopped")
    if (found := report.summary.not_indexable) and found.bad:
        told.append("".join(not_indexable(report)))
    return told


def not_indexable(report: Report) -> tuple[str, str]:
    """How many URLs are not indexable, in two parts: the figures, and the rest of the sentences. Of a sample, the share
    is an estimate. Empty if no URL was checked."""
    found = report.summary.not_indexable
    if found is None:
        return "", ""
    if found.checked < found.population:
        limits = f"95 % interval: {percent(found.low)} to {percent(found.high)}"
        checked = counted(found.checked, "checked URL")
        return f"An estimated {percent(found.share)} of the URLs", f" are not indexable ({limits}, from {checked})."
    checked = "checked URL" if report.summary.indexability.get(Indexability.NOT_CHECKED) else "URL"
    figures = f"{found.bad:,} of {counted(found.checked, checked)} ({percent(found.bad, found.checked)})"
    rest = [f" {'is' if found.bad == 1 else 'are'} not indexable.", other_spellings(report)]
    return figures, " ".join(filter(None, rest))


def other_spellings(report: Report) -> str:
    """A sentence on listed URLs that are one request with another, and count once as checked; empty without any."""
    found, listed = report.summary.not_indexable, report.indexability
    number = sum(listed.values()) - listed.get(Indexability.NOT_CHECKED, 0) - (found.checked if found else 0)
    if found is None or number <= 0:
        return ""
    return f"{counted(number, 'listed URL is another spelling of one', 'listed URLs are other spellings')} of these."


def _unchecked_pages(report: Report) -> list[str]:
    """A sentence if pages are listed and no page was requested, else nothing."""
    summary = report.summary
    was_requested = any(kind not in NOT_REQUESTED for kind in summary.replies)
    if not summary.urls or was_requested or (summary.bad and summary.bad.checked):
        return []
    return [pages_unchecked(report)]


def pages_unchecked(report: Report) -> str:
    """That nothing is known of listed pages."""
    return "No listed page was requested." if report.summary.replies else "Pages were not checked (use verify=get)."


def shells(report: Report) -> list[str]:
    """A sentence if the HTML of pages proves nothing, else nothing."""
    number = report.indexability.get(Indexability.SHELL)
    return [f"Whether {counted(number, 'page')} can be indexed is unknown: {SHELL}."] if number else []


def _sampled(report: Report) -> list[str]:
    """A sentence if only part of the pages were checked, and all of them are indexable; else nothing."""
    found = report.summary.not_indexable
    if found is None or found.bad or not found.checked or found.checked >= found.population:
        return []
    return [f"Not all pages were checked, only {found.checked:,}."]


def by_severity(numbers: Mapping[str, int]) -> str:
    """`2 errors, 1 warning and 3 notes`; empty without any."""
    return listed([counted(numbers[name], title.lower()) for name, title in SEVERITIES.items() if numbers.get(name)])


def by_share(one: SegmentCounts) -> tuple[bool, float, int]:
    """Sort key of segments: those with the smallest share of indexable URLs first, those without a share last."""
    return one.share is None, one.share or 0.0, -one.urls


def since(found: ChangeCounts, unknown: int = 0) -> str:
    """What has changed since the baseline, in one sentence. `unknown`: entries of the baseline that may or may not have
    been removed."""
    when = f"the audit of {found.since[:DAY]}" if found.since else "the baseline"
    solved, new = (sum(numbers.values()) for numbers in (found.solved_problems, found.new_problems))
    if not any((solved, new, found.added, found.removed, found.changed, unknown)):
        return f"{'No listed URL' if found.robots else 'Nothing'} has changed since {when}."
    problems = f"{counted(solved, 'problem')} solved, {new:,} new"
    removed = f"{found.removed:,} removed" + (f" (unknown for {unknown:,} more)" if unknown else "")
    kinds = ", ".join(f"{WHAT_CHANGED.get(name, name)} {number:,}" for name, number in found.what_changed.items())
    listed_urls = f"{counted(found.added, 'URL')} added, {removed}, {found.changed:,} changed{kinds and f' ({kinds})'}"
    return f"Since {when}: {problems}; {listed_urls}."


def robots_since(found: ChangeCounts) -> list[str]:
    """A sentence about each robots.txt that has changed since the baseline, up to `MAX_ROBOTS_CHANGES`."""
    told = [f"{one.robots}: {in_words(one)}." for one in found.robots[:MAX_ROBOTS_CHANGES]]
    more = len(found.robots) - len(told)
    return [*told, *([more_robots(more)] if more > 0 else [])]


def more_robots(number: int) -> str:
    """A sentence that counts changed robots.txt files."""
    return f"{counted(number, 'more robots.txt file has', 'more robots.txt files have')} changed."


def not_compared(found: ChangeCounts) -> list[str]:
    """A sentence about the rules whose problems are neither new nor solved; none if all were compared."""
    told = [f"{listed(rules, MAX_RULES)} ({differing(reason)})" for reason, rules in found.not_compared.items()]
    return [f"Problems that were not compared: {'; '.join(told)}."] if told else []


def differing(reason: str) -> str:
    """Why rules are not compared with the baseline, by reason."""
    return DIFFERING.get(reason, f"another value of {reason}")


def _nothing(report: Report) -> Health | None:
    """Verdict if there is nothing to judge, else None."""
    if not report.summary.sitemaps:
        robots = sorted(report.robots, key=lambda one: one.robots, reverse=True)  # http behind https, as in the crawl
        answered = [(one.status, one.error) for one in robots if one.outcome != UNREACHABLE]
        is_stopped = report.summary.partial not in (None, PROXY)
        if robots and not answered and not is_stopped:
            return Health(Level.ERROR, "Nothing could be read", [_no_robots(robots, report.summary.partial)])
        why = why_unread((), answered)
        refused = [f"robots.txt answers with {why}, so the server may refuse this crawler."] if why else []
        headline = "No sitemap found so far" if is_stopped else "No sitemap found"
        return Health(Level.ERROR, headline, ["The crawl found no sitemap.", *refused])
    read = any(file.record.outcome in (*READ, "truncated") for file in report.files)
    if report.files and not read and not report.listed:
        found = f"{counted(report.summary.sitemaps, 'sitemap was', 'sitemaps were')} found; none could be read"
        why = next((f": {file.record.error}" for file in report.files if file.record.error), "")
        return Health(Level.ERROR, "Nothing could be read", [f"{found}{why}."])
    return None


def _no_robots(robots: Sequence[RobotsRecord], partial: str | None) -> str:
    """Why the sites of robots.txt files that could not be fetched were not read. `partial`: that of the summary."""
    if (failed := next((one for one in robots if one.status is not None), None)) is not None:
        return f"robots.txt answers with {failed.error}, so everything counts as disallowed."
    why = why_unread((), [(None, one.error) for one in robots])
    return f"{'Nothing was requested' if partial == PROXY else 'The site does not answer'}{why and f': {why}'}."


def robots_result(record: RobotsRecord) -> str:
    """Describe what fetching a robots.txt means for crawlers."""
    if record.status == TOO_MANY_REQUESTS:
        return "too many requests: Google treats everything as disallowed, most others as allowed"
    return ROBOTS.get(record.outcome, record.outcome)


def compared(found: ComparedList) -> str:
    """A sentence about what was read of a list."""
    told = [f"{counted(found.rows, 'row')}, {found.format}"]
    told += [f"{number:,} {what}" for number, what in (
        (found.left_out, "not pages to index"), (found.offsite, "of other sites"), (found.unread, "without a URL"),
        (found.inspected, "with an index status of Google"),
    ) if number]  # fmt: skip
    return "; ".join(told)


def groups(found: Mapping[str, int]) -> str:
    """Numbers of URLs by group, in words."""
    return listed([counted(number, group) for group, number in found.items()])


def compared_groups(found: Sequence[ComparedGroup]) -> str:
    """A sentence about feeds, files and paginated pages that are on one side only."""
    told = [
        f"{counted(one.not_listed + one.listed_only, one.group)} "
        f"({one.not_listed:,} in a list but in no sitemap, {one.listed_only:,} listed but in no list)"
        for one in found
    ]
    return f"Counted apart, since a sitemap need not list them: {listed(told)}."


UNREAD_PAGES = {
    "not-listed": "not listed, and so not requested",
    "left-out": "left out by a filter or limit",
    "blocked": "blocked by robots.txt",
    "off-site": "on another host",
    "unreadable": "damaged URL in the sitemap",
    "no-html": "not HTML",
    "redirected": "redirected",
    "stopped": "skipped, since the crawl ended early",
}
"""Why the links of a page are unknown, by reason in the summary; other reasons are kinds of replies."""
GRAPH_ENDS = {"max_pages": "max_pages was reached", "depth": "links lead to ever more pages"}
"""What ended following links early, by `partial` of the graph."""


def graph(found: LinkGraph) -> list[str]:
    """Sentences about how complete the link graph is."""
    reasons = [f"{number:,} {UNREAD_PAGES.get(why, REPLIES.get(why, why))}" for why, number in found.unread.items()]
    rest = f"; the others: {listed(reasons)}" if reasons else ""
    share = percent(found.read, found.pages)
    told = [f"The links of {found.read:,} of {counted(found.pages, 'known page')} ({share}) were read{rest}."]
    if found.partial:
        told.append(f"Links were not followed to the end: {GRAPH_ENDS.get(found.partial, found.partial)}.")
    if found.cut:
        told.append(f"{counted(found.cut, 'page was', 'pages were')} only partly read.")
    if not found.home_read:
        told.append("No home page was read, so clicks are unknown.")
    apart = f"{counted(found.nofollow, 'link')} with nofollow and {counted(found.offsite, 'link')} to other sites"
    return [*told, f"{apart} do not count. Links added by JavaScript are not seen."]


def _not_judged(report: Report) -> list[str]:
    told = []
    if report.judged == 0:
        told.append("No rules were applied (select=none).")
    elif report.judged and {"select", "ignore"} & report.arguments.keys():
        told.append(f"Only {counted(report.judged, 'rule was', 'rules were')} applied (select, ignore).")
    if not report.judged_agents:
        told.append("robots.txt was not checked for any crawler (use agents=search,ai).")
    return told


def _not_asked(report: Report) -> list[str]:
    if not report.summary.replies:
        return ["The listed pages were not requested (use verify=head or verify=get)."] if report.summary.urls else []
    told = _not_requested(report, *UNCHECKED)
    told += shells(report)
    if report.arguments.get("verify") == "head" and not _unchecked_pages(report):
        told.append("noindex, canonical and soft 404 were not checked (use verify=get).")
    return told


def _not_requested(report: Report, *reasons: str) -> list[str]:
    numbers = report.not_requested
    return [
        f"{counted(numbers[reason], 'URL was', 'URLs were')} not requested: {UNCHECKED[reason]}."
        for reason in reasons
        if numbers.get(reason)
    ]


def _left_out(report: Report) -> list[str]:
    skipped = report.summary.skipped
    told = [
        f"{counted(skipped[reason], one, many)} {rest}."
        for reason, (one, many, rest) in SKIPPED.items()
        if skipped.get(reason)
    ]
    if report.summary.only == "changes":
        told.append("Only entries that changed since the baseline are listed (only=changes).")
    return told
