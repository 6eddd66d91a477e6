"""From an entry's element to its record: the entries of urlsets and indexes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sitemapcrawler.element import Element
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.reader.extensions import extend, keep, meant_by
from sitemapcrawler.reader.faults import Faults
from sitemapcrawler.reader.notes import (
    FIELDS,
    TEMPLATE,
    note_child,
    note_entry,
    note_no_entry,
    note_repeated,
    note_structure,
)
from sitemapcrawler.urls import resolve
from sitemapcrawler.userinfo import masked_url

CORE = "http://www.sitemaps.org/schemas/sitemap/0.9"
"""Namespace of the protocol. Source: https://www.sitemaps.org/protocol.html"""
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
        self._inexact: set[str] = set()

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
        if TEMPLATE.search(raw) and not raw.startswith(("http:", "https:")):
            self.faults.add("loc-invalid-uri", "a template that was not filled in", element.line, value=raw)
            return None
        loc, written = self.locate(raw, element.line)
        record = self._record(element, fields, loc, written)
        record.recovered = "loc" not in fields
        if isinstance(record, UrlRecord):
            for other in others:
                extend(record, other, self._inexact, self.faults)
        return record

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
            self.faults.add("loc-invalid-uri", "no http or https URL", line, value=raw)
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
