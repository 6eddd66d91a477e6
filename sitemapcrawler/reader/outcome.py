"""How the reading of a document ended, by its faults."""

from __future__ import annotations

from sitemapcrawler.reader.faults import Faults
from sitemapcrawler.reader.sniff import Format

CUT = ("doc-truncated", "doc-gzip-error", "doc-decompression-bomb", "limit-bytes", "limit-element",
       "limit-entries", "limit-stopped")  # fmt: skip
"""Faults after which the rest of a file is missing."""
MALFORMED = (
    "doc-xml-malformed", "doc-unescaped-ampersand", "doc-undeclared-entity", "doc-control-character",
    "doc-trailing-content", "xml-ext-namespace-missing", "doc-leading-content", "xml-root-unknown", "limit-depth",
)  # fmt: skip
"""Faults that end strict reading."""
NO_SITEMAP: dict[Format, str] = {"html": "an HTML page, no sitemap", "unknown": "no sitemap"}


def outcome_of(format: Format, faults: Faults, is_listing: bool, is_recovered: bool) -> str:
    """ok, recovered, truncated or failed. `is_listing`: it has entries; `is_recovered`: some after repair."""
    malformed = any(rule in faults for rule in (*CUT, *MALFORMED))
    if format in NO_SITEMAP or (malformed and not is_listing):
        return "failed"
    if any(rule in faults for rule in CUT):
        return "truncated"
    return "recovered" if is_recovered or faults.lost or malformed else "ok"


def cause_of(faults: Faults, cut: str | None) -> str | None:
    """The fault that decided an outcome, in one sentence; None where none did. `cut`: why the bytes are incomplete."""
    if cut is not None and any(rule in faults for rule in CUT):
        return cut
    fault = faults.first(*CUT) or faults.first(*MALFORMED)
    if fault is None:
        return None
    return f"{fault.message} (line {fault.line})" if fault.line else fault.message
