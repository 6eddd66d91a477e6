"""Writes docs/rules.md from the registered rules and their docstrings: python docs/make_rules.py"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from sitemapcrawler.rules import Rule, all_rules
from sitemapcrawler.rules.registry import families

PART = re.compile(r"\s*^(Why|Bad|Good): ", re.MULTILINE)
"""Where a part of a docstring begins."""
TARGET = Path(__file__).with_name("rules.md")
HEAD = """# Rules

What a crawl checks while it reads. `-a select=` and `-a ignore=` take these ids and the families, the part before the
first dash; `-a select=none` runs none. A finding names its rule, severity, file, line and value; at most
`SITEMAP_FINDINGS_PER_RULE` findings of a rule and file become rows, the counts in the summary are complete.

`xml-schema-violation`, `xml-element-order` and `xml-missing-element` come from our own XML Schemas (`schemas/`),
which are read from the package and written from the facts of the protocol. They agree with the official ones of
sitemaps.org and Google: `tests/unit/schemas/` compares the verdicts of both on thousands of generated documents,
valid and mutated, and lists the differences with their reasons; `tests/unit/rules/test_schema.py` shows that each
single fault that an official schema rejects is one finding.

*Elsewhere* names the report of another tool that shows the same fault.

This page is generated: `python docs/make_rules.py`.
"""


def document() -> str:
    """The text of the page."""
    rules = all_rules()
    parts = [HEAD]
    for family in families(rules):
        parts.append(f"\n## {family}-\n")
        parts += [section(rule) for rule in rules if rule.family == family]
    return "".join(parts)


def section(rule: Rule) -> str:
    """One rule: its id, severity, docstring, source and other names."""
    text = PART.sub(r"\n\n**\1:** ", inspect.cleandoc(rule.documentation))
    lines = [f"\n### {rule.id}\n", f"*{rule.severity}*\n", text + "\n"]
    if rule.source.startswith("http"):
        lines.append(f"Source: <{rule.source}>\n")
    elif rule.source:
        lines.append(f"Source: {rule.source}\n")
    if rule.also:
        names = "; ".join(f"{tool}: {name}" for tool, name in rule.also.items())
        lines.append(f"Elsewhere: {names}\n")
    return "\n".join(lines)


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
