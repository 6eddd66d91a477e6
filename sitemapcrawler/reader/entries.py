"""Builds the records of urlsets and indexes from their elements.

Notes what the protocol does not allow in an entry. A `<url>` is checked against the schema when rules run; a
`<sitemap>` is not kept until then, so it is checked here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from operator import attrgetter

from sitemapcrawler.items import Moment, UrlRecord
from sitemapcrawler.namespaces import CORE, Namespace, find, resembled, shown
from sitemapcrawler.namespaces.element import Element, Tree
from sitemapcrawler.namespaces.schemas.check import core_namespaces, violations
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.reader.faults import MAX_NAME, MAX_VALUE, Faults
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.urls import resolve
from sitemapcrawler.urls.display import masked_url, quoted

MAX_IGNORED = 100
"""Wrong namespaces noted per document. There are only four to get wrong."""


@dataclass(slots=True)
class Ignored:
    """Elements of an extension that search engines ignore because their namespace is wrong."""

    namespace: Namespace
    """Extension that was meant."""
    is_read: bool
    """True if the namespace is close enough for the elements to be read anyway."""
    count: int = 0


IgnoredElements = dict[tuple[str, str], Ignored]
"""(namespace as written, prefix of the extension) -> elements. In the order of the `xml-ext-namespace-wrong` faults."""


def extend(record: UrlRecord, element: Element, ignored: IgnoredElements, faults: Faults) -> None:
    """Add an element to the record field of its namespace, or to `extra`."""
    namespace = meant_by(element)
    value = namespace.object_of(element) if namespace else None
    if namespace is None or value is None:
        meant = resembled(element)
        if meant is not None and meant is not namespace:  # such as <video:video> in the namespace of images
            _ignore(element, meant, ignored, faults)
        elif namespace is not None and element.uri != namespace.uri:
            _ignore(element, namespace, ignored, faults, counts=False)
        keep(record, element)
        return
    if element.uri != namespace.uri:
        _ignore(element, namespace, ignored, faults)
    if namespace.empty and (element.has_children or element.text):
        keep(record, element)  # no field holds content, such as a link nested in a language version
    if not namespace.own:
        _add_plugged(record, namespace, value, element)
        return
    held = getattr(record, namespace.field)
    if isinstance(held, list):
        held.append(value)
    elif held == ():
        setattr(record, namespace.field, [value])
    elif held is None:
        setattr(record, namespace.field, value)
    else:
        keep(record, element)


def _add_plugged(record: UrlRecord, namespace: Namespace, value: Tree, element: Element) -> None:
    if record.extra is None:
        record.extra = {}
    objects = record.extra.setdefault(namespace.field, [])
    if objects and namespace.single:
        keep(record, element)
    else:
        objects.append(value)


def _ignore(element: Element, meant: Namespace, ignored: IgnoredElements, faults: Faults, counts: bool = True) -> None:
    """Count an element in a wrong namespace, and note the first per namespace."""
    key = element.uri[:MAX_VALUE], meant.prefix
    found = ignored.get(key)
    if found is None:
        if len(ignored) >= MAX_IGNORED:
            return
        found = ignored[key] = Ignored(meant, meant_by(element) is meant)
        text = f"the namespace of <{element.name}> is {shown(element.uri)}, not {meant.uri}"
        faults.add("xml-ext-namespace-wrong", text, element.line, value=element.uri or element.name, of_file=True)
    found.count += counts


def meant_by(element: Element) -> Namespace | None:
    """Return the extension that an element's namespace means. Only its first `MAX_NAME` characters are compared."""
    return find(element.uri[:MAX_NAME])


def keep(record: UrlRecord, element: Element) -> None:
    """Add an element to `extra`, under its namespace."""
    if record.extra is None:
        record.extra = {}
    record.extra.setdefault(element.uri, []).append(element.tree())


ENTRIES = ("url", "sitemap")
TEXT_FIELDS = ("lastmod", "changefreq")
FREQUENCIES = frozenset(("always", "hourly", "daily", "weekly", "monthly", "yearly", "never"))
"""Values of changefreq. Source: https://www.sitemaps.org/protocol.html"""
DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,20}\.?[0-9]{0,20}|\.[0-9]{1,20})")
USUAL_URL = re.compile(r"https?://[A-Za-z0-9][!-~]*")
"""Absolute URL that needs no resolving."""


@dataclass(slots=True)
class ChildRecord:
    """One `<sitemap>` of an index."""

    loc: str
    """Absolute URL of the child."""
    loc_raw: str | None = None
    """URL as written, if it differs from `loc`."""
    line: int | None = None
    """Line of the start tag."""
    lastmod: str | None = None
    """Last modification as written."""
    lastmod_at: str | None = None
    """`lastmod` as ISO 8601 in UTC."""
    recovered: bool = False
    """True if the entry could be read only after a repair."""


_values_of = attrgetter(*ChildRecord.__match_args__)


class ChildEntry(ChildRecord):
    """A child record in the hands of a program: `lastmod_at` is a `datetime` in UTC, or None."""

    __slots__ = ()
    lastmod_at: Moment = Moment(ChildRecord, "lastmod_at")  # type: ignore[assignment]  # rules work on the text
    """`lastmod`; None where it cannot be read."""

    @classmethod
    def convert(cls, record: ChildRecord) -> ChildEntry:
        """Return a copy: rules on an index still need the record."""
        return cls(*_values_of(record))


Entry = UrlRecord | ChildRecord


class EntryBuilder:
    """Builds the records of one document's entries and notes their faults."""

    def __init__(self, sitemap: str, base: str, faults: Faults, root_attributes: str = "") -> None:
        """`root_attributes`: as written, for formats whose root has a meaning of its own."""
        self.sitemap = sitemap
        self.base = base
        self.core = CORE
        self.expected = ""
        """Entry name that belongs under the root; empty: any."""
        self.faults = faults
        self.notes = Notes()
        """Notes on records that have not been yielded."""
        self.ignored: IgnoredElements = {}
        """Extension elements in wrong namespaces."""
        self.keep_source = False
        """True if the notes keep the text of entries."""
        self.extended = type(self) is not EntryBuilder
        """True once an entry may have objects of an extension; from the start in other formats."""

    def entries_of(self, element: Element) -> Iterator[Element]:
        """Yield the element itself if it is an entry, otherwise the entries that it wraps."""
        if self.is_entry(element):
            yield element
            return
        if not self._is_foreign(element):
            note_no_entry(element, self.faults)
        wrapped = [*element.children][::-1]
        while wrapped:
            child = wrapped.pop()
            if self.is_entry(child):
                yield child
            else:
                wrapped += [*child.children][::-1]

    def has_url(self, element: Element, whole: bool) -> bool:
        """Return whether an entry names its URL. `whole` is false if the end of the entry is missing."""
        return any(child.name == "loc" and self.is_core(child) and child.text for child in element.children)

    def build(self, element: Element) -> Entry | None:
        """Return the record of an entry, or None if it has no usable URL."""
        note_entry(element, self.expected, self.faults)
        fields, others = self._sort(element)
        if "loc" in fields and fields["loc"].has_children:
            self.faults.add("loc-invalid-uri", "elements inside a URL: the entry was left out", fields["loc"].line)
            self.faults.lost += 1
            return None
        raw = fields["loc"].text if "loc" in fields else self._url_in_text(element)
        if not raw:
            rule = "xml-entry-without-loc" if raw is None else "loc-empty"
            self.faults.add(rule, f"a <{element.name}> without a URL was left out{_miswritten(element)}", element.line)
            return None
        if self.is_template(raw, element.line):
            return None
        loc, written = self.locate(raw, element.line)
        record = self._record(element, fields, loc, written)
        record.recovered = "loc" not in fields
        if others and isinstance(record, UrlRecord):
            self.extended = True
            for other in others:
                extend(record, other, self.ignored, self.faults)
        return record

    def is_template(self, raw: str, line: int | None) -> bool:
        """Return whether a URL is an unfilled template, and note it. Such an entry is left out."""
        if not TEMPLATE.search(raw) or raw.startswith(("http:", "https:")):
            return False
        self.faults.add("loc-placeholder", f"{quoted(raw)}: a placeholder that was not filled in", line, value=raw)
        return True

    def _record(self, element: Element, fields: dict[str, Element], loc: str, written: str | None) -> Entry:
        if element.name == "sitemap":
            note_structure(element, self.core, self.faults)
            lastmod = fields["lastmod"].text if "lastmod" in fields else None
            return ChildRecord(loc, written, element.line, lastmod, utc(lastmod) if lastmod else None)
        record = UrlRecord(loc, written, self.sitemap, element.line)
        if element.attributes:
            record.extra = {element.uri: [{"name": element.name, "attributes": dict(element.attributes)}]}
        self._fill(record, fields)
        return record

    def _url_in_text(self, element: Element) -> str | None:
        """Return a URL written directly into the entry, as some generators do."""
        text = element.text
        if not text.startswith(("http://", "https://")) or len(text.split()) != 1:
            return None
        self.faults.add("xml-entry-without-loc", "the URL is in the entry itself", element.line, value=text)
        return text

    def is_entry(self, element: Element) -> bool:
        return element.name in ENTRIES and self.is_core(element)

    def _is_foreign(self, element: Element) -> bool:
        """Return whether an element is in a namespace unknown to sitemaps, so that it may stand beside the entries."""
        return not self.is_core(element) and meant_by(element) is None and element.name not in ENTRIES

    def is_core(self, element: Element) -> bool:
        """Return whether an element belongs to the protocol, whatever namespace the document uses for it."""
        return element.uri in (self.core, CORE, "")

    def locate(self, raw: str, line: int | None) -> tuple[str, str | None]:
        """Return the absolute URL, and the URL as written if it differs. Passwords are masked in both."""
        raw = masked_url(raw)
        if USUAL_URL.fullmatch(raw) and "@" not in raw:
            return raw, None
        loc = resolve(self.base, raw)
        if loc is None:
            self.faults.add(
                "loc-invalid-uri", "not an http or https URL", line, value=raw, of_file=True
            )  # rules see it
            return raw, None
        return loc, raw if loc != raw else None

    def _sort(self, element: Element) -> tuple[dict[str, Element], list[Element]]:
        fields: dict[str, Element] = {}
        others: list[Element] = []
        repeated: dict[str, list[Element]] = {}
        for child in element.children:
            if not self.is_core(child):
                others.append(child)
                continue
            if child.name in FIELDS or element.name != "url" or resembled(child) is None:
                note_child(child, element, self.faults)
            if child.name not in FIELDS:
                others.append(child)
            elif child.name in fields:
                repeated.setdefault(child.name, []).append(child)
                others.append(child)
            elif child.has_children and child.name != "loc":
                others.append(child)  # a partial value is not used
            else:
                fields[child.name] = child
        if repeated:
            note_repeated(repeated, element, self.faults)
        return fields, others

    def _fill(self, record: UrlRecord, fields: dict[str, Element]) -> None:
        for name in TEXT_FIELDS:
            if name in fields:
                setattr(record, name, fields[name].text)
        if record.lastmod:
            record.lastmod_at = utc(record.lastmod)
        if record.changefreq and record.changefreq not in FREQUENCIES and record.changefreq.lower() in FREQUENCIES:
            keep(record, fields["changefreq"])
            record.changefreq = record.changefreq.lower()
        if "priority" in fields:
            written = fields["priority"].text
            record.priority = number(written.replace(",", "."))
            if record.priority is None or "," in written:
                keep(record, fields["priority"])


def number(text: str) -> float | None:
    """Parse a decimal number such as `0.5`; None for anything else (`NaN`, `1e3`, an empty text)."""
    written = text.strip()
    return float(written) if DECIMAL.fullmatch(written) else None


FIELDS = frozenset(("loc", "lastmod", "changefreq", "priority"))
CHILD_FIELDS = ["loc", "lastmod"]
TEMPLATE = re.compile(r"\{\{|\{%|<%|[$#]\{|\A(?:\{[\w.]+\}|\[\[?[\w.]+\]?\]|%[A-Z_]{2,}%|\$\w+\$?)\Z")
"""Markers of template languages, or a text that is only a variable: `{link}`, `[[url]]`, `%URL%`, `$url`."""
COMMENT_ENDS = ("->", "-->")
MAX_SHOWN = 40
"""Characters of a text shown in a message."""
MAX_SEARCHED = 100
"""Parts of an entry that are searched for its URL at each unknown element. A usual entry has 9, plus extensions."""


def note_entry(entry: Element, expected: str, faults: Faults) -> None:
    """Note the attributes of an entry, and the first entry of a file that is not an `expected` one (empty: any)."""
    if entry.attributes:
        _note_attributes(entry, faults)
    if expected and entry.name != expected and "xml-mixed-index-urlset" not in faults:
        if "doc-trailing-content" in faults:  # two documents in one: the second may have another root
            return
        text = f"<{entry.name}> in a file of <{expected}> entries"
        faults.add("xml-mixed-index-urlset", text, entry.line, value=entry.name, of_file=True)


def note_no_entry(element: Element, faults: Faults) -> None:
    """Note an element where only entries may occur. One that stands for an entry is an error of its own."""
    why = _why_ignored(element)
    text = f"<{element.name}> is not an entry"
    if why:
        faults.add("xml-entry-ignored", f"{text}, so search engines ignore it: {why}", element.line, value=element.name)
    else:
        faults.add("xml-unknown-element", text, element.line, value=element.name)


def note_nested(entry: Element, around: Element, faults: Faults) -> None:
    """Note an entry that stands in another one."""
    text = f"<{entry.name}> is in a <{around.name}>, so search engines ignore it: entries do not contain others"
    faults.add("xml-entry-ignored", text, entry.line, value=entry.name)


def _why_ignored(element: Element) -> str:
    """Say why an element is not an entry although it names a page; empty if it names none."""
    name = element.name.lower()
    if name in ENTRIES:
        wrong_case = f"names are case-sensitive, and an entry is <{name}>"
        return wrong_case if element.name != name else f"its namespace is {shown(element.uri)}"
    if name == "loc":
        return "a <loc> belongs in an entry"
    waiting = [*element.children]
    while waiting:
        child = waiting.pop()
        if child.name.lower() == "loc":
            return "its <loc> belongs in an entry of the protocol"
        waiting += child.children
    return ""


def note_text(text: str, line: int, faults: Faults) -> None:
    """Note text on `line` where only entries may occur, unless it is template code or the end of a broken comment, and
    that is noted already."""
    if "doc-xml-malformed" in faults and text in COMMENT_ENDS:
        return
    if "loc-placeholder" not in faults or not TEMPLATE.search(text):
        faults.add("xml-schema-violation", f"text between the entries: {text[:MAX_SHOWN]!r}", line, value=text)


def note_child(child: Element, entry: Element, faults: Faults) -> None:
    """Note a child in the protocol's namespace that does not belong in its entry, or the attributes of one that does.

    An unknown child of an entry without a URL is not noted: the missing URL already is.
    """
    if child.name not in FIELDS or (entry.name == "sitemap" and child.name not in CHILD_FIELDS):
        if any(isinstance(part, Element) and part.name == "loc" for part in entry.content[:MAX_SEARCHED]):
            text = f"<{child.name}> is not part of a <{entry.name}>{_right_case(child)}"
            faults.add("xml-unknown-element", text, child.line, value=child.name)
    elif child.attributes:
        _note_attributes(child, faults)


def _right_case(child: Element) -> str:
    """Name the element that another spelling of its name means; empty if it means none."""
    name = child.name.lower()
    return f": names are case-sensitive, and this one is <{name}>" if child.name != name in FIELDS else ""


def _miswritten(entry: Element) -> str:
    """Say that an entry has a `<Loc>`; empty without one."""
    found = next((child for child in entry.children if child.name != child.name.lower() == "loc"), None)
    return f": names are case-sensitive, and <{found.name}> is not <loc>" if found is not None else ""


def note_structure(entry: Element, core: str, faults: Faults) -> None:
    """Note schema violations in a `<sitemap>`; `core` is the namespace of its root."""
    if not _is_regular(entry, core):
        for _, violation in violations("sitemapindex", [entry], core_namespaces(core, entry.uri)):
            faults.add(violation.rule, violation.message, violation.line, value=violation.value)


def _is_regular(entry: Element, core: str) -> bool:
    names = []
    for part in entry.content:
        if isinstance(part, str):
            if part.strip():
                return False
        elif part.uri != core or part.has_children:
            return False
        else:
            names.append(part.name)
    return entry.uri == core and names in (["loc"], CHILD_FIELDS)


def note_repeated(repeated: dict[str, list[Element]], entry: Element, faults: Faults) -> None:
    """Note children that occur more than once. `repeated`: name -> all but the first."""
    for name, (second, *more) in repeated.items():
        text = f"<{name}> occurs {len(more) + 2} times in one <{entry.name}>"
        faults.add("xml-duplicate-element", text, second.line, value=second.text)


def _note_attributes(element: Element, faults: Faults) -> None:
    for name in element.attributes:
        if not name.startswith("{"):
            text = f"<{element.name}> has an attribute {name}, which the protocol does not define"
            faults.add("xml-unknown-attribute", text, element.line, value=name)
