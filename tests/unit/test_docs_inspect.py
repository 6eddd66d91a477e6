"""docs/commands.md names what `inspect` has, and nothing else."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from scrapy.settings import Settings

from sitemapcrawler.commands.inspect import PASSED, Command, json_row
from sitemapcrawler.terminal.inspect import screen
from sitemapcrawler.terminal.inspect.document import document
from sitemapcrawler.terminal.inspect.inspection import MAX_VALUES
from tests.unit.terminal.inspect.shown import inspection, record

PAGE = (Path(__file__).parents[2] / "docs" / "commands.md").read_text("utf-8")
OWN = PAGE[PAGE.index("## inspect") : PAGE.index("## validate")]


def first_cells(title: str) -> list[str]:
    """What stands in backquotes in the first column of the tables below a title, up to the next title."""
    found = re.search(rf"^#+ {re.escape(title)}\n(.*?)(?=^#+ |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, title
    cells = re.findall(r"^\| (`[^|]*) \|", found[1], re.MULTILINE)
    return [name for cell in cells for name in re.findall(r"`([^`]+)`", cell)]


def test_every_option_is_described() -> None:
    parser = argparse.ArgumentParser(add_help=False)
    command = Command()
    command.settings = Settings()
    command.add_options(parser)
    general = {"--nolog", "--profile", "--pidfile", "--pdb", "--set", "--loglevel"}
    known = {name for action in parser._actions for name in action.option_strings} - general
    assert {name.split()[0] for name in first_cells("Options of inspect")} == known


def test_every_argument_is_named() -> None:
    [row] = [line for line in OWN.splitlines() if line.startswith("| `-a name=value`")]
    assert re.findall(r"`(\w+)`", row) == list(PASSED)


def test_every_field_of_the_document_is_described() -> None:
    made = document(inspection(record("/a.xml")), json_row)
    assert first_cells("The JSON document") == [*made, *made["urls"]]


def test_limits_are_those_of_the_code() -> None:
    for limit in (
        f"more than {screen.ALL} files",
        f"at most {screen.MOST} children per index",
        f"up to {screen.MAX_PROBLEMS} files that could not be read",
    ):
        assert limit in " ".join(PAGE.split())
    assert f"from {screen.WIDE} columns" in PAGE and f"first {MAX_VALUES:,} languages" in PAGE
