"""A real Scrapyd on a free port of this machine, asked as the documentation says: with `curl`."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sysconfig
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

from tests.crawl import programs
from tests.ports import reserved_port

ROOT = Path(__file__).parents[2]
DEPLOYED = ("README.md", "bench", "demo", "pyproject.toml", "scrapy.cfg", "setup.py", "sitemapcrawler", "tests")
"""What of a checkout lies beside the package when it is deployed."""
URL = "http://127.0.0.1:6800"
"""Where the documentation, and `scrapy.cfg`, have Scrapyd."""
PROJECT, SPIDER = "sitemapcrawler", "sitemap"
DEADLINE_S = 180
POLL_S = 0.05
OPTIONS = {
    "bind_address": "127.0.0.1",
    "items_dir": "items",
    "jobs_to_keep": 500,
    "max_proc": 4,
    "poll_interval": 0.1,
}
ENDED = re.compile(r"Process (finished|died: exitstatus=(?P<code>\d+|None)).* job='(?P<job>[^']*)'")
"""Scrapyd's own line on the end of a job."""
_OPENER = build_opener(ProxyHandler({}))


class Scrapyd:
    """A server in a folder that is listening at `url`."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes], url: str) -> None:
        self.folder, self.url = folder, url
        self._process = process

    @property
    def log(self) -> str:
        """What the server has said of itself."""
        return (self.folder / "scrapyd.log").read_text("utf-8")

    def curl(self, command: str) -> dict[str, Any]:
        """The answer to a command of the documentation, in which the server has its usual place."""
        program, address, *rest = shlex.split(command)
        options, data = rest[::2], rest[1::2]
        assert program == "curl" and set(options) <= {"-d", "--data-urlencode"}, command
        body = [text if option == "-d" else encoded(text) for option, text in zip(options, data, strict=True)]
        return self._answer(address.removeprefix(f"{URL}/"), "&".join(body))

    def ask(self, what: str, *data: str) -> dict[str, Any]:
        """The answer to a request, posted where it has data, NAME=VALUE."""
        return self._answer(what, "&".join(map(encoded, data)))

    def _answer(self, what: str, body: str) -> dict[str, Any]:
        with _OPENER.open(f"{self.url}/{what}", body.encode() or None, timeout=DEADLINE_S) as answer:
            told: dict[str, Any] = json.load(answer)
        return told

    def schedule(self, job: str, *data: str, settings: Mapping[str, object] | None = None, **arguments: str) -> None:
        """Start a job of this name."""
        given = [f"{name}={value}" for name, value in arguments.items()]
        given += [f"setting={name}={value}" for name, value in (settings or {}).items()]
        told = self.ask("schedule.json", f"project={PROJECT}", f"spider={SPIDER}", f"jobid={job}", *data, *given)
        assert (told["status"], told.get("jobid")) == ("ok", job), told

    def cancel(self, job: str, *data: str) -> None:
        """Ask a job that runs to end."""
        told = self.ask("cancel.json", f"project={PROJECT}", f"job={job}", *data)
        assert told["prevstate"] == "running", told

    def codes(self, job: str) -> list[int]:
        """The exit codes of a job, once for each time it has run; -1 where a signal has ended it."""
        return [
            int((end["code"] or "0").replace("None", "-1")) for end in ENDED.finditer(self.log) if end["job"] == job
        ]

    def wait_for(self, job: str, times: int = 1) -> int:
        """Return when a job has ended so many times: its last exit code. The list of jobs agrees."""
        self.wait_until(lambda: len(self.codes(job)) >= times)
        jobs = self.ask(f"listjobs.json?project={PROJECT}")
        assert job in [finished["id"] for finished in jobs["finished"]]
        return self.codes(job)[-1]

    def wait_until(self, condition: Callable[[], bool]) -> None:
        """Return when the condition holds."""
        deadline = time.monotonic() + DEADLINE_S
        while not condition():
            assert time.monotonic() < deadline and self._process.poll() is None, self.log
            time.sleep(POLL_S)

    def job_log(self, job: str) -> str:
        """The log of a job; empty before its first line."""
        path = self.folder / f"logs/{PROJECT}/{SPIDER}/{job}.log"
        return path.read_text("utf-8") if path.exists() else ""

    def items(self, job: str) -> Path:
        """Where the items of a job are."""
        return self.folder / f"items/{PROJECT}/{SPIDER}/{job}.jl"

    def end_jobs(self) -> None:
        """Leave no process behind: a server that ends lets its jobs run on."""
        while jobs := [job for state in ("pending", "running") for job in self.ask("listjobs.json")[state]]:
            for job in jobs:
                self.ask("cancel.json", f"project={PROJECT}", f"job={job['id']}", "signal=KILL")
            time.sleep(POLL_S)


def encoded(text: str) -> str:
    """NAME=VALUE as a form has it."""
    name, _, value = text.partition("=")
    return urlencode({name: value})


@contextmanager
def serving(folder: Path, **options: object) -> Iterator[Scrapyd]:
    """A server in a folder, with options besides `OPTIONS`; it ends with the block, and so do its jobs."""
    folder.mkdir(exist_ok=True)
    with reserved_port() as port:  # Scrapyd takes 0 for none at all
        chosen = {**OPTIONS, "http_port": port, **options}
        lines = [f"{name} = {value}" for name, value in chosen.items()]
        (folder / "scrapyd.conf").write_text("\n".join(["[scrapyd]", *lines, ""]), "utf-8")
        with (folder / "scrapyd.log").open("wb") as log:
            process = subprocess.Popen([script("scrapyd")], cwd=folder, env=environment(folder), stdout=log, stderr=log)
        server = Scrapyd(folder, process, f"http://127.0.0.1:{port}")
        try:
            server.wait_until(lambda: f"Site starting on {port}" in server.log)
            yield server
            server.end_jobs()
        finally:
            process.terminate()
            process.wait(DEADLINE_S)


def environment(folder: Path) -> dict[str, str]:
    """Without this checkout: what jobs run comes from the egg. Where pkg_resources would unpack eggs is in the folder."""
    own = {
        "PYTHON_EGG_CACHE": str(folder / "unpacked"),
        "PYTHONWARNINGS": "ignore:pkg_resources is deprecated",  # which Scrapyd 1.6 imports
    }
    return programs.environment(folder, folder / "nowhere") | own


def script(name: str) -> str:
    """A program that was installed with this interpreter."""
    return os.path.join(sysconfig.get_path("scripts"), name)  # noqa: PTH118 - a word of a command


def checkout(folder: Path, url: str) -> Path:
    """A copy of what is deployed, whose target is at `url`."""
    left_out = shutil.ignore_patterns("__pycache__", "data", "*.egg-info", "build")
    for name in DEPLOYED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=left_out)
        else:
            folder.mkdir(exist_ok=True)
            shutil.copy(source, folder)
    config = (folder / "scrapy.cfg").read_text("utf-8")
    assert config.count(f"{URL}/") == 1
    (folder / "scrapy.cfg").write_text(config.replace(URL, url), "utf-8")
    return folder


def deploy(project: Path, command: str) -> dict[str, Any]:
    """Run `scrapyd-deploy` in a checkout; what the server answered."""
    program, *options = shlex.split(command)
    done = subprocess.run(
        [script(program), *options],
        cwd=project,
        env=environment(project),
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told
