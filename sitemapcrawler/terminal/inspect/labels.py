"""Facts about files, sites and entries on the `inspect` screen: label, text and meaning, which sets the colour."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from sitemapcrawler import urls
from sitemapcrawler.items import READ, RobotsRecord, SitemapRecord
from sitemapcrawler.namespaces import TREES, declared, find
from sitemapcrawler.reader.formats import format_named, long_format_label
from sitemapcrawler.replies.discovery import way_named
from sitemapcrawler.terminal.inspect.inspection import Bounded, EntryCounts, Inspection, is_core
from sitemapcrawler.urls.display import MAX_URL, counted, inert, size

MIDNIGHT = "T00:00:00Z"


def moment(text: str) -> str:
    """Shorten `2024-05-01T10:00:00Z` to `2024-05-01 10:00`, midnight to its day."""
    if text.endswith(MIDNIGHT):
        return text.removesuffix(MIDNIGHT)
    return text[: len("2024-05-01T10:00")].replace("T", " ")


def day(text: str | None) -> str:
    """Return the day of a moment; empty for None."""
    return (text or "")[: len("2024-05-01")]


def place(url: str, parent: str | None = None) -> str:
    """Format a URL for display: inert, and without the origin that it shares with `parent`."""
    origin = urls.origin(parent) if parent else None
    if origin is not None and urls.origin(url) == origin:
        rest = url.partition("://")[2]
        at = rest.find("/")
        return inert(rest[at:] if at >= 0 else "/", MAX_URL)
    return inert(url, MAX_URL)


GOOD, ODD, BAD, PLAIN = "good", "odd", "bad", "plain"
MAX_NAMED = 12
"""Languages and namespaces that are named; others are only counted."""
MAX_ROBOTS = 4
"""Robots files that are named: those of https and http, and their redirect targets."""


class Fact(NamedTuple):
    """Fact, on several lines if it is long."""

    label: str
    text: str
    meaning: str = PLAIN


def file_facts(record: SitemapRecord) -> Iterator[Fact]:
    encoding = f", {inert(record.encoding)}" if record.encoding else ""
    yield Fact("format", f"{long_format_label(record.format)}{encoding}")
    packed = f" ({size(record.bytes_fetched)} compressed)" if record.bytes > record.bytes_fetched > 0 else ""
    yield Fact("size", f"{size(record.bytes)}{packed}")
    if record.status is not None:
        yield from _answers(record)
    yield Fact("outcome", outcome(record), meaning(record))


def outcome(record: SitemapRecord) -> str:
    """Return the outcome of a file, with its reason."""
    return record.outcome + (f": {inert(record.error)}" if record.error else "")


def meaning(record: SitemapRecord) -> str:
    """Return the meaning of a file's outcome."""
    if record.outcome in READ:
        return ODD if record.outcome == "recovered" else GOOD
    return ODD if record.outcome == "truncated" else BAD


def _answers(record: SitemapRecord) -> Iterator[Fact]:
    label = "answer"
    for hop in record.hops:
        yield Fact(label, f"{hop.status} {place(hop.url)}")
        label = ""
    last = f" {place(record.final_url)}" if record.final_url else ""
    yield Fact(label, f"{record.status}{last}")


def site_facts(inspection: Inspection) -> Iterator[Fact]:
    """Number of files found, and how."""
    for robots in inspection.robots[:MAX_ROBOTS]:
        yield Fact("robots.txt", _robots(robots), PLAIN if robots.outcome == "parsed" else ODD)
    if len(inspection.robots) > MAX_ROBOTS:
        yield Fact("", f"... and those of {counted(len(inspection.robots) - MAX_ROBOTS, 'more host')}")
    found: dict[str, int] = {}
    for record in inspection.files.records:
        found[record.found_by] = found.get(record.found_by, 0) + 1
    ways = ", ".join(f"{count:,} by {way_named(way).label}" for way, count in found.items())
    yield Fact("sitemaps", f"{len(inspection.files.records):,} found: {ways}" if found else "none found")


def _robots(record: RobotsRecord) -> str:
    said = f"names {counted(len(record.sitemaps), 'sitemap')}"
    if record.outcome != "parsed":
        said = record.outcome + (f" ({inert(record.error)})" if record.error else "")
    return f"{place(record.robots)} {said}"


def index_facts(inspection: Inspection) -> Iterator[Fact]:
    """What indexes list, and how to read it."""
    indexes = [record for record in inspection.files.records if format_named(record.format).is_index]
    if indexes and not inspection.expanded:
        several = "" if inspection.single is not None else f" in {counted(len(indexes), 'index', 'indexes')}"
        listed = counted(sum(record.url_count for record in indexes), "sitemap")
        yield Fact("lists", f"{listed}{several}, not read without --expand")


def files_facts(inspection: Inspection) -> Iterator[Fact]:
    """Totals of several files."""
    records = inspection.files.records
    failed = len(inspection.files.failed)
    yield Fact("files", f"{len(records):,}, {size(sum(record.bytes for record in records))}")
    if failed:
        yield Fact("problems", f"{counted(failed, 'file')} not read, or only in part", BAD)


def entry_facts(tally: EntryCounts) -> Iterator[Fact]:
    """Totals of the entries of files."""
    yield Fact("URLs", f"{tally.urls:,}")
    yield Fact("lastmod", _lastmod(tally))


def extension_facts(inspection: Inspection) -> Iterator[Fact]:
    """Extensions that the entries use."""
    tally = inspection.tally
    used = [namespace.field for namespace in declared() if tally.counts[namespace.field]]
    for name in used:
        yield Fact(name, f"{tally.counts[name]:,} on {counted(tally.carriers[name], 'URL')}")
    if tally.languages.counts:
        yield Fact("languages", _named(tally.languages))
    others = Bounded()
    for record in inspection.files.records:
        others.add(uri for uri in record.namespaces if _is_other(uri) and uri not in tally.namespaces.counts)
    if tally.namespaces.counts:
        yield Fact("namespaces", "others used: " + _named(tally.namespaces, "URL"))
    if others.counts:
        yield Fact("" if tally.namespaces.counts else "namespaces", "others declared: " + _named(others, "file"))
    if not used and not tally.namespaces.counts:
        yield Fact("extensions", "none")


def _is_other(uri: str) -> bool:
    """True for a namespace that is not known from sitemaps."""
    return find(uri) is None and uri not in TREES.values() and not is_core(uri)


def limit_facts(inspection: Inspection) -> Iterator[Fact]:
    """Skipped files and entries, and why the crawl ended early."""
    hidden = {} if inspection.expanded else {"max_depth": 0}
    skipped = {name: count for name, count in inspection.summary.skipped.items() if name not in hidden}
    if skipped:
        yield Fact("left out", ", ".join(f"{count:,} by {name}" for name, count in skipped.items()), ODD)
    if inspection.summary.partial:
        yield Fact("stopped", f"before the end: {inert(inspection.summary.partial)}", BAD)


def _lastmod(tally: EntryCounts) -> str:
    dates = tally.dates
    if dates.first is None or dates.last is None:
        said = "none"
    else:
        ends = dict.fromkeys((moment(dates.first), moment(dates.last)))
        said = " to ".join(ends) + (", all alike" if dates.first == dates.last and dates.total > 1 else "")
    missing = tally.undated - tally.unreadable
    said += f", {missing:,} undated" if missing and dates.total else ""
    return said + (f", {tally.unreadable:,} unreadable" if tally.unreadable else "")


def _named(values: Bounded, noun: str = "") -> str:
    """List the most frequent values with their counts, and the number of others."""
    ranked = values.ranked()
    shown = [
        f"{inert(name)} {f'({counted(count, noun)})' if noun else f'{count:,}'}" for name, count in ranked[:MAX_NAMED]
    ]
    more = len(ranked) - len(shown)
    several = " or more others" if values.others else " other" if more == 1 else " others"
    rest = f" ... and {more:,}{several}" if more else ""
    return ", ".join(shown) + rest
