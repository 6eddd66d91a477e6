"""How far the lastmod dates of a file, and of a site, can be trusted, with the evidence.

Two kinds of evidence: what the dates tell by themselves (`count`, `close`), and what the pages that were asked say of
their age (`compare`). A `Trust` takes the same memory whatever the file, and those of files add up to the site's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, Self

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.dates import DATE_LENGTH, iso, parse
from sitemapcrawler.rules.facts.suspects import OLDEST
from sitemapcrawler.rules.facts.tally import FETCH_WINDOW, Tally
from sitemapcrawler.rules.facts.written import EAST, WEST, Form, Standard, span, written
from sitemapcrawler.rules.families.lastmod import CLOCKS, FETCHED_SHARE, JANUARY_1970, MIN_FETCHED, MIN_IDENTICAL, ZEROS

CAPACITY = 64
"""Values that are counted at once: a count may be short by 1 in 65 of all."""


class Frequent:
    """Counts values, the frequent ones nearly exactly, the others not at all; what others counted can be added.

    Source: Agarwal et al., Mergeable Summaries, 2012, on the counters of J. Misra and D. Gries, 1982.
    """

    def __init__(self) -> None:
        self.total = 0
        """Values counted."""
        self._counts: Counter[str] = Counter()

    def count(self, values: Iterable[str]) -> None:
        """Count values."""
        self._add(Counter(values))

    def merge(self, other: Frequent) -> None:
        """Add what another one has counted."""
        self._add(other._counts, other.total)

    def state(self) -> tuple[int, dict[str, int]]:
        """What was counted, to be kept: (total, counts)."""
        return self.total, dict(self._counts)

    @classmethod
    def of(cls, state: tuple[int, dict[str, int]]) -> Self:
        """One that has counted so."""
        made = cls()
        made._add(Counter(state[1]), state[0])
        return made

    @property
    def most(self) -> int:
        """How often the most frequent value occurred: no more than it did, and short of it by `total` / 65 at most."""
        return max(self._counts.values(), default=0)

    def _add(self, counts: Counter[str], total: int | None = None) -> None:
        self.total += counts.total() if total is None else total
        self._counts.update(counts)
        if len(self._counts) > CAPACITY:
            cut = sorted(self._counts.values(), reverse=True)[CAPACITY]
            self._counts = Counter({value: count - cut for value, count in self._counts.items() if count > cut})


DAY = timedelta(days=1)
TOLERANCE = DAY
"""Two dates of one change may differ by so much: a page may be built, or leave a cache, the next night."""
NEARLY_ALL = 9, 10
"""How many of how many dates must share an hour to be of one batch. An hour, since a program that dates all pages by
its own run takes minutes, while the articles of one day, in a file for that day, are spread over it."""
HOUR_LENGTH = len("2024-05-01T10")
MIN_COMPARED = 5
"""Dates that must be compared before they stand for those that were not."""


class Match(StrEnum):
    """How a lastmod stands to another date of the same page."""

    AGREES = "agrees"
    OLDER = "older"
    """It is more than `TOLERANCE` before the other one."""
    NEWER = "newer"
    """It is more than `TOLERANCE` after it."""


@dataclass(slots=True)
class Evidence:
    """What speaks for and against the dates of a file or a site; each count is one of entries."""

    dated: int = 0
    """Those with a lastmod that can be read."""
    future: int = 0
    """Dates later than the fetch, wherever they were written."""
    epoch: int = 0
    """Dates that are the zero of some clock."""
    at_fetch: int = 0
    """Dates made by the request: nearly all dates of their file are the time of the fetch."""
    identical: int = 0
    """Dates made in one batch: nearly all dates of their file, or of the site, lie in one hour."""
    compared: int = 0
    """Dates compared with the page's own date of change, or else with its Last-Modified header."""
    older_than_header: int = 0
    newer_than_header: int = 0
    older_than_page: int = 0
    newer_than_page: int = 0
    headers_alike: bool = False
    """True where nearly all headers lie in one hour, that of a deployment: then they do not speak against dates
    before it."""

    @property
    def trusted(self) -> float | None:
        """Share of the dates, from 0 to 1, that can be trusted at most; None without dates."""
        if not self.dated:
            return None
        odd = self.future + self.epoch + self.at_fetch + self.identical
        sound = max(0, self.dated - odd) / self.dated
        mute = self.older_than_header if self.headers_alike else 0
        wrong = self.older_than_header + self.newer_than_header + self.older_than_page + self.newer_than_page - mute
        witnesses = self.compared - mute
        if witnesses < min(MIN_COMPARED, self.dated):
            return sound
        # The same dates tend to fail both ways, so that the shares are not multiplied.
        return min(sound, 1 - wrong / witnesses)


class Trust:
    """Gathers the evidence of one file while it passes, or that of a site from its files."""

    def __init__(self) -> None:
        self._evidence = Evidence()
        self._hours = Frequent()
        self._header_hours = Frequent()

    def count(self, urls: Sequence[UrlRecord], tally: Tally, fetched_at: datetime) -> None:
        """Count the dates of entries that `tally` has counted before."""
        latest = iso(fetched_at + CLOCKS)
        if (tally.newest or "") > latest or (tally.oldest or OLDEST) < OLDEST:
            urls = [record for record in urls if record.lastmod_at and not self._is_odd(record, latest)]
        self._hours.count([record.lastmod_at[:HOUR_LENGTH] for record in urls if record.lastmod_at])

    def compare(
        self, lastmod: str, asked_at: datetime, last_modified: str | None = None, page_date: str | None = None
    ) -> None:
        """Compare the lastmod of an entry, as written, with what its reply says: the date of change in the page, or
        else the Last-Modified header. Texts that are no dates say nothing."""
        changed = header_date(last_modified, asked_at)
        if changed is not None:
            self._header_hours.count([changed[:HOUR_LENGTH]])
        for name, date in (("page", page_date), ("header", changed)):
            found = match(lastmod, date) if date else None
            if found is not None:
                self._note(found, name)
                return

    def close(self, tally: Tally, format: str) -> None:
        """Conclude from the dates of a whole file; `format` as in its record. Feeds and news list the latest: their
        dates are alike for a good reason."""
        evidence = self._evidence
        evidence.dated = tally.dated
        near, of = FETCHED_SHARE
        if tally.dated >= MIN_FETCHED and tally.at_fetch * of >= tally.dated * near:
            evidence.at_fetch = tally.at_fetch
            self._hours = Frequent()
        elif tally.news or format != "xml-urlset":
            self._hours = Frequent()
        evidence.identical = _of_one_hour(self._hours)

    def merge(self, other: Trust) -> None:
        """Add the evidence of a file that was closed."""
        for part in fields(Evidence):
            total = getattr(self._evidence, part.name) + getattr(other._evidence, part.name)
            setattr(self._evidence, part.name, total)
        self._hours.merge(other._hours)
        self._header_hours.merge(other._header_hours)

    def state(self) -> dict[str, Any]:
        """All of it, to be kept."""
        return {
            "evidence": {name: value for name, value in asdict(self._evidence).items() if value},
            "hours": self._hours.state(),
            "header_hours": self._header_hours.state(),
        }

    @classmethod
    def of(cls, state: dict[str, Any]) -> Self:
        """One that was kept."""
        made = cls()
        made._evidence = Evidence(**state["evidence"])
        made._hours, made._header_hours = Frequent.of(state["hours"]), Frequent.of(state["header_hours"])
        return made

    def evidence(self) -> Evidence:
        """The evidence so far."""
        identical = max(self._evidence.identical, _of_one_hour(self._hours))
        return replace(self._evidence, identical=identical, headers_alike=_of_one_hour(self._header_hours) > 0)

    def _is_odd(self, record: UrlRecord, latest: str) -> bool:
        """Count a date that cannot be true by itself; False for any other."""
        moment = record.lastmod_at or ""
        if moment[:DATE_LENGTH] in ZEROS or moment.startswith(JANUARY_1970):
            self._evidence.epoch += 1
            return True
        bounds = _bounds(record.lastmod or "") if moment > latest else None
        future = bounds is not None and iso(bounds[0]) > latest
        self._evidence.future += future
        return future

    def _note(self, found: Match, name: str) -> None:
        self._evidence.compared += 1
        if found is not Match.AGREES:
            counter = f"{found}_than_{name}"
            setattr(self._evidence, counter, getattr(self._evidence, counter) + 1)


def match(lastmod: str, other: str) -> Match | None:
    """How a lastmod stands to another date, both as written: a day is 24 hours in a zone that is not known. None where
    one of them is no date, or names no day."""
    own, others = _bounds(lastmod), _bounds(other)
    if own is None or others is None:
        return None
    if others[0] - own[1] > TOLERANCE:
        return Match.OLDER
    return Match.NEWER if own[0] - others[1] > TOLERANCE else Match.AGREES


def header_date(last_modified: str | None, asked_at: datetime) -> str | None:
    """A Last-Modified header as ISO 8601 in UTC; None where it says nothing: no date, the time of the request (or
    later), or the zero of some clock."""
    moment = parse(last_modified) if last_modified else None
    if moment is None or moment >= asked_at - FETCH_WINDOW:
        return None
    text = iso(moment)
    return None if text[:DATE_LENGTH] in ZEROS or text.startswith(JANUARY_1970) else text


def _bounds(text: str) -> tuple[datetime, datetime] | None:
    """The earliest and the latest moment that a date may mean, in whatever way it is written."""
    if written(text, Standard.W3C).form is not Form.OTHER:
        return span(text)
    moment = parse(text)
    return None if moment is None else (moment - EAST, moment + DAY + WEST)


def _of_one_hour(hours: Frequent) -> int:
    """How many dates lie in the hour of nearly all of them; 0 where there is none."""
    near, of = NEARLY_ALL
    return hours.most if hours.total >= MIN_IDENTICAL and hours.most * of >= hours.total * near else 0
