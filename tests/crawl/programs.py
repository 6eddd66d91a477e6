"""The programs that the documentation names, as those of this interpreter."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

MODULES = {"python": "", "scrapy": "-m scrapy", "sitemapcrawler": "-m sitemapcrawler.cli"}
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
