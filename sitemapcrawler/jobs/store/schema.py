"""Tables of a job's database. docs/formats.md documents those meant for users."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Union, get_args, get_origin, get_type_hints

from sitemapcrawler.items import (
    AnswerRecord,
    ChangeRecord,
    FindingRecord,
    PageRecord,
    RenderedRecord,
    RobotsRecord,
    SitemapRecord,
    UrlRecord,
    UtcTime,
)
from sitemapcrawler.rules.facts.sites import CARRIED, CURRENT

RECORDS: dict[str, type] = {
    "sitemaps": SitemapRecord,
    "urls": UrlRecord,
    CARRIED: UrlRecord,
    "findings": FindingRecord,
    "robots": RobotsRecord,
    "pages": PageRecord,
    "answers": AnswerRecord,
    "rendered": RenderedRecord,
    "changes": ChangeRecord,
}
"""Tables that hold records. Their columns are the fields of the record."""
WHOLE_SITE = "whole_site"
"""Column of findings: true if they concern more than one file, else null."""

TIME = "TIMESTAMP"
"""SQL type of a time: microseconds, in UTC. TIMESTAMPTZ would be shown in the zone of whoever asks, and Python's client
needed a further package to return it before DuckDB 2."""
REPLIES = {
    "url": "VARCHAR",
    "method": "VARCHAR",
    "asked_at": TIME,
    "status": "INTEGER",
    "failure": "VARCHAR",
    "why": "VARCHAR",
    "attempts": "INTEGER",
    "elapsed_ms": "INTEGER",
    "soft_404": "VARCHAR",
    "step": "JSON",
}
"""One row per request for a listed URL, redirect, canonical or asset. `step` is the complete `replies.chase.Step`."""
LINKS = {
    "linking": {
        "page": "UBIGINT",
        "url": "VARCHAR",
        "part": "INTEGER",
        "followed": "UBIGINT[]",
        "nofollow": "UBIGINT[]",
        "offsite": "INTEGER",
        "complete": "BOOLEAN",
        "canonical": "UBIGINT",
        "moved": "UBIGINT",
    },
    "linked": {"page": "UBIGINT", "url": "VARCHAR"},
    "found": {
        "page": "UBIGINT",
        "url": "VARCHAR",
        "found_by": "VARCHAR",
        "kind": "VARCHAR",
        "reason": "VARCHAR",
        "status": "INTEGER",
        "final_status": "INTEGER",
        "final_url": "VARCHAR",
        "redirects": "STRUCT(status BIGINT, url VARCHAR)[]",
        "indexable": "BOOLEAN",
        "indexability": "VARCHAR",
        "modified": "VARCHAR",
    },
}
"""Tables of the link graph (`jobs.links`), in which a page is a number. `linking`: a page that was read, with the pages
it links to, in parts of some links each; or a redirect, with its target in `moved`. `linked`: the URL of each target,
perhaps repeated. `found`: pages that were requested because a page links to them, a list has them, or the canonical or
the redirect of a listed page leads to them; perhaps repeated, and perhaps listed."""
COVERAGE = {
    "compared": {
        "page": "UBIGINT",
        "url": "VARCHAR",
        "lists": "UBIGINT",
        "rows": "BIGINT",
        "listed": "BOOLEAN",
    },
    "compared_lists": {"number": "UTINYINT", "name": "VARCHAR", "since": TIME, "until": TIME},
    "uncompared": {"loc": "VARCHAR"},
    "fetched_files": {
        "sitemap": "VARCHAR",
        "crawler": "VARCHAR",
        "listed": "BIGINT",
        "fetched": "BIGINT",
        "errors": "BIGINT",
        "last": TIME,
        "requests": "BIGINT",
        "requested_at": TIME,
    },
    "fetched_problems": {
        "kind": "VARCHAR",
        "crawler": "VARCHAR",
        "loc": "VARCHAR",
        "status": "INTEGER",
        "last": TIME,
        "verified": "BOOLEAN",
        "number": "BIGINT",
    },
    "index_statuses": {
        "loc": "VARCHAR",
        "verdict": "VARCHAR",
        "reason": "VARCHAR",
        "canonical": "VARCHAR",
        "last_crawl": TIME,
        "indexed": "BOOLEAN",
        "other": "BOOLEAN",
    },
}
"""Tables of the lists to compare with (`jobs.coverage`). `compared`: their pages on the site; bit n of `lists` is set
for those in the list with number n. `uncompared`: listed pages that are in none of the lists. Of access logs
(`jobs.crawler_logs`), `fetched_files`: pages of a sitemap that a crawler requested, the last time, and its requests for
the file itself; `fetched_problems`: URLs that it requested although they are denied, or with an error as answer.
`index_statuses` (`jobs.index_status`): what Google says of listed URLs; `other` is true if its canonical is another
URL."""
CONTENTS = {
    "url": "VARCHAR",
    "version": "UTINYINT",
    "content_hash": "UHUGEINT",
    "simhash": "UBIGINT",
    "first_seen": TIME,
    "last_seen": TIME,
    "changed_after": TIME,
    "changed_at": TIME,
}
"""One row per page whose content this job, its baseline or a crawl before them has read (`jobs.content_history`)."""
OTHERS = {
    "contents": CONTENTS,
    "replies": REPLIES,
    "job": {"name": "VARCHAR", "value": "JSON"},
    "files": {"sitemap": "VARCHAR", "run": "INTEGER", "digest": "VARCHAR", "tally": "JSON"},
    "children": {"sitemap": "VARCHAR", "loc": "VARCHAR", "lastmod_at": TIME},
    "policies": {"origin": "VARCHAR", "asked_at": TIME, "answer": "JSON"},
    **LINKS,
    **COVERAGE,
}
"""Tables without records, which a job needs to resume."""
VIEWS = {
    "alternates": "SELECT sitemap, line, loc, alternate.hreflang AS hreflang, alternate.href AS href FROM "
    f"(SELECT sitemap, line, loc, unnest(alternates) AS alternate FROM urls WHERE {CURRENT})",
}


def tables() -> dict[str, dict[str, str]]:
    """{table: {column: SQL type}}."""
    added = {"findings": {WHOLE_SITE: "BOOLEAN"}}
    return {name: columns(record) | added.get(name, {}) for name, record in RECORDS.items()} | OTHERS


def statements() -> list[str]:
    """SQL statements that create all tables and views."""
    made = [
        f"CREATE TABLE {name} ({', '.join(f'{quoted(column)} {kind}' for column, kind in held.items())})"
        for name, held in tables().items()
    ]
    return made + [f"CREATE VIEW {name} AS {query}" for name, query in VIEWS.items()]


SCALARS: dict[object, str] = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN", UtcTime: TIME}
JSON = "JSON"
TYPE = "type"
"""Field with the kind of record, which the table's name implies."""


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


LINES = "SELECT unnest(string_split(?, chr(range::INTEGER))) AS line FROM range(10, 11)"
"""SQL for the lines of a text, its parameter. If the separator came from no table, DuckDB would split the text while it
plans the query, which takes twice the time."""


def iso(time: str) -> str:
    """SQL for a time as text, as `reader.dates.iso` writes it."""
    whole = f"microsecond({time}) % 1000000 = 0"
    return f"CASE WHEN {whole} THEN strftime({time}, '%xT%XZ') ELSE strftime({time}, '%xT%X.%fZ') END"


@cache
def columns(record: type) -> dict[str, str]:
    """{field: SQL type} of a record class in field order, without `type`."""
    return {name: _type(hint) for name, hint in _fields(record) if name != TYPE}


@cache
def json_line(record: type, prefix: str = "", absent: frozenset[str] = frozenset()) -> str:
    """SQL expression for a record's row as JSON, as in a JSON lines feed. `prefix`: of the columns, such as `urls.`;
    `absent`: fields that are null in all rows, left out to save time."""
    left_out = absent | {TYPE}
    names = [name for name, _ in _fields(record) if name not in left_out]
    parts = _members(record, names, prefix)
    default = next(field.default for field in dataclasses.fields(record) if field.name == TYPE)
    return _object([literal(f'"{TYPE}":"{default}"'), *parts])


def json_object(record: type, names: Iterable[str], prefix: str = "") -> str:
    """SQL expression for a JSON object with some fields of a record, without null ones. `prefix`: of the columns, such
    as `reply.`."""
    return _object(_members(record, names, prefix))


def _members(record: type, names: Iterable[str], prefix: str) -> list[str]:
    hints = dict(_fields(record))
    return [_member(name, prefix + quoted(name), hints[name], 0) for name in names]


def _fields(record: type) -> list[tuple[str, object]]:
    hints = get_type_hints(record, include_extras=True)
    return [(field.name, hints[field.name]) for field in dataclasses.fields(record)]


def _type(hint: object) -> str:
    kind = _kind(hint)
    if kind in SCALARS:
        return SCALARS[kind]
    if dataclasses.is_dataclass(kind):
        return f"STRUCT({', '.join(f'{quoted(name)} {_type(hint)}' for name, hint in _fields(kind))})"
    if (part := _part(kind)) is not None:
        inner = _type(part)
        return JSON if inner == JSON else f"{inner}[]"
    return f"MAP(VARCHAR, {SCALARS[get_args(kind)[1]]})" if _is_map(kind) else JSON


def _kind(hint: object) -> type | None:
    """The type in `X | None`; None for other unions."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kinds = tuple(kind for kind in kinds if kind is not NoneType)
    return kinds[0] if len(kinds) == 1 else None


def _part(kind: object) -> object:
    """Type of a list's items; None if the type is not a list."""
    return get_args(kind)[0] if get_origin(kind) in (list, Sequence) else None


def _is_map(kind: object) -> bool:
    return get_origin(kind) is dict and get_args(kind)[0] is str and get_args(kind)[1] in SCALARS


def _member(name: str, value: str, hint: object, depth: int) -> str:
    """SQL for a member of an object; null if the value is."""
    return f"{literal(f'{quoted(name)}:')} || {_text(value, hint, depth)}"


def _object(members: Sequence[str]) -> str:
    return f"'{{' || concat_ws(',', {', '.join(members) or repr('')}) || '}}'"


def _text(value: str, hint: object, depth: int) -> str:
    """SQL for the JSON text of a value; null if the value is."""
    kind = _kind(hint)
    if kind == UtcTime:
        return f"'\"' || {iso(value)} || '\"'"
    if dataclasses.is_dataclass(kind):
        members = [_member(name, f"{value}.{quoted(name)}", inner, depth) for name, inner in _fields(kind)]
        return f"CASE WHEN {value} IS NOT NULL THEN {_object(members)} END"
    part = _part(kind)
    if part is not None and dataclasses.is_dataclass(_kind(part)):
        each = f"part{depth}"
        items = f"array_to_string([{_text(each, part, depth + 1)} for {each} in {value}], ',')"
        return f"'[' || {items} || ']'"
    return f"to_json({value})::VARCHAR"
