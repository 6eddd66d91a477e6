"""Records as columns of Apache Arrow, which Parquet files are written from. Only to be imported where pyarrow is.

The type of a column follows from the type hint of its field:

    str, int, float, bool       string, int64, double, bool
    a dataclass                 struct of its fields
    dict[str, X]                map from string to X; a plain text in its place is the map {`value`: text}
    list or sequence of X       list of X
    anything else, such as      JSON text; null where it is empty
    trees of elements

Null stays null, an empty list or map stays empty. Text is kept as it is, except that lone surrogates, which no
UTF-8 can hold, become U+FFFD. A value that its column cannot hold (text among numbers) is null.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from itertools import accumulate, chain
from operator import attrgetter
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from itemadapter import ItemAdapter

from sitemapcrawler.jsontext import JsonText
from sitemapcrawler.rows import Fields, Rows, names

pa: Any = import_module("pyarrow")  # not by name: it has no types, and those who check this package may not have it

SCALARS = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
UNFIT = (TypeError, ValueError, OverflowError)
"""What pyarrow says of a value that its column cannot hold."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}")
_json = JsonText(Rows())


@dataclasses.dataclass(frozen=True, slots=True)
class Column:
    """How the values of a field become Arrow."""

    type: Any
    """A `pyarrow.DataType`."""
    array: Callable[[Sequence[Any]], Any]
    """Makes a `pyarrow.Array` of values."""


class Columns:
    """The columns of a table of one type of record.

    `fields`: those to write, under other names where a mapping says so; None: all, in the order of their
    declaration. A field that the record type does not have is a column of nulls.
    """

    def __init__(self, record: type, fields: Fields | None = None) -> None:
        own = _columns(record)
        self._columns = {name: own.get(name) for name in names(own if fields is None else fields)}
        titles = names(list(own) if fields is None else fields)
        described = _descriptions(record)
        self.schema = pa.schema(
            [_field(titles[name], column or NULLS, described.get(name)) for name, column in self._columns.items()]
        )

    def table(self, records: Sequence[Any]) -> Any:
        """The records as a `pyarrow.Table`, one row each."""
        arrays = [
            column.array(list(map(attrgetter(name), records))) if column else pa.nulls(len(records), NULLS.type)
            for name, column in self._columns.items()
        ]
        return pa.Table.from_arrays(arrays, schema=self.schema)


def column_of(hint: Any) -> Column:
    """The column for values of a type."""
    kinds = set(get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)) - {NoneType}
    if kinds == {str, dict[str, str]}:
        return _map(dict[str, str])
    kind = kinds.pop() if len(kinds) == 1 else Any
    if kind in SCALARS:
        return _scalar(kind)
    if dataclasses.is_dataclass(kind):
        return _struct(kind)
    origin = get_origin(kind)
    if origin in (list, Sequence):
        return _list(kind)
    return _map(kind) if origin is dict else JSON
