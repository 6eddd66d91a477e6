"""Writes docs/rules.md from the registered rules and their docstrings, and their number in other pages: python
docs/make_rules.py"""

from __future__ import annotations

import re
from pathlib import Path

from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.catalogue import section
from sitemapcrawler.rules.registry import families

TARGET = Path(__file__).with_name("rules.md")
COUNTED = (TARGET.parents[1] / "README.md", TARGET.with_name("comparison.md"))
"""Pages that state the number of rules."""
HEAD = """# Rules

What a crawl checks while it reads. `-a select=` and `-a ignore=` take these ids and the families, the part before the
first dash; `-a select=none` runs none. A finding names its rule, severity, file, line and value; at most
`SITEMAP_FINDINGS_PER_RULE` findings of a rule and file become rows, the counts in the summary are complete.

Behind the severity stands what a rule reports one finding for. Faults that are fixed one by one are reported *per
entry*. What is true of a whole file or site, such as a habit of the program that writes the sitemaps, is one finding
*per file* or *per site*: it has the number of entries or files, and the first as an example, with its line. *Per file
and value* is one for each dead image, wrong code and the like, however many entries have it. The `url` records of all
these entries name the rule in `issues`. Notes of a rule with a higher severity are reported per file, too. In a
robots.txt, which is a file as well, a line is an entry.

`xml-schema-violation`, `xml-element-order` and `xml-missing-element` come from our own XML Schemas
(`namespaces/schemas/`), which are read from the package and written from the facts of the protocol. They agree with the
official ones of sitemaps.org and Google: `tests/unit/namespaces/schemas/` compares the verdicts of both on thousands of
generated documents, valid and mutated, and lists the differences with their reasons; `tests/unit/rules/test_schema.py`
shows that each single fault that an official schema rejects is one finding.

*Elsewhere* names the report of another tool that shows the same fault.

This page is generated: `python docs/make_rules.py`.
"""


def document() -> str:
    """Return the text of the page."""
    rules = all_rules()
    parts = [HEAD]
    for family in families(rules):
        parts.append(f"\n## {family}-\n")
        parts += [section(rule) for rule in rules if rule.family == family]
    return "".join(parts)


def counted(text: str) -> str:
    """Update the number of rules in a page."""
    return re.sub(r"(?<=\| )[\d,]+ rules(?= \|)", f"{len(all_rules())} rules", text)


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
    for page in COUNTED:
        page.write_text(counted(page.read_text(encoding="utf-8")), encoding="utf-8")
