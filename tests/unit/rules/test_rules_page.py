"""docs/rules.md is what the registry says."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from sitemapcrawler.rules import Rule, all_rules

DOCS = Path(__file__).parents[3] / "docs"


def test_the_page_is_not_stale() -> None:
    make = runpy.run_path(str(DOCS / "make_rules.py"))
    assert (DOCS / "rules.md").read_text(encoding="utf-8") == make["document"](), "run python docs/make_rules.py"


def test_the_readme_says_how_many_rules_there_are() -> None:
    number = (DOCS / "rules.md").read_text(encoding="utf-8").count("\n### ")
    assert f"| {number} rules |" in (DOCS.parent / "README.md").read_text(encoding="utf-8")


def test_other_pages_say_how_many_rules_there_are() -> None:
    make = runpy.run_path(str(DOCS / "make_rules.py"))
    for page in make["COUNTED"]:
        text = page.read_text(encoding="utf-8")
        assert text == make["counted"](text), "run python docs/make_rules.py"


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_a_rule_is_documented(rule: Rule) -> None:
    first, _, rest = rule.documentation.partition("\n\n")
    assert first.strip().endswith(".")
    assert "Why:" in rest
