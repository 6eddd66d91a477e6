"""The spider's arguments as JSON Schema, as web forms read it: made of what `params` says of each.

Its shape is what scrapy-spider-metadata makes of a model of Pydantic, without either: that checks arguments as well,
and ours are checked by `Params.parse()`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, fields
from functools import partial
from typing import Any

from sitemapcrawler.audit import argument_values as values
from sitemapcrawler.audit.params import ARGUMENTS, Params

TEXT = {"type": "string"}
TYPES: dict[Callable[..., object], dict[str, Any]] = {
    values.yes: {"type": "boolean"},
    values.count: {"type": "integer", "minimum": 1},
    values.seconds: {"type": "number", "exclusiveMinimum": 0},
}
"""Schemas of the values that some parsers accept; all others take a text."""
BOUNDS = {"least": "minimum", "most": "maximum", "accepted": "enum"}
"""{parameter of a parser: its name in a schema}."""


def schema() -> dict[str, Any]:
    """A schema of an object with a property for each argument. None is required: of `domain`, `sitemap` and `urls` one
    has to be given."""
    properties = {argument.metadata["name"]: _property(argument) for argument in fields(Params)}
    return {"type": "object", "title": "Arguments", "properties": properties}


def _property(argument: Field[Any]) -> dict[str, Any]:
    """A value that may be missing is also null, which is its default."""
    name, kind = argument.metadata["name"], _kind(argument.metadata["parse"])
    told = {"title": name.capitalize().replace("_", " "), "description": _description(argument)}
    if argument.default is None or argument.default == ():
        outside = {"enum": kind.pop("enum")} if "enum" in kind else {}
        return {"anyOf": [kind, {"type": "null"}], "default": None, **outside, **told}
    return {**kind, "default": _default(argument), **told}


def _kind(parse: Callable[..., object]) -> dict[str, Any]:
    bounds = parse.keywords if isinstance(parse, partial) else {}
    function = parse.func if isinstance(parse, partial) else parse
    named = {BOUNDS[name]: list(bound) if isinstance(bound, tuple) else bound for name, bound in bounds.items()}
    return {**TYPES.get(function, TEXT), **named}


def _description(argument: Field[Any]) -> str:
    """What it does; what is accepted, where the kind of value does not say it."""
    summary, accepted = argument.metadata["help"], argument.metadata["accepted"]
    sentence = f"{summary[0].upper()}{summary[1:]}."
    return sentence if argument.metadata["parse"] is values.yes else f"{sentence} Accepted: {accepted}."


def _default(argument: Field[Any]) -> object:
    if isinstance(argument.default, (bool, int)):
        return argument.default
    return next(told.default for told in ARGUMENTS if told.name == argument.metadata["name"])
