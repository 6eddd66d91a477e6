"""Rules on what the schemas say of an entry, beyond what rules of their own name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.faults import Fault
from sitemapcrawler.rules.facts.given import FileFacts
from sitemapcrawler.rules.families.document import told
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.schemas.check import core_namespaces, violations
from sitemapcrawler.schemas.repairs import ENTRIES

PROTOCOL = "https://www.sitemaps.org/protocol.html"
VALIDATING = f"{PROTOCOL}#validating"
ROOT = "urlset"
RULE = "xml-schema-violation"
"""The rule that has failed where the schemas could not be asked."""


def faults(urls: Sequence[UrlRecord], file: FileFacts) -> Iterator[tuple[UrlRecord, list[Fault]]]:
    """What the schema does not allow in entries of a urlset, for those that have something. Plain ones have nothing."""
    records = [record for record in urls if _is_judged(record)]
    if not records:
        return
    core = core_namespaces(file.document.root_uri, records[0].element.uri)
    found = violations(ROOT, [record.element for record in records], core)
    for place, same in groupby(found, itemgetter(0)):
        yield records[place], [Fault(v.rule, v.message, v.line, None, v.value) for _, v in same]


def _is_judged(record: UrlRecord) -> bool:
    """An entry that was repaired is as the repair made it; what was wrong with it is named."""
    element = getattr(record, "element", None)
    return element is not None and not record.recovered and element.name == ENTRIES[ROOT]


@rule(
    RULE,
    Severity.ERROR,
    VALIDATING,
    Needs.FAULT,
    also={"Search Console": "Invalid tag value"},
)
def xml_schema_violation(fault: Fault) -> Iterator[Message]:
    """The schema of the protocol, or of a namespace, does not allow this, and no rule of its own names it.

    Why: what stands where nobody looks for it is not read; validators refuse the file.
    Bad: `<url>Home <loc>https://example.com/</loc></url>`, or `<image:loc>` outside of an `<image:image>`
    Good: `<url><loc>https://example.com/</loc></url>`
    """
    yield from told(fault)


@rule("xml-element-order", Severity.INFO, VALIDATING, Needs.FAULT)
def xml_element_order(fault: Fault) -> Iterator[Message]:
    """The elements of an entry stand in another order than the schema's. Once for an entry.

    Why: search engines read any order, validators refuse the file. Within images and videos any order is right.
    Bad: `<url><lastmod>2026-01-05</lastmod><loc>https://example.com/</loc></url>`
    Good: `<url><loc>https://example.com/</loc><lastmod>2026-01-05</lastmod></url>`
    """
    yield from told(fault)


@rule(
    "xml-missing-element",
    Severity.ERROR,
    VALIDATING,
    Needs.FAULT,
    also={"Yandex": "Tag not found", "Search Console": "Missing XML tag"},
)
def xml_missing_element(fault: Fault) -> Iterator[Message]:
    """An element lacks a part that it must have, and no rule of its own names it.

    Why: without the part the element says nothing. The parts of entries, images, videos and news have rules of
    their own.
    Bad: `<video:tvshow><video:show_title>Cooking</video:show_title></video:tvshow>`
    Good: the same with a `<video:video_type>`
    """
    yield from told(fault)
