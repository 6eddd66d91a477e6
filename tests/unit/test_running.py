"""What a command that crawls checks first, and its option on progress."""

from __future__ import annotations

import argparse

import pytest
from scrapy.settings import Settings

from sitemapcrawler.cli import project_settings
from sitemapcrawler.running import add_progress_option, apply_progress_option, check_settings


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
