"""Zyte Scrapy Cloud: detects it, adapts the settings, and describes the arguments for its web forms.

`start-crawl` of scrapinghub-entrypoint-scrapy (`sh_scrapy`) starts the jobs and makes their settings. This module reads
the settings; it imports nothing from that package.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from sitemapcrawler.crawl.params import ARGUMENTS, Params

THEIR_STORAGE = "sh_scrapy.extension.HubstorageExtension"
"""Extension that writes each item to the job's item storage; `sh_scrapy.settings` adds it to EXTENSIONS_BASE."""
OUR_STORAGE = "sitemapcrawler.feeds.item_storage.ItemStorage"
SCRATCH = "jobdata-"
"""Prefix of the temporary folder that `sh_scrapy.settings` sets as JOBDIR of every job."""
NOT_GIVEN = ("", "None")
"""Values of arguments that were not given: an empty field, and null."""


def runs_there(settings: BaseSettings) -> bool:
    """True if items go to the item storage of Scrapy Cloud.

    Tested by its extension, not by environment variables: a program that a job starts inherits those.
    """
    extensions = settings.getwithbase("EXTENSIONS")
    return any(extensions.get(storage) is not None for storage in (THEIR_STORAGE, OUR_STORAGE))


def adapt(settings: BaseSettings) -> None:
    """Adapt the settings to Scrapy Cloud; no effect elsewhere or when repeated.

    Sends single records unless SITEMAP_ITEMS says otherwise, replaces the extension that stores items with ours, and
    removes the temporary JOBDIR.
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
    """True for the temporary folder that Scrapy Cloud gives every job and deletes with it."""
    path = Path(folder or "")
    return path.name.startswith(SCRATCH) and path.parent == Path(tempfile.gettempdir())


def without_empty(arguments: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in arguments.items() if value.strip() not in NOT_GIVEN}


def schema() -> dict[str, object]:
    """The spider's arguments as JSON Schema for web forms, as scrapy-spider-metadata normalizes that of a model.
    No property is required, although a crawl needs `domain`, `sitemap` or `urls`."""
    form = Params.model_json_schema()
    for name, told in form["properties"].items():
        argument, (kind, *_) = ARGUMENTS[name], told.get("anyOf", [told])
        if kind["type"] != "boolean":
            told["description"] += f" Accepted: {argument.accepted}."
        if "const" in kind:
            told["enum"] = [kind.pop("const")]  # where the forms look for choices
        if isinstance(argument.default, tuple):
            told["default"] = argument.default_text
    return form
