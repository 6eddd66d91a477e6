"""Rules: none raises an exception, whatever the reader returns."""

from __future__ import annotations

import json
from dataclasses import asdict

from fuzz.inputs import in_time
from tests.unit.rules.judging import judge

SEEDS = ("tests/data/bad/*", "tests/data/good/*", "tests/data/hard/*")
DICTIONARY = "xml.dict"
FAILED = "internal-rule-failed"


def check(data: bytes) -> None:
    """Check all rules on the input as a sitemap; every finding must be writable."""
    with in_time():
        findings = judge(data)
    assert FAILED not in {finding.rule for finding in findings}, findings
    assert json.dumps([asdict(finding) for finding in findings], ensure_ascii=False).encode()
