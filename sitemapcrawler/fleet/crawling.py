"""A fleet's crawl of one domain, in a process of its own. It writes its records to four Parquet files."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from scrapy.crawler import AsyncCrawlerProcess
from scrapy.settings import Settings

from sitemapcrawler.extensions.logs import inert_traceback
from sitemapcrawler.fleet.domains import DOMAIN, TABLES, WRITING
from sitemapcrawler.items import SummaryRecord
from sitemapcrawler.processes import RAISED
from sitemapcrawler.spiders.running import plan, quieten, run
from sitemapcrawler.spiders.sitemap import AuditSpider

LOG = "log.txt"
SUMMARY = "summary.jsonl"
"""Files next to the tables in a crawl's folder."""


@dataclass(frozen=True, slots=True)
class CrawlJob:
    """Parameters of one crawl."""

    domain: str
    """Column `domain` of its rows, and argument of the spider."""
    arguments: dict[str, str]
    """The spider's other arguments."""
    settings: dict[str, tuple[object, int]] = field(repr=False)
    """{name: (value, priority)} of settings that differ from Scrapy's defaults."""
    folder: str
    """Folder for the files; exists and is empty."""
    path: tuple[str, ...] = ()
    """`sys.path` of the command, to import the modules of a Scrapy project."""


def crawl(job: CrawlJob) -> int:
    """Run the job, and return its exit code."""
    try:
        return _crawl(job)
    except Exception as error:  # logged for the worker, which reports it
        with (Path(job.folder) / LOG).open("a", encoding="utf-8", errors="backslashreplace") as log:
            log.write(f"ERROR: {inert_traceback(error)}\n")
        return RAISED


def _crawl(job: CrawlJob) -> int:
    sys.path.extend(place for place in job.path if place not in sys.path)
    settings = settings_of(job)
    arguments = {**job.arguments, "domain": job.domain}
    process = AsyncCrawlerProcess(settings)
    quieten()
    planned = plan(settings, arguments)
    crawler = process.create_crawler(AuditSpider)
    code = run(process, crawler, arguments, planned)
    return RAISED if process.bootstrap_failed else code


def settings_of(job: CrawlJob) -> Settings:
    settings = Settings()
    for name, (value, priority) in job.settings.items():
        settings.set(name, value, priority)
    folder = Path(job.folder)
    own: dict[str, object] = {
        "FEEDS": feeds(folder, job.domain),
        "JOBDIR": None,
        "LOG_FILE": str(folder / LOG),
        "SITEMAP_PROGRESS": False,
    }
    settings.setdict(own, "cmdline")
    return settings


def feeds(folder: Path, domain: str) -> dict[str, dict[str, object]]:
    """FEEDS setting with the four tables and the summary."""
    place = folder.absolute().as_uri()  # in a path, Scrapy would replace "%20" and "%(time)s"
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


def summary(folder: Path) -> SummaryRecord:
    """Summary record of a finished crawl. Raises OSError or ValueError if there is none."""
    try:
        return msgspec.json.decode((folder / SUMMARY).read_bytes(), type=SummaryRecord)
    except msgspec.DecodeError as error:
        raise ValueError(str(error)) from None
