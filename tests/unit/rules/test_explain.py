"""The page of a rule on a terminal, and what is offered for a name that is none."""

from __future__ import annotations

import pytest

from sitemapcrawler.rules import Rule, all_rules
from sitemapcrawler.rules.catalogue import listed, near, page
from sitemapcrawler.terminal.streams import painter, plain

RULES = {rule.id: rule for rule in all_rules()}


def test_page_says_all_there_is() -> None:
    text = page(RULES["loc-relative"], 60, plain)
    lines = text.splitlines()
    assert lines[0] == "loc-relative  error  per entry"
    labels = [line.partition(":")[0] for line in lines if line[:1].isupper() and ":" in line[:11]]
    assert labels == ["Why", "Fix", "Bad", "Good", "Source", "Elsewhere", "See"]
    assert "`<loc>/shop/</loc>`" in text
    assert "Source:    https://www.sitemaps.org/protocol.html#locdef" in lines
    assert "Elsewhere: Search Console: Incomplete URL" in lines
    assert f"See:       {RULES['loc-relative'].address}" in lines


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_every_rule_has_a_page_that_fits(rule: Rule) -> None:
    lines = page(rule, 72, plain).splitlines()
    assert lines[2] and lines[3:]
    assert all(len(line) <= 72 or " " not in line[11:].strip() for line in lines)


def test_list_has_a_line_for_each_rule() -> None:
    lines = listed(RULES.values(), plain).splitlines()
    assert [line.split()[1] for line in lines] == list(RULES)
    assert all(line.split()[0] in ("error", "warning", "info") for line in lines)
    assert all(
        rule.title and line.endswith(f"  {rule.title}") for line, rule in zip(lines, RULES.values(), strict=True)
    )


def test_colours_stand_around_the_id() -> None:
    assert page(RULES["loc-relative"], 60, painter(True)).startswith(
        "\x1b[1mloc-relative\x1b[0m  \x1b[1;31merror\x1b[0m  per entry\n"
    )


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("loc-relativ", "loc-relative"),
        ("LOC-RELATIVE", "loc-relative"),
        ("bom", "doc-bom"),
        ("lastmod-futur", "lastmod-future"),
    ],
)
def test_near_names_are_offered(name: str, first: str) -> None:
    assert near(name, RULES.values())[0] == first
    assert len(near(name, RULES.values())) <= 3


def test_nothing_is_offered_where_nothing_is_near() -> None:
    assert near("qqqq", RULES.values()) == []
