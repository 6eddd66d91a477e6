"""What the rules find in real files: how often each rule speaks of each file, compared with a snapshot.

The files are no part of the repository: they are looked for next to it, in `../shared/real`. Each error and each warning
in the snapshot was read and is true. After a change on purpose, read the new ones too, and write the snapshot anew:
`python -m tests.unit.rules.test_real_findings`.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sitemapcrawler.reader import Document
from sitemapcrawler.urls import origin

from .judging import SUMMED_UP, judge

REAL = Path(__file__).resolve().parents[4] / "shared" / "real"
SNAPSHOT = Path(__file__).parents[2] / "data" / "real-findings.json"
FETCHED = datetime(2026, 11, 21, 12, tzinfo=UTC)
FILES = sorted(path.name for path in REAL.glob("[0-9]*") if "robots" not in path.name)
TOTALS: dict[str, dict[str, dict[str, int]]] = json.loads(SNAPSHOT.read_text("utf-8")) if SNAPSHOT.exists() else {}
"""{file: {severity: {rule: findings}}}"""


def home_of(data: bytes) -> str:
    """The site of a file: the place of most of its URLs."""
    records = (record for records in Document("https://example.com/").read([data]) for record in records)
    places = Counter(origin(record.loc) for record in records)
    return next((place for place, _ in places.most_common() if place), "https://example.com")


def totals_of(name: str) -> dict[str, dict[str, int]]:
    """How often each rule speaks of a file that lies in the root of its site."""
    data = (REAL / name).read_bytes()
    findings = judge(data, f"{home_of(data)}/{name}", SUMMED_UP, at=FETCHED)
    counts = Counter((finding.severity, finding.rule) for finding in findings)
    return {
        severity: {rule: count for (own, rule), count in sorted(counts.items()) if own == severity}
        for severity in ("error", "warning", "info")
        if any(own == severity for own, _ in counts)
    }


@pytest.mark.skipif(not FILES, reason="the collection of real files, ../shared/real, is not here")
def test_each_file_is_in_the_snapshot() -> None:
    assert sorted(TOTALS) == FILES


@pytest.mark.parametrize("name", FILES)
def test_a_real_file_has_the_findings_that_were_read(name: str) -> None:
    assert totals_of(name) == TOTALS[name]


if __name__ == "__main__":
    SNAPSHOT.write_text(json.dumps({name: totals_of(name) for name in FILES}, indent=1) + "\n", "utf-8")
