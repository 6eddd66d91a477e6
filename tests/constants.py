"""Gives constants of the package other values in a crawl that is a process of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import import_module

from scrapy.settings import BaseSettings

SETTING = "TEST_CONSTANTS"


class Constants:
    """Scrapy addon that sets the constants in `SETTING`."""

    def update_settings(self, settings: BaseSettings) -> None:
        for name, value in settings.getdict(SETTING).items():
            module, _, constant = name.rpartition(".")
            owner = import_module(f"sitemapcrawler.{module}")
            assert hasattr(owner, constant), name
            setattr(owner, constant, value)


def constants(values: Mapping[str, object]) -> dict[str, str]:
    """Settings of a crawl with other constants, such as `{"crawl.reading.BATCH_SIZE": 7}`."""
    return {"ADDONS": json.dumps({f"{__name__}.{Constants.__name__}": 0}), SETTING: json.dumps(values)}


ONE_BY_ONE = constants({"crawl.configuring.FETCH_AHEAD": 1, "crawl.walk.READ_AT_ONCE": 1})
"""Settings by which files are fetched and read one after the other."""
