"""The table of all URLs in the report page, for its script `explorer.js`: a query, and what packs its rows.

Every column is a list of distinct values and a list of numbers, one for each row, that point into it. `sql` makes its
values from the feed of URLs. Values longer than `MAX_LINK` are cut, and their URLs are not links. The JSON of all
columns is compressed. The page holds it in base64, which is inert in HTML. Values are untrusted input.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

import msgspec

from sitemapcrawler.jobs.coverage import FOLDER
from sitemapcrawler.report.model import MAX_ENTRIES, Entries
from sitemapcrawler.report.wording import MAX_LINK
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.facts.sites import CURRENT
from sitemapcrawler.urls.display import inert


def _of_this_crawl(sql: str) -> str:
    """Null for removed URLs, whose rows are those of the baseline."""
    return f"CASE WHEN {CURRENT} THEN {sql} END"


COLUMNS: Mapping[str, str] = {
    "loc": "loc",
    "indexability": _of_this_crawl("indexability"),
    "status": _of_this_crawl("coalesce(reply.status::VARCHAR, nullif(reply.kind, 'unchecked'))"),
    "problem": _of_this_crawl("issues"),
    "target": _of_this_crawl("coalesce(target.url, nullif(reply.final_url, loc))"),
    "sitemap": "sitemap",
    "line": "line",
    "host": "coalesce(regexp_extract(loc, '^https?://([^/?#]+)', 1), '')",
    "segment": "segment",
    "folder": FOLDER.format(url="loc"),
    "lastmod": "strftime(lastmod_at, '%Y-%m-%d')",
    "month": "strftime(lastmod_at, '%Y-%m')",
    "denied": _of_this_crawl("blocked_for"),
    "google": _of_this_crawl("coalesce(google.reason, google.verdict)"),
    "change": "change",
}
"""SQL for each column of the table, by name. It holds for the job's database and for a feed of URLs in Parquet."""
KIND = ("indexability", "status", "problem", "denied", "google", "change")
"""Columns whose values together are the kind of an entry."""
ALL = f"SELECT {', '.join(COLUMNS.values())} FROM urls {{sample}} ORDER BY loc, sitemap, line"
SAMPLE = f"""
    SEMI JOIN (
        SELECT row FROM (SELECT rowid AS row, hash({", ".join(COLUMNS[name] for name in KIND)}) AS kind FROM urls)
        ORDER BY row_number() OVER (PARTITION BY kind ORDER BY hash(row), row), row LIMIT {{most}}) s
    ON s.row = urls.rowid"""
"""SQL: as many entries of each kind as there is room for."""


def entries(site: SiteFacts) -> dict[str, object]:
    """The table of all URLs."""
    [(total,)] = site.query("SELECT count(*) FROM urls")
    most = min(total, MAX_ENTRIES)
    while most:
        packer = Packer(COLUMNS)
        for row in site.query(ALL.format(sample=SAMPLE.format(most=most) if most < total else "")):
            packer.add(row)
            if packer.characters > MAX_CHARACTERS:
                break
        else:
            packed = packer.packed()
            if len(packed) <= MAX_PACKED:
                return {"entries": Entries(packed, packer.rows, total)}
        most //= 2  # very long URLs
    return {}


MAX_PACKED = 8_000_000
"""Maximum size of a packed table in bytes, 10.7 million in base64. With everything else, the page then stays below
15 MB."""
MAX_CHARACTERS = 100_000_000
"""Maximum length of the distinct values of a table, some 500 characters for each of 200,000 rows. More take much memory
and rarely fit into `MAX_PACKED`."""
LEVEL = 6
"""Level of compression: 9 takes four times as long and saves 3 %."""
RAW = -15
"""Window bits of zlib for DEFLATE without header and checksum, as `DecompressionStream("deflate-raw")` reads it."""
AT_ONCE = 10_000
"""Values that are encoded at once."""

Value = str | int | Sequence[str] | None
"""A text, a number, several texts or nothing."""


class Packer:
    """Collects rows and packs them."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        """`columns`: SQL by name, in the order of the values of a row."""
        self._columns = {name: _Column(sql) for name, sql in columns.items()}
        self.rows = 0
        self.characters = 0
        """Length of the distinct values of all columns."""

    def add(self, row: Sequence[Value]) -> None:
        """Add a row."""
        for column, value in zip(self._columns.values(), row, strict=True):
            self.characters += column.add(value)
        self.rows += 1

    def packed(self) -> bytes:
        """Return the packed table: raw DEFLATE."""
        deflate = zlib.compressobj(LEVEL, wbits=RAW)
        pieces = [deflate.compress(piece) for piece in self._json()]
        return b"".join([*pieces, deflate.flush()])

    def _json(self) -> Iterator[bytes]:
        yield b"{"
        for number, (name, column) in enumerate(self._columns.items()):
            yield b"," * (number > 0) + msgspec.json.encode(name)
            yield b':{"sql":' + msgspec.json.encode(column.sql) + b',"codes":'
            yield from _list(column.codes)
            yield b',"values":'
            yield from _list(map(_inert, column.numbers))
            yield b"}"
        yield b"}"


class _Column:
    """A column of a table: its distinct values with their numbers, and the number of each row."""

    def __init__(self, sql: str) -> None:
        self.sql = sql
        self.numbers: dict[Value, int] = {}
        self.codes = array("L")

    def add(self, value: Value) -> int:
        """Add the value of a row. Returns its length in characters; 0 for a known one."""
        key, known = tuple(value) if isinstance(value, list) else value, len(self.numbers)
        number = self.numbers.setdefault(key, known)
        self.codes.append(number)
        return _length(key) if number == known else 0


def _list(items: Iterable[object]) -> Iterator[bytes]:
    """JSON of a list, in pieces."""
    rest, start = iter(items), b"["
    while some := list(islice(rest, AT_ONCE)):
        yield start + msgspec.json.encode(some)[1:-1]
        start = b","
    yield b"]" if start == b"," else b"[]"


def _length(value: Value) -> int:
    if isinstance(value, str):
        return len(value)
    return sum(map(len, value)) if isinstance(value, tuple) else 0


def _inert(value: Value) -> Value:
    if isinstance(value, str):
        return inert(value, MAX_LINK)
    return [inert(one, MAX_LINK) for one in value] if isinstance(value, tuple) else value
