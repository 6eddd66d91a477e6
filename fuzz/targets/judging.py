"""Rules on any document: none of them fails, whatever the reader gave it."""

from __future__ import annotations

import json
from dataclasses import asdict

from fuzz.inputs import in_time
from tests.unit.rules.judging import judge

SEEDS = ("tests/data/bad/*", "tests/data/good/*", "tests/data/hard/*")
DICTIONARY = "xml.dict"
RUNS = 1_600
FAILED = "internal-rule-failed"


def check(data: bytes) -> None:
    """All rules on the input as a sitemap; every finding can be written."""
    with in_time():
        findings = judge(data)
    assert FAILED not in {finding.rule for finding in findings}, findings
    assert json.dumps([asdict(finding) for finding in findings], ensure_ascii=False).encode()
