"""Knowledge is apart from Scrapy: each pure module, imported on its own, brings neither Scrapy nor Twisted along.

They do no I/O either, but for `store`, whose purpose it is: it writes a file by way of DuckDB, which the crawl may wait
for in a thread of its own.
"""

from __future__ import annotations

import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import sitemapcrawler
from sitemapcrawler import namespaces, overview, page, reader, reply, report, robots, rules, schemas, store, urllists

ROOT = Path(__file__).parents[2]
SINGLE = (
    "addresses",
    "discovery",
    "element",
    "estimate",
    "filejudging",
    "findings",
    "fleet.control",
    "fleet.domains",
    "fleet.leases",
    "fleet.pace",
    "fleet.records",
    "fleet.schedule",
    "fleet.view",
    "frequent",
    "frontier",
    "gauge",
    "argument_schema",
    "argument_values",
    "items",
    "pace",
    "params",
    "progress_facts",
    "progress_rows",
    "progress_text",
    "quoting",
    "sampling",
    "selection",
    "sitemapfile",
    "sites",
    "userinfo",
    "soft404",
    "source",
    "targets",
    "trust",
    "uri",
    "urls",
    "words",
)
"""Pure modules that are no package."""
PACKAGES = (reader, namespaces, overview, page, reply, report, robots, rules, schemas, store, urllists)
FORBIDDEN = ("scrapy", "twisted")
IMPORT = f"""
import importlib, sys
importlib.import_module(sys.argv[1])
print(*(name for name in {FORBIDDEN} if name in sys.modules))
"""


def modules() -> list[str]:
    """Every pure module, also those added later to a pure package."""
    names = [f"sitemapcrawler.{name}" for name in SINGLE]
    for package in PACKAGES:
        names += [
            package.__name__,
            *(info.name for info in pkgutil.walk_packages(package.__path__, package.__name__ + ".")),
        ]
    return names


def imported_by(module: str) -> list[str]:
    """Which of the forbidden packages a fresh interpreter holds after importing a module."""
    command = [sys.executable, "-c", IMPORT, module]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("module", modules())
def test_pure_module_imports_no_scrapy(module: str) -> None:
    assert imported_by(module) == []


def test_check_notices_an_impure_module() -> None:
    assert imported_by("sitemapcrawler.spiders.sitemap") == list(FORBIDDEN)


def test_every_module_of_the_pure_packages_is_checked() -> None:
    folder = Path(sitemapcrawler.__path__[0])
    names = [package.__name__.rpartition(".")[2] for package in PACKAGES]
    files = [path for name in names for path in (folder / name).glob("*.py")]
    assert len(files) == len(modules()) - len(SINGLE)
