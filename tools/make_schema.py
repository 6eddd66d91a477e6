"""Writes docs/records.schema.json from the record types and their docstrings: python tools/make_schema.py

The schema describes a row of a JSON feed with all its fields. Feeds omit null fields and empty lists, so only fields
that are always written are required; null stays allowed, for feeds with `export_empty_fields`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from itemadapter import ItemAdapter

from sitemapcrawler import items

TARGET = Path(__file__).resolve().parent.parent / "docs" / "records.schema.json"


def document() -> str:
    """Return the text of the schema file."""
    records = {record: _record(record) for record in get_args(items.Record)}
    names = {record: schema["properties"]["type"]["const"] for record, schema in records.items()}
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A row of a feed",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in names.values()],
        "$defs": {names[record]: schema for record, schema in records.items()},
    }
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _record(record: type) -> dict[str, Any]:
    schema = _tidied(ItemAdapter.get_json_schema(record))
    hints = get_type_hints(record, include_extras=True)
    times = {
        name: {**schema["properties"][name], "format": "date-time"}
        for name, hint in hints.items()
        if items.UtcTime in (hint, *get_args(hint))
    }
    (type_field,) = (field for field in dataclasses.fields(record) if field.name == "type")
    of_type = {"const": type_field.default, "description": schema["properties"]["type"]["description"]}
    return {
        "description": " ".join((record.__doc__ or "").split()),
        **schema,
        "properties": {**schema["properties"], **times, "type": of_type},
        "required": [field.name for field in dataclasses.fields(record) if _is_always_written(hints[field.name])],
    }


def _is_always_written(hint: Any) -> bool:
    origin = get_origin(hint)
    is_container = isinstance(origin, type) and issubclass(origin, (Sequence, Mapping))
    return not is_container and NoneType not in get_args(hint)


def _tidied(schema: Any) -> Any:
    """Remove defaults (of the classes, not of the rows), and put descriptions on one line."""
    if isinstance(schema, list):
        return [_tidied(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    properties = {name: _tidied(part) for name, part in schema.get("properties", {}).items()}
    tidied = {key: _tidied(part) for key, part in schema.items() if key not in ("default", "properties")}
    if isinstance(schema.get("description"), str):
        tidied["description"] = " ".join(schema["description"].split())
    return {**tidied, "properties": properties} if properties else tidied


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
