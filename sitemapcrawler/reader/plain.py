"""Reads plain entries with one regular expression.

Nearly all entries of large sitemaps are a `<url>` with a `<loc>` and at most the three other elements of the protocol,
in order, without attributes or comments. One match checks such an entry and extracts its values. It accepts nothing
that an XML parser would read differently; it reads all other entries.
"""

from __future__ import annotations

import re

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.dates import utc_of_plain
from sitemapcrawler.reader.entries import Entry
from sitemapcrawler.reader.notes import Notes

URL = r"https?://[!$%'-.0-;=A-~]++(?:[/?#][!#-%'-;=?-~]*+(?:&amp;[!#-%'-;=?-~]*+)*+)?+"
"""Printable ASCII except `"`, `<` and `>`; `&` only as `&amp;`; before the path no `@`, which may follow a password."""
PATTERN = (
    r"<url>[ \t\n]*+"
    r"<loc>%s</loc>[ \t\n]*+"
    r"(?:<lastmod>([0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:Z|[+-][0-9]{2}:[0-9]{2}))?)</lastmod>"
    r"[ \t\n]*+)?"
    r"(?:<changefreq>(always|hourly|daily|weekly|monthly|yearly|never)</changefreq>[ \t\n]*+)?"
    r"(?:<priority>(0(?:\.[0-9]{1,4})?|1(?:\.0{1,4})?)</priority>[ \t\n]*+)?"
    r"</url>[ \t\n]*+"
)
"""One entry and the white space after it."""
ENTRY = re.compile(PATTERN % f"({URL})")
PADDED_ENTRY = re.compile(PATTERN % rf"(?=[ \t\n]|[^<]*+(?<=[ \t\n]))[ \t\n]*+({URL})[ \t\n]*+")
"""The same with white space around the URL."""

BLANKS = " \t\n"
BLANK = re.compile(r"[ \t\n]*+")


def read_plain(
    text: str,
    position: int,
    line: int,
    sitemap: str,
    records: list[Entry],
    padded: list[tuple[UrlRecord, int]],
    notes: Notes | None = None,
) -> tuple[int, int]:
    """Append consecutive plain entries from `position` on to `records`; return the position and line where they end.

    White space around entries is skipped, even if there are none. Entries with white space around their URL also go to
    `padded`, with the line of their `<loc>`. `notes`: where to keep the text of each entry; None not to.
    """
    match = ENTRY.match
    append = records.append
    start = BLANK.match(text, position).end()  # type: ignore[union-attr]  # it also matches nothing
    entry = match(text, start)
    line += text.count("\n", position, start)
    position = start
    while True:
        while entry is not None:
            loc, lastmod, changefreq, priority = entry.groups()
            if "&" in loc:
                loc = loc.replace("&amp;", "&")
            record = UrlRecord(loc, None, sitemap, line, lastmod, None, changefreq)
            if lastmod is not None:
                record.lastmod_at = utc_of_plain(lastmod)
            if priority is not None:
                record.priority = float(priority)
            append(record)
            if notes is not None:
                notes.on(record).source = entry[0]
            end = entry.end()
            line += text.count("\n", position, end)
            position = end
            entry = match(text, position)
        entry = PADDED_ENTRY.match(text, position)
        if entry is None:
            return position, line
        record = _record(sitemap, line, *entry.groups())
        append(record)
        if notes is not None:
            notes.on(record).source = entry[0]
        padded.append((record, line + text.count("\n", position, text.index("<loc>", position))))
        end = entry.end()
        line += text.count("\n", position, end)
        position = end
        entry = match(text, position)


def _record(
    sitemap: str, line: int, loc: str, lastmod: str | None, changefreq: str | None, priority: str | None
) -> UrlRecord:
    record = UrlRecord(loc.strip(BLANKS).replace("&amp;", "&"), None, sitemap, line, lastmod, None, changefreq)
    record.lastmod_at = utc_of_plain(lastmod) if lastmod else None
    record.priority = None if priority is None else float(priority)
    return record
