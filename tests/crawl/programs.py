"""The programs that the documentation names, as those of this interpreter."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.crawl import forks
from tests.crawl.crawling import ROOT

MODULES = {"python": "", "scrapy": "-m scrapy", "sitemapcrawler": "-m sitemapcrawler.cli"}
OF_SHELL = re.compile(r"[|;&<>$#\n]")
DEADLINE_S = 120
NOT_INHERITED = ("COV", "MAKE", "MFLAGS", "SCRAPY_", "DOMAIN", "ARGS", "PORT")
"""Beginnings of variables that would change what the commands do, or measure a copy's coverage."""


def write_programs(folder: Path) -> None:
    """Put scripts into a folder that start this interpreter under each name."""
    folder.mkdir(parents=True)
    for name, module in MODULES.items():
        write_program(folder / name, f'exec {shlex.quote(sys.executable)} {module} "$@"')


def write_program(path: Path, script: str) -> None:
    """Write a shell script that can be run."""
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def environment(programs: Path, package: Path) -> dict[str, str]:
    """The environment in which these programs come first, and the package is found in a folder; no proxy."""
    kept = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
    kept = {name: value for name, value in kept.items() if not name.startswith(NOT_INHERITED)}
    path = os.pathsep.join([str(programs), os.environ.get("PATH", os.defpath)])
    return kept | {"PATH": path, "PYTHONPATH": str(package)}


def run_shown(command: str, folder: Path, programs: Path, package: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a command of the documentation in a folder, by a shell where it needs one; parameters as for `environment`."""
    name, _, rest = command.partition(" ")
    argv = ["sh", "-c", command]
    if MODULES.get(name) and not OF_SHELL.search(command):
        argv = [sys.executable, *MODULES[name].split(), *shlex.split(rest)]  # forked: it starts in no time
    return forks.run(
        argv,
        cwd=folder,
        env=environment(programs, package),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
    )
