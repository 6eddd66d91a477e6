"""Entries of one file in a test, without a document: what the rules about URLs say of them."""

from __future__ import annotations

from collections.abc import Iterable

from sitemapcrawler.items import SitemapRecord, UrlRecord
from sitemapcrawler.reader import Document
from sitemapcrawler.reader.entries import ChildRecord, EntryBuilder
from sitemapcrawler.rules import Of, Rule
from sitemapcrawler.rules.facts.given import ChildFacts, FileFacts, UrlFacts

from .expecting import rules_of
from .judging import NOW, URL

RULES: tuple[Rule, ...] = tuple(rules_of("loc", "limit", "index").values())
"""The rules about URLs, limits and indexes."""


def file_at(url: str = URL, final_url: str | None = None, format: str = "xml-urlset") -> FileFacts:
    """A file that was asked for under `url`."""
    record = SitemapRecord(url, format=format, final_url=final_url)
    return FileFacts(url, record, Document(url), fetched_at=NOW)


def listed(file: FileFacts, *written: str) -> list[UrlRecord]:
    """Records of URLs, located the way the reader does it."""
    entries = EntryBuilder(file.url, file.record.final_url or file.url, file.document.faults)
    return [UrlRecord(*entries.locate(text, None)) for text in written]


def said_of(facts: UrlFacts | ChildFacts, severities: Iterable[str] = ("error", "warning", "info")) -> dict[str, str]:
    """What the rules say of one entry, in full, also where it is known to be clean: {rule: text}."""
    facts.__dict__["usual"] = False
    return {
        rule.id: message.text
        for rule in RULES
        if (rule.judges_entries if isinstance(facts, UrlFacts) else Of.CHILD in rule.of)
        for message in rule.check(facts)
        if (message.severity or rule.severity) in severities
    }


def on_url(written: str, url: str = URL, final_url: str | None = None) -> list[str]:
    """Ids of the rules that find something on one URL of a file, for information too."""
    file = file_at(url, final_url)
    [record] = listed(file, written)
    return list(said_of(UrlFacts(record, file)))


def on_child(written: str, url: str = URL, **fields: object) -> list[str]:
    """The same for an entry of an index; `fields` are facts of the index."""
    file = file_at(url, format="xml-index")
    for name, value in fields.items():
        setattr(file, name, value)
    [record] = listed(file, written)
    child = ChildRecord(record.loc, record.loc_raw, lastmod="2026-01-05", lastmod_at="2026-01-05T00:00:00Z")
    file.list_child(child)
    return list(said_of(ChildFacts(child, file)))
