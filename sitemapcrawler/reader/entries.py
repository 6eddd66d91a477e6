"""From an entry's element to its record: the entries of urlsets and indexes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces import CORE, Namespace, find, resembled
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.namespaces.extensions import HREFLANG
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.reader.faults import MAX_VALUE, Faults
from sitemapcrawler.reader.notes import (
    FIELDS,
    TEMPLATE,
    note_child,
    note_entry,
    note_no_entry,
    note_repeated,
    note_structure,
)
from sitemapcrawler.reader.scope import MAX_LENGTH
from sitemapcrawler.urls import resolve
from sitemapcrawler.urls.display import masked_url

MAX_IGNORED = 100
"""Namespaces of one document that are noted as wrong; there are four to be written wrong."""


@dataclass(slots=True)
class Ignored:
    """Elements of an extension that search engines ignore, since their namespace is another one."""

    namespace: Namespace
    """The extension they mean."""
    is_read: bool
    """True where the namespace is nearly right: the field of the extension holds them all the same."""
    count: int = 0
    """How many there are."""


IgnoredElements = dict[tuple[str, str], Ignored]
"""(namespace as written, prefix of the extension) -> elements. In the order of the `xml-ext-namespace-wrong` faults."""


def extend(record: UrlRecord, element: Element, ignored: IgnoredElements, faults: Faults) -> None:
    """Put an element where it belongs: into the field of its namespace, else into `extra`."""
    namespace = meant_by(element)
    if namespace is None:
        similar = resembled(element)
        if similar is not None:
            _ignore(element, similar, ignored, faults)
        keep(record, element)
        return
    value = namespace.read(element)
    if element.uri != namespace.uri:
        _ignore(element, namespace, ignored, faults, value is not None)
    if value is None:
        keep(record, element)
        return
    if namespace.uri == HREFLANG and (element.has_children or element.text):
        keep(record, element)  # an alternate has no place for content, such as a link that stands inside it
    held = getattr(record, namespace.field)
    if isinstance(held, list):
        held.append(value)
    elif held == ():
        setattr(record, namespace.field, [value])
    elif held is None:
        setattr(record, namespace.field, value)
    else:
        keep(record, element)


def _ignore(element: Element, meant: Namespace, ignored: IgnoredElements, faults: Faults, counts: bool = True) -> None:
    """Count an element in a wrong namespace, and note the first one of each."""
    key = element.uri[:MAX_VALUE], meant.prefix
    found = ignored.get(key)
    if found is None:
        if len(ignored) >= MAX_IGNORED:
            return
        found = ignored[key] = Ignored(meant, meant_by(element) is not None)
        text = f"the namespace of <{element.name}> is {element.uri or 'none'}, not {meant.uri}"
        faults.add("xml-ext-namespace-wrong", text, element.line, value=element.uri or element.name, of_file=True)
    found.count += counts


def meant_by(element: Element) -> Namespace | None:
    """The extension that an element's namespace means. A longer one than can be remembered is compared in part."""
    return find(element.uri[:MAX_LENGTH])


def keep(record: UrlRecord, element: Element) -> None:
    """Keep an element that no field holds in `extra`, under its namespace."""
    if record.extra is None:
        record.extra = {}
    record.extra.setdefault(element.uri, []).append(element.tree())


ENTRIES = ("url", "sitemap")
"""Elements that are entries."""
TEXT_FIELDS = ("lastmod", "changefreq")
FREQUENCIES = frozenset(("always", "hourly", "daily", "weekly", "monthly", "yearly", "never"))
"""Values of changefreq. Source: https://www.sitemaps.org/protocol.html"""
DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,20}\.?[0-9]{0,20}|\.[0-9]{1,20})")
USUAL_URL = re.compile(r"https?://[A-Za-z0-9][!-~]*")
"""An absolute URL that needs no second look."""


@dataclass(slots=True)
class ChildRecord:
    """One `<sitemap>` of an index."""

    loc: str
    """Absolute URL of the child."""
    loc_raw: str | None = None
    """The URL as written, where it differs from `loc`."""
    line: int | None = None
    """Line on which the entry begins."""
    lastmod: str | None = None
    """Last modification as written."""
    lastmod_at: str | None = None
    """`lastmod` as ISO 8601 in UTC."""
    recovered: bool = False
    """True where the entry could only be read after a repair."""


Entry = UrlRecord | ChildRecord


class Entries:
    """Builds the records of one document's entries and notes what was wrong with them."""

    def __init__(self, sitemap: str, base: str, faults: Faults) -> None:
        self.sitemap = sitemap
        self.base = base
        self.core = CORE
        self.expected = ""
        """Name of the entries that the root is for; empty: any."""
        self.faults = faults
        self.ignored: IgnoredElements = {}
        """Elements of extensions in wrong namespaces, by namespace."""

    def entries_of(self, element: Element) -> Iterator[Element]:
        """The element itself where it is an entry, or the entries that an unknown element wraps."""
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
        """True where an entry says which URL it is about; `whole` is false for one that lost its end."""
        return any(child.name == "loc" and self.is_core(child) and child.text for child in element.children)

    def build(self, element: Element) -> Entry | None:
        """The record of an entry; None for one that names no URL."""
        note_entry(element, self.expected, self.faults)
        fields, others = self._sort(element)
        if "loc" in fields and fields["loc"].has_children:
            self.faults.add("loc-invalid-uri", "elements inside a URL: the entry was left out", fields["loc"].line)
            self.faults.lost += 1
            return None
        raw = fields["loc"].text if "loc" in fields else self._url_in_text(element)
        if not raw:
            rule = "xml-entry-without-loc" if raw is None else "loc-empty"
            self.faults.add(rule, f"a <{element.name}> without a URL was left out", element.line)
            return None
        if self.is_template(raw, element.line):
            return None
        loc, written = self.locate(raw, element.line)
        record = self._record(element, fields, loc, written)
        record.recovered = "loc" not in fields
        if isinstance(record, UrlRecord):
            for other in others:
                extend(record, other, self.ignored, self.faults)
        return record

    def is_template(self, raw: str, line: int | None) -> bool:
        """True where a URL is a template that was not filled in, which is noted: the entry is left out."""
        if not TEMPLATE.search(raw) or raw.startswith(("http:", "https:")):
            return False
        self.faults.add("loc-invalid-uri", "a template that was not filled in", line, value=raw)
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
        """A URL written straight into the entry, as some generators do."""
        text = element.text
        if not text.startswith(("http://", "https://")) or len(text.split()) != 1:
            return None
        self.faults.add("xml-entry-without-loc", "the URL stands in the entry itself", element.line, value=text)
        return text

    def is_entry(self, element: Element) -> bool:
        """True for an element that stands for a page or a child."""
        return element.name in ENTRIES and self.is_core(element)

    def _is_foreign(self, element: Element) -> bool:
        """True for an element of a namespace unknown to sitemaps, which may stand beside the entries."""
        return not self.is_core(element) and meant_by(element) is None and element.name not in ENTRIES

    def is_core(self, element: Element) -> bool:
        """True for an element of the protocol itself, whatever namespace the document uses for it."""
        return element.uri in (self.core, CORE, "")

    def locate(self, raw: str, line: int | None, base: str | None = None) -> tuple[str, str | None]:
        """The absolute URL for a URL as written, and the written one where they differ; neither tells a password."""
        raw = masked_url(raw)
        if USUAL_URL.fullmatch(raw) and "@" not in raw:
            return raw, None
        loc = resolve(base or self.base, raw)
        if loc is None:
            self.faults.add("loc-invalid-uri", "no http or https URL", line, value=raw, of_file=True)  # rules see it
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
                others.append(child)  # half a value is none
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
    """A decimal number such as `0.5`; None for anything else (`NaN`, `1e3`, an empty text)."""
    written = text.strip()
    return float(written) if DECIMAL.fullmatch(written) else None
