"""What each rule says to do about its findings."""

from __future__ import annotations

import re

import pytest

from sitemapcrawler.rules import Rule, all_rules
from sitemapcrawler.rules.catalogue import markdown

MAX_WORDS = 25
MAX_SENTENCES = 2
VERBS = frozenset(
    [
        "Add", "Allow", "Answer", "Append", "Begin", "Break", "Cache", "Check", "Complete", "Compress", "Correct",
        "Crawl", "Create", "Declare", "Exclude", "Fill", "Find", "Generate", "Give", "Install", "Join", "Keep", "Let",
        "Link", "List", "Make", "Merge", "Move", "Name", "Offer", "Omit", "Open", "Percent-encode", "Point", "Raise",
        "Remove", "Render", "Repair", "Repeat", "Replace", "Report", "Restore", "Rewrite", "Save", "Send", "Serve",
        "Shorten", "Speed", "Split", "Strip", "Take", "Update", "Use", "Verify", "Work", "Wrap", "Write", "Escape",
    ]
)  # fmt: skip
"""First words of advice. A verb that is not among them is added here, so that nothing else slips in."""


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)
def test_a_rule_says_what_to_do_in_the_imperative_between_reason_and_examples(rule: Rule) -> None:
    assert rule.fix.endswith(".")
    assert rule.fix.split()[0] in VERBS
    assert len(rule.fix.split()) <= MAX_WORDS
    assert len(re.findall(r"[.!?](?= [A-Z`]|$)", rule.fix)) <= MAX_SENTENCES
    assert re.findall(r"\*\*(\w+):\*\*", markdown(rule))[:2] == ["Why", "Fix"]
    assert "Fix:" not in rule.why and "Bad:" not in rule.fix
