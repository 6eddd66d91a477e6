"""Zyte Scrapy Cloud: detects it, adapts the settings, and describes the arguments for its web forms.

Its jobs are started by `start-crawl` of scrapinghub-entrypoint-scrapy (`sh_scrapy`), which makes the settings. Here
they are looked at, and nothing of that package is imported.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from functools import partial
from pathlib import Path
from typing import Any

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from sitemapcrawler.audit import argument_values as values
from sitemapcrawler.audit.params import Argument, Params

THEIR_STORAGE = "sh_scrapy.extension.HubstorageExtension"
"""Writes each item to the item storage of the job; `sh_scrapy.settings` puts it into EXTENSIONS_BASE."""
OUR_STORAGE = "sitemapcrawler.feeds.item_storage.ItemStorage"
SCRATCH = "jobdata-"
"""Beginning of the temporary folder that `sh_scrapy.settings` makes the JOBDIR of every job."""
NOT_GIVEN = ("", "None")
"""What an argument without a value arrives as: of a field left empty, and of a null."""


def runs_there(settings: BaseSettings) -> bool:
    """True where items go to the item storage of Scrapy Cloud.

    The extension says so, and no variable of the environment: a program that a job starts has those too.
    """
    extensions = settings.getwithbase("EXTENSIONS")
    return any(extensions.get(storage) is not None for storage in (THEIR_STORAGE, OUR_STORAGE))


def adapt(settings: BaseSettings) -> None:
    """Adapt the settings to Scrapy Cloud. Idempotent; elsewhere nothing changes.

    Items are single records, unless a setting says otherwise. Ours takes the place of the extension that writes them.
    Its temporary JOBDIR is removed.
    """
    if not runs_there(settings):
        return
    if settings["SITEMAP_ITEMS"] == "auto":
        settings.set("SITEMAP_ITEMS", "records", (settings.getpriority("SITEMAP_ITEMS") or 0) + 1)
    for setting in ("EXTENSIONS_BASE", "EXTENSIONS"):
        extensions = settings.getdict(setting)
        if THEIR_STORAGE in extensions:
            order = extensions.pop(THEIR_STORAGE)
            above = max(settings.getpriority(setting) or 0, SETTINGS_PRIORITIES["spider"])
            settings.set(setting, {**extensions, OUR_STORAGE: order}, above)
    if is_scratch(settings.get("JOBDIR")):
        settings.set("JOBDIR", None, SETTINGS_PRIORITIES["cmdline"] + 1)


def is_scratch(folder: str | None) -> bool:
    """True for the folder that every job is given, which is gone with it."""
    path = Path(folder or "")
    return path.name.startswith(SCRATCH) and path.parent == Path(tempfile.gettempdir())


def without_empty(arguments: Mapping[str, str]) -> dict[str, str]:
    """The arguments that have a value."""
    return {name: value for name, value in arguments.items() if value.strip() not in NOT_GIVEN}


TYPES: dict[Callable[..., object], dict[str, Any]] = {
    values.yes: {"type": "boolean"},
    values.count: {"type": "integer", "minimum": 1},
    values.seconds: {"type": "number", "exclusiveMinimum": 0},
}
"""Schemas of the values that some parsers accept; all others accept a text."""
BOUNDS = {"least": "minimum", "most": "maximum", "accepted": "enum"}
"""{parameter of a parser: its name in a schema}."""


def schema() -> dict[str, Any]:
    """The spider's arguments as JSON Schema for web forms, in the shape that scrapy-spider-metadata gives a Pydantic
    model. None is required: `domain`, `sitemap` or `urls` has to be given."""
    properties = {field.metadata["argument"].name: _property(field) for field in fields(Params)}
    return {"type": "object", "title": "Arguments", "properties": properties}


def _property(field: Field[Any]) -> dict[str, Any]:
    """A value that may be missing is also null, which is its default."""
    argument: Argument = field.metadata["argument"]
    description = f"{argument.help[0].upper()}{argument.help[1:]}."
    if argument.parse is not values.yes:
        description += f" Accepted: {argument.accepted}."
    texts = {"title": argument.name.capitalize().replace("_", " "), "description": description}
    bounds: dict[str, Any] = argument.parse.keywords if isinstance(argument.parse, partial) else {}
    parse = argument.parse.func if isinstance(argument.parse, partial) else argument.parse
    kind = dict(TYPES.get(parse, {"type": "string"}))
    kind |= {BOUNDS[name]: list(bound) if isinstance(bound, tuple) else bound for name, bound in bounds.items()}
    if field.default is None or field.default == ():
        outside = {"enum": kind.pop("enum")} if "enum" in kind else {}
        return {"anyOf": [kind, {"type": "null"}], "default": None, **outside, **texts}
    return {**kind, "default": field.default if isinstance(field.default, (bool, int)) else argument.default, **texts}
