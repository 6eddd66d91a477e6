"""A fleet run by its command: output, cluster, domains, the summary; how it ended as an exit code."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections.abc import Collection
from typing import Any

from scrapy.settings import BaseSettings

from sitemapcrawler.audit.params import Params
from sitemapcrawler.commands.running import FEED_LOST, NOTHING_READ, STOPPED, complain, refuse
from sitemapcrawler.feeds.folder import PAGE
from sitemapcrawler.fleet.control.cluster import Cluster, ClusterFailed
from sitemapcrawler.fleet.control.driver import Fleet, Stop
from sitemapcrawler.fleet.output.destination import Output, OutputFailed
from sitemapcrawler.fleet.output.folders import telling
from sitemapcrawler.fleet.report.loading import Source, loaded
from sitemapcrawler.fleet.report.page import SUMMARY, write_overview
from sitemapcrawler.fleet.showing import Showing, closing_line
from sitemapcrawler.fleet.worker.task import Plan
from sitemapcrawler.words import counted

logger = logging.getLogger("sitemapcrawler")

CHATTY = ("aiobotocore", "botocore", "boto3", "s3fs", "gcsfs", "fsspec", "urllib3")
"""Loggers of libraries whose INFO tells of their own parts."""

CLAIM = "_fleet.json"
"""What a data set was made with: a run with other arguments would mix two kinds of results."""
OF_A_RUN = frozenset({"domain", "max_time"})
"""Arguments that may differ from one run to the next."""


def run(settings: BaseSettings, passed: dict[str, tuple[Any, int]], opts: argparse.Namespace) -> int:
    """Run it; the exit code."""
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        output = Output(opts.out)
        output.check()
        with output.lock():
            claim(output, opts.arguments)
            output.clean()
            return _run(output, settings, passed, opts)
    except ValueError as error:
        refuse(str(error))
    except (OutputFailed, ClusterFailed) as error:
        complain(str(error))
        return FEED_LOST


def claim(output: Output, arguments: dict[str, str]) -> None:
    """Note what the data set is made with. ValueError where it was made with something else."""
    asked = Params.parse({**arguments, "domain": "localhost"}).asks_for()
    mine = {name: text for name, text in asked.items() if name not in OF_A_RUN}
    held = output.read_bytes(CLAIM)
    if held is None:
        if output.read_bytes(PAGE) is not None:
            raise ValueError(f"--out {output.url}: has a {PAGE} that is no fleet's; accepted: another place")
        output.write_bytes(CLAIM, json.dumps({"arguments": mine}, indent=2).encode())
        return
    try:
        theirs = dict(json.loads(held)["arguments"])
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"--out {output.url}: {CLAIM} there cannot be read; accepted: another place") from None
    if theirs != mine:
        raise ValueError(
            f"--out {output.url}: holds results with {_said(theirs)}, and this would be with {_said(mine)}; "
            "accepted: the same, or another place"
        )


def _said(arguments: dict[str, str]) -> str:
    return ", ".join(f"{name}={text}" for name, text in sorted(arguments.items())) or "no arguments"


def _run(output: Output, settings: BaseSettings, passed: dict[str, tuple[Any, int]], opts: argparse.Namespace) -> int:
    began = time.monotonic()
    plan = Plan(output.url, opts.arguments, passed, opts.max_time, opts.retries, tuple(sys.path))
    stop, showing = Stop(), Showing(settings)
    if opts.listed.repeated:
        logger.info("%s named before, and left out", counted(opts.listed.repeated, "domain"))
    again = in_states(output, opts.again) if opts.again else set()
    with stop.heard():
        with Cluster(opts.address, opts.workers, opts.cpus, opts.retries) as cluster, showing.shown():
            fleet = Fleet(opts.listed.domains, output, plan, cluster, opts.per_address, stop, again)
            tally = fleet.tally
            told = f"{counted(tally.total, 'domain')}, {tally.earlier:,} of them done earlier, {cluster.room:,} at once"
            logger.info("%s, into %s", told, output.url)
            fleet.run(showing.look)
        if not stop.now and not fleet.broken:
            sum_up(output, fleet)
    logger.info("%s", closing_line(fleet, time.monotonic() - began))
    if fleet.stopped and not fleet.broken:
        logger.info("stopped before the end; the same command goes on")
    return code_of(fleet)


def in_states(output: Output, states: Collection[str]) -> set[str]:
    """Names of the domains of a data set that are in one of these states. OutputFailed."""
    query = "SELECT domain FROM results WHERE list_contains($states, state)"
    with (
        telling(f"{output.url}: the domains cannot be read"),
        output.scratch() as folder,
        loaded(source_of(output), (), folder) as connection,
    ):
        return {name for (name,) in connection.execute(query, {"states": [*states]}).fetchall()}


def source_of(output: Output) -> Source:
    """The data set, to be read: files of this machine where they are."""
    return (None, output.url) if output.is_local else output.filesystem()


def sum_up(output: Output, fleet: Fleet) -> None:
    """Write the summary and the page beside the tables. OutputFailed where they cannot be written."""
    with output.scratch() as folder:
        with telling(f"{output.url}: the summary cannot be written"):
            write_overview(source_of(output), fleet.tally.failed, folder)
        for name in (SUMMARY, PAGE):
            output.publish(folder / name, name)
            logger.info("wrote %s/%s", output.url, name)


def code_of(fleet: Fleet) -> int:
    """How a fleet ended, as an exit code."""
    if fleet.broken:
        return FEED_LOST
    if fleet.stopped:
        return STOPPED
    return NOTHING_READ if fleet.tally.failed else 0
