"""Ordinary Scrapy projects of users, as `scrapy startproject` makes them, in which spiders of ours run."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from typing import Any

from tests.crawl import forks
from tests.crawl.crawling import DEADLINE_S, Running, launch
from tests.crawl.forks import environment

FEED = "items.jsonl"
QUICK = ("-s", "DOWNLOAD_DELAY=0", "-s", "CONCURRENT_REQUESTS_PER_DOMAIN=8", "-s", "LOG_LEVEL=INFO")
"""Options that take the delays of the template away."""


@dataclass
class Done:
    """What a command left."""

    code: int
    log: str
    items: list[dict[str, Any]] = field(default_factory=list)

    def values(self, name: str) -> list[Any]:
        """One field of all items that have it."""
        return [item[name] for item in self.items if name in item]


def project(folder: Path, spiders: str, **files: str) -> Path:
    """Make a project `shop` in a folder: its spiders, and other modules of it by name. Returns the folder."""
    command = [sys.executable, "-m", "scrapy", "startproject", "shop", str(folder)]
    forks.run(command, capture_output=True, env=environment(), timeout=DEADLINE_S).check_returncode()
    (folder / "shop/spiders/pages.py").write_text(dedent(spiders))
    for name, text in files.items():
        (folder / f"shop/{name}.py").write_text(dedent(text))
    return folder


def start(folder: Path, *command: str) -> Running:
    """Start a command of Python in a folder."""
    return launch(folder, [sys.executable, *command])


def finish(running: Running, tracebacks: int = 0) -> Done:
    """Wait for the end of a command. `tracebacks`: how many its log may, and must, hold."""
    with running:
        running.process.communicate(timeout=DEADLINE_S)
    assert running.log.count("Traceback") == tracebacks, running.log
    return Done(running.process.returncode, running.log, items_of(running.folder))


def run(folder: Path, *command: str, tracebacks: int = 0) -> Done:
    """Run a command of Python in a folder to its end."""
    return finish(start(folder, *command), tracebacks)


def crawl(folder: Path, spider: str, *options: str, tracebacks: int = 0) -> Done:
    """`scrapy crawl` without delays."""
    (folder / FEED).unlink(missing_ok=True)
    return run(folder, "-m", "scrapy", "crawl", spider, *QUICK, "-O", FEED, *options, tracebacks=tracebacks)


def items_of(folder: Path) -> list[dict[str, Any]]:
    """The items of the feed; none where there is no feed."""
    path = folder / FEED
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.startswith("{")]
