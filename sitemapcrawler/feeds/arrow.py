"""Records as Apache Arrow tables, for Parquet. Requires pyarrow; imported only where it is used.

The type hint of a field determines the type of its column:

    str, int, float, bool       string, int64, double, bool
    UtcTime                     timestamp in microseconds, UTC
    a dataclass                 struct of its fields
    dict[str, X]                map from string to X; a plain string becomes the map {`value`: text}
    list or sequence of X       list of X
    anything else, such as      JSON text; null if empty
    trees of elements

Null stays null; empty lists and maps stay empty. Lone surrogates, which UTF-8 cannot encode, become U+FFFD. In a text
column, other values (a date, for instance) become text; in a numeric column, non-numbers become null; in a column of
times, what is no time does.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from itertools import accumulate, chain, pairwise
from operator import attrgetter
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import pyarrow as pa
import pyarrow.compute as pc

from sitemapcrawler.feeds.jsontext import SURROGATE, Fields, JsonText, Rows, names
from sitemapcrawler.items import SCHEMA_VERSION, UtcTime

TIME = pa.timestamp("us", "UTC")
SCALARS = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
UNFIT = (TypeError, ValueError, OverflowError)
"""What pyarrow raises for a value that its column cannot hold; a lone surrogate is a ValueError."""
NOTHING: Mapping[str, str] = MappingProxyType({})

_json = JsonText(Rows())


Values = Sequence[Any]  # Any: the hint of the field states the type


@dataclasses.dataclass(frozen=True, slots=True)
class ArrowColumn:
    """Type of a column, and the function that fills it."""

    type: pa.DataType
    array: Callable[[Values], pa.Array]


class Columns:
    """Columns of a table of records of one type.

    `fields`: fields to write; a mapping renames them; None: all, in declaration order. A field that the record type
    lacks is a column of nulls. `constants`: leading columns, and the text of all their rows.
    """

    def __init__(self, record: type, fields: Fields | None = None, constants: Mapping[str, str] = NOTHING) -> None:
        own = _columns(record)
        titles = names(list(own) if fields is None else fields)
        self._constants = list(constants.values())
        before = [pa.field(title, SCALARS[str]) for title in constants]
        after = [_field(title, own.get(name, ABSENT), record, name) for name, title in titles.items()]
        self.schema = pa.schema([*before, *after])
        self._columns = [(attrgetter(name), own[name]) if name in own else (_nothing, ABSENT) for name in titles]

    def table(self, records: Sequence[object]) -> pa.Table:
        """Convert the records to a `pyarrow.Table`, one row each."""
        arrays = [pa.repeat(pa.scalar(text, SCALARS[str]), len(records)) for text in self._constants]
        arrays += [column.array(list(map(value, records))) for value, column in self._columns]
        return pa.Table.from_arrays(arrays, schema=self.schema)


def writer(
    file: object, schema: pa.Schema, facts: Mapping[str, str] = NOTHING, **options: object
) -> Any:  # Any: no types
    """Return a `pyarrow.parquet.ParquetWriter`. The file states the version of its columns and other `facts` in its
    metadata. Raises what that class raises for its `options`."""
    made = import_module("pyarrow.parquet").ParquetWriter(file, schema, **options)
    made.add_key_value_metadata({"schema_version": str(SCHEMA_VERSION), **facts})
    return made


def column_of(hint: object) -> ArrowColumn:
    """Return the column for a type hint; see the module docstring."""
    kinds = set(get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)) - {NoneType}
    kind = kinds.pop() if len(kinds) == 1 else dict[str, str] if kinds == {str, dict[str, str]} else object
    if kind in SCALARS:
        return _scalar(SCALARS[kind])
    if kind == UtcTime:
        return TIMES
    if dataclasses.is_dataclass(kind):
        return _struct(kind)
    *key, part = get_args(kind) or (object,)
    inner = JSON if part in (Any, object) else column_of(part)  # Any: JSON, as in `Tree`
    if inner is JSON:
        return JSON
    if get_origin(kind) in (list, Sequence):
        return _list(inner)
    return _map(inner) if get_origin(kind) is dict and key == [str] else JSON


@cache
def _columns(kind: type) -> dict[str, ArrowColumn]:
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: column_of(hints[field.name]) for field in dataclasses.fields(kind)}


def _field(title: str, column: ArrowColumn, kind: type, name: str) -> pa.Field:
    """Return a field, with the attribute docstring of the dataclass field as its description."""
    description = _descriptions(kind).get(name)
    return pa.field(title, column.type, metadata={"description": description} if description else None)


def _nothing(record: object) -> None:
    """Value of a field that a record does not have."""


def _descriptions(kind: type) -> Mapping[str, str]:
    """The attribute docstrings of a dataclass, by field."""
    return _docstrings(kind.__module__).get(kind.__qualname__, NOTHING)


@cache
def _docstrings(module: str) -> dict[str, dict[str, str]]:
    """The attribute docstrings of the classes of a module, by class; none without its source. itemadapter gives the
    same, but parses the module again for each class: more than a second for the records of an audit."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except (OSError, TypeError):
        return {}
    return {node.name: dict(_attribute_docstrings(node)) for node in tree.body if isinstance(node, ast.ClassDef)}


def _attribute_docstrings(node: ast.ClassDef) -> Iterator[tuple[str, str]]:
    for attribute, text in pairwise(node.body):
        match attribute, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(description))):
                yield name, " ".join(description.split())


def _scalar(kind: object) -> ArrowColumn:
    def array(values: Values) -> pa.Array:
        try:
            return pa.array(values, kind)
        except UNFIT:
            return pa.array([_fitting(value, kind) for value in values], kind)

    return ArrowColumn(kind, array)


def _fitting(value: object, kind: object) -> object:
    if kind == pa.string() and value is not None:
        return SURROGATE.sub("\ufffd", str(value))
    try:
        return pa.scalar(value, kind).as_py()
    except UNFIT:
        return None


def _times(values: Values) -> pa.Array:
    try:
        return pc.cast(pa.array(values, pa.string()), TIME)
    except UNFIT:
        return pa.array(list(map(_time, values)), TIME)


def _time(value: object) -> datetime | None:
    """The time that a text or another value states, UTC without a zone; None if it states none."""
    try:
        found = datetime.fromisoformat(str(value))
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except UNFIT:
        return None


def _struct(kind: type) -> ArrowColumn:
    columns = _columns(kind)
    fields = [_field(name, column, kind, name) for name, column in columns.items()]

    def array(values: Values) -> pa.Array:
        nulls = [value is None for value in values]
        if all(nulls):
            return pa.nulls(len(values), pa.struct(fields))
        # None lacks all the fields, so it becomes null in each of them.
        parts = [column.array([getattr(value, name, None) for value in values]) for name, column in columns.items()]
        return pa.StructArray.from_arrays(parts, fields=fields, mask=pa.array(nulls))

    return ArrowColumn(pa.struct(fields), array)


def _list(inner: ArrowColumn) -> ArrowColumn:
    kind = pa.list_(inner.type)

    def array(values: Values) -> pa.Array:
        parts = list(chain.from_iterable(filter(None, values)))
        return pa.ListArray.from_arrays(_offsets(values), inner.array(parts), type=kind)

    return ArrowColumn(kind, array)


def _map(inner: ArrowColumn) -> ArrowColumn:
    texts = _scalar(pa.string())

    def array(values: Values) -> pa.Array:
        maps = [{"value": value} if isinstance(value, str) else value for value in values]
        held = list(filter(None, maps))
        keys = texts.array(list(chain.from_iterable(held)))
        items = inner.array([item for each in held for item in each.values()])
        return pa.MapArray.from_arrays(_offsets(maps), keys, items)

    return ArrowColumn(pa.map_(pa.string(), inner.type), array)


def _offsets(values: Values) -> pa.Array:
    """List offsets: where each list starts in the concatenated parts (null for a null list), then where the last one
    ends."""
    lengths = [len(value) if value else 0 for value in values]
    offsets: list[int | None] = list(accumulate(lengths, initial=0))
    if None in values:
        offsets[:-1] = [None if value is None else start for value, start in zip(values, offsets[:-1], strict=True)]
    return pa.array(offsets, pa.int32())


def _json_text(value: object) -> str | None:
    return _json.text(value) if value else None


TIMES = ArrowColumn(TIME, _times)
ABSENT = _scalar(pa.string())
"""ArrowColumn of a field that a record does not have."""
JSON = ArrowColumn(pa.string(), lambda values: pa.array(list(map(_json_text, values)), pa.string()))
"""ArrowColumn for values without an Arrow type, as JSON."""
