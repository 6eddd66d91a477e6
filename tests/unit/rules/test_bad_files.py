"""Each file of `tests/data/bad` has the findings that it expects, of all rules, and no other error or warning.

Their messages are compared with a snapshot. After a change on purpose, read the new ones and write it again:
`python -m tests.unit.rules.test_bad_files`.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .expecting import ALL, BAD, FILES, Place, expected, judged, places, rules_of

SNAPSHOT = Path(__file__).parents[2] / "data" / "bad-messages.json"
MESSAGES: dict[str, list[str]] = json.loads(SNAPSHOT.read_text("utf-8")) if SNAPSHOT.exists() else {}
WITHOUT_COMMENT: dict[str, list[Place]] = {
    name: [("doc-empty-body", None)] for name in ("doc-empty-body-no-bytes.xml", "doc-empty-body-white-space.xml")
}
"""Files in which nothing can stand."""
FAMILIES = (
    "changefreq", "feed", "hreflang", "image", "index", "lastmod", "loc", "news", "priority", "txt", "video", "xml",
)  # fmt: skip
"""Families whose rules need nothing but a file to find something."""
ON_A_SITE = {"index-child-missing", "index-depth-exceeded", "index-lastmod-older-than-child", "index-loop"}
"""Rules that need a second file."""


def wanted(name: str) -> list[Place]:
    return WITHOUT_COMMENT.get(name) or expected((BAD / name).read_bytes())


def messages(name: str) -> list[str]:
    ids = {rule for rule, _ in wanted(name)}
    return [
        f"{finding.rule} {finding.severity} {finding.line or ''}: {finding.message} [{finding.value or ''}]"
        for finding in judged(name)
        if finding.rule in ids
    ]


@pytest.mark.parametrize("name", FILES)
def test_a_bad_file_gives_what_it_expects_and_nothing_else(name: str) -> None:
    ids = {rule for rule, _ in wanted(name)}
    assert any(name.startswith(rule) for rule in ids), "the file expects the rule it is named after"
    assert places(judged(name), ALL, ids) == wanted(name)


@pytest.mark.parametrize("name", FILES)
def test_the_messages_are_those_that_were_read(name: str) -> None:
    assert messages(name) == MESSAGES[name]


def test_each_file_is_in_the_snapshot() -> None:
    assert sorted(MESSAGES) == FILES


def test_each_rule_has_a_bad_file() -> None:
    assert {id for id in rules_of(*FAMILIES) if not any(name.startswith(f"{id}-") for name in FILES)} == ON_A_SITE


if __name__ == "__main__":
    found = {name: messages(name) for name in FILES}
    SNAPSHOT.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")
