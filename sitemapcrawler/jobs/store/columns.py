"""Records as columns of DuckDB, and back: the SQL type of each field, and the SQL that writes a row as JSON.

The type of a column follows from the type hint of its field:

    str, int, float, bool       VARCHAR, BIGINT, DOUBLE, BOOLEAN
    a dataclass                 STRUCT of its fields
    list or sequence of X       list of X
    dict[str, X]                MAP from VARCHAR to X, where X is one of the first line
    anything else, such as      JSON
    trees of elements

What a row of a JSON lines feed leaves out is null here, and the other way round. So a row that went in comes out as
a line of the same value.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

SCALARS: dict[Any, str] = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}
JSON = "JSON"
MARK = "chr(1)"
"""SQL for a character that JSON text never contains: encloses the place of the items that stand in another table."""
TYPE = "type"
"""The field that names the kind of record: the name of the table says as much."""


def quoted(name: str) -> str:
    """A name as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


@cache
def columns(record: type) -> dict[str, str]:
    """{field: SQL type} of a type of record, in the order of its fields, without `type`."""
    return {name: _type(hint) for name, hint in _fields(record) if name != TYPE}


def items_of(record: type, name: str) -> type:
    """The dataclass of the items of a list field."""
    item: type = _kind(_part(_kind(dict(_fields(record))[name])))
    return item


@cache
def json_line(
    record: type, prefix: str = "", absent: frozenset[str] = frozenset(), split: frozenset[str] = frozenset()
) -> str:
    """SQL expression for the JSON of a row of a record: what a JSON lines feed writes of it. `prefix`: of the columns,
    such as `urls.`; `absent`: fields that are null in all rows, which cost time all the same; `split`: lists whose
    further items stand in another table, see `json_object`."""
    left_out = absent | {TYPE}
    names = [name for name, _ in _fields(record) if name not in left_out]
    parts = _members(record, names, prefix, split)
    default = next(field.default for field in dataclasses.fields(record) if field.name == TYPE)
    return _object([literal(f'"{TYPE}":"{default}"'), *parts])


def json_object(record: type, names: Iterable[str], prefix: str = "", split: frozenset[str] = frozenset()) -> str:
    """SQL expression for a JSON object of some fields of a record, those that are null left out. `prefix`: of the
    columns, such as `reply.`. `split`: lists of which a row with a number in the column `entry` has only the first
    items; a mark with that number follows them."""
    return _object(_members(record, names, prefix, split))


def _members(record: type, names: Iterable[str], prefix: str, split: frozenset[str]) -> list[str]:
    hints = dict(_fields(record))
    return [
        _member(name, prefix + quoted(name), hints[name], 0, _mark(name, prefix) if name in split else "")
        for name in names
    ]


def _mark(name: str, prefix: str) -> str:
    return f"coalesce({MARK} || {literal(f'{name} ')} || {prefix}entry || {MARK}, '')"


def _fields(record: type) -> list[tuple[str, Any]]:
    hints = get_type_hints(record)
    return [(field.name, hints[field.name]) for field in dataclasses.fields(record)]


def _type(hint: Any) -> str:
    kind = _kind(hint)
    if kind in SCALARS:
        return SCALARS[kind]
    if dataclasses.is_dataclass(kind):
        return f"STRUCT({', '.join(f'{quoted(name)} {_type(hint)}' for name, hint in _fields(kind))})"  # type: ignore[arg-type]  # a class
    if (part := _part(kind)) is not None:
        inner = _type(part)
        return JSON if inner == JSON else f"{inner}[]"
    return f"MAP(VARCHAR, {SCALARS[get_args(kind)[1]]})" if _is_map(kind) else JSON


def _kind(hint: Any) -> Any:
    """The type in `X | None`; None for other alternatives."""
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    kinds = tuple(kind for kind in kinds if kind is not NoneType)
    return kinds[0] if len(kinds) == 1 else None


def _part(kind: Any) -> Any:
    """The type of the parts of a list; None for what is no list."""
    return get_args(kind)[0] if get_origin(kind) in (list, Sequence) else None


def _is_map(kind: Any) -> bool:
    return get_origin(kind) is dict and get_args(kind)[0] is str and get_args(kind)[1] in SCALARS


def _member(name: str, value: str, hint: Any, depth: int, mark: str = "") -> str:
    """A member of an object; null where the value is."""
    return f"{literal(f'{quoted(name)}:')} || {_text(value, hint, depth, mark)}"


def _object(members: Sequence[str]) -> str:
    return f"'{{' || concat_ws(',', {', '.join(members)}) || '}}'"


def _text(value: str, hint: Any, depth: int, mark: str = "") -> str:
    """The JSON text of a value; null where the value is. `mark`: SQL of what follows the items of a list."""
    kind = _kind(hint)
    if dataclasses.is_dataclass(kind):
        members = [_member(name, f"{value}.{quoted(name)}", inner, depth) for name, inner in _fields(kind)]  # type: ignore[arg-type]  # a class
        return f"CASE WHEN {value} IS NOT NULL THEN {_object(members)} END"
    part = _part(kind)
    if part is not None and dataclasses.is_dataclass(_kind(part)):
        each = f"part{depth}"
        items = f"array_to_string([{_text(each, part, depth + 1)} for {each} in {value}], ',')"
        return f"'[' || {items} || {f'{mark} || ' if mark else ''}']'"
    return f"to_json({value})::VARCHAR"
