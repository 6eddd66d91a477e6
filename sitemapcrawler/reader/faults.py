"""What was wrong with a document, noted while reading it. Facts, not judgements: rules turn them into findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from sitemapcrawler.userinfo import masked, masked_url

MAX_KEPT = 1000
"""Faults of one kind that are kept in full per document; beyond that they are counted."""
CUT_BYTES = ("doc-truncated", "doc-gzip-error", "doc-decompression-bomb", "limit-bytes")
"""Faults of the bytes themselves, which explain a document without end."""
MAX_MESSAGE = 1000
"""Characters of a message that are kept: it may name elements, and a name may be of any length."""
MAX_VALUE = 200
"""Characters of an offending value that are kept."""
MAX_LOOKED_AT = 4096
"""Characters of it in which a password is looked for: more than a URL has."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong, and where."""

    rule: str
    """Id in the rule catalogue, such as `doc-truncated`."""
    message: str
    """One sentence."""
    line: int | None = None
    """Line, counted from 1."""
    column: int | None = None
    """Column, counted from 1, in characters."""
    value: str | None = None
    """The offending text, shortened."""


class Faults:
    """The faults of one document: complete counts, a bounded number in full."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.lost = 0
        """Entries that were left out since they could not be trusted."""
        self._kept: list[Fault] = []

    def add(
        self, rule: str, message: str, line: int | None = None, column: int | None = None, value: str | None = None
    ) -> None:
        """Note a fault."""
        self.counts[rule] += 1
        if self.counts[rule] <= MAX_KEPT:
            shown = printable(masked(message[:MAX_MESSAGE]))
            told = value and printable(masked_url(value[:MAX_LOOKED_AT])[:MAX_VALUE])
            self._kept.append(Fault(rule, shown, line, column, told))

    def is_full(self, rule: str) -> bool:
        """True where another fault of this rule would only be counted."""
        return self.counts[rule] >= MAX_KEPT

    def first(self, *rules: str) -> Fault | None:
        """The earliest fault of any of these rules."""
        return next((fault for fault in self._kept if fault.rule in rules), None)

    def __contains__(self, rule: str) -> bool:
        return rule in self.counts

    def __iter__(self) -> Iterator[Fault]:
        return iter(self._kept)

    def __len__(self) -> int:
        return self.counts.total()


def printable(text: str) -> str:
    """The text with U+FFFD for what no encoding can hold (lone surrogates, which stand for undecodable bytes)."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
