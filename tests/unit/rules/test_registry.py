"""The registry is whole: what the reader notes has a rule."""

from __future__ import annotations

import re
from pathlib import Path

import sitemapcrawler
from sitemapcrawler.reader.formats import FORMATS
from sitemapcrawler.rules import FAMILIES as MODULES
from sitemapcrawler.rules import Of, all_rules
from sitemapcrawler.rules.registry import ON_THE_SITE

PACKAGE = Path(sitemapcrawler.__file__).parent
TESTS = Path(__file__).parents[2]
FAMILIES = ("doc", "xml", "txt", "feed", "loc", "lastmod", "changefreq", "priority", "limit", "index", "image", "video",
            "news", "hreflang", "cross")  # fmt: skip
NOTED = re.compile(rf'"((?:{"|".join(FAMILIES)})-[a-z0-9-]+)"')
"""An id in the source of the modules that note faults."""
EXPLAINED = {
    "limit-bytes": "doc-partly-read", "limit-entries": "doc-partly-read",
    "limit-stopped": "doc-partly-read, and limit-max-urls", "limit-element": "doc-partly-read",
    "limit-depth": "doc-partly-read", "txt-cut-line": "doc-truncated, which is noted with it",
}  # fmt: skip
"""Faults without a rule of their own, and the rule that reports them."""


def noted() -> set[str]:
    """Ids under which reading a document notes faults."""
    paths = [path for part in ("reader", "namespaces", "namespaces/schemas") for path in (PACKAGE / part).glob("*.py")]
    return {id for path in paths for id in NOTED.findall(path.read_text("utf-8"))} - FORMATS.keys()


def test_each_fault_that_is_noted_has_a_rule() -> None:
    ids = noted()
    assert ids >= {"doc-truncated", "loc-empty", "xml-element-order", "limit-bytes", "feed-item-without-link"}
    assert ids - {rule.id for rule in all_rules()} == set(EXPLAINED)


def test_each_rule_on_faults_has_one_that_is_noted() -> None:
    assert {rule.id for rule in all_rules() if Of.FAULT in rule.of} - noted() == set()


def test_each_module_of_rules_is_in_the_catalogue() -> None:
    modules = {path.stem for path in (PACKAGE / "rules" / "families").glob("*.py")}
    assert modules - {"__init__"} == {*MODULES}


def test_each_rule_on_the_site_is_tried() -> None:
    modules = [
        *TESTS.glob("unit/rules/test_*.py"),
        *(TESTS / f"crawl/test_{name}.py" for name in ("links", "compare", "fetch_as")),
    ]
    tried = "".join(path.read_text("utf-8") for path in modules)
    on_the_site = [rule.id for rule in all_rules() if {*rule.of} & {*ON_THE_SITE}]
    assert [rule for rule in on_the_site if f'"{rule}"' not in tried] == []
