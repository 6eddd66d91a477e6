"""What Scrapy Cloud is told to install: requirements.txt, made of pyproject.toml, and scrapinghub.yml beside it."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_requirements_are_not_stale() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "make_requirements.py"))["document"]()
    assert (ROOT / "requirements.txt").read_text(encoding="utf-8") == made, "run: python docs/make_requirements.py"


def test_requirements_are_what_the_package_needs_but_for_scrapy() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    listed = [Requirement(line) for line in lines if not line.startswith("#")]
    needed = [Requirement(line) for line in PROJECT["dependencies"]]
    added = [requirement for requirement in listed if requirement not in needed]
    assert [requirement for requirement in needed if requirement not in listed] == [Requirement("scrapy>=2.18,<3")]
    assert [requirement.name for requirement in added] == ["scrapy-spider-metadata"]


def test_stack_is_of_the_oldest_scrapy_that_will_do() -> None:
    told = yaml.safe_load((ROOT / "scrapinghub.yml").read_text(encoding="utf-8"))
    assert told == {"stack": "scrapy:2.18", "requirements": {"file": "requirements.txt"}}
    assert Requirement("scrapy>=2.18,<3") in map(Requirement, PROJECT["dependencies"])
