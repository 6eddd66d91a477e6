"""Faults noted while reading a document, and the limits of reading. Rules turn faults into findings.

Reaching a limit is a fault; everything read before it is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from sitemapcrawler.urls.display import masked, masked_url

MAX_KEPT = 1000
"""Faults of one kind kept in full per document; further ones are only counted."""
CUT_BYTES = ("doc-truncated", "doc-gzip-error", "doc-decompression-bomb", "limit-bytes")
"""Faults of the bytes themselves, which explain a missing end."""
MAX_MESSAGE = 1000
"""Characters of a message that are kept. It may contain element names of any length."""
MAX_VALUE = 200
"""Characters of an offending value that are kept."""
MAX_LOOKED_AT = 4096
"""Characters of a value that are searched for a password; more than a URL has."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One problem in a document."""

    rule: str
    """Id in the rule catalogue, such as `doc-truncated`."""
    message: str
    """One sentence."""
    line: int | None = None
    """Line, counted from 1."""
    column: int | None = None
    """Column, counted from 1, in characters."""
    value: str | None = None
    """Offending text, shortened."""
    url: str | None = None
    """URL of the entry that contains the fault; None outside entries and in one that was left out."""


UNEXPLAINED = "doc-xml-malformed"
"""Rule of a loss for which no fault of its own was noted."""
MAX_LOST = 10_000
"""Characters of a lost entry that are kept."""


@dataclass(frozen=True, slots=True)
class Loss:
    """An entry, line or element that was left out while reading."""

    rule: str
    """The fault that is the reason."""
    line: int | None
    """Line on which it begins, counted from 1."""
    text: str
    """Its text, shortened; empty if unknown."""


class Faults:
    """Faults of one document: complete counts, and up to `MAX_KEPT` of each kind in full, or `kept` if that is more."""

    def __init__(self, kept: int = 0) -> None:
        self._most = max(MAX_KEPT, kept)
        self.counts: Counter[str] = Counter()
        self.lost = 0
        """Entries left out because they could not be trusted."""
        self.encoding: str | None = None
        """Encoding of the text; None before any of it was read."""
        self.undecodable = False
        """True if some bytes did not fit the encoding and became U+FFFD."""
        self.in_entries = False
        """True if some entries that were read have faults."""
        self.losses: list[Loss] | None = None
        """Entries left out since this list was cleared; None unless `Document.keep_source`."""
        self._kept: list[Fault] = []
        self.recent: list[tuple[str, int | None]] = []
        """Rules of the faults since this list was cleared, up to `MAX_KEPT`, each with its index among those kept."""

    def add(
        self,
        rule: str,
        message: str,
        line: int | None = None,
        column: int | None = None,
        value: str | None = None,
        of_file: bool = False,
    ) -> None:
        """Note a fault. `of_file`: it concerns the file, although it occurs in an entry."""
        self.counts[rule] += 1
        place = None
        if self.counts[rule] <= self._most:
            place = len(self._kept)
            excerpt = value and masked_url(value[:MAX_LOOKED_AT])[:MAX_VALUE]
            self._kept.append(Fault(rule, masked(message[:MAX_MESSAGE]), line, column, excerpt))
        if not of_file and len(self.recent) < MAX_KEPT:
            self.recent.append((rule, place))

    def lose(self, rule: str, line: int | None, text: str) -> None:
        """Keep what was left out, if losses are kept. `rule`: the fault; None was noted if it is empty."""
        if self.losses is not None:
            self.losses.append(
                Loss(rule or (self.recent[-1][0] if self.recent else UNEXPLAINED), line, text[:MAX_LOST])
            )

    def place(self, url: str) -> list[str]:
        """Attribute the `recent` faults to the entry with this URL; return their rules."""
        self.in_entries |= bool(self.recent)
        for _, place in self.recent:
            if place is not None:
                self._kept[place] = replace(self._kept[place], url=url)
        return list(dict.fromkeys(rule for rule, _ in self.recent))

    def is_full(self, rule: str) -> bool:
        """Return whether another fault of this rule would only be counted."""
        return self.counts[rule] >= self._most

    def first(self, *rules: str) -> Fault | None:
        """Return the earliest fault of any of these rules."""
        return next((fault for fault in self._kept if fault.rule in rules), None)

    def __contains__(self, rule: str) -> bool:
        return rule in self.counts

    def __iter__(self) -> Iterator[Fault]:
        return iter(self._kept)

    def __len__(self) -> int:
        return self.counts.total()


Place = tuple[int, int]
"""Line, counted from 1, and the number of characters before the place on that line."""


def place_of(text: str, offset: int, place: Place) -> Place:
    """Return the place of `offset` in `text`, which begins at `place`."""
    line, column = place
    break_ = text.rfind("\n", 0, offset)
    return line + text.count("\n", 0, offset), column + offset if break_ < 0 else offset - break_ - 1


MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits for one document. The protocol's own (50,000 entries, 50 MiB) are reported, not enforced."""

    max_bytes: int = 100 * MIB
    """Uncompressed bytes: twice the protocol's 52,428,800."""
    max_ratio: int = 300
    """Uncompressed bytes per compressed byte. Real sitemaps stay below 100; deflate reaches 1,032."""
    max_entries: int = 10_000_000
    max_depth: int = 32
    """Elements open at once; the deepest known extension (video:tvshow) needs 5."""
    max_element: int = MIB
    """Characters from the end of one entry to the end of the next; 1,000 images with long titles need about 0.5 MiB.
    This bounds memory: a larger entry that arrives in one piece may be read."""
    max_head: int = MIB
    """Characters searched for the root element."""
    faults_kept: int = 0
    """Faults of one kind to keep in full, if more than `MAX_KEPT`."""


MAX_NAME = 2048
"""Characters of a namespace or name that are remembered: the longest URL that the protocol allows."""
RATIO_APPLIES_FROM = 8 * MIB
"""Uncompressed bytes below which the ratio is not checked: a short file may be very repetitive."""
MAX_GZIP_LAYERS = 3
"""Layers of gzip. Two occur on the web (a server compresses a .gz file again); more is an attack."""


FULL = "max_urls was reached"
"""Reason for not reading a file to its end if `Selection.full`."""
