"""Options that commands share, and refused arguments."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest
from scrapy.settings import Settings

from sitemapcrawler.cli import project_settings
from sitemapcrawler.options.base import add_progress_option, apply_progress_option, refuse


def settings(name: str, value: object) -> Settings:
    changed = project_settings()
    changed.set(name, value, priority="cmdline")
    return changed


@pytest.mark.parametrize(
    ("options", "shown"),
    [([], True), (["--no-progress"], False), (["--pdb"], False)],
)
def test_display_is_switched_off_by_the_option_and_for_a_debugger(options: list[str], shown: bool) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pdb", action="store_true")
    add_progress_option(parser)
    given = settings("SITEMAP_PROGRESS", True)
    apply_progress_option(given, parser.parse_args(options))
    assert given.getbool("SITEMAP_PROGRESS") is shown


def test_what_is_refused_stands_in_the_log_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "crawl.log"
    log.write_text("earlier\n")
    with pytest.raises(SystemExit, match=r"^2$"):
        refuse("argument verify='é': invalid value", settings("LOG_FILE", str(log)))
    line = "argument verify='é': invalid value\n"
    assert capsys.readouterr().err == f"sitemapcrawler: {line}"
    written = log.read_text("utf-8")
    assert re.fullmatch(rf"earlier\n[-0-9]+ [:0-9]+ \[sitemapcrawler\] ERROR: {re.escape(line)}", written), written


@pytest.mark.parametrize("change", [{"LOG_FILE": "/nosuch/crawl.log"}, {"LOG_ENCODING": "none"}])
def test_what_is_refused_is_said_where_no_log_can_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: dict[str, str]
) -> None:
    given = settings("LOG_FILE", str(tmp_path / "crawl.log"))
    given.setdict(change, "cmdline")
    with pytest.raises(SystemExit, match=r"^2$"):
        refuse("no", given)
    assert capsys.readouterr().err == "sitemapcrawler: no\n"
