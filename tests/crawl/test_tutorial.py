"""The tutorial, word by word: its commands run in order on the demo site, and print what it shows."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import urlopen

import pytest

from demo.server import serving
from tests.crawl.programs import DEADLINE_S, run_shown, write_programs

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/tutorial.md").read_text("utf-8")
SITE = "http://127.0.0.1:8000"
COMMANDS = [line for block in re.findall(r"^```sh\n(.*?)^```$", TEXT, re.M | re.S) for line in block.splitlines()]
SHOWN = dict(re.findall(r"^<!-- (\w+) -->\n```\w+\n(.*?)^```$", TEXT, re.M | re.S))
CODES = {"audit": 1, "validate defects.xml": 1, "validate fixed": 1}
"""Exit codes that are not 0, by words of the command."""


@dataclass
class Pupil:
    """A reader who follows the tutorial in a folder."""

    folder: Path
    site: str

    def run(self, command: str) -> str:
        """Run a command with the demo's own address in place of the tutorial's. Returns its output with the tutorial's."""
        done = run_shown(command.replace(SITE, self.site), self.folder, self.folder / "bin")
        code = next((code for word, code in CODES.items() if word in command), 0)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout.replace(self.site, SITE)


@pytest.fixture
def pupil(tmp_path: Path) -> Pupil:
    write_programs(tmp_path / "bin")
    return Pupil(tmp_path, "")


def test_commands_are_those_that_are_run() -> None:
    programs = ["make", "export", *["sitemapcrawler"] * 2, "curl", *["sitemapcrawler"] * 3, "make", "sitemapcrawler"]
    assert [command.split()[0] for command in COMMANDS] == programs
    assert set(SHOWN) == {"audit", "explain", "defects", "changes", "fixed", "clean", "again", "changed"}


@pytest.mark.slow
def test_tutorial_ends_with_a_fixed_sitemap_and_the_next_day(pupil: Pupil) -> None:
    *first, again = (command for command in COMMANDS if command.startswith("sitemapcrawler"))
    with serving() as pupil.site:
        first_day(pupil, *first)
    with serving(urlsplit(pupil.site).port or 0, day=2):
        *_, said = pupil.run(again).splitlines()
    assert f"{re.sub(r'[0-9]{4}-[0-9]{2}-[0-9]{2}', 'DATE', said)}\n" == SHOWN["again"]
    columns, *shown = csv.reader(SHOWN["changed"].splitlines())
    with (pupil.folder / "audit-2/changes.csv").open(encoding="utf-8") as file:
        rows = [[row[name].replace(pupil.site, SITE) for name in columns] for row in csv.DictReader(file)]
    places = [rows.index(row) for row in shown]
    assert places == sorted(places)


def first_day(pupil: Pupil, audit: str, explain: str, defects: str, fix: str, fixed: str) -> None:
    printed = pupil.run(audit)
    assert [line for line in SHOWN["audit"].splitlines() if line not in printed.splitlines()] == []
    assert (pupil.folder / "audit/report.html").stat().st_size > 10_000
    assert (pupil.folder / "audit/audit.xlsx").stat().st_size > 10_000
    assert " ".join(pupil.run(explain).split()).startswith(" ".join(SHOWN["explain"].split()))  # folded
    with urlopen(f"{pupil.site}/sitemaps/defects.xml", timeout=DEADLINE_S) as answer:
        (pupil.folder / "defects.xml").write_bytes(answer.read())
    assert pupil.run(defects) == SHOWN["defects"]
    assert pupil.run(fix) == SHOWN["changes"]
    written = (pupil.folder / "fixed/upload/sitemaps/defects.xml").read_text("utf-8")
    assert written.replace(pupil.site, SITE) == SHOWN["fixed"]
    assert pupil.run(fixed) == SHOWN["clean"]
