"""Repairs the indexes of a set: each stays at its URL, and lists what it listed, in its order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import BinaryIO, NamedTuple
from xml.sax.saxutils import escape

from sitemapcrawler import urls
from sitemapcrawler.namespaces import CORE
from sitemapcrawler.reader import ChildRecord
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.repair.change_list import CHILD_OFFSITE, Action, Change, State
from sitemapcrawler.repair.edits import bare, w3c
from sitemapcrawler.repair.markup import Root, root_of
from sitemapcrawler.repair.places import Place
from sitemapcrawler.repair.sources import Member, Row, Source
from sitemapcrawler.repair.streaming import MayList, Rules
from sitemapcrawler.rules.facts.given import lacks_site
from sitemapcrawler.rules.facts.suspects import MAX_LENGTH
from sitemapcrawler.rules.facts.written import DateForm, Standard, written
from sitemapcrawler.rules.families.index import TOLERANCE
from sitemapcrawler.rules.families.lastmod import is_future
from sitemapcrawler.urls.grammar import Form, Standing, fault_of, form_of, standing

ROOT = root_of(f'<sitemapindex xmlns="{CORE}">')
"""Root of an index that the site does not have."""
NESTED, LOOP, SELF = "index-nested", "index-loop", "index-self-reference"
DUPLICATE, RELATIVE = "index-child-duplicate", "index-child-relative"
UNDATED, OUTDATED = "index-lastmod-missing", "index-lastmod-older-than-child"
INVALID_DATE, FUTURE = "lastmod-invalid", "lastmod-future"
REDIRECTED, PLACEHOLDER = "doc-redirected", "loc-placeholder"
NO_HOME = "the set needs an index, and the URL of its files is not known; --base-url names it"


class Indexes:
    """Decides what the indexes of a set list."""

    def __init__(
        self,
        members: Mapping[str, Member],
        rules: Rules,
        note: Callable[[Change], None],
        states: Counter[str],
        may_list: MayList | None = None,
    ) -> None:
        """`members`: files by the visit keys of their URLs; `states`: counts the entries that stay by `State`;
        `may_list`: as in `FileRepair`."""
        self._members = members
        self._rules = rules
        self._note = note
        self._states = states
        self._may_list = may_list
        self._open: list[Member] = []
        self._done: set[Member] = set()

    def choose(self, index: Member) -> list[Row]:
        """Return the entries that an index keeps. The files of an index that it lists take the place of that one."""
        if index in self._done:
            return index.rows
        self._open.append(index)
        seen: set[str] = set()
        repair, comments = index.repair, ""
        assert repair is not None
        for place, found in enumerate(repair.children):
            child = _located(found, index.source)
            row = Row(child, index.source, self._members.get(urls.visit_key(child.loc)))
            rows = self._stay(row, index, seen)
            comments += repair.comments.get(place, "")
            if rows:
                rows[0] = replace(rows[0], comments=comments + rows[0].comments)
                comments = ""
            index.rows += rows
            seen.update(urls.visit_key(self._final_url(one)) for one in rows)
        repair.tail = comments + repair.tail
        self._open.remove(index)
        self._done.add(index)
        return index.rows

    def _stay(self, row: Row, index: Member, seen: Collection[str]) -> list[Row]:
        """Return what stays of an entry. `seen`: visit keys of those before it."""
        if row.member is not None and row.member.is_index and row.member not in self._open:
            inner = self.choose(row.member)
            if NESTED in self._rules:
                return self._flat(row, inner, index, seen)
        rule = self._fault(row, index, seen)
        if rule is not None:
            self._drop(row, rule, index)
            return []
        return [replace(row, problem=self._problem(row, index.source))]

    def _flat(self, row: Row, inner: Sequence[Row], index: Member, seen: Collection[str]) -> list[Row]:
        rows = [one for one in inner if self._fault(one, index, seen) is None]
        if rows:
            where = index.source.url, row.child.line
            new = " ".join(one.child.loc for one in rows)
            self._note(Change(Action.CHANGED, NESTED, _url(row), _url(row), new, *where))
            offsite = [one.child.loc for one in rows if self._problem(one, index.source) == CHILD_OFFSITE]
            for url in offsite:
                self._note(Change(Action.UNREPAIRED, CHILD_OFFSITE, url, url, "", *where))
            self._states[State.UNREPAIRED if offsite else State.CHANGED] += 1
        else:
            self._drop(row, NESTED, index)
        return rows

    def _fault(self, row: Row, index: Member, seen: Collection[str]) -> str | None:
        """The rule for which an index cannot list a file; None if it can."""
        loc, member = row.child.loc, row.member
        if _is_relative(row) and lacks_site(_url(row)):
            return PLACEHOLDER
        if not urls.is_web(loc):
            return None if _is_relative(row) else "loc-bad-scheme"
        is_in_text = form_of(_url(row)) is Form.QUOTED and loc != bare(_url(row))
        if is_in_text or fault_of(loc) is not None or len(loc) > MAX_LENGTH:
            return "loc-invalid-uri"
        if urls.visit_key(self._final_url(row)) in seen:
            return DUPLICATE
        own = index.source.web_url
        if member is index or (own is not None and urls.visit_key(loc) == urls.visit_key(own)):
            return SELF
        if member is None:
            return None
        return LOOP if member in self._open else member.unlistable or None

    def _final_url(self, row: Row) -> str:
        """URL of a file, behind redirects within its site."""
        loc, member = row.child.loc, row.member
        if member is None or REDIRECTED not in self._rules or not _is_redirect(loc, member.source.lives_at):
            return loc
        return member.source.lives_at

    def _problem(self, row: Row, index: Source) -> str:
        """The rule on what is wrong with an entry and stays so."""
        if row.member is not None and row.member.repair is None:
            return row.member.source.rule
        if not urls.is_web(row.child.loc):
            return RELATIVE
        home = index.web_url
        if home is None or standing(row.child.loc, home) is not Standing.OTHER_AUTHORITY:
            return ""
        return "" if self._may_list is not None and self._may_list(row.child.loc, [home]) else CHILD_OFFSITE

    def _drop(self, row: Row, rule: str, index: Member) -> None:
        assert index.repair is not None
        index.repair.dropped += 1
        self._note(Change(Action.DROPPED, rule, _url(row), _url(row), "", index.source.url, row.child.line))

    def entries(self, index: Member) -> Iterator[Listed]:
        """Yield the files that an index lists, when all have their places."""
        for row in index.rows:
            changes: list[tuple[str, str, str]] = []
            locs = self._locs(row, changes)
            dates = self._dates(row, len(locs), changes)
            if row.index is index.source:
                self._count(row, index, locs, changes)
            fronts = [row.comments, *[""] * (len(locs) - 1)]
            yield from map(Listed, locs, dates, fronts)

    def _count(self, row: Row, index: Member, locs: Sequence[str], changes: Sequence[tuple[str, str, str]]) -> None:
        """Note the changes of an entry, and count it."""
        assert index.repair is not None
        where = row.index.url, row.child.line
        faults = [fault for url in (row.child.loc, _url(row)) for fault in index.repair.faulty.pop(url, ())]
        for fault in faults:
            old = fault.value or fault.message
            self._note(Change(Action.CHANGED, fault.rule, _url(row), old, "", row.index.url, fault.line))
        for rule, old, new in changes:
            self._note(Change(Action.CHANGED, rule, _url(row), old, new, *where))
        if row.problem:
            self._note(Change(Action.UNREPAIRED, row.problem, _url(row), _url(row), "", *where))
        is_changed = bool(faults or changes) or [*locs] != [_url(row)]
        state = State.UNREPAIRED if row.problem else State.CHANGED if is_changed else State.KEPT
        self._states[state] += 1

    def _locs(self, row: Row, changes: list[tuple[str, str, str]]) -> list[str]:
        """Return the URLs of a file. Raises ValueError if its new one is not known."""
        own = row.child.loc if urls.is_web(row.child.loc) else _url(row)
        if own != _url(row):
            text = _url(row).strip()
            rule = "loc-invalid-uri" if own == bare(text) != text else "loc-whitespace"
            changes.append((rule if urls.is_web(bare(text)) else RELATIVE, _url(row), own))
        found = [place.url for place in _places(row.member)]
        if row.member is None or not found:
            return [own]
        if len(found) > 1 and row.member.spooled is not None:
            changes.append((row.member.spooled.parts[0].ended_by, own, " ".join(found)))
        elif found == [row.member.source.lives_at]:
            if REDIRECTED not in self._rules or not _is_redirect(own, found[0]):
                return [own]
            changes.append((REDIRECTED, own, found[0]))
        if not all(map(urls.is_web, found)):
            raise ValueError(NO_HOME)
        return found

    def _dates(self, row: Row, number: int, changes: list[tuple[str, str, str]]) -> list[str | None]:
        """Return the dates of the files with the entries of a file."""
        date = self._legal(row.child, changes)
        newest: list[str | None] = [None] * number
        if row.member is not None and row.member.spooled is not None and row.member.placed is not None:
            newest = [part.lastmod for part in row.member.spooled.parts]
        elif row.member is not None and row.member.is_copy and row.member.repair is not None:
            newest = [row.member.repair.record.lastmod_max]
        return [self._newer(date, one, changes) for one in newest]

    def _legal(self, child: ChildRecord, changes: list[tuple[str, str, str]]) -> str | None:
        """Return the date of an entry as the protocol wants it; None if it cannot be read, or is in the future."""
        old = (child.lastmod or "").strip()
        if not old:
            return None
        new = old if written(old, Standard.W3C).form is DateForm.LEGAL else w3c(old)
        if FUTURE in self._rules and new and is_future(written(new, Standard.W3C), child.lastmod_at, self._rules.at):
            changes.append((FUTURE, old, ""))
            return None
        if new != old:
            changes.append((INVALID_DATE, old, new or ""))
        return new

    def _newer(self, date: str | None, newest: str | None, changes: list[tuple[str, str, str]]) -> str | None:
        """Return the date of the newest entry of a file instead of none, or of one that is more than a day older."""
        before, found = _moment(date), _moment(newest)
        if newest is None or found is None or found > self._rules.at:
            return date
        rule = UNDATED if before is None else OUTDATED
        if rule not in self._rules or (before is not None and found <= before + TOLERANCE):
            return date
        changes.append((rule, date or "", shortest(newest)))
        return shortest(newest)


class Listed(NamedTuple):
    """A file in an index."""

    loc: str
    lastmod: str | None
    comments: str = ""
    """Comments in front of it, one a line."""


def write(out: BinaryIO, before: str, root: Root, entries: Iterable[Listed], tail: str = "", after: str = "") -> None:
    """Write an index. `before`, `after`: what stands in front of its root and behind it; `tail`: behind its entries."""
    prefix = root.prefix
    out.write(f"{before}{root.tag}\n".encode("utf-8", "replace"))
    for loc, date, comments in entries:
        dated = f"<{prefix}lastmod>{escape(date)}</{prefix}lastmod>" if date else ""
        text = f"{comments}<{prefix}sitemap><{prefix}loc>{escape(loc)}</{prefix}loc>{dated}</{prefix}sitemap>\n"
        out.write(text.encode("utf-8", "replace"))
    out.write(f"{tail}{root.end}\n{after}".encode())


def shortest(moment: str) -> str:
    """Write a moment in UTC as a day if it is midnight."""
    return moment.removesuffix("T00:00:00Z")


def _url(row: Row) -> str:
    """URL as written."""
    return row.child.loc_raw or row.child.loc


def _located(child: ChildRecord, index: Source) -> ChildRecord:
    """Resolve a relative URL of an index whose own URL became known after it was read. Take any URL out of other
    text."""
    text = (child.loc_raw or child.loc).strip()
    if bare(text) != text and (form_of(text) is Form.QUOTED or fault_of(text) is not None):
        return replace(child, loc=bare(text), loc_raw=text)
    home = index.web_url
    loc = None if home is None or urls.is_web(child.loc) else urls.resolve(home, child.loc)
    return child if loc is None else replace(child, loc=loc, loc_raw=child.loc_raw or child.loc)


def _is_relative(row: Row) -> bool:
    """True for a relative URL, which an index whose own URL is not known leaves so."""
    return form_of(_url(row)) in (Form.RELATIVE, Form.PROTOCOL_RELATIVE)


def _is_redirect(url: str, final: str) -> bool:
    """True if a URL leads to another one of its host, apart from a leading `www.`."""
    return urls.visit_key(url) != urls.visit_key(final) and urls.bare_host(url) == urls.bare_host(final) != ""


def _places(member: Member | None) -> Sequence[Place]:
    if member is None or member.placed is None:
        return ()
    return (member.placed.own,) if member.is_index else member.placed.parts


def _moment(text: str | None) -> datetime | None:
    moment = utc(text) if text else None
    try:
        return datetime.fromisoformat(moment) if moment else None
    except ValueError:  # such as the year 0
        return None
