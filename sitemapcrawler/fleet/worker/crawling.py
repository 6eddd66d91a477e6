"""One crawl of a fleet, in the process that a nursery has forked: our spider, its records as four Parquet files."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings

from sitemapcrawler.commands.running import check, quieten, run
from sitemapcrawler.extensions.logs import inert_traceback
from sitemapcrawler.fleet.records import DOMAIN, TABLES, WRITING
from sitemapcrawler.fleet.worker.link import FAULT, Link
from sitemapcrawler.items import SummaryRecord
from sitemapcrawler.spiders.sitemap import AuditSpider

LOG = "log.txt"
SUMMARY = "summary.jsonl"
"""Files beside the tables in the folder of a crawl."""
LAST = 10_000
"""Place among the downloader middlewares: behind all that may wait or answer by themselves, and before all that may put
another request in the place of an answer, which those further from the downloader never hear of."""


@dataclass(frozen=True, slots=True)
class Job:
    """What a crawl is told."""

    domain: str
    """The column `domain` of its rows, and the argument of the spider."""
    arguments: dict[str, str]
    """The other arguments of the spider."""
    settings: dict[str, tuple[Any, int]] = field(repr=False)
    """{name: (value, priority)} of the settings that are not Scrapy's own."""
    folder: str
    """Where the files go; it is there, and empty."""
    path: tuple[str, ...] = ()
    """Where the command finds modules: those of a project stand in none of the usual places."""


def crawl(connection: Connection) -> int:
    """Wait for the job and crawl; the exit code of `running.exit_code`."""
    link = Link(connection)
    job: Job = link.job()
    try:
        return _crawl(job)
    except Exception as error:  # of ours: the worker says it, and keeps the log
        with (Path(job.folder) / LOG).open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"ERROR: {inert_traceback(error)}\n")
        raise


def _crawl(job: Job) -> int:
    sys.path.extend(place for place in job.path if place not in sys.path)
    settings = settings_of(job)
    arguments = {**job.arguments, "domain": job.domain}
    process = AsyncCrawlerProcess(settings)
    quieten()
    check(settings, arguments)
    code = run(process, process.create_crawler(AuditSpider), arguments)
    return FAULT if process.bootstrap_failed else code


def settings_of(job: Job) -> Settings:
    """The settings of one crawl."""
    settings = Settings()
    for name, (value, priority) in job.settings.items():
        settings.set(name, value, priority)
    folder = Path(job.folder)
    own: dict[str, Any] = {
        "FEEDS": feeds(folder, job.domain),
        "JOBDIR": None,
        "LOG_FILE": str(folder / LOG),
        "SITEMAP_PROGRESS": False,
    }
    settings.setdict(own, "cmdline")
    settings["EXTENSIONS"]["sitemapcrawler.fleet.worker.link.Telling"] = 140
    settings["DOWNLOADER_MIDDLEWARES"]["sitemapcrawler.fleet.worker.hosts.OneCrawlAHost"] = LAST
    return settings


def feeds(folder: Path, domain: str) -> dict[str, dict[str, Any]]:
    """The FEEDS setting: the four tables, and the summary."""
    place = folder.absolute().as_uri()  # in a path, "%20" and "%(time)s" would stand for something else
    common = {"overwrite": True, "store_empty": True, "encoding": "utf-8", "fields": None}
    tables = {
        f"{place}/{table}.parquet": {
            "format": "parquet",
            "item_classes": [record],
            "item_export_kwargs": {"item_classes": [record], "constants": {DOMAIN: domain}, **WRITING},
            **common,
        }
        for table, record in TABLES.items()
    }
    return {**tables, f"{place}/{SUMMARY}": {"format": "jsonlines", "item_classes": [SummaryRecord], **common}}


def summary(folder: Path) -> dict[str, Any]:
    """The summary record of a crawl that has ended. OSError or ValueError where there is none."""
    record: dict[str, Any] = json.loads((folder / SUMMARY).read_bytes())
    return record
