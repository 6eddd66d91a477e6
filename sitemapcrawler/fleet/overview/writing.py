"""Writes what a fleet came to: the table of its domains, and the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sitemapcrawler.fleet.overview.loading import loaded, write_domains
from sitemapcrawler.fleet.overview.model import Overview
from sitemapcrawler.fleet.overview.page import SUMMARY, page
from sitemapcrawler.fleet.overview.source import Source
from sitemapcrawler.fleet.overview.sums import sums
from sitemapcrawler.fleet.records import DomainRecord
from sitemapcrawler.report.folder import PAGE


def write_overview(source: Source, failed: Sequence[DomainRecord], folder: Path) -> Overview:
    """Write `summary.parquet` and `report.html` to a folder of this machine, which is there; what the page shows.

    Both are whole when this returns; until then, nobody should look for them there.

    `source`: the data set, which may be empty, or hold domains that are not done. `failed`: rows of domains without a
    result; those that have one after all are left out. `folder` has room for twice what all rows of domains take.
    OSError where something cannot be read or written.
    """
    with loaded(source, failed, folder) as connection:
        write_domains(connection, folder / SUMMARY)
        overview = sums(connection)
    (folder / PAGE).write_bytes(page(overview).encode("utf-8", "replace"))
    return overview
