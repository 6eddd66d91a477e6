"""A policy: limits on what a crawl finds, each for the whole site or a segment. A broken one fails the run.

Pure: `Limit.parse` reads a limit, and `breaches` compares all of them with what the job's database has counted.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from sitemapcrawler.items import Breach, SegmentCounts, SummaryRecord
from sitemapcrawler.rules import Rule, all_rules
from sitemapcrawler.rules.choice import (
    OF_ANSWERS,
    OF_HEADS,
    OF_LINKS,
    OF_LISTS,
    OF_RENDERING,
    check_names,
    names,
    needs_pages,
)
from sitemapcrawler.rules.registry import Of
from sitemapcrawler.urls.display import counted
from sitemapcrawler.urls.segments import OTHER, UrlPattern, check_name

MAX_REMOVED, MIN_URLS, MAX_NOT_INDEXABLE = "max-removed", "min-urls", "max-not-indexable"
MUST_LIST, MUST_NOT_LIST = "must-list", "must-not-list"
MAX_ERRORS, MIN_TRUST = "max-errors", "min-lastmod-trust"
KEYS = (MAX_REMOVED, MIN_URLS, MAX_NOT_INDEXABLE, MUST_LIST, MUST_NOT_LIST, MAX_ERRORS, MIN_TRUST)
"""Names of limits."""
LISTS = (MUST_LIST, MUST_NOT_LIST)
"""Limits whose value is a pattern."""
OF_SEGMENT_URLS = (MAX_REMOVED, MAX_NOT_INDEXABLE, MAX_ERRORS, MIN_TRUST)
"""Limits that a segment without URLs would keep, whatever happens to the site."""
BREACHES = "sitemap/breaches"
"""Stat of a crawl: the limits that are broken, a text for each; not set without a policy."""
MAX_LIMITS = 500
"""Maximum number of limits. Each pattern is searched in each listed URL."""
ALL = 100
"""Percent."""
_AMOUNT = re.compile(r"[0-9]{1,12}")
_SHARE = re.compile(r"([0-9]{1,3}(?:\.[0-9]{1,6})?)\s?%")


@dataclass(frozen=True, slots=True)
class Amount:
    """A number such as 10, or a share such as 2.5%."""

    number: Fraction
    """The number; of a share its percentage."""
    is_share: bool

    @classmethod
    def parse(cls, text: str) -> Amount:
        """Raises ValueError, which does not quote the text."""
        if (found := _SHARE.fullmatch(text)) and (number := Fraction(found[1])) <= ALL:
            return cls(number, is_share=True)
        if not _AMOUNT.fullmatch(text):
            raise ValueError("accepted: a whole number, or a share such as 2.5%")
        return cls(Fraction(text), is_share=False)

    def of(self, whole: int) -> Fraction:
        """The number of things that it stands for, of so many."""
        return self.number * whole / ALL if self.is_share else self.number

    def __str__(self) -> str:
        return f"{float(self.number):.6f}".rstrip("0").rstrip(".") + "%" * self.is_share


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit of a policy."""

    key: str
    value: Amount | UrlPattern
    segment: str | None = None
    """Segment that it is about; None for the whole site."""
    rule: str | None = None
    """Id or family of the rules whose findings `max-errors` limits; None for all errors."""

    @classmethod
    def parse(cls, text: str) -> Limit:
        """Parse `max-removed=5%`, `shop.max-removed=10` or `max-errors.status-404=0`. Raises ValueError, which quotes
        names alone."""
        name, equals, value = (part.strip() for part in text.partition("="))
        if not equals:
            raise ValueError("is not limit=value")
        first, *rest = name.split(".")
        segment = None if first in KEYS else first
        key, *rule = rest if segment is not None and rest else [first, *rest]
        if key not in KEYS:
            raise ValueError(f"unknown key{_meant(key)}")
        if segment not in (None, OTHER):
            check_name(segment)
        if rule and key != MAX_ERRORS:
            raise ValueError(f"{key} has no part {'.'.join(rule)}")
        if rule:
            check_names(rule, all_rules())
        limit = UrlPattern(value) if key in LISTS else Amount.parse(value)
        if key == MIN_TRUST and isinstance(limit, Amount) and not limit.is_share:
            raise ValueError("accepted: a share such as 90%")
        return cls(key, limit, segment, ".".join(rule) or None)

    def __str__(self) -> str:
        return f"{'.'.join(filter(None, (self.segment, self.key, self.rule)))}={self.value}"

    @property
    def rules(self) -> list[Rule]:
        """The rules that `max-errors` limits; empty for all errors."""
        return [rule for rule in all_rules() if self.rule is not None and names(rule, (self.rule,))]

    @property
    def of_any_severity(self) -> bool:
        """True if `max-errors` names a rule by its id; of a family and of all rules it limits errors alone."""
        return any(rule.id == self.rule for rule in self.rules)


def _meant(key: str) -> str:
    near = difflib.get_close_matches(key.lower(), KEYS, 1)
    return f", did you mean {near[0]}?" if near else f"; accepted: {', '.join(KEYS)}"


@dataclass(frozen=True, slots=True)
class Problems:
    """What the rules of a limit concern."""

    urls: int = 0
    files: int = 0
    """Files with a problem of their own."""
    site: int = 0
    """Rules that concern the site as a whole."""

    @property
    def total(self) -> int:
        return self.urls + self.files + self.site

    def __str__(self) -> str:
        parts = [counted(self.urls, "URL")] if self.urls or not self.total else []
        parts += [counted(self.files, "file")] if self.files else []
        return " and ".join([*parts, *(["the site"] if self.site else [])])


@dataclass(slots=True)
class Measured:
    """What a policy is compared with."""

    counts: Mapping[str | None, SegmentCounts]
    """Counts by segment; of the whole site under None."""
    problems: dict[Limit, Problems] = field(default_factory=dict)
    """What the rules of each `max-errors` concern."""
    matches: dict[Limit, tuple[int, str | None]] = field(default_factory=dict)
    """Listed URLs that match a pattern, and the first of them in alphabetical order."""


def breaches(policy: Iterable[Limit], summary: SummaryRecord, measured: Measured | None) -> list[Breach]:
    """The limits that are broken or could not be checked. `measured`: None if it could not be counted."""
    if summary.partial is not None:
        return [Breach("", f"the crawl ended early ({summary.partial}), so the policy was not checked")]
    if measured is None:
        return [Breach("", "the database failed, so the policy was not checked")]
    found = _Check(summary, measured)
    return [Breach(str(limit), message) for limit in policy if (message := found.message(limit)) is not None]


class _Check:
    """Compares limits with the result of a crawl."""

    def __init__(self, summary: SummaryRecord, measured: Measured) -> None:
        self._summary = summary
        self._measured = measured
        self._applied = set(summary.basis.rules)
        self._checks: dict[str, Callable[[Limit, SegmentCounts], Iterator[str]]] = {
            MAX_REMOVED: self._max_removed,
            MIN_URLS: self._min_urls,
            MAX_NOT_INDEXABLE: self._max_not_indexable,
            MUST_LIST: self._must_list,
            MUST_NOT_LIST: self._must_not_list,
            MAX_ERRORS: self._max_errors,
            MIN_TRUST: self._min_trust,
        }

    def message(self, limit: Limit) -> str | None:
        """Why a limit is broken, or cannot be checked; None if it is kept."""
        found = self._measured.counts[limit.segment]
        if limit.segment is not None and limit.key in OF_SEGMENT_URLS and not found.urls + found.removed:
            return f"no URL belongs to the segment {limit.segment}"
        return next(self._checks[limit.key](limit, found), None)

    def _max_removed(self, limit: Limit, found: SegmentCounts) -> Iterator[str]:
        if self._summary.changes is None:
            yield NO_BASELINE
        elif found.removed > _amount(limit).of(before := _before(found)):
            yield f"{_share(found.removed, before)} {_are(found.removed)} no longer listed"
        elif unknown := self._summary.skipped.get("removed"):
            yield f"it is unknown whether {counted(unknown, 'URL')} of the baseline {_are(unknown)} still listed"

    def _min_urls(self, limit: Limit, found: SegmentCounts) -> Iterator[str]:
        amount = _amount(limit)
        if amount.is_share and self._summary.changes is None:
            yield NO_BASELINE
        elif found.urls < amount.of(_before(found)):
            were = f", {_before(found):,} before" if self._summary.changes is not None else ""
            yield f"{counted(found.urls, 'URL')} {_are(found.urls)} listed{were}"

    def _max_not_indexable(self, limit: Limit, found: SegmentCounts) -> Iterator[str]:
        summary, amount = self._summary, _amount(limit)
        if summary.basis.arguments.get("verify") != "get":
            yield NOT_READ
            return
        bad, checked, population, unknown = found.not_indexable, found.checked, found.urls, found.unknown
        if limit.segment is None and (whole := summary.not_indexable) is not None:
            bad, checked, population, unknown = whole.bad, whole.checked, whole.population, whole.unknown
        if checked == unknown:
            yield f"it is unknown of all {counted(population, 'URL')} whether they can be indexed"
            return
        is_sample = "sample" in summary.basis.arguments
        share = Fraction(bad, checked)
        if is_sample and limit.segment is None and summary.not_indexable is not None:
            share = Fraction(summary.not_indexable.share).limit_denominator(MAX_ENTRIES)  # weighed by segment
        if share * (population if is_sample and not amount.is_share else checked) > amount.of(checked):
            of, weighed = "checked " if is_sample else "", ""
            if share != Fraction(bad, checked):
                weighed = f", an estimated {_percent(float(share))} of all,"
            yield f"{_share(bad, checked, f'{of}URL')}{weighed} {_are(bad)} not indexable"
        elif stopped := summary.replies.get("stopped"):
            entries = counted(stopped, "entry", "entries")
            yield f"{entries} {_are(stopped, past=True)} not requested, since the crawl ended or gave up on the host"

    def _must_list(self, limit: Limit, found: SegmentCounts) -> Iterator[str]:
        if not self._measured.matches[limit][0]:
            yield "no listed URL matches"

    def _must_not_list(self, limit: Limit, found: SegmentCounts) -> Iterator[str]:
        number, example = self._measured.matches[limit]
        if number:
            yield f"{counted(number, 'URL')} {_are(number)} listed, such as {example}"

    def _max_errors(self, limit: Limit, found: SegmentCounts) -> Iterator[str]:
        if (why := self._unjudged(limit)) is not None:
            yield why
            return
        problems, amount = self._measured.problems[limit], _amount(limit)
        if problems.total > amount.of(found.urls):
            what = "findings" if limit.of_any_severity else "errors"
            what += f" of {limit.rule}" if limit.rule else ""
            what += f" ({_percent(problems.total / found.urls)})" if amount.is_share and found.urls else ""
            yield f"{problems} {'has' if problems.total == 1 else 'have'} {what}"

    def _unjudged(self, limit: Limit) -> str | None:
        """Why it is unknown how much the rules of a limit find; None if they were applied."""
        if limit.rule is None:
            return None if self._applied else "no rule was applied"
        rules = limit.rules
        if self._applied.isdisjoint(rule.id for rule in rules):
            return f"{limit.rule} was not applied"
        unmet = [self._unmet(rule) for rule in rules]
        if all(unmet):
            return unmet[0]
        if limit.rule in (skipped := self._summary.skipped):
            left = counted(skipped[limit.rule], "file or site", "files or sites")
            return f"{limit.rule} could not check {left}"
        return None

    def _unmet(self, rule: Rule) -> str | None:
        """What a rule lacked in this crawl; None if nothing."""
        summary, given = self._summary, self._summary.basis.arguments
        of_answers = names(rule, OF_ANSWERS)
        lacking = {
            NOT_READ: names(rule, OF_HEADS) and given.get("verify") != "get",
            "pages were not requested (use verify=get)": needs_pages(rule) and "verify" not in given,
            NO_BASELINE: not {Of.BASELINE, Of.REVISIT}.isdisjoint(rule.of) and summary.changes is None,
            "no links were read (use links=yes)": rule.id in OF_LINKS and summary.graph is None,
            "no lists were compared (use compare)": names(rule, OF_LISTS)
            and not of_answers
            and summary.coverage is None,
            "no pages were requested as crawlers (use fetch_as)": of_answers and "fetch_as" not in given,
            "no pages were rendered (use render)": rule.family == OF_RENDERING and "render" not in given,
        }
        return next((why for why, is_lacking in lacking.items() if is_lacking), None)

    def _min_trust(self, limit: Limit, found: SegmentCounts) -> Iterator[str]:
        lastmod, proven = self._summary.lastmod, self._summary.revisits
        if lastmod is None:
            yield "dates were not checked (use verify=get)"
            return
        trusted, why = found.trusted, ""
        if limit.segment is None:
            trusted = lastmod.trusted
            why = ", ".join(f"{name}: {count:,}" for name, count in lastmod.evidence.items())
            if proven is not None and (trusted is None or proven.true / proven.compared < trusted):
                trusted = proven.true / proven.compared
                why = f"{proven.true:,} of {counted(proven.compared, 'date')} proved true"
        if trusted is None:
            yield "nothing is known of the dates"
        elif Fraction(trusted).limit_denominator(MAX_ENTRIES) < _amount(limit).of(1):
            yield f"at most {_percent(trusted)} of the dates can be trusted{why and f' ({why})'}"


NO_BASELINE = "this needs a baseline, which is missing"
NOT_READ = "pages were not read (use verify=get)"
MAX_ENTRIES = 10**12
"""Entries of a site end below; a share of them is a fraction with a smaller denominator."""


def _amount(limit: Limit) -> Amount:
    assert isinstance(limit.value, Amount)
    return limit.value


def _before(found: SegmentCounts) -> int:
    """URLs that the baseline listed."""
    return found.urls - found.added + found.removed


def _share(part: int, whole: int, noun: str = "URL") -> str:
    return f"{part:,} of {counted(whole, noun)} ({_percent(part / whole if whole else 0)})"


def _percent(share: float) -> str:
    """A share with up to two decimals: what is rounded more could look like the limit."""
    return f"{100 * share:.2f}".rstrip("0").rstrip(".") + " %"


def _are(number: int, *, past: bool = False) -> str:
    if past:
        return "was" if number == 1 else "were"
    return "is" if number == 1 else "are"


def unknown_segments(policy: Sequence[Limit], known: Iterable[str]) -> list[str]:
    """Names in a policy that belong to no segment."""
    return sorted({limit.segment for limit in policy if limit.segment is not None} - set(known))
