"""Documents as the reader returns them, with checks of properties that hold for all of them."""

from __future__ import annotations

import json
import re
from typing import Any

from fuzz.inputs import chance, cut, in_time
from sitemapcrawler.reader import Document, Limits
from tests.unit.reader.reading import URL, Reading

USUAL = Limits()
SMALL = Limits(max_bytes=2000, max_ratio=20, max_entries=5, max_depth=4, max_head=500)
"""Limits that short documents reach."""
TIGHT = Limits(max_element=300)
"""Limits that short entries reach. A larger plain entry is still read if it arrives in one piece, at no extra cost."""
AHEAD = "doc-encoding-not-utf8"
"""Fault that may be reported ahead of the reading position."""
COMPLETE = ("ok", "recovered")
"""Outcomes of documents that were read to their end."""
LINE_END = re.compile("\r\n|\r|\n")


def read_any(data: bytes) -> Reading:
    """Read a document whole and in pieces, within limits that are sometimes small; both must give the same."""
    limits = chance(data).choice((USUAL, USUAL, SMALL, TIGHT))
    whole, pieces = _read(data, [data], limits), _read(data, cut(data), limits)
    assert limits is TIGHT or told(pieces, limits) == told(whole, limits), "the pieces make a difference"
    _keeps(whole, limits)
    _keeps(pieces, limits)
    return whole


def read_whole(data: bytes) -> Reading:
    """Read a document at once, within the usual limits."""
    return _read(data, [data], USUAL)


def as_utf_8(data: bytes, reading: Reading) -> str | None:
    """Return the text of a document with line ends as in XML (2.11), which libxml2 counts differently; None if it is
    compressed, or not entirely UTF-8."""
    document = reading.document
    if document.compressed or document.encoding != "utf-8":
        return None
    try:
        return LINE_END.sub("\n", data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return None


def told(reading: Reading, limits: Limits) -> dict[str, Any]:
    """Return the facts to compare. If a limit ended or cut the reading, the faults seen by then depend on the
    pieces."""
    facts = reading.facts()
    if facts["outcome"] not in COMPLETE:
        facts["bytes"] = None
        facts["faults"] = [fault for fault in facts["faults"] if AHEAD not in fault]
        facts["fault_counts"].pop(AHEAD, None)
    if limits is SMALL:
        facts["error"] = None
    if limits is SMALL or any(rule.startswith("limit-") for rule in reading.rules):
        facts["faults"] = facts["fault_counts"] = None
    return facts


def _read(data: bytes, chunks: Any, limits: Limits) -> Reading:
    document = Document(URL, limits=limits, keep_elements=True)
    reading = Reading(document)
    with in_time():
        for records in document.read(chunks):
            reading.records += records
    return reading


def _keeps(reading: Reading, limits: Limits) -> None:
    """Check that limits hold, counts are right, and everything can be written to a feed."""
    document = reading.document
    assert document.bytes <= limits.max_bytes
    assert document.url_count == len(reading.records) <= limits.max_entries
    assert json.dumps(reading.facts(), ensure_ascii=False, default=str).encode(), "a lone surrogate"
    assert (document.outcome == "ok") is (document.error is None)
    assert not reading.recovered or document.outcome != "ok"
    lines = [record.line for record in reading.records]
    assert all(line >= 1 for line in lines)
