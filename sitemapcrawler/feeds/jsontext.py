"""Records as rows, and rows as JSON: by msgspec, or by Scrapy's encoder for values that msgspec cannot encode."""

from __future__ import annotations

import codecs
import dataclasses
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
from scrapy.utils.serialize import ScrapyJSONEncoder

from sitemapcrawler.items import KEPT_WHEN_EMPTY

ESCAPES = "sitemapcrawler-json"
"""Error handler for encoding JSON: a character that the encoding lacks becomes `\\uXXXX`, a lone surrogate U+FFFD."""
SURROGATE = re.compile("[\ud800-\udfff]")
UNHOLDABLE = (UnicodeEncodeError, OverflowError)
"""What msgspec raises for a lone surrogate, and for a number of more than 64 bits."""
Fields = Mapping[str, str] | Iterable[str]
"""Fields to write, in this order: names, or {name: name in the row}."""
_SCALARS = frozenset({str, int, float, bool, NoneType})
_LISTS = (list, Sequence)
_NO_DEFAULT = object()  # equal to no value, so nothing is omitted


def _escaped(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)  # the handler is only used to encode
    return json.dumps(SURROGATE.sub("\ufffd", error.object[error.start : error.end]))[1:-1], error.end


codecs.register_error(ESCAPES, _escaped)


class JsonText:
    """Compact JSON of records (by their `rows`) and other values."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._fast = msgspec.json.Encoder(enc_hook=str)
        self._slow = ScrapyJSONEncoder(ensure_ascii=False, separators=(",", ":"))

    def lines(self, records: Sequence[object]) -> bytes:
        """Encode each record as one line of UTF-8; skip records without any of the fields."""
        rows = self._rows.make(records)
        try:
            return self._fast.encode_lines(rows)
        except UNHOLDABLE:
            return b"".join(map(self._row, rows))

    def _row(self, row: object) -> bytes:
        try:
            return self._fast.encode(row) + b"\n"
        except UNHOLDABLE:
            return self.line(msgspec.to_builtins(row, enc_hook=str))

    def line(self, value: object) -> bytes:
        """Encode any value that Scrapy can encode as one line of UTF-8."""
        text = self._slow.encode(value)
        if "NaN" in text or "Infinity" in text:  # not valid JSON: write null, as msgspec does
            text = self._slow.encode(json.loads(text, parse_constant=lambda name: None))
        return text.encode("utf-8", ESCAPES) + b"\n"

    def pretty(self, line: bytes, indent: int) -> bytes:
        """Indent a line of JSON; no newline at the end."""
        return msgspec.json.format(line, indent=indent)

    def text(self, value: object) -> str:
        """Encode a list, an object or a dataclass, without its null and empty fields."""
        return self._row(self._rows.plain(value)).decode()[:-1]


def is_record(kind: type) -> bool:
    """True for a type of record: a dataclass whose first field is `type`."""
    return dataclasses.is_dataclass(kind) and next((f.name for f in dataclasses.fields(kind)), None) == "type"


def names(fields: Fields) -> dict[str, str]:
    """Return {field: its name in the row}, in row order."""
    return dict(fields) if isinstance(fields, Mapping) else {name: name for name in fields}


class Rows:
    """Turns records into rows. `fields`: fields to write; None: all, in declaration order. `keep_empty`: also write
    null fields, empty lists, and fields that a record lacks."""

    def __init__(self, fields: Fields | None = None, keep_empty: bool = False) -> None:
        self._fields = None if fields is None else names(fields)
        self._keep_empty = keep_empty
        self._nested = self if fields is None else Rows(None, keep_empty)
        self._makers: dict[type, Callable[[Iterable[object]], list[object]]] = {}

    def make(self, records: Sequence[object]) -> list[object]:
        """Return one row per record, in order; skip records without any of the fields."""
        if len(set(map(type, records))) == 1:
            return self._maker(type(records[0]))(records)
        return [row for kind, alike in groupby(records, type) for row in self._maker(kind)(alike)]

    def plain(self, value: object) -> object:
        """Return the value with every dataclass in it replaced by a row."""
        if isinstance(value, (list, tuple)):
            kinds = set(map(type, value))
            if len(kinds) == 1 and dataclasses.is_dataclass(kind := kinds.pop()):
                return self._nested._maker(kind)(value)
            return [self.plain(part) for part in value]
        if isinstance(value, dict):
            return {key: self.plain(part) for key, part in value.items()}
        return self._nested._maker(type(value))((value,))[0] if dataclasses.is_dataclass(value) else value

    def _maker(self, kind: type) -> Callable[[Iterable[object]], list[object]]:
        maker = self._makers.get(kind)
        if maker is None:
            maker = self._makers[kind] = self._build(kind)
        return maker

    def _build(self, kind: type) -> Callable[[Iterable[object]], list[object]]:
        columns = self._columns(kind)
        if not columns:
            return lambda records: []
        default = _NO_DEFAULT if self._keep_empty else None
        struct = msgspec.defstruct(
            kind.__name__,
            [(name, Any, default) for name in columns],  # Any: msgspec checks nothing when it encodes
            rename=columns,
            omit_defaults=True,
            gc=False,
        )
        values = ", ".join(self._expressions(kind, columns))
        # Compiled, as dataclasses compile their __init__: attrgetter and map took twice as long (bench/).
        maker: Callable[[Iterable[object]], list[object]] = eval(
            f"lambda records: [row({values}) for r in records]", {"row": struct, "plain": self.plain}
        )
        return maker

    def _columns(self, kind: type) -> dict[str, str]:
        own = [field.name for field in dataclasses.fields(kind)]
        if self._fields is None:
            return names(own)
        if not any(name in own for name in self._fields):
            return {}
        return {name: key for name, key in self._fields.items() if self._keep_empty or name in own}

    def _expressions(self, kind: type, columns: Iterable[str]) -> Iterable[str]:
        own = {field.name for field in dataclasses.fields(kind)}
        hints = _hints(kind)
        for name in columns:
            if name not in own:
                yield "None"
            elif _is_scalar(hints.get(name)):
                yield f"r.{name}"
            else:
                kept = self._keep_empty or name in KEPT_WHEN_EMPTY
                value = f"r.{name}" if _is_list_of_scalars(hints.get(name)) else f"plain(r.{name})"
                yield f"{value} if r.{name} else {f'r.{name}' if kept else 'None'}"


def _hints(kind: type) -> dict[str, object]:
    try:
        return get_type_hints(kind)
    except NameError:  # a type that is imported for type checkers only
        return {}


def _is_scalar(hint: object) -> bool:
    """True for text, numbers and the like, which are written unchanged."""
    return hint is not None and _SCALARS.issuperset(_alternatives(hint))


def _is_list_of_scalars(hint: object) -> bool:
    """True for a list of scalars, or an optional one: written unchanged, without checking each part."""
    kinds = [kind for kind in _alternatives(hint) if kind is not NoneType]
    return bool(kinds) and all(get_origin(kind) in _LISTS and _SCALARS.issuperset(get_args(kind)) for kind in kinds)


def _alternatives(hint: object) -> tuple[object, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
