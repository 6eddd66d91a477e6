"""Runs a fleet for the command: claims the output, crawls, writes the summary and returns the exit code."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from scrapy.settings import BaseSettings

from sitemapcrawler.crawl.params import Params, Use
from sitemapcrawler.feeds.folder import PAGE
from sitemapcrawler.fleet.cluster import ClusterFailed, RayCluster
from sitemapcrawler.fleet.dashboard import FleetDisplay, closing_line
from sitemapcrawler.fleet.domains import FAILED
from sitemapcrawler.fleet.driver import Fleet, FleetStop
from sitemapcrawler.fleet.output import Output, OutputFailed, failing_as, output_at
from sitemapcrawler.fleet.overview import loaded
from sitemapcrawler.fleet.summary_page import SUMMARY, write_overview
from sitemapcrawler.fleet.task import FleetPlan
from sitemapcrawler.items import SCHEMA_VERSION
from sitemapcrawler.spiders.running import FEED_LOST, NOTHING_READ, STOPPED
from sitemapcrawler.urls.display import counted

logger = logging.getLogger("sitemapcrawler")

CHATTY = ("aiobotocore", "botocore", "boto3", "s3fs", "gcsfs", "fsspec", "urllib3")
"""Libraries that log their internals at level INFO."""

FAILURES = (OutputFailed, ClusterFailed)
"""Errors raised if the output cannot be written or the cluster is gone."""
ADVICE = "run the same command to resume"
CLAIM = "_fleet.json"
"""File with the version of a data set's tables, and its arguments. Runs with others are refused, so that results stay
comparable."""
VERSION = "schema_version"
"""Name of the version there."""


def run(settings: BaseSettings, passed: dict[str, tuple[object, int]], opts: argparse.Namespace) -> int:
    """Run a fleet and return its exit code. Raises ValueError or one of `FAILURES`, one line each."""
    for name in CHATTY:
        logging.getLogger(name).setLevel(logging.WARNING)
    output = output_at(opts.out)
    output.check()
    with output.lock():
        claim(output, opts.arguments)
        output.clean()
        return _run(output, settings, passed, opts)


def claim(output: Output, arguments: dict[str, str]) -> None:
    """Record the version and the arguments in the data set. Raises ValueError if it was made with others."""
    mine = Params.parse({**arguments, "domain": "localhost"}).asks_for(Use.RUN | Use.TARGET)
    claimed = output.read_bytes(CLAIM)
    if claimed is None:
        if output.read_bytes(PAGE) is not None:
            raise ValueError(f"--out {output.url}: has a {PAGE} that no fleet wrote; accepted: another place")
        output.write_bytes(CLAIM, json.dumps({VERSION: SCHEMA_VERSION, "arguments": mine}, indent=2).encode())
        return
    try:
        found = json.loads(claimed)
        theirs, version = dict(found["arguments"]), found.get(VERSION, "6 or earlier")
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"--out {output.url}: {CLAIM} there cannot be read; accepted: another place") from None
    if version != SCHEMA_VERSION:
        raise ValueError(
            f"--out {output.url}: its tables are of version {version}, and this is version {SCHEMA_VERSION}; "
            "accepted: the sitemapcrawler that wrote them, or another place"
        )
    if theirs != mine:
        raise ValueError(
            f"--out {output.url}: holds results with {_worded(theirs)}, and this would be with {_worded(mine)}; "
            "accepted: the same, or another place"
        )


def _worded(arguments: dict[str, str]) -> str:
    return ", ".join(f"{name}={text}" for name, text in sorted(arguments.items())) or "no arguments"


def _run(
    output: Output, settings: BaseSettings, passed: dict[str, tuple[object, int]], opts: argparse.Namespace
) -> int:
    began = time.monotonic()
    plan = FleetPlan(output.url, opts.arguments, passed, opts.max_time, opts.retries, tuple(sys.path))
    stop, showing = FleetStop(), FleetDisplay(settings)
    if opts.listed.repeated:
        logger.info("%s named before, and left out", counted(opts.listed.repeated, "domain"))
    again = in_states(output, opts.again) if opts.again else set()
    fleet = Fleet(opts.listed.domains, output, plan, opts.per_address, stop, again)
    domains = f"{counted(fleet.counts.total, 'domain')}, {fleet.counts.earlier:,} of them done earlier"
    with stop.handling_signals():
        try:
            if not fleet.is_done:
                if opts.address is None:
                    logger.info("starting Ray, which takes some 20 s")
                with RayCluster(opts.address, opts.workers, opts.cpus) as cluster, showing.display():
                    logger.info("%s, %s at once, into %s", domains, f"{cluster.room:,}", output.url)
                    with resumable():
                        fleet.run(cluster, showing.update)
        except ClusterFailed:
            if not stop.now:  # a signal to the whole group, or to all processes of a unit, ends Ray's too
                raise
        if not stop.now and not fleet.broken:
            with resumable():
                results = sum_up(output, fleet, Params.parse({**opts.arguments, "domain": "localhost"}).judges)
            if (lacking := fleet.counts.done - results) > 0:
                lost = f"{output.url} lacks the results of {counted(lacking, 'domain')}"
                raise OutputFailed(f"{lost}: name a place that all machines of the cluster see")
    logger.info("%s", closing_line(fleet, time.monotonic() - began))
    if fleet.stopped:
        logger.info("stopped before the end; %s", ADVICE)
    return code_of(fleet)


@contextmanager
def resumable() -> Iterator[None]:
    """Say after failures of a fleet that has begun that it can be resumed."""
    try:
        yield
    except FAILURES as error:
        raise type(error)(f"{error}; {ADVICE}") from None


def in_states(output: Output, states: Collection[str]) -> set[str]:
    """Names of the domains in these states, from an existing data set. Raises OutputFailed."""
    query = "SELECT domain FROM results WHERE list_contains($states, state)"
    with (
        failing_as(f"{output.url}: the domains cannot be read"),
        output.scratch() as folder,
        loaded(output, (), folder) as connection,
    ):
        return {name for (name,) in connection.execute(query, {"states": [*states]}).fetchall()}


def sum_up(output: Output, fleet: Fleet, judged: bool) -> int:
    """Write the summary and the HTML page next to the tables; return the number of results in them. `judged`: False if
    no rules were applied. Raises OutputFailed."""
    with output.scratch() as folder:
        with failing_as(f"{output.url}: the summary cannot be written"):
            overview = write_overview(output, fleet.counts.failed, folder, judged)
        for name in (SUMMARY, PAGE):
            output.publish(folder / name, name)
            logger.info("wrote %s/%s", output.url, name)
    return sum(overview.states.values()) - overview.states.get(FAILED, 0)


def code_of(fleet: Fleet) -> int:
    if fleet.broken:
        return FEED_LOST
    if fleet.stopped:
        return STOPPED
    return NOTHING_READ if fleet.counts.failed else 0
