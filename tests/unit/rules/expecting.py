"""The files of `tests/data/bad`, and what each expects of the rules, written inside it.

`expect: <rule> line=<n>` stands for a finding, `line=<n>,<n>-<n>` for one on each of these lines, and
`judged as <URL> <field of the record>=<value> ...` for how it is judged.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from sitemapcrawler.items import FindingRecord
from sitemapcrawler.rules import Of, Rule, all_rules

from .judging import judge

BAD = Path(__file__).parents[2] / "data" / "bad"
FILES = sorted(path.name for path in BAD.iterdir())
EXPECT = re.compile(rb"expect: ([a-z0-9-]+)(?: line=([0-9,-]+))? ?")
JUDGED_AS = re.compile(rb"judged as (\S+)((?: \w+=\S+)*) -->")
CORE = "http://www.sitemaps.org/schemas/sitemap/0.9"

ON_A_FILE = {Of.CHILD, Of.FILE, Of.WHOLE, Of.FAULT}
"""What one file shows, besides its entries."""
ALL = {rule.id: rule for rule in all_rules()}

Place = tuple[str, int | None]


def expected(data: bytes) -> list[Place]:
    """Rule and line of each expectation in a file."""
    return sorted(
        ((rule.decode(), line) for rule, lines in EXPECT.findall(data) for line in _lines(lines.decode())),
        key=lambda place: (place[0], place[1] or 0),
    )


def _lines(text: str) -> Iterator[int | None]:
    """The lines of `4,9-11`; None without a line."""
    if not text:
        yield None
        return
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def rules_of(*families: str) -> dict[str, Rule]:
    """The rules of families on what one file shows, by id."""
    return {
        id: rule
        for id, rule in ALL.items()
        if rule.family in families and (rule.judges_entries or not ON_A_FILE.isdisjoint(rule.of))
    }


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


def keywords(data: bytes) -> dict[str, Any]:
    """Keyword arguments of `judge` for a bad file."""
    found = JUDGED_AS.search(data)
    if found is None:
        return {}
    fields = dict(field.split("=", 1) for field in found[2].decode().split())
    return {"url": found[1].decode(), **fields}


@cache
def judged(name: str) -> list[FindingRecord]:
    """The findings on a bad file."""
    data = (BAD / name).read_bytes()
    return judge(data, **keywords(data))
