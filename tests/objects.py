"""What the objects of url records are as rows of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

FLAT = frozenset(("publication", "restriction", "platform", "uploader"))
"""Objects in an object, whose parts are fields of its row."""


def as_row(kind: type, url: Mapping[str, Any], one: Mapping[str, Any]) -> dict[str, Any]:
    """The row for an object of a url record; both as JSON."""
    own = {"image_loc" if name == "loc" else name: value for name, value in one.items() if name not in FLAT}
    parts = {
        name if part == "value" else f"{name}_{part}": text
        for name in FLAT & one.keys()
        for part, text in one[name].items()
    }
    place = {name: url[name] for name in ("loc", "sitemap", "line") if name in url}
    names = {field.name for field in fields(kind)}
    return {"type": kind().type, **own, **{name: text for name, text in parts.items() if name in names}, **place}
