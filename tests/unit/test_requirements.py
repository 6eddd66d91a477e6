"""What is installed where: by Scrapy Cloud (requirements.txt, made of pyproject.toml, and scrapinghub.yml), and by `make
lint`."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def extra(name: str) -> list[Requirement]:
    return [Requirement(line) for line in PROJECT["optional-dependencies"][name]]


def test_tools_are_pinned_to_one_version() -> None:
    runners = [
        requirement for requirement in extra("test") if requirement.name.startswith(("pytest", "coverage", "hyp"))
    ]
    assert len(runners) == 5
    assert [str(tool) for tool in [*extra("dev"), *runners] if not re.fullmatch(r"==[\d.]+", str(tool.specifier))] == []
    pins = {tool.name: tool.specifier for tool in runners}
    assert [tool.name for tool in extra("dev") if tool.specifier != pins.get(tool.name, tool.specifier)] == []


def test_requirements_are_not_stale() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "make_requirements.py"))["document"]()
    assert (ROOT / "requirements.txt").read_text(encoding="utf-8") == made, "run: python tools/make_requirements.py"


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


def test_lint_installs_neither_what_tests_run_nor_what_clouds_need() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert re.findall(r"^lint: (.*)$", makefile, re.MULTILINE) == [".venv/.lint"]
    installed = re.findall(r"^\.venv/\.lint: .*\n\t\$\(INSTALL\) --editable '\.\[(.*)\]'$", makefile, re.MULTILINE)
    assert installed == ["dev"]
    tools = {requirement.name for requirement in extra("dev")}
    assert tools <= {"ruff", "mypy", "lxml-stubs", "pytest", "hypothesis", "pre-commit", "import-linter"}
