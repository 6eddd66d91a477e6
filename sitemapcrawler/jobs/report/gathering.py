"""Fills the model of the report from the database of a crawl that has ended, one part of it after the other."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import Any

import duckdb

from sitemapcrawler.items import SummaryRecord
from sitemapcrawler.jobs.report import entries, findings, places
from sitemapcrawler.jobs.store.errors import in_words
from sitemapcrawler.report.model import Report
from sitemapcrawler.rules.facts.site import SiteFacts

logger = logging.getLogger(__name__)

Part = Callable[[SiteFacts], dict[str, Any]]
"""Gives some fields of the report."""


def parts(summary: SummaryRecord) -> dict[str, Part]:
    """What fills the report, by the field that tells whether it is there; what needs most time comes last."""
    asked = {"statuses": entries.statuses, "bad": entries.bad} if summary.replies else {}
    return {
        "rules": partial(findings.rules, counts=summary.rules),
        "files": findings.files,
        "robots": places.robots,
        **asked,
        "months": entries.months,
        "changes": entries.changes,
        "changed": entries.changed,
        "changed_fields": entries.changed_fields,
        "languages": places.languages,
    }


def gather(
    connection: duckdb.DuckDBPyConnection,
    summary: SummaryRecord,
    agents: Sequence[str] = (),
    feeds: Sequence[str] = (),
    late: Callable[[], bool] = lambda: False,
    known: Mapping[str, Any] = MappingProxyType({}),
) -> Report:
    """The report on the crawl in a database, which may be one that was opened for reading.

    `agents`: crawlers that robots.txt was judged for; `feeds`: names of the files beside the page; `late`: true once
    no time is left, and what is asked then may be interrupted; `known`: fields that were filled before. A part for
    which there is neither time nor room, or that fails, is left out, and named so.
    """
    site = SiteFacts(connection)
    found = dict(known)
    left_out = []
    for name, part in parts(summary).items():
        try:
            if name in found:
                continue
            if not late():
                found |= part(site)
                continue
        except duckdb.InterruptException:
            pass
        except (duckdb.Error, OSError) as error:
            logger.warning("the report has no %s: %s", name, in_words(error))
        except Exception:
            logger.exception("the report has no %s: internal error", name)
        left_out.append(name)
    return Report(summary, judged_agents=agents, feeds=feeds, left_out=left_out, **found)
