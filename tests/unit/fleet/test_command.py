"""The command line of a fleet: what the pages show is accepted, what cannot work is refused in one line."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

import pytest
from scrapy.settings import Settings

from sitemapcrawler import settings as ours
from sitemapcrawler.commands.fleet import OPTIONS, Command, passed

ROOT = Path(__file__).parents[3]
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
SHOWN = sorted(
    {
        line
        for page in PAGES
        for line in re.findall(r"^    (?:scrapy|sitemapcrawler) (fleet .*)$", page.read_text(), re.M)
    }
)


def options(line: str) -> argparse.Namespace:
    """What a command line, without its first word, comes to. SystemExit where it is refused."""
    command = Command()
    command.settings = Settings()
    command.settings.setmodule(ours, "project")
    parser = argparse.ArgumentParser(conflict_handler="resolve")
    command.add_options(parser)
    read, rest = parser.parse_known_args(shlex.split(line, comments=True)[1:])
    command.process_options(rest, read)
    return read


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "domains.txt").write_text("example.com\nwww.example.com\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("line", SHOWN)
def test_what_the_pages_show_is_accepted(line: str) -> None:
    read = options(line)
    assert read.out and read.listed.domains


def test_the_pages_show_some() -> None:
    assert len(SHOWN) >= 3


def test_every_option_has_its_row() -> None:
    table = (ROOT / "docs" / "fleet.md").read_text()
    rows = dict(re.findall(r"^\| `(--[a-z-]+) [^`]*` \| *([^|]*?) *\|", table, re.M))
    assert {option.flag for option in OPTIONS} == rows.keys()
    for option in OPTIONS:
        if option.default is not None:
            assert rows[option.flag] == option.default


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("fleet a.com", "--out is missing"),
        ("fleet --out x", "no domain is named"),
        ("fleet a.com --out ''", "option --out='': is empty; accepted: a folder"),
        ("fleet a.com --out x --address ''", "option --address='': is empty; accepted: HOST:PORT"),
        ("fleet @none.txt --out x", "none.txt"),
        ("fleet a.com --out x --workers 0", "option --workers='0': invalid value; accepted: a whole number from 1"),
        ("fleet a.com --out x --workers many", "option --workers='many'"),
        ("fleet a.com --out x --per-address -1", "option --per-address='-1'"),
        ("fleet a.com --out x --max-time 0", "option --max-time='0'"),
        ("fleet a.com --out x --max-urls 0", "option --max-urls='0'"),
        ("fleet a.com --out x --per-adress 4", "option '--per-adress'"),
        ("fleet a.com --out x -a max_time=5", "argument max_time='5': not for fleet; accepted: --max-time"),
        ("fleet a.com --out x -a report=y", "argument report='y': not for fleet"),
        ("fleet a.com --out x -a verify=often", "argument verify='often': invalid value"),
        ("fleet a.com --out x -a verify", "-a takes NAME=VALUE"),
        ("fleet a.com --out x -s JOBDIR=y", "setting JOBDIR: not for fleet"),
        ("fleet a.com --out x -s RETRY_TIMES=y", "setting RETRY_TIMES='y': accepted: a whole number"),
        ("fleet a.com --out x -s SITEMAP_MAX_RATIO=9", "setting SITEMAP_MAX_RATIO='9': no longer exists: "),
        ("fleet 'a b' --out x", "'a b': not a valid host and port"),
    ],
)
def test_what_cannot_work_is_refused_in_one_line(line: str, told: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        options(line)
    error = capfd.readouterr().err
    assert ended.value.code == 2
    assert told in error
    assert error.count("\n") == 1


def test_options_of_a_file_apply_and_the_command_line_wins(folder: Path) -> None:
    config = (
        'verify = "head"\nsample = 5\nmax-urls = 7\nmax-time = 60\nfail-on = "never"\nbase-url = "https://e.com/"\n'
    )
    (folder / "sitemapcrawler.toml").write_text(config)
    read = options("fleet a.com --out x")
    assert (read.max_urls, read.max_time) == (7, 60.0)
    assert read.arguments == {"verify": "head", "sample": "5", "max_urls": "7", "max_time": "60.000"}
    read = options("fleet a.com --out x -a verify=off --max-urls 8 --max-time 3600")
    assert read.arguments == {"verify": "off", "max_urls": "8", "max_time": "3600.000"}


def test_without_a_file_the_defaults_apply() -> None:
    read = options("fleet a.com --out x")
    for option in OPTIONS:
        if option.default is not None:
            assert getattr(read, option.name) == option.value_of(option.default)
    assert read.arguments == {"max_time": "3600.000"}


def test_wrong_option_in_a_file_is_one_line(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (folder / "sitemapcrawler.toml").write_text("max-url = 3\n")
    with pytest.raises(SystemExit) as ended:
        options("fleet a.com --out x")
    problem = "sitemapcrawler: sitemapcrawler.toml: max-url: unknown key, did you mean max-urls?\n"
    assert (ended.value.code, capfd.readouterr().err) == (2, problem)


def test_settings_of_the_project_and_the_command_line_go_along() -> None:
    settings = Settings()
    settings.setmodule(ours, "project")
    settings.set("DOWNLOAD_DELAY", "7", "cmdline")
    settings.set("SITEMAP_CONTACT_URL", "https://example.com/bot", "cmdline")
    found = passed(settings)
    assert found["SITEMAP_CONTACT_URL"] == ("https://example.com/bot", 40)
    assert found["DOWNLOAD_DELAY"] == ("7", 40)
    assert found["BOT_NAME"] == ("sitemapcrawler", 20)
    assert "CONCURRENT_ITEMS" in found and "DNS_TIMEOUT" not in found
    assert type(found["ITEM_PIPELINES"][0]) is dict
