"""Text sitemaps: one URL a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.entries import Entries, Entry
from sitemapcrawler.reader.faults import CUT_BYTES, Faults
from sitemapcrawler.reader.recovery import escaped_bytes, is_trusted

URL = re.compile(r"""(?:https?:)?//[^\s<>"]+""", re.IGNORECASE)
SEPARATOR = re.compile(
    r"\s+|[,;](?=\s|https?://)"
    r"|[,;](?=(?:\d{4}-\d\d(?:-\d\d(?:T[\d:.Z+-]*)?)?|[01]\.\d+|always|hourly|daily|weekly|monthly|yearly|never)(?:[\s,;]|\Z))",
    re.IGNORECASE,
)
"""What parts a URL from what follows it: blanks; a comma or semicolon only where another URL, a date, a priority or a
frequency follows, or a blank, since it may belong to the URL."""
COMMENT = "#"
MAX_LINE = 64 * 1024
"""Characters of one line; longer ones are no URL."""


def read_text(texts: Iterable[str], entries: Entries, faults: Faults) -> Iterator[list[Entry]]:
    """The URLs of a text sitemap, in lists as the text arrives."""
    number = 0
    rest = ""
    for text in texts:
        *lines, rest = (rest + text).split("\n")
        numbered = enumerate(lines, number + 1)
        yield [record for at, line in numbered for record in _records(line, at, entries, faults)]
        number += len(lines)
        rest = rest[: MAX_LINE + 1]  # enough to know that it is too long
    if rest and faults.first(*CUT_BYTES):
        faults.add("txt-cut-line", "the last line is cut and was left out", number + 1, value=rest)
        return
    yield list(_records(rest, number + 1, entries, faults))


def _records(line: str, number: int, entries: Entries, faults: Faults) -> Iterator[UrlRecord]:
    if len(line) > MAX_LINE:
        faults.add("txt-not-url-line", f"a line of more than {MAX_LINE} characters", number, value=line)
        return
    line = line.strip().strip("\ufeff")
    if not line:
        return
    if line.startswith(COMMENT):
        faults.add("txt-not-url-line", "a comment: a text sitemap holds URLs only", number, value=line)
        return
    fields = [field for field in SEPARATOR.split(line) if field]
    if not fields or not URL.fullmatch(fields[0]):
        faults.add("txt-not-url-line", "a line that is no URL", number, value=line)
        return
    split = fields[0] != line.split()[0]
    records = [
        record for field in fields if URL.fullmatch(field) for record in _record(field, number, split, entries, faults)
    ]
    if len(fields) > 1:
        faults.recent.clear()
        faults.add("txt-has-metadata", "only one URL may stand in a line of a text sitemap", number, value=fields[1])
        rules = faults.place(records[0].loc) if records else []
        for record in records:
            record.blame(rules)
    yield from records


def _record(written: str, number: int, split: bool, entries: Entries, faults: Faults) -> Iterator[UrlRecord]:
    url = escaped_bytes(written)
    if not is_trusted(url):
        faults.add("txt-not-url-line", "a URL that cannot be read was left out", number, value=written)
        faults.lost += 1
        return
    loc, raw = entries.locate(url, number)
    yield UrlRecord(loc, raw, entries.sitemap, number, recovered=split or url != written)
