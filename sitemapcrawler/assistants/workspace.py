"""The folder that an assistant may write audits to, and the audits that run.

Nothing is read or written outside the folder. What to audit comes from an assistant, which text of a site may have
misled: so targets are sites and URLs at public addresses, and no argument names a file.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from sitemapcrawler.api import child
from sitemapcrawler.api.audits import PROGRAM
from sitemapcrawler.feeds.folder import PAGE, SUMMARY
from sitemapcrawler.urls import is_web
from sitemapcrawler.urls.display import inert

AT_ONCE = 2
"""Audits that run at once; further ones wait."""
ARGUMENTS = (
    "agents", "exclude", "follow", "ignore", "include", "links", "max_depth", "max_pages", "max_sitemaps", "max_time",
    "max_urls", "probe", "sample", "seed", "select", "since", "verify", "verify_assets", "verify_offsite",
)  # fmt: skip
"""Arguments of a crawl that name no file and no channel."""
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
"""Name of an audit: that of its folder."""
SITE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]{1,5})?")
"""A host, perhaps with a port."""
FROM_ELSEWHERE = "SITEMAP_TARGET_FROM_ELSEWHERE"
"""Setting of a crawl whose target the user has not named: it must be at a public address, and gets no login."""
RUNNING, DONE, FAILED = "running", "done", "failed"
"""States of an audit."""


@dataclass(frozen=True, slots=True)
class _Run:
    ended: Future[child.Ended]
    began: float


class Workspace:
    """Audits in a folder."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        """`folder`: exists; `settings`: those of all crawls, which the user gave at the start."""
        self.folder = folder
        self._settings = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
        self._runs: dict[str, _Run] = {}
        self._threads = ThreadPoolExecutor(AT_ONCE)

    def start(self, target: str, arguments: Mapping[str, str], baseline: str | None) -> str:
        """Start an audit of a site or URL; returns its name. `baseline`: name of an earlier one. Raises ValueError."""
        self.check_target(target)
        for name, value in arguments.items():
            if name not in ARGUMENTS:
                raise ValueError(f"argument {name}: accepted: {', '.join(ARGUMENTS)}")
            if re.search(r"(?:^|,)\s*@", value):
                raise ValueError(f"argument {name}: a list in a file is not accepted here")
        given = [part for name, value in arguments.items() for part in ("-a", f"{name}={value}")]
        before = ["--baseline", str(self.finished(baseline))] if baseline is not None else []
        name = self._new_name(target)
        command = ["audit", "--fail-on", "never", *before, *given, "--out", str(self.folder / name), "--", target]
        self._runs[name] = _Run(self._threads.submit(self.run, command), time.monotonic())
        return name

    def run(self, command: list[str]) -> child.Ended:
        """Run a command to its end, for a target that the user has not named."""
        program, *rest = command
        own = ["--no-progress", "-s", f"{FROM_ELSEWHERE}=1", *self._settings]
        folder = child.TemporaryFolder()
        try:
            return child.run(PROGRAM, ["sitemapcrawler", program, *own, *rest], folder.path)
        finally:
            folder.remove()

    def states(self) -> dict[str, str]:
        """State of each audit in the folder by its name, and of those that were started."""
        names = {path.name for path in self.folder.iterdir() if self._is_audit(path.name)} | self._runs.keys()
        return {name: self._state(name) for name in sorted(names)}

    def _state(self, name: str) -> str:
        run = self._runs.get(name)
        if run is not None and not run.ended.done():
            return RUNNING
        return DONE if self._is_audit(name) else FAILED

    def state(self, name: str) -> dict[str, object]:
        """State of an audit, with its verdict if it is done. Raises ValueError if there is no such audit."""
        run, state = self._runs.get(name), self._state(name)
        if run is not None and state == RUNNING:
            return {"audit": name, "state": state, "seconds": round(time.monotonic() - run.began)}
        if run is not None and state == FAILED:
            return {"audit": name, "state": state, "error": inert(run.ended.result().complaint, 500)}
        summary = json.loads((self.finished(name) / SUMMARY).read_bytes())
        kept = ("domains", "started", "elapsed_s", "sitemaps", "urls", "verdict", "severities", "indexability",
                "lastmod", "changes", "partial")  # fmt: skip
        return {"audit": name, "state": DONE, **{key: summary[key] for key in kept if key in summary}}

    def finished(self, name: str) -> Path:
        """Folder of a finished audit. Raises ValueError."""
        if self._state(name) == RUNNING:
            raise ValueError(f"the audit {name} is still running; audit_status says when it is done")
        if not self._is_audit(name):
            known = ", ".join(name for name, state in self.states().items() if state == DONE) or "none yet"
            raise ValueError(f"no finished audit {inert(name, 100)!r}; there are {known}")
        return self.folder / name

    def _is_audit(self, name: str) -> bool:
        """True for the name of a folder with a report; False for a link to one elsewhere."""
        folder = self.folder / name
        return bool(NAME.fullmatch(name)) and not folder.is_symlink() and (folder / PAGE).is_file()

    def check_target(self, target: str) -> None:
        """Raise ValueError for what is neither a site nor a URL, or has a password."""
        if is_web(target) and "@" in urlsplit(target).netloc:
            raise ValueError("the target contains a user name or password; no login is sent")
        if not SITE.fullmatch(target) and not is_web(target):
            raise ValueError(f"{inert(target, 200)!r}: accepted: a site such as example.com, or an http(s) URL")

    def close(self) -> None:
        """Forget audits that wait; running ones end with this process."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _new_name(self, target: str) -> str:
        host = re.sub(r"[^A-Za-z0-9.-]", "-", target.partition("://")[2].partition("/")[0] or target)[:60].strip("-.")
        number = 1
        while (name := f"{host}-{number}") in self._runs or (self.folder / name).exists():
            number += 1
        return name
