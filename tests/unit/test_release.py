"""Files of a release agree with each other: versions, the image, and what CI runs."""

from __future__ import annotations

import re
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from release import wheels
from release.crawlers import TABLE, problem
from sitemapcrawler import __version__

ROOT = Path(__file__).resolve().parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]  # as TOML has it
DOCKERFILE = (ROOT / "Dockerfile").read_text("utf-8")
WORKFLOW: dict[str, Any] = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text("utf-8"))  # as YAML has it


def test_newest_version_of_the_changelog_is_ours() -> None:
    versions = re.findall(r"^## \[(\d[^]]*)\] - \d{4}-\d\d-\d\d$", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)
    assert versions[0] == __version__


def test_ci_runs_on_every_python_that_is_named_and_on_three_systems() -> None:
    prefix = "Programming Language :: Python :: "
    named = {text.removeprefix(prefix) for text in PROJECT["classifiers"] if re.fullmatch(prefix + r"3\.\d+", text)}
    runs = WORKFLOW["jobs"]["test"]["strategy"]["matrix"]["include"]
    assert {run["python"] for run in runs if run["os"] == "ubuntu-latest"} == named
    assert {run["os"].partition("-")[0] for run in runs} == {"ubuntu", "macos", "windows"}
    assert PROJECT["requires-python"] == ">=" + min(named, key=lambda text: int(text.partition(".")[2]))
    assert WORKFLOW["jobs"]["test"]["steps"][-1]["run"] == ".ci/run"


@pytest.mark.parametrize(
    ("complaint", "words", "code", "told"),
    [
        ("", [], 0, "wheels: all packages have some for Python 3.11, 3.12, 3.13, 3.14, 3.15"),
        ("error: No solution found: ray", [], 1, "wheels: Python 3.15: error: No solution found: ray"),
        ("error: Failed to fetch", [], 0, "wheels: SKIPPED, the package index cannot be reached"),
        ("timed out", ["--strict"], 1, "wheels: SKIPPED, the package index cannot be reached"),
    ],
)
def test_wheels_are_looked_up_for_every_python(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    complaint: str,
    words: list[str],
    code: int,
    told: str,
) -> None:
    asked: dict[str, list[str]] = {}

    def resolved(version: str, extras: list[str]) -> str:
        asked[version] = extras
        return complaint if version == "3.15" else ""

    monkeypatch.setattr(wheels, "resolved", resolved)
    assert wheels.main(words) == code
    assert capsys.readouterr().out == f"{told}\n"
    assert "fleet" in asked["3.14"] and "fleet" not in asked["3.15"]
    assert PROJECT["optional-dependencies"].keys() > wheels.OF_DEVELOPERS


def copied() -> list[str]:
    """What the image is built from."""
    lines = re.findall(r"^COPY (?!--from)(.+) \S+$", DOCKERFILE, re.M)
    return [name for line in lines for name in line.split()]


def test_the_build_of_the_image_sees_what_it_copies_and_nothing_else() -> None:
    ignore = [line for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if not line.startswith("#")]
    assert ignore[0] == "*"
    assert sorted(line.removeprefix("!") for line in ignore if line.startswith("!")) == sorted(copied())
    assert all((ROOT / name).exists() for name in copied())


def test_image_copies_what_the_package_is_built_from() -> None:
    manifest = (ROOT / "MANIFEST.in").read_text("utf-8").removeprefix("include ").split()
    assert {"pyproject.toml", "setup.py", "sitemapcrawler", PROJECT["readme"], *manifest} <= set(copied())


def test_image_does_not_run_as_root() -> None:
    last = DOCKERFILE.rpartition("\nFROM ")[2]
    assert re.search(r"^USER (?!root|0)\w+$", last, re.M)
    [entry] = re.findall(r'^ENTRYPOINT \["(.+)"\]$', last, re.M)
    assert Path(entry).name in PROJECT["scripts"]


@pytest.mark.parametrize(
    ("today", "told"),
    [
        (date(2026, 1, 1), None),
        (date(2026, 6, 30), None),
        (date(2026, 7, 1), "last reviewed on 2026-01-01"),
        (date(2025, 12, 31), "after today"),
    ],
)
def test_table_of_crawlers_is_refused_after_180_days(today: date, told: str | None) -> None:
    assert (told or "") in (problem(date(2026, 1, 1), today) or "")
    assert (problem(date(2026, 1, 1), today) is None) is (told is None)
    assert isinstance(tomllib.loads(TABLE.read_text("utf-8"))["reviewed"], date)
