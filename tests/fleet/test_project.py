"""A fleet from a project of somebody's own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.crawl.forks import environment
from tests.fleet.fleets import Data, sites

pytestmark = pytest.mark.slow

SETTINGS = """
from sitemapcrawler.settings import *
DOWNLOADER_MIDDLEWARES = {**DOWNLOADER_MIDDLEWARES, "mine.marking.Marking": 50}
AUTOTHROTTLE_ENABLED = False
"""
MARKING = """
class Marking:
    def process_request(self, request):
        request.headers["X-Mine"] = "yes"
"""


def test_its_settings_and_its_modules_reach_the_crawls(tmp_path: Path) -> None:
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = mine.settings\n")
    package, below = tmp_path / "mine", tmp_path / "below"
    package.mkdir()
    below.mkdir()
    for name, text in (("__init__", ""), ("settings", SETTINGS), ("marking", MARKING)):
        (package / f"{name}.py").write_text(text)
    with sites(1) as (site,):
        command = [sys.executable, "-m", "scrapy", "fleet", site.url(), "--out", "out", "--workers", "1"]
        done = subprocess.run(command, cwd=below, env=environment(), capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert {exchange.headers.get("x-mine") for exchange in site.exchanges} == {"yes"}
    assert Data(below / "out").domains()[site.url()]["state"] == "finished"
