"""Advice for the findings of this site: their main file, the value they share, and a corrected one."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping

from markupsafe import Markup

from sitemapcrawler import urls
from sitemapcrawler.reader import dates
from sitemapcrawler.reader.entries import FREQUENCIES
from sitemapcrawler.report.model import RuleReach
from sitemapcrawler.report.wording import address, value_code
from sitemapcrawler.rules.facts.languages import read_code
from sitemapcrawler.rules.facts.written import decimal_point, seconds, ungrouped, yes_or_no
from sitemapcrawler.urls.display import counted, inert

MAX_VALUE = 120
"""Maximum length in characters of a value in a sentence; the table has longer ones."""
STATUS_RULES = "status-"
"""Start of the ids of rules whose plain numbers and names say what the rule says: `404` of status-404."""
_HOST = re.compile(r"(?<=://)[^/?#]+")
_SLASHES = re.compile(r"(?<![:/])//+(?!/)")


def here(rule: RuleReach, origin: str = "") -> Markup:
    """Sentences about the rule's findings on this site; empty if the table says as much.

    `origin`: URLs on it are shown without it.
    """
    return Markup(" ").join(filter(None, [_where(rule, origin), _shared(rule), _example(rule), _first(rule)]))


def in_words(rule: RuleReach, origin: str = "") -> str:
    """What to do about a rule's findings, as one line of plain text for a terminal; empty if nothing is known.

    A single finding is named with its URL, file and line, and one on the site by its message. `origin`: URLs on it are
    shown without it.
    """
    parts = [rule.fix.replace("`", ""), here(rule, origin).striptags()]
    if rule.examples and not (rule.examples[0].sitemap or rule.examples[0].url) and rule.rule not in BY_REASON:
        parts.append(f"{'For example: ' if rule.count > 1 else ''}{inert(rule.examples[0].message)}.")
    elif rule.count == 1 and rule.examples:
        [finding, *_] = rule.examples
        if place := address(finding.sitemap, origin, finding.line, finding.column).striptags():
            url = address(finding.url, origin).striptags() if finding.url else ""
            parts.append(f"See {url} in {place}." if url else f"See {place}.")
    return " ".join(filter(None, parts))


def _where(rule: RuleReach, origin: str) -> Markup | None:
    """The file with most of the URLs; None if other files have the problem as a whole."""
    if rule.main_file is None or rule.in_main_file < 2:
        return None
    file, urls = address(rule.main_file, origin), rule.reach.urls
    if rule.in_main_file >= urls:
        if rule.reach.files > 1:
            return None
        everything = "Both" if urls == 2 else f"All {urls:,}"
        return Markup("{} are in {}.").format(everything, file)
    part = f"{rule.in_main_file:,} of {urls:,}"
    if 2 * rule.in_main_file > urls:
        return Markup("Most of them, {}, are in {}.").format(part, file)
    return Markup("The file with the most, {}, is {}.").format(part, file)


def _shared(rule: RuleReach) -> Markup | None:
    """The value of most findings. Of a finding about many URLs, the value is that of an example."""
    value, urls = rule.main_value or "", rule.reach.urls + rule.reach.milder
    is_status = rule.rule.startswith(STATUS_RULES) and (value.isdecimal() or rule.rule == f"{STATUS_RULES}{value}")
    listed = rule.count if rule.kept is None else rule.kept
    is_frequent = rule.with_main_value >= 2 and 2 * rule.with_main_value > listed
    if not value or not is_frequent or urls > rule.count or len(value) > MAX_VALUE or is_status:
        return None
    if rule.with_main_value >= rule.count:
        return Markup("The value is always {}.").format(value_code(value))
    if listed < rule.count:
        findings = counted(listed, "listed finding")
    else:  # more findings than URLs: a URL that is listed twice
        findings = f"{listed:,}" if listed == urls else counted(listed, "finding")
    part = f"All {findings}" if rule.with_main_value >= listed else f"{rule.with_main_value:,} of {findings}"
    return Markup("{} have the value {}.").format(part, value_code(value))


def _example(rule: RuleReach) -> Markup | None:
    """A value of this site, and what to write in its place, or where it leads and what to do."""
    if (lead := rule.lead) is not None and max(len(lead.url), len(lead.target)) <= MAX_VALUE:
        leads = Markup("For example, {} leads to {}. {}")
        return leads.format(value_code(lead.url), value_code(lead.target), lead.step)
    pairs = [(rule.main_value or "", ""), *((one.value or "", one.url or "") for one in rule.examples)]
    for value, url in pairs:
        found = corrected(rule.rule, value, url)
        if found is not None and max(map(len, found)) <= MAX_VALUE:
            wrong, right = map(value_code, found)
            return Markup("For example, write {} instead of {}.").format(right, wrong)
    return None


def _first(rule: RuleReach) -> Markup | None:
    """The finding with most URLs, of rules that have one for each reason."""
    if rule.rule not in BY_REASON or not rule.examples:
        return None
    return Markup("{}{}").format("The largest group: " if rule.count > 1 else "", inert(rule.examples[0].message))


def corrected(rule: str, value: str, url: str) -> tuple[str, str] | None:
    """Return what is wrong and what is right, for rules whose values can be corrected without knowing the site.

    `value`, `url`: of a finding; either may be empty. None if no correction is certain.
    """
    if rule in RELATIVE:
        wrong, right = value, _absolute(value, url)
    elif rule in OF_URLS:
        wrong, right = url, OF_URLS[rule](url)
        right = right if right and urls.is_web(right) else None
    elif rule in OF_VALUES:
        wrong, right = value, OF_VALUES[rule](value)
    else:
        return None
    return (wrong, right) if wrong and right and wrong != right else None


BY_REASON = frozenset(("listed-not-indexed",))
"""Rules with one finding for each reason, the most frequent one first."""
LEADING = frozenset(("page-canonical-other", "page-meta-refresh", "status-redirect", "status-redirect-chain"))
"""Rules on listed URLs that lead to other pages, which are examples as `Lead`."""
RELATIVE = frozenset((
    "hreflang-href-relative", "image-loc-relative", "index-child-relative", "loc-protocol-relative", "loc-relative",
    "robots-sitemap-relative",
))  # fmt: skip
"""Rules whose findings have as value a relative URL, and as URL what it is resolved against or to."""


def _absolute(value: str, url: str) -> str | None:
    """A relative URL in full. None for a host without a scheme, which is no path of the site."""
    return urls.resolve(url, value) if value.startswith("/") else None


def _date(value: str) -> str | None:
    """An unambiguous date in another notation: as a day, or with time in UTC if a zone is given."""
    moment = dates.utc(value)
    if moment is None:
        return None
    if ":" not in value and not value.strip().isdecimal():
        return moment.partition("T")[0]
    return moment if _has_zone(value) else None


def _has_zone(value: str) -> bool:
    return re.search(r"(?:Z|GMT|UTC|[+-]\d\d:?\d\d)\s*$", value, re.IGNORECASE | re.ASCII) is not None


def _frequency(value: str) -> str | None:
    word = value.strip().lower()
    return word if word in FREQUENCIES else None


def _code(value: str) -> str | None:
    return read_code(value).canonical


OF_VALUES: Mapping[str, Callable[[str], str | None]] = {
    "changefreq-invalid": _frequency,
    "hreflang-code-case": _code,
    "hreflang-code-underscore": _code,
    "lastmod-invalid": _date,
    "news-date-invalid": _date,
    "priority-invalid": decimal_point,
    "video-date-invalid": _date,
    "video-duration-range": seconds,
    "video-rating-range": decimal_point,
    "video-view-count-invalid": ungrouped,
    "video-yesno-invalid": yes_or_no,
}
"""Corrections of a finding's value, by rule; None if there is no certain one."""
OF_URLS: Mapping[str, Callable[[str], str | None]] = {
    "loc-default-port": lambda url: _HOST.sub(lambda host: re.sub(r":\d+$", "", host[0]), url, count=1),
    "loc-double-escaped": html.unescape,
    "loc-double-slash": lambda url: "?".join([_SLASHES.sub("/", url.partition("?")[0]), *url.split("?", 1)[1:]]),
    "loc-fragment": lambda url: url.partition("#")[0],
    "loc-non-ascii": urls.visit_key,
    "loc-uppercase-host": lambda url: _HOST.sub(lambda host: host[0].lower(), url, count=1),
}
"""Corrections of a finding's URL, by rule."""
