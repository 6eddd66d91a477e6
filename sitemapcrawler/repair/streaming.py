"""Repairs one file as a stream: bytes in, the text of each entry that is kept out, with a change for all that differs.

Entries without findings are copied as they stand. The others are changed by the edits of the rules that found
something, and judged again with what was changed. What still has an error then loses the image, video, article or
language version that has it, or is dropped.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache, lru_cache
from urllib.parse import quote
from xml.sax.saxutils import escape

from lxml import etree

from sitemapcrawler.items import SitemapRecord, UrlRecord
from sitemapcrawler.namespaces import CORE
from sitemapcrawler.reader import ChildRecord, Document, Limits
from sitemapcrawler.reader.document import CUT as CUT_SHORT
from sitemapcrawler.reader.document import Comment
from sitemapcrawler.reader.faults import Fault, Loss
from sitemapcrawler.reader.formats import INDEX, TEXT, URLSET, format_named
from sitemapcrawler.reader.notes import Note, Notes
from sitemapcrawler.reader.repair import UNREADABLE
from sitemapcrawler.repair.change_list import OFFSITE, Action, Change
from sitemapcrawler.repair.edits import (
    CODE,
    DROPPING,
    EDITS,
    EXTENSIONS,
    OPTIONAL,
    Draft,
    is_usual_link,
    leads_to,
    split,
    w3c,
)
from sitemapcrawler.repair.markup import DECLARED, EntryMarkup, front_of, kept_markup, prolog_of, root_of
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts.given import FileFacts, UrlFacts
from sitemapcrawler.rules.facts.languages import Cluster, page_key
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.rules.reach import OF_VERSIONS
from sitemapcrawler.rules.registry import Of, Per, Rule, Severity
from sitemapcrawler.urls.display import counted

GIB = 1024 * 1024 * 1024
LIMITS = Limits(max_bytes=4 * GIB)
"""Limits of reading: a file may exceed the protocol's, and is split. What lies beyond gets a row."""
TOGETHER = 64
"""Entries whose objects are judged in one document, which bounds its size."""
ROUNDS = 4
"""Times that an entry is changed and judged again. Most need one; a second finds what the first uncovered."""
AROUND = (
    "doc-doctype", "doc-bom", "doc-encoding-not-utf8", "doc-leading-whitespace", "doc-leading-content",
    "doc-trailing-content", "doc-xml-malformed", "xml-root-unknown", "xml-ext-namespace-missing",
)  # fmt: skip
"""Faults of a file around its entries that are gone once it is written again."""
CUT = (*CUT_SHORT, "limit-depth")
"""Faults that leave the rest of a file, or of an entry, unread."""
MALFORMED, UNDECODABLE = "doc-xml-malformed", "doc-encoding-not-utf8"
RECOVERED, DUPLICATE, CROSS = "doc-recovered-entry", "loc-duplicate", "cross-duplicate-url"
LEADING, SCHEMA = "doc-leading-content", "xml-schema-violation"
MIXED = "xml-mixed-index-urlset"
UNKNOWN_ELEMENT, METADATA = "xml-unknown-element", "txt-has-metadata"
UNRETURNED, CONTRADICTED = "hreflang-return-missing", "hreflang-return-inconsistent"
SELF = "hreflang-self-missing"
MOVED_ALONE, LEFT_BEHIND = "lastmod-moved-content-same", "lastmod-same-content-changed"
OF_HISTORY = (MOVED_ALONE, LEFT_BEHIND)
"""Rules on dates that the history of a page shows to be wrong."""
LINKED, COMPARED = "cross-not-in-sitemap", "coverage-not-listed"
"""Rules on pages that no sitemap lists."""
UNFIT = frozenset((
    "loc-session-id", "loc-sensitive-parameter", "loc-www-mismatch", "loc-protocol-mismatch", "loc-outside-sitemap-dir",
))  # fmt: skip
"""Rules that are no errors, and keep a page from being added."""
UNFIT_DATES = frozenset(("lastmod-future", "lastmod-epoch", "lastmod-too-old"))
"""Rules that keep the date of a page from being added."""
NO_PAGE = frozenset((OFFSITE, "loc-bad-scheme", "loc-placeholder", "loc-empty", "xml-entry-without-loc"))
"""Rules on entries that name no page of the site. Without an audit, one of another host may be a page all the same."""
OF_THE_SET = frozenset((DUPLICATE, SELF))
"""Rules on an entry that are judged at the end, when all entries are known."""
OPTIONAL_FIELDS = ("lastmod", "changefreq", "priority")
"""Elements that an entry may lack, and families of the rules on them."""
STAYING = frozenset(("hreflang-duplicate-code", "hreflang-x-default-multiple"))
"""Rules on language versions of which no link is wrong on its own, so that none is removed."""
ATTRIBUTED = re.compile(r"<(?:[\w.-]+:)?(?:url|loc|lastmod|changefreq|priority)\s+[^>]*?[\w.-]+:[\w.-]+\s*=")
"""An element of the protocol with an attribute of another namespace, which its schema does not allow."""
FORBIDDEN = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML does not allow (https://www.w3.org/TR/xml/#charsets)."""
ATTRIBUTE = "xml-unknown-attribute"
OF_INDEXES = (
    "index-nested", "index-loop", "index-self-reference", "index-child-duplicate", "index-child-relative",
    "index-lastmod-missing", "index-lastmod-older-than-child", "index-child-missing", "index-child-is-page",
    "doc-redirected",
)  # fmt: skip
"""Rules on indexes that lead to changes, in `indexes.py`."""
OF_LIMITS = ("limit-urls-exceeded", "doc-too-large", "news-too-many")
"""Rules for which a file is split: too many entries, bytes, articles."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an audit found out about a listed URL that does not belong in a sitemap."""

    rule: str
    """The rule that says so."""
    replacement: str | None = None
    """URL to list instead, which the audit has verified; None to drop the entry."""


Versions = tuple[tuple[str, str], ...]
"""(language code, URL) of each language version of an entry."""
Dated = Callable[[str, str | None], str | None]
"""Returns the date to write for a page and its date as written: empty for none, None if its own stays."""
Verified = Callable[[Sequence[str]], dict[str, Verdict]]
"""Returns the verdicts on some of these URLs."""
MayList = Callable[[str, Sequence[str]], bool]
"""Tells whether the host of a URL lets one of these files list it."""


@dataclass(slots=True)
class Origin:
    """What an entry was, and what has been done to it: rows of the list of changes if it stays."""

    url: str
    """URL as written."""
    text: str
    """Its text in the file that was read."""
    line: int | None
    changes: list[tuple[str, str, str]] = field(default_factory=list)
    """(rule, old, new) of each change, in order."""
    move: str = ""
    """The rule for which an audit gave it another URL; empty if it has its own."""


@dataclass(slots=True)
class Kept:
    """An entry of the repaired file."""

    text: str
    """As it stands in the file, or as repaired."""
    loc: str
    """URL as the reader gives it."""
    origin: Origin
    lastmod_at: str | None = None
    is_bare: bool = False
    """True if it has elements of the protocol only."""
    articles: int = 0
    """1 if it has a news article."""
    versions: Versions = ()
    has_only_versions: bool = False
    """True if it has elements of the protocol, and links to these versions only."""
    problems: Sequence[str] = ()
    """Rules on errors that stay."""
    comments: str = ""
    """Comments in front of it, one a line."""


@dataclass(slots=True)
class Entry(Kept):
    """An entry on its way through the repair."""

    issues: Collection[str] = ()
    """Rules that found something."""
    errors: Collection[str] = ()
    """Those of them that are errors here."""
    change: Verdict | None = None
    date: str | None = None
    """The date to write, as from `Dated`."""
    recovered: str = ""
    """Rule of the fault for which it was read after a repair; empty if it was not."""


NO_ORIGIN = Origin("", "", None)
"""Of an entry that is judged again, which has the origin of the one that was read."""


@dataclass(frozen=True, slots=True)
class Lost:
    """A page that no other entry may name as a language version."""

    loc: str
    rule: str
    """The rule for which its entry was dropped, or is not indexable."""
    is_judged: bool
    """True for the verdict of an audit, which holds for all entries of the page."""
    replacement: str | None = None
    """URL that its entry gets instead; language versions are linked there, if it stays."""


def repairable() -> tuple[str, ...]:
    """Return the ids of the rules that lead to changes, in alphabetical order."""
    own = {*EDITS, *OPTIONAL, *DROPPING, *AROUND, *VERIFIED, RECOVERED, DUPLICATE, MIXED}
    own |= {*OF_VERSIONS.values(), *OF_LIMITS, UNRETURNED, CONTRADICTED, SELF, LINKED, COMPARED, *OF_HISTORY}
    own |= {*OF_INDEXES, CROSS, METADATA, "xml-namespace-wrong", "xml-namespace-missing", "xml-namespace-legacy"}
    own |= {rule.id for rule in all_rules() if rule.severity is Severity.ERROR and _concerns_entries(rule)}
    return tuple(sorted(own))


def _concerns_entries(rule: Rule) -> bool:
    """True for a rule on the entries of a file as they are read."""
    return rule.judges_entries or Of.FAULT in rule.of


VERIFIED = (
    "url-blocked-by-robots", "status-404", "status-410", "status-soft-404", "status-redirect", "status-redirect-chain",
    "status-redirect-loop", "status-redirect-offsite", "status-redirect-to-home", "status-redirect-to-login",
    "page-noindex-meta", "page-noindex-header", "page-noindex-for-googlebot-only", "page-meta-refresh",
    "page-canonical-other",
)  # fmt: skip
"""Rules that need the answers of an audit."""


@dataclass(frozen=True)
class Rules:
    """The rules that may change something."""

    only: frozenset[str]
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    """Moment that dates are compared with."""
    is_new: bool = False
    """True for a set that no site has yet: an entry loses what has an error, or is dropped."""

    @classmethod
    def chosen(cls, names: Iterable[str] = (), is_new: bool = False) -> Rules:
        """The rules with these ids, of all that may change something; without names all of them."""
        known = frozenset(repairable())
        return cls(known.intersection(names) if (names := tuple(names)) else known, is_new=is_new)

    def __contains__(self, rule: str) -> bool:
        return rule in self.only

    def judge(self) -> Judge:
        """A judge that applies these rules to entries."""
        return judge_of(self.only)


MAX_JUDGES = 64
"""Judges that are kept. Choosing the rules of one takes some milliseconds of processor time."""


@lru_cache(MAX_JUDGES)
def judge_of(ids: frozenset[str]) -> Judge:
    """A judge that applies those of these rules that concern entries, and reports each entry with its severity."""
    rules = tuple(replace(rule, per=Per.ENTRY) for rule in all_rules())
    judged = [rule.id for rule in rules if rule.id in ids and _concerns_entries(rule)]
    return Judge(Choice(rules, tuple(judged) or ("none",)), EVERY)


EVERY = 1 << 60
"""Findings of a rule that become records: all, since their severity counts."""


class FileRepair:
    """Repairs one file. Its attributes are final once `entries` is exhausted."""

    def __init__(
        self,
        url: str,
        rules: Rules,
        note: Callable[[Change], None],
        place: str | None = None,
        verified: Verified | None = None,
        base: str | None = None,
        may_list: MayList | None = None,
        dated: Dated | None = None,
        charset: str | None = None,
    ) -> None:
        """`url`: the file's; `place`: URL where a local one will live; `base`: URL after redirects; `note`: is given
        each change; `verified`: verdicts of an audit; `may_list`: whether the robots.txt of another host lets the file
        list its URLs; `dated`: the dates of pages by their history; `charset`: encoding by the Content-Type header."""
        self.url = url
        self.record = SitemapRecord(url)
        self.read = self.dropped = self.copied = 0
        """Entries read and dropped, and those of a feed, which stay if it is copied."""
        self._undecodable = 0
        """Those dropped since bytes of their URLs do not fit the encoding."""
        self.is_incomplete = False
        """True if the file has entries that could not be read."""
        self.children: list[ChildRecord] = []
        """Children, if the file is an index."""
        self.comments: dict[int, str] = {}
        """{place of a child: comments in front of it}."""
        self.tail = ""
        """Comments behind the last entry."""
        self.after = ""
        """Comments behind the root."""
        self.faulty: dict[str, list[Fault]] = {}
        """{URL of a child: its faults, which are gone once it is written again}."""
        self.error = ""
        """The first rule that finds an error in a feed as a whole, or its end missing: it is not copied then."""
        self.unfit: list[Change] = []
        """Rows of the pages of a feed that have an error, or do not belong in a sitemap; they stay."""
        self.is_text = False
        """True for a text sitemap, of which only URLs are written."""
        self._place = place or url
        self.base = base or self._place
        """URL that relative ones are resolved against."""
        self._served = place
        self._rules = rules
        self._note = note
        self._verified = verified
        self._may_list = may_list
        self._dated = dated
        self._document = Document(url, self.base, LIMITS, keep_elements=True, keep_source=True, charset=charset)
        self._judge = rules.judge()
        self._markup: EntryMarkup | None = None
        self._wants_spaces = False
        self._last_versions: tuple[object, Versions] = ((), ())
        self._lost: list[Lost] = []
        self._waiting: deque[Comment] = deque()
        """Comments that were read, in front of entries that are not written yet."""

    @property
    def markup(self) -> EntryMarkup:
        """Root and namespaces of the repaired file."""
        if self._markup is None:
            is_xml = self._document.format in (URLSET.name, INDEX.name)
            self._markup = EntryMarkup(root_of(self._document.root if is_xml else ""))
            self._wants_spaces = self._markup.root.is_ambiguous
        return self._markup

    @property
    def _is_other_root(self) -> bool:
        """True if rules saw the entries below another root than the one that is written, and must see them again."""
        document = self._document
        is_other = document.root_uri != CORE or "xml-root-unknown" in document.faults
        return not self.is_text and (is_other or bool(self.markup.root.changes))

    @property
    def prolog(self) -> str:
        """Text in front of the root."""
        return prolog_of(self._document.prolog)

    @property
    def is_listing(self) -> bool:
        """True for a file whose pages are repaired: a urlset or a text sitemap."""
        return self._document.format in (URLSET.name, TEXT.name)

    def entries(self, chunks: Iterable[bytes]) -> Iterator[Kept | Lost]:
        """Yield the entries of the repaired file, in order, and the pages that it lost."""
        document, losses = self._document, self._document.faults.losses
        facts = self._facts(document, self.record)
        assert losses is not None
        for records in document.read(chunks):
            self._waiting += document.comments
            document.comments.clear()
            pages = [record for record in records if isinstance(record, UrlRecord)]
            children = [record for record in records if isinstance(record, ChildRecord)]
            if self.is_listing:
                self.is_text = document.format == TEXT.name
                yield from self._pages(pages, facts, document.notes)
                for child in children:
                    self._drop(MIXED, Origin(child.loc_raw or child.loc, "<sitemap>", child.line))
                    self.read += 1
                self._lose(losses)
            elif format_named(document.format).is_index:
                for child in children:
                    self.comments[len(self.children)] = self._comments_before(child.line)
                    self.children.append(child)
                for page in pages:
                    self.read += 1
                    self._drop(MIXED, Origin(page.loc_raw or page.loc, "<url>", page.line))
                self._lose(losses)
            else:
                self.copied += len(pages)
                self._judge.urls(pages, facts, document.notes)
                verdicts = self._verified([page.loc for page in pages]) if self._verified else {}
                for page in pages:
                    verdict = verdicts.get(page.loc)
                    found = [] if verdict is None else [verdict.rule]
                    found += self._errors(page.issues, document.notes.get(id(page)), facts)
                    if rule := next((rule for rule in found if rule in self._rules), None):
                        url = page.loc_raw or page.loc
                        self.unfit.append(Change(Action.UNREPAIRED, rule, url, url, "", self.url, page.line))
            losses.clear()
        self._end_comments()
        document.describe(self.record)
        format = format_named(document.format)
        if self.is_listing or format.is_index:
            self._note_file()
        elif format.is_feed:
            self._note_feed()

    def new_entries(self, pages: Sequence[tuple[str, str | None]]) -> list[Kept | str]:
        """Make entries of pages, each a URL and a date as written. Returns the first rule that speaks against an entry
        in its place. A date that the rules do not believe is left out."""
        judge = judge_of(frozenset(repairable()) | UNFIT | UNFIT_DATES)
        found: list[Kept | str] = []
        for start in range(0, len(pages), TOGETHER):
            some = pages[start : start + TOGETHER]
            dates = [None if self.is_text or date is None else w3c(date) for _, date in some]
            dated = [self._written(loc=url, lastmod=date) for (url, _), date in zip(some, dates, strict=True)]
            plain = [self._written(loc=url) for url, _ in some]
            both = zip(dated, plain, self._judgements(dated, judge), self._judgements(plain, judge), strict=True)
            for with_date, without, first, second in both:
                is_fit = first is not None and not UNFIT_DATES.intersection(first.issues)
                found.append(self._new_entry(*((with_date, first) if is_fit else (without, second))))
        return found

    def _new_entry(self, text: str, entry: Entry | None) -> Kept | str:
        if entry is None:
            return SCHEMA
        against = [rule for rule in entry.issues if rule in UNFIT or rule in EDITS or rule in DROPPING]
        if entry.errors or against:
            return next(iter((*entry.errors, *against)))
        return Kept(text, entry.loc, Origin(entry.loc, "", None), entry.lastmod_at, is_bare=True)

    def _written(self, **fields: str | None) -> str:
        """Write an entry with these elements of the protocol."""
        prefix = self.markup.root.prefix
        inside = "".join(
            f"<{prefix}{name}>{escape(FORBIDDEN.sub('', value))}</{prefix}{name}>"
            for name, value in fields.items() if value is not None
        )  # fmt: skip
        return f"<{prefix}url>{inside}</{prefix}url>"

    def _comments_before(self, line: int | None) -> str:
        """Return the comments that stand in front of an entry, one a line."""
        found = []
        while self._waiting and self._waiting[0].line <= (line or 0):
            found.append(self._waiting.popleft())
        return self._kept_comments(found)

    def _end_comments(self) -> None:
        """Keep the comments that no entry follows."""
        self._waiting += self._document.comments
        self.tail = self._kept_comments(one for one in self._waiting if not one.is_behind)
        self.after = self._kept_comments(one for one in self._waiting if one.is_behind)

    def _kept_comments(self, comments: Iterable[Comment]) -> str:
        """Return comments as they are written, one a line. One that no parser can read is noted."""
        found = [(one, kept_markup(one.text)) for one in comments]
        for comment, kept in found:
            if not kept and DECLARED.match(comment.text) is None:
                self._change(MALFORMED, "", comment.text, "", comment.line)
        return "".join(kept for _, kept in found)

    def _lose(self, losses: Iterable[Loss]) -> None:
        """Note what the reader left out: entries and other elements."""
        for loss in losses:
            if loss.rule not in (UNKNOWN_ELEMENT, METADATA):
                self.read += 1
                self._drop(loss.rule, Origin("", loss.text, loss.line))
            else:
                self._change(loss.rule, "", loss.text, "", loss.line)

    def _facts(self, document: Document, record: SitemapRecord) -> FileFacts:
        at, place = self._rules.at, self._served
        return FileFacts(self.url, record, document, fetched_at=at, served_at=place, prove=self._may_list)

    def _note_file(self) -> None:
        """Note what was wrong with the file around its entries, and what was not read."""
        counts = self._document.faults.counts
        for rule in AROUND:
            if counts[rule]:
                fault = self._document.faults.first(rule)
                old = fault.value or fault.message if fault else ""
                if rule == LEADING:
                    old = front_of(self._document.prolog).strip() or old
                self._change(rule, "", old, "", fault.line if fault else None)
        for rule, old, new in () if self.is_text else self.markup.root.changes:
            self._change(rule, "", old, new)
        is_index = format_named(self._document.format).is_index
        for fault in self._document.faults:
            if fault.url is None and fault.rule == SCHEMA:
                self._change(fault.rule, "", fault.value or fault.message, "", fault.line)
            elif fault.url is not None and is_index:
                self.faulty.setdefault(fault.url, []).append(fault)
        unread = [(rule, fault.message, fault.line) for rule in CUT if (fault := self._document.faults.first(rule))]
        if self._undecodable:
            number = counted(self._undecodable, "URL has", "URLs have")
            self.record.error = f"{number} bytes that are not UTF-8; save the file as UTF-8"
            unread.append((UNDECODABLE, self.record.error, None))
        for rule, why, line in unread:
            self._note(Change(Action.UNREAD, rule, "", why, "", self.url, line))
        self.is_incomplete = bool(unread)

    def _note_feed(self) -> None:
        """Note the first error of a feed as a whole, or that its end is missing."""
        counts = self._document.faults.counts
        wrong = (rule for rule in counts if rule in self._rules and rule in _rules())
        errors = [rule for rule in wrong if _rules()[rule].severity is Severity.ERROR]
        self.error = next((rule for rule in (*CUT, *errors) if counts[rule]), "")
        if self.error:
            fault = self._document.faults.first(self.error)
            why, line = ("", None) if fault is None else (fault.message, fault.line)
            action = Action.UNREAD if self.error in CUT else Action.UNREPAIRED
            self._note(Change(action, self.error, "", why, "", self.url, line))

    def _change(self, rule: str, url: str, old: str, new: str, line: int | None = None) -> None:
        self._note(Change(Action.CHANGED, rule, url, old, new, self.url, line))

    def _drop(self, rule: str, entry: Origin) -> None:
        self.dropped += 1
        self._note(Change(Action.DROPPED, rule, entry.url, line_of(entry.text), "", self.url, entry.line))

    def _pages(self, pages: list[UrlRecord], facts: FileFacts, notes: Notes) -> Iterator[Kept | Lost]:
        if not pages:
            return
        self.read += len(pages)
        self._judge.urls(pages, facts, notes)
        verdicts = self._verified([page.loc for page in pages]) if self._verified is not None else {}
        entries = [self._entry(page, facts, notes.get(id(page)), verdicts.get(page.loc)) for page in pages]
        odd = [entry for entry in entries if self._is_odd(entry)]
        kept = {id(entry): found for entry, found in zip(odd, self._repaired(odd), strict=True)} if odd else {}
        for entry in entries:
            found = kept.get(id(entry), entry)
            if found is not None:
                if self._waiting:
                    found.comments = self._comments_before(found.origin.line)
                yield found
        yield from self._lost
        self._lost.clear()

    def _entry(self, page: UrlRecord, facts: FileFacts, note: Note | None, verdict: Verdict | None) -> Entry:
        source = note.source if note is not None else None
        recovered = ""
        origin = Origin(page.loc_raw or page.loc, "", page.line)
        if source is None or (page.recovered and UNREADABLE in source):
            source = self._text_of(page, note, origin)
            if page.recovered:
                recovered = next((rule for rule in (note.faults if note else ()) if rule.startswith("doc-")), RECOVERED)
        origin.text = (note.broken if note is not None and recovered else "") or source
        is_bare = _is_bare(page)
        errors = self._errors(page.issues, note, facts)
        date = self._dated(page.loc, page.lastmod) if self._dated is not None and not self.is_text else None
        articles = int(page.news is not None)
        versions = self._versions(page, facts)
        return Entry(
            source, page.loc, origin, page.lastmod_at, is_bare, articles, versions, _has_only(versions, page), (), "",
            page.issues, errors, verdict, date, recovered,
        )  # fmt: skip

    def _versions(self, page: UrlRecord, facts: FileFacts) -> Versions:
        """`versions_of` an entry, of which those that an audit judged are lost, also where only a feed lists them. The
        pages of a cluster list the same ones in a row."""
        if not page.alternates:
            return ()
        listed = [(one.hreflang, one.href, one.rel, one.attributes) for one in page.alternates]
        if listed != self._last_versions[0]:
            self._last_versions = (listed, versions_of(page, facts))
            found = self._verified([one.href for one in page.alternates if one.href]) if self._verified else {}
            self._lost += [Lost(url, one.rule, True, one.replacement) for url, one in found.items()]
        return self._last_versions[1]

    def _text_of(self, page: UrlRecord, note: Note | None, origin: Origin) -> str:
        """Text of an entry that the reader could not keep as it stands."""
        element = note.element if note is not None else None
        if element is not None:
            return self.markup.of_element(element)
        loc = FORBIDDEN.sub(lambda found: quote(found[0], errors="replace"), origin.url)
        if loc != origin.url:
            origin.changes.append(("loc-invalid-uri", origin.url, loc))
        fields = {"loc": loc, "lastmod": page.lastmod, "changefreq": page.changefreq,
                  "priority": None if page.priority is None else f"{page.priority:g}"}  # fmt: skip
        return self._written(**fields)

    @staticmethod
    def _errors(issues: Collection[str], note: Note | None, file: FileFacts) -> list[str]:
        """Rules that find an error, not something milder than usual. Notes of a rule are summed up for the file."""
        found: dict[str, set[str]] = {}
        for finding in note.findings if note is not None else ():
            found.setdefault(finding.rule, set()).add(finding.severity)

        def is_error(rule: str) -> bool:
            if rule in found:
                return Severity.ERROR in found[rule]
            tally = file.found.known(rule)
            summed = [one.first.severity for one in tally.sums.values()]
            return not summed or Severity.ERROR in (*summed, *tally.severities)

        return [rule for rule in issues if _rules()[rule].severity is Severity.ERROR and is_error(rule)]

    def _is_odd(self, entry: Entry) -> bool:
        """True if an entry may need a change. A duplicate is found when all changes are made."""
        return bool(
            self._is_other_root
            or entry.change is not None
            or entry.date is not None
            or entry.recovered
            or (ATTRIBUTE in self._rules and ATTRIBUTED.search(entry.text))
            or any(rule in self._rules and rule not in OF_THE_SET for rule in entry.issues)
            or ("xml-ext-namespace-wrong" in self._rules and not entry.is_bare and self._has_spaces(entry.text))
            or (entry.is_bare is False and "xmlns" in entry.text)
        )

    def _has_spaces(self, text: str) -> bool:
        """True if an entry may have elements in the wrong namespace of those that are known."""
        return bool(self.markup and self._wants_spaces) or "xmlns" in text or bool(self._document.ignored)

    def _repaired(self, entries: list[Entry]) -> list[Entry | None]:
        """Repair entries. None for each that is dropped."""
        found: list[Entry | None] = [*entries]
        begun = [place for place, entry in enumerate(entries) if self._began(found, place, entry)]
        changed = self._edited(found, begun)
        if self._is_other_root:
            changed = [place for place in begun if found[place] is not None]
        self._edit_again(found, changed)
        self._purge(found)
        return found

    def _edit_again(self, found: list[Entry | None], changed: list[int]) -> None:
        """Judge changed entries, and edit those on which rules still find something, until nothing changes."""
        for _ in range(ROUNDS):
            if changed:
                changed = self._edited(found, self._judged(found, changed))

    def _began(self, found: list[Entry | None], place: int, entry: Entry) -> bool:
        """Note what the reader repaired, and apply the verdict of an audit. False for an entry that is dropped."""
        if entry.recovered and UNREADABLE in entry.loc:
            entry.origin.text = entry.text
            self._undecodable += self._document.faults.undecodable
            self._drop_entry(entry, entry.recovered)
            found[place] = None
            return False
        if entry.recovered:
            entry.origin.changes.append((entry.recovered, line_of(entry.origin.text), line_of(entry.text)))
        verdict = entry.change
        if verdict is None:
            return True
        self._lost.append(Lost(entry.loc, verdict.rule, True, verdict.replacement))
        if verdict.rule not in self._rules:
            entry.change = None
        elif verdict.replacement is None:
            self._drop(verdict.rule, entry.origin)
            found[place] = None
            return False
        return True

    def _drop_entry(self, entry: Entry, rule: str) -> None:
        """Note that an entry is dropped. A page of another site stays one that language versions may name."""
        if rule != OFFSITE:
            self._lost.append(Lost(entry.loc, rule, is_judged=False))
        self._drop(rule, entry.origin)

    def _edited(self, found: list[Entry | None], places: list[int]) -> list[int]:
        """Run the edits on entries; return the places of those that they changed, or that must be judged first."""
        entries = [entry for place in places if (entry := found[place]) is not None]
        parsed = self.markup.parse([entry.text for entry in entries])
        changed: list[int] = []
        for place, entry, element in zip(places, entries, parsed, strict=True):
            if element is None:
                self._drop_entry(entry, RECOVERED)
                found[place] = None
                continue
            draft = Draft(element, self.base)
            if entry.change is not None:
                self._move(draft, entry, entry.change)
            self._edit(draft, entry)
            if drops := [rule for rule in DROPPING if rule in entry.issues and rule in self._rules]:
                self._drop_entry(entry, drops[0])
                found[place] = None
                continue
            if entry.date is not None:
                draft.rule = LEFT_BEHIND if entry.date else MOVED_ALONE
                if draft.rule in self._rules:
                    draft.set_date(entry.date or None)
            entry.origin.changes += draft.changes
            if draft.changes or entry.recovered or entry.change is not None:
                found[place] = replace(entry, text=self.markup.write(element), change=None, date=None)
                changed.append(place)
        return changed

    @staticmethod
    def _move(draft: Draft, entry: Entry, verdict: Verdict) -> None:
        """Give an entry the URL of its page."""
        entry.origin.move = draft.rule = verdict.rule
        draft.set_field("loc", verdict.replacement)

    def _edit(self, draft: Draft, entry: Entry) -> None:
        wrong_space = "xml-ext-namespace-wrong"
        for rule, function in EDITS.items():
            if rule in self._rules and (
                rule in entry.issues
                or (rule == wrong_space and not entry.is_bare and self._has_spaces(entry.text))
                or (rule == ATTRIBUTE and ATTRIBUTED.search(entry.text))
            ):
                draft.rule = rule
                function(draft)

    def _judged(self, found: list[Entry | None], places: list[int]) -> list[int]:
        """Judge changed entries again; return the places of those on which rules still find something to change."""
        entries = [entry for place in places if (entry := found[place]) is not None]
        again = []
        for place, entry, result in zip(
            places, entries, self._judgements([e.text for e in entries], self._judge), strict=True
        ):
            if result is None:
                self._drop_entry(entry, SCHEMA)
                found[place] = None
                continue
            found[place] = replace(result, text=entry.text, origin=entry.origin)
            if any(rule in EDITS and rule in self._rules for rule in result.issues):
                again.append(place)
        return again

    def issues(self, entry: bytes) -> frozenset[str]:
        """The rules that find something in an entry."""
        [found] = self._judgements([entry.decode()], self._judge)
        return frozenset(found.issues if found is not None else ())

    def _judgements(self, texts: Sequence[str], judge: Judge) -> list[Entry | None]:
        """Read and judge entries as a document of their own; None for each that the reader leaves out."""
        lines: dict[int, int] = {}
        line = 2 + self.markup.root.tag.count("\n")
        for place, text in enumerate(texts):
            lines[line + text[: len(text) - len(text.lstrip())].count("\n")] = place
            line += text.count("\n") + 1
        results: list[Entry | None] = [None] * len(texts)
        document = Document(self.url, self.base, LIMITS, keep_elements=True)
        facts = self._facts(document, SitemapRecord(self.url))
        for records in document.read([self.markup.document(texts).encode("utf-8", "replace")]):
            pages = [record for record in records if isinstance(record, UrlRecord)]
            if pages:
                judge.urls(pages, facts, document.notes)
            for page in pages:
                note = document.notes.get(id(page))
                position = lines.get(page.line or 0)
                if position is not None and results[position] is None:
                    versions = versions_of(page, facts) if judge is self._judge else ()
                    issues = [rule for rule in page.issues if rule not in OF_THE_SET]
                    results[position] = Entry(
                        "", page.loc, NO_ORIGIN, page.lastmod_at, _is_bare(page), int(page.news is not None), versions,
                        _has_only(versions, page), issues=issues, errors=self._errors(issues, note, facts),
                    )  # fmt: skip
        return results

    def _purge(self, found: list[Entry | None]) -> None:
        """Remove the objects that still have errors, and decide on entries that have errors in the end."""
        waiting = [place for place, entry in enumerate(found) if entry is not None and self._wrong(entry)]
        for _ in range(ROUNDS):
            reduced = self._without_wrong_objects(found, waiting) if waiting else []
            waiting = [place for place in reduced if (entry := found[place]) is not None and self._wrong(entry)]
        no_page = NO_PAGE if self._may_list is not None else NO_PAGE - {OFFSITE}
        for place, entry in enumerate(found):
            if entry is None:
                continue
            rules = [*self._wrong(entry), *(rule for rule in entry.issues if rule in self._rules and rule in STAYING)]
            if no_page.intersection(rules) or (rules and (self._rules.is_new or UNREADABLE in entry.loc)):
                self._drop_entry(entry, rules[0])
                found[place] = None
            elif rules:
                found[place] = replace(entry, problems=rules)

    def _wrong(self, entry: Entry) -> list[str]:
        """Rules that find an error in an entry, or lead to the removal of a part."""
        unjudged = OF_THE_SET if self._rules.is_new else OF_THE_SET | STAYING
        return [
            rule for rule in entry.issues
            if rule in self._rules and rule not in unjudged and (rule in entry.errors or rule in OPTIONAL)
        ]  # fmt: skip

    def _without_wrong_objects(self, found: list[Entry | None], places: Sequence[int]) -> list[int]:
        """Remove objects of extensions in which rules find errors, and judge the entries again; return the places of
        those that changed."""
        entries = [entry for place in places if (entry := found[place]) is not None]
        elements = self.markup.parse([entry.text for entry in entries])
        drafts = [Draft(element, self.base) if element is not None else None for element in elements]
        changed: list[int] = []
        for place, entry, draft, faults in zip(places, entries, drafts, self._faults(entries, drafts), strict=True):
            if draft is None:
                continue
            for part, rule in faults:
                draft.rule = rule
                if self._rules.is_new or rule != CODE or not leads_to(draft, part, page_key(entry.loc)):
                    draft.remove(_optional(part, rule))
            if draft.changes or (not faults and self._remove_family(draft, self._wrong(entry), self._rules.is_new)):
                entry.origin.changes += draft.changes
                found[place] = replace(entry, text=self.markup.write(draft.element))
                changed.append(place)
        self._edit_again(found, changed)
        return changed

    def _faults(
        self, entries: Sequence[Entry], drafts: Sequence[Draft | None]
    ) -> Iterator[list[tuple[etree._Element, str]]]:
        """Yield the objects of each entry in which a rule finds an error, with the rule.

        The entry is judged with one of its objects at a time, and without any: what is found there is no fault of one.
        Only the rules that found an error are applied.
        """
        for start in range(0, len(entries), TOGETHER):
            some = slice(start, start + TOGETHER)
            suspects = [self._suspects(entry, draft) if draft is not None else []
                        for entry, draft in zip(entries[some], drafts[some], strict=True)]  # fmt: skip
            alone = [self._alone(draft, parts) if draft is not None and parts else []
                     for draft, parts in zip(drafts[some], suspects, strict=True)]  # fmt: skip
            wrong = frozenset(rule for entry in entries[some] for rule in self._wrong(entry))
            results = iter(self._judgements([text for texts in alone for text in texts], judge_of(wrong)))
            for entry, parts, texts in zip(entries[some], suspects, alone, strict=True):
                yield self._guilty(entry, parts, [next(results) for _ in texts])

    def _suspects(self, entry: Entry, draft: Draft) -> list[etree._Element]:
        """The objects that the rules on an entry may be about."""
        spaces = {EXTENSIONS.get(rule.partition("-")[0]) for rule in self._wrong(entry)}
        objects = [part for part in draft.parts if not draft.is_core(part)]
        if None in spaces:
            return objects
        return [part for part in objects if split(part)[0] in spaces and not is_usual_link(part)]

    def _alone(self, draft: Draft, parts: Sequence[etree._Element]) -> list[str]:
        """Write an entry without its objects, and with each of these alone."""
        element = deepcopy(draft.element)
        for part in [part for part in Draft(element, "").parts if not draft.is_core(part)]:
            element.remove(part)
        element.append(etree.Comment(""))
        start, _, end = self.markup.write(element).rpartition("<!---->")
        return [f"{start}{text}{end}" for text in ("", *map(self.markup.write, parts))]

    def _guilty(
        self, entry: Entry, parts: Sequence[etree._Element], results: Sequence[Entry | None]
    ) -> list[tuple[etree._Element, str]]:
        """The objects with an error of their own, and its rule. `results`: without any object, and with each."""
        wrong = self._wrong(entry)
        general, *own = [self._wrong(one) if one is not None else wrong for one in results] or [[]]
        first = [next((rule for rule in rules if rule in wrong and rule not in general), "") for rules in own]
        return [(part, rule) for part, rule in zip(parts, first, strict=True) if rule]

    @staticmethod
    def _remove_family(draft: Draft, wrong: list[str], is_new: bool) -> bool:
        """Remove all objects of the extension that a rule is about, where no single one of them is at fault. In a new
        set, also a date, frequency or priority."""
        for rule in wrong:
            family = rule.partition("-")[0]
            uri = EXTENSIONS.get(family)
            field = draft.field(family) if is_new and family in OPTIONAL_FIELDS else None
            objects = draft.objects(uri) if uri else [field] if field is not None else []
            draft.rule = rule
            for part in objects:
                draft.remove(part)
            if objects:
                return True
        return False


def versions_of(page: UrlRecord, facts: FileFacts) -> Versions:
    """The language versions that an entry lists, as rules on the whole site count them."""
    if not page.alternates:
        return ()
    cluster = Cluster(UrlFacts(page, facts))
    return tuple(zip(cluster.codes, cluster.urls, strict=True))


def _is_bare(page: UrlRecord) -> bool:
    """True for an entry with elements of the protocol only."""
    return not (page.alternates or page.images or page.videos or page.news or page.extra)


def _has_only(versions: Versions, page: UrlRecord) -> bool:
    """True for an entry with elements of the protocol, and a link to each of these versions only."""
    is_whole = len(versions) == len(page.alternates) > 0
    return is_whole and not (page.images or page.videos or page.news or page.extra)


def _optional(part: etree._Element, rule: str) -> etree._Element:
    """The part of an object that a rule is about, if it may be missing; else the object."""
    name = OPTIONAL.get(rule)
    return next((one for one in part if isinstance(one.tag, str) and split(one)[1] == name), part)


def line_of(text: str) -> str:
    """A text on one line, for the list of changes."""
    return " ".join(text.split())


@cache
def _rules() -> dict[str, Rule]:
    """All rules by id; called late, since a plug-in may fail."""
    return {rule.id: rule for rule in all_rules()}
