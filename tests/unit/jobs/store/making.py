"""Records of every type, made by chance from the types of their fields, and the lines that feeds write of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import UTC
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st

from sitemapcrawler.feeds.jsontext import JsonText, Rows
from sitemapcrawler.items import UtcTime
from sitemapcrawler.namespaces.element import Tree
from sitemapcrawler.reader.dates import iso

WHOLE = st.characters(exclude_categories=["Cs"])
ANY = st.characters(exclude_categories=[])
"""Halves of surrogate pairs included."""
LARGEST = 2**63 - 1
"""The largest number of a BIGINT."""
JSON = JsonText(Rows())


def lines(records: Sequence[Any]) -> bytes:
    """Records as a JSON lines feed has them."""
    return JSON.lines(records) if records else b""


def of(record: type, characters: st.SearchStrategy[str] = WHOLE) -> st.SearchStrategy[Any]:
    """Records of a type with any values; `characters` of its texts."""
    hints = get_type_hints(record, include_extras=True)
    made = {field.name: _of(hints[field.name], characters) for field in dataclasses.fields(record) if field.init}
    return st.builds(record, **made)


def _of(hint: Any, characters: st.SearchStrategy[str]) -> st.SearchStrategy[Any]:
    if hint == Tree:
        return _trees(characters)
    if get_origin(hint) in (Union, UnionType):
        return st.one_of(*(_of(kind, characters) for kind in get_args(hint)))
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return of(hint, characters)
    if get_origin(hint) in (list, Sequence):
        return st.lists(_of(get_args(hint)[0], characters), max_size=3)
    if get_origin(hint) is dict:
        return st.dictionaries(st.text(characters, max_size=3), _of(get_args(hint)[1], characters), max_size=3)
    return _scalars(characters)[hint]


def _scalars(characters: st.SearchStrategy[str]) -> dict[Any, st.SearchStrategy[Any]]:
    return {
        str: st.text(characters, max_size=5),
        int: st.integers(-LARGEST, LARGEST),
        float: st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
        UtcTime: st.datetimes(timezones=st.just(UTC)).map(iso),
        NoneType: st.none(),
    }


def _trees(characters: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Any]]:
    text = st.text(characters, max_size=5)
    leaf = st.fixed_dictionaries({"name": text, "value": text})
    named = {"name": text, "attributes": st.dictionaries(text, text, max_size=2)}
    return leaf | st.fixed_dictionaries({**named, "children": st.lists(text | leaf, max_size=2)})
