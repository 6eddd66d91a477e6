"""Scrapy Cloud on this machine, as far as it goes without an account: the egg that shub builds, jobs that its entry
point starts from that egg, and the pipe on which these tell what they find."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Thread
from typing import Any, Self

from tests.crawl.crawling import AT_HOME, DEADLINE_S, NO_DELAYS, ROOT
from tests.crawl.forks import environment

BUILT = (
    "sitemapcrawler", "pyproject.toml", "setup.py", "scrapy.cfg", "README.md", "scrapinghub.yml", "requirements.txt",
)  # fmt: skip
"""What a deploy reads."""
BUILDING = """\
from shub.config import load_shub_config
from shub.deploy import cli
target = load_shub_config().get_target_conf("12345")
print(target.project_id, target.stack, target.requirements_file)
cli()
"""
"""`shub deploy`, without the look for a newer shub that `shub` begins with."""
COMMANDS = {"ITM": "items", "LOG": "log", "REQ": "requests", "STA": "stats", "FIN": "outcome"}
"""What the lines of the pipe tell."""


def build(folder: Path) -> tuple[Path, str]:
    """The egg that `shub deploy 12345` would send, and what else it would tell the server."""
    project, egg = folder / "project", folder / "sitemapcrawler.egg"
    project.mkdir()
    for name in BUILT:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, project / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, project / name)
    own = {"HOME": str(folder), "SHUB_GLOBAL_CONFIG": str(folder / "shub.yml"), "SHUB_APIKEY": "0"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BUILDING, "12345", "--build-egg", str(egg)],
        cwd=project,
        env={**environment(), **own},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0, done.stderr
    return egg, done.stdout


def variables(egg: Path, folder: Path) -> dict[str, str]:
    """The environment of a job: the package only in the egg, and its settings named, as the server does."""
    path = [str(egg), *(part for part in environment()["PYTHONPATH"].split(os.pathsep) if Path(part) != ROOT)]
    own = {"PYTHONPATH": os.pathsep.join(path), "SCRAPY_SETTINGS_MODULE": "sitemapcrawler.settings"}
    return {**environment(), **own, "TMPDIR": str(folder)}


def run(name: str, egg: Path, folder: Path) -> str:
    """What one of the other entry points prints."""
    done = subprocess.run(
        [str(Path(sys.executable).with_name(name))],
        cwd=folder,
        env=variables(egg, folder),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass
class CloudJob:
    """A job, and what it has told so far; as a context manager it is killed at the end, if it still runs."""

    folder: Path
    items: list[dict[str, Any]] = field(default_factory=list)
    log: list[dict[str, Any]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    stats: list[dict[str, Any]] = field(default_factory=list)
    outcome: list[dict[str, Any]] = field(default_factory=list)

    def start(self, egg: Path, settings: dict[str, Any], arguments: dict[str, Any]) -> Self:
        """Start it, with settings and arguments in JSON, as the API takes them."""
        self.folder.mkdir()
        self._pipe = self.folder / "pipe"
        self._told = Condition()
        os.mkfifo(self._pipe)
        self._reader = Thread(target=self._read)
        self._reader.start()
        job = {"key": "12345/1/2", "auth": "secret", "spider": "sitemap", "spider_args": arguments}
        # By Linux's account of it the memory of a process begins with that of the one that started it: pytest's.
        chosen = {"job_settings": {**NO_DELAYS, **AT_HOME, "MEMUSAGE_ENABLED": False, **settings}}
        told = {"SHUB_JOB_DATA": job, "SHUB_SETTINGS": chosen}
        self.process = subprocess.Popen(
            [str(Path(sys.executable).with_name("start-crawl"))],
            cwd=self.folder,
            env={
                **variables(egg, self.folder),
                **{name: json.dumps(value) for name, value in told.items()},
                "SHUB_FIFO_PATH": str(self._pipe),
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()
        with suppress(OSError):  # nobody reads any more, unless the job has never written
            os.close(os.open(self._pipe, os.O_WRONLY | os.O_NONBLOCK))
        self._reader.join()

    def finish(self) -> int:
        """Wait for its end; its exit code. What it says beside the pipe, or a traceback, fails the test."""
        with self:
            output, _ = self.process.communicate(timeout=DEADLINE_S)
        assert output == ""
        assert [line["message"] for line in self.log if "Traceback" in line["message"]] == []
        return self.process.returncode

    def wait_for_items(self, count: int) -> None:
        """Return when it has told of so many items."""
        with self._told:
            came = self._told.wait_for(lambda: len(self.items) >= count, DEADLINE_S)
        assert came, self.log

    def messages(self, level: int) -> list[str]:
        """The messages of a level or above (`logging`)."""
        return [line["message"] for line in self.log if line["level"] >= level]

    def of_type(self, name: str) -> list[dict[str, Any]]:
        """The items of one type of record."""
        return [item for item in self.items if item["type"] == name]

    def _read(self) -> None:
        with self._pipe.open("rb") as pipe:
            for line in pipe:
                command, _, payload = line.partition(b" ")
                with self._told:
                    getattr(self, COMMANDS[command.decode()]).append(json.loads(payload))
                    self._told.notify_all()
