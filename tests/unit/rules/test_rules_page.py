"""docs/rules.md and docs/rules/ are what the registry says."""

from __future__ import annotations

import runpy
import tomllib
from pathlib import Path

import pytest

from sitemapcrawler.rules import Rule, all_rules
from sitemapcrawler.rules.registry import PAGES

DOCS = Path(__file__).parents[3] / "docs"


def test_the_pages_are_not_stale() -> None:
    pages = runpy.run_path(str(DOCS.parent / "tools" / "make_rules.py"))["documents"]()
    found = {path.relative_to(DOCS).as_posix() for path in (DOCS / "rules").glob("*.md")} | {"rules.md"}
    assert found == set(pages), "run python tools/make_rules.py"
    for name, text in pages.items():
        assert (DOCS / name).read_text(encoding="utf-8") == text, "run python tools/make_rules.py"


def test_the_readme_says_how_many_rules_there_are() -> None:
    number = sum(path.read_text(encoding="utf-8").count("\n## ") for path in (DOCS / "rules").glob("*.md"))
    assert number == len(all_rules())
    assert f"| {number} rules |" in (DOCS.parent / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_a_rule_has_a_short_title_and_an_address_with_its_text(rule: Rule) -> None:
    assert 1 <= len(rule.title.split()) <= 10
    page, _, anchor = rule.address.removeprefix(PAGES).partition("#")
    assert f"\n## {anchor}\n" in (DOCS / "rules" / page).read_text(encoding="utf-8")


def test_addresses_are_below_that_of_the_project() -> None:
    project = tomllib.loads((DOCS.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert f"{project['urls']['Homepage']}/blob/main/docs/rules/" == PAGES


def test_other_pages_state_the_numbers_of_the_code() -> None:
    make = runpy.run_path(str(DOCS.parent / "tools" / "make_rules.py"))
    for page in make["COUNTED"]:
        text = page.read_text(encoding="utf-8")
        assert text == make["counted"](text), "run python tools/make_rules.py"


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_a_rule_is_documented(rule: Rule) -> None:
    first, _, rest = rule.documentation.partition("\n\n")
    assert first.strip().endswith(".")
    assert "Why:" in rest
