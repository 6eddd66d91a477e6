"""The files of `tests/data/bad`, and what each expects of the rules, written inside it: `expect: <rule> line=<n>`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sitemapcrawler.items import FindingRecord
from sitemapcrawler.rules import Needs, Rule, all_rules

from .judging import judge

BAD = Path(__file__).parents[2] / "data" / "bad"
EXPECT = re.compile(rb"expect: ([a-z0-9-]+)(?: line=([0-9]+))? ?")

ON_A_FILE = {Needs.URL, Needs.CHILD, Needs.FILE, Needs.WHOLE, Needs.FAULT}
"""Needs that one file meets."""

Place = tuple[str, int | None]


def bad_files(*families: str) -> list[str]:
    """Names of the bad files of these families."""
    return sorted(path.name for path in BAD.iterdir() if path.name.partition("-")[0] in families)


def expected(data: bytes) -> list[Place]:
    """Rule and line of each expectation in a file."""
    return sorted(
        ((rule.decode(), int(line) if line else None) for rule, line in EXPECT.findall(data)),
        key=lambda place: (place[0], place[1] or 0),
    )


def rules_of(*families: str) -> dict[str, Rule]:
    """The rules of families on what one file shows, by id."""
    return {rule.id: rule for rule in all_rules() if rule.family in families and not ON_A_FILE.isdisjoint(rule.needs)}


def places(findings: Iterable[FindingRecord], rules: Iterable[str], wanted: Iterable[str] = ()) -> list[Place]:
    """Rule and line of the findings of `rules`: errors, warnings, and those for information that are `wanted`."""
    wanted = set(wanted)
    return sorted(
        (
            (finding.rule, finding.line)
            for finding in findings
            if finding.rule in rules and (finding.severity != "info" or finding.rule in wanted)
        ),
        key=lambda place: (place[0], place[1] or 0),
    )


def check_bad_file(name: str, rules: dict[str, Rule], **keywords: Any) -> None:
    """The findings on a bad file are those it expects, and its name is that of one of them."""
    data = (BAD / name).read_bytes()
    wanted = expected(data)
    assert any(name.startswith(rule) for rule, _ in wanted), "the file expects the rule it is named after"
    ids = {rule for rule, _ in wanted}
    assert places(judge(data, **keywords), rules, ids) == wanted
