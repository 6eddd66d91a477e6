"""Text sitemaps: one URL a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.entries import Entries, Entry
from sitemapcrawler.reader.faults import CUT_BYTES, Faults
from sitemapcrawler.reader.repair import escaped_bytes, is_trusted

URL = re.compile(r"""(?:https?:)?//[^\s<>"]+""", re.IGNORECASE)
COMMENT = "#"
MAX_LINE = 64 * 1024
"""Characters of one line; longer ones are no URL."""


def read_text(texts: Iterable[str], entries: Entries, faults: Faults) -> Iterator[list[Entry]]:
    """The URLs of a text sitemap, in lists as the text arrives."""
    number = 0
    rest = ""
    for text in texts:
        *lines, rest = (rest + text).split("\n")
        found = (_record(line, at, entries, faults) for at, line in enumerate(lines, number + 1))
        yield [record for record in found if record is not None]
        number += len(lines)
        rest = rest[: MAX_LINE + 1]  # enough to know that it is too long
    if rest and faults.first(*CUT_BYTES):
        faults.add("txt-cut-line", "the last line is cut and was left out", number + 1, value=rest)
        return
    last = _record(rest, number + 1, entries, faults)
    if last:
        yield [last]


def _record(line: str, number: int, entries: Entries, faults: Faults) -> UrlRecord | None:
    if len(line) > MAX_LINE:
        faults.add("txt-not-url-line", f"a line of more than {MAX_LINE} characters", number, value=line)
        return None
    line = line.strip().strip("\ufeff")
    if not line or line.startswith(COMMENT):
        return None
    written, *more = line.split(maxsplit=1)
    url = escaped_bytes(written)
    if not URL.fullmatch(url):
        faults.add("txt-not-url-line", "a line that is no URL", number, value=line)
        return None
    if not is_trusted(url):
        faults.add("txt-not-url-line", "a URL that cannot be read was left out", number, value=line)
        faults.lost += 1
        return None
    if more:
        faults.add("txt-has-metadata", "only URLs may stand in a text sitemap", number, value=more[0])
    loc, raw = entries.locate(url, number)
    return UrlRecord(loc, raw, entries.sitemap, number, recovered=url != written)
