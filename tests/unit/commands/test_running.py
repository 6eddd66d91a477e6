"""What a command that crawls checks first, and its option on progress."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

import pytest
from scrapy.settings import Settings

from sitemapcrawler.cli import project_settings
from sitemapcrawler.commands.running import add_progress_option, apply_progress_option, check, check_settings, refuse


def settings(name: str, value: object) -> Settings:
    changed = project_settings()
    changed.set(name, value, priority="cmdline")
    return changed


@pytest.mark.parametrize("name", ["SITEMAP_STORE", "SITEMAP_PROGRESS"])
def test_switch_is_on_or_off(name: str) -> None:
    for value in (True, "False", "1", "0"):
        check_settings(settings(name, value))
    with pytest.raises(ValueError, match=f"^setting {name}='perhaps': accepted: True, False$"):
        check_settings(settings(name, "perhaps"))


def test_interval_is_a_number() -> None:
    check_settings(settings("SITEMAP_PROGRESS_INTERVAL", "0"))
    with pytest.raises(ValueError, match=r"^setting SITEMAP_PROGRESS_INTERVAL='often': accepted: a number$"):
        check_settings(settings("SITEMAP_PROGRESS_INTERVAL", "often"))


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


def test_refused_arguments_leave_no_log(tmp_path: Path) -> None:
    log = tmp_path / "crawl.log"
    with pytest.raises(ValueError, match=r"^argument verify='perhaps': "):
        check(settings("LOG_FILE", str(log)), {"domain": "e.com", "verify": "perhaps"})
    assert not log.exists()


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        (".", "Is a directory"),
        ("nosuch/crawl.log", "No such file or directory"),
        ("file/crawl.log", "Not a directory"),
        ("/proc/crawl.log", "[A-Z].*"),
    ],
)
def test_log_that_cannot_be_written(tmp_path: Path, place: str, problem: str) -> None:
    (tmp_path / "file").touch()
    path = tmp_path / place
    with pytest.raises(ValueError, match=f"^the log {path} cannot be written: {problem}$"):
        check_settings(settings("LOG_FILE", str(path)))


def test_earlier_log_stays_as_it_is(tmp_path: Path) -> None:
    log = tmp_path / "crawl.log"
    log.write_text("earlier\n")
    check_settings(settings("LOG_FILE", str(log)))
    assert log.read_text() == "earlier\n"


def test_what_is_refused_stands_in_the_log_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "crawl.log"
    log.write_text("earlier\n")
    with pytest.raises(SystemExit, match=r"^2$"):
        refuse("argument verify='é': no such choice", settings("LOG_FILE", str(log)))
    line = "argument verify='é': no such choice\n"
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
