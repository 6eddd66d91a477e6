"""Repaired sitemaps, as `fix` writes them: none has an error, and each entry is kept or has a row that says why not."""

from __future__ import annotations

import tempfile
from pathlib import Path

from fuzz.inputs import in_time
from tests.unit.repair import repairing

SEEDS = ("tests/data/bad/*", "tests/data/good/*.xml", "tests/data/hard/*", "tests/data/pitfalls/*.xml")
DICTIONARY = "xml.dict"


def check(data: bytes) -> None:
    """Repair the input as the only sitemap of a site, and read what was written."""
    with tempfile.TemporaryDirectory() as folder, in_time():
        repairing.check(repairing.repair(Path(folder), data))
