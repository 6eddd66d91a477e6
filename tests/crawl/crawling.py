"""Real crawls in a process of their own, as a user starts them, but without delays."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from tests.crawl import forks
from tests.crawl.forks import environment

ROOT = Path(__file__).parents[2]
FEED = "records.jsonl"
"""The feed of a crawl whose options name none."""
LOG = "log.txt"
JUDGEMENTS = ("finding", "robots")
DEADLINE_S = 300
"""Seconds after which a crawl is taken to hang."""
SOON_S = 60
"""Seconds within which a crawl ends that waits for nothing, on a busy machine too. An answer that does not come takes three
times as long (DOWNLOAD_TIMEOUT)."""
POLL_S = 0.02
SHOWN = 300
"""Characters of the log before a traceback that a failing test shows, and a tenth of those after."""
NO_DELAYS = {"AUTOTHROTTLE_ENABLED": "0", "DOWNLOAD_DELAY": "0"}
AT_HOME = {"SITEMAP_MAX_ROBOTS": 0}
"""Settings that ask nothing of hosts that only a sitemap names: no test leaves this machine."""
LOOPBACK = {"SITEMAP_ALLOW_NETWORKS": "127.0.0.0/8"}
"""Settings that let a crawl go to every server of a test."""


def options(settings: Mapping[str, object]) -> list[str]:
    """Settings as words of a command."""
    return [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]


SETTINGS = options({**NO_DELAYS, **AT_HOME})
"""Words for every command that crawls."""


@dataclass
class Crawl:
    """What a crawl left."""

    code: int
    log: str
    """Standard error."""
    output: str
    """Standard output."""
    folder: Path
    seconds: float
    records: list[dict[str, Any]] = field(default_factory=list)
    """Of `FEED`, in order."""

    def of_type(self, name: str) -> list[dict[str, Any]]:
        """The records of one type."""
        return [record for record in self.records if record["type"] == name]

    @property
    def types(self) -> list[str]:
        """The types of the records in order, but for what rules and robots.txt add to any crawl."""
        return types(self.records)

    @property
    def sitemaps(self) -> dict[str, dict[str, Any]]:
        """The sitemap records by URL, of which each has one."""
        records = self.of_type("sitemap")
        by_url = {record["sitemap"]: record for record in records}
        assert len(by_url) == len(records), [record["sitemap"] for record in records]
        return by_url

    @property
    def summary(self) -> dict[str, Any]:
        """The last record."""
        assert [record["type"] for record in self.records].count("summary") == 1
        assert self.records[-1]["type"] == "summary"
        return self.records[-1]

    def locs(self, sitemap: str | None = None) -> list[str]:
        """The pages that were listed, by one sitemap or by all, in order."""
        return [record["loc"] for record in self.of_type("url") if sitemap in (None, record["sitemap"])]


@dataclass
class Running:
    """A crawl that has been started; as a context manager it is killed at the end, if it still runs."""

    process: subprocess.Popen[str]
    folder: Path
    started: float

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()

    @property
    def seconds(self) -> float:
        """Seconds since its start."""
        return time.monotonic() - self.started

    @property
    def log(self) -> str:
        """What it has written to standard error."""
        return (self.folder / LOG).read_text("utf-8", "replace")

    def finish(self) -> Crawl:
        """Wait for its end and read what it left. A traceback in its log fails the test, whatever it is about."""
        with self:
            try:
                output, _ = self.process.communicate(timeout=DEADLINE_S)
            except subprocess.TimeoutExpired:
                raise AssertionError(f"it hangs\n{self.log}") from None
        seconds, log = self.seconds, self.log
        assert "Traceback" not in log, log[max(0, log.index("Traceback") - SHOWN) :][: 10 * SHOWN]
        return Crawl(self.process.returncode, log, output, self.folder, seconds, read_feed(self.folder / FEED))

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Return when the condition holds; fails where the crawl ends before that."""
        while True:
            code = self.process.poll()  # first: what the crawl writes as it ends counts
            if condition():
                return
            assert code is None, self.log
            assert self.seconds < DEADLINE_S, f"it hangs\n{self.log}"
            time.sleep(POLL_S)


def types(records: Iterable[Mapping[str, Any]]) -> list[str]:
    """The types of records in order, judgements left out: most tests are about facts."""
    return [record["type"] for record in records if record["type"] not in JUDGEMENTS]


def read_feed(path: Path) -> list[dict[str, Any]]:
    """The records of a JSON lines feed, every line of which must be whole; none of a feed that is not there."""
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def program(*words: str) -> list[str]:
    """What starts a command of the package."""
    return [sys.executable, "-m", "sitemapcrawler.cli", *words]


def run(folder: Path | None, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the package to its end; its output and its log are pipes. There is never a traceback."""
    done = forks.run(
        program(*words),
        cwd=folder,
        env=environment() | variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=DEADLINE_S,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def command(*feeds: str, settings: Mapping[str, object] | None = None, **arguments: Any) -> list[str]:
    """What starts a crawl; parameters as for `start`."""
    chosen = {**NO_DELAYS, **AT_HOME, **(settings or {})}
    words = program("crawl", "sitemap", *(feeds or ("-O", FEED)), *options(chosen))
    return words + [part for name, value in arguments.items() for part in ("-a", f"{name}={value}")]


def start(
    folder: Path,
    *options: str,
    settings: Mapping[str, object] | None = None,
    within: Sequence[str] = (),
    **arguments: Any,
) -> Running:
    """Start a crawl in a folder. `arguments` are the spider's, `options` the command's: `-O records.jsonl` without.
    `within`: a command that runs the crawl, such as one that mounts a file system first."""
    return launch(folder, [*within, *command(*options, settings=settings, **arguments)])


def launch(folder: Path, argv: Sequence[str], group: bool = False) -> Running:
    """Start a program in a folder, where its log goes too. `group`: as the first of a process group of its own, to
    which a test can send what a terminal sends to all of a command."""
    with (folder / LOG).open("wb") as log:
        process = forks.start(
            argv,
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            process_group=0 if group else None,
        )
    return Running(process, folder, time.monotonic())


def crawl(folder: Path, *options: str, settings: Mapping[str, object] | None = None, **arguments: Any) -> Crawl:
    """Run a crawl to its end; parameters as for `start`."""
    return start(folder, *options, settings=settings, **arguments).finish()
