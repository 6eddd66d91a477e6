"""Writes docs/rules.md and docs/rules/ from the registered rules and their docstrings, and the numbers that
other pages state: python tools/make_rules.py"""

from __future__ import annotations

import re
from itertools import groupby
from pathlib import Path

from sitemapcrawler.replies.discovery import COMMON_PATHS
from sitemapcrawler.robots.agents import AGENTS
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.catalogue import section
from sitemapcrawler.rules.registry import Of, Rule, Subject, families

DOCS = Path(__file__).resolve().parent.parent / "docs"
COUNTED = (DOCS.parent / "README.md", DOCS / "comparison.md")
"""Pages that state the numbers of rules, common paths and crawlers."""
HEAD = """# Rules

The page of a rule, which `sitemapcrawler validate --explain RULE` prints too, says what it finds, why that matters and
how to fix it. `select` and `ignore` take ids and families, the part of an id before its first dash:
`-a ignore=priority,loc-port`.

Rules run in every crawl, unless their list says what they need: *robots.txt* needs a site; *verify*, *verify_assets*,
*sample* and *baseline* need the [argument](settings.md#arguments) of that name; *whole site* rules run at the end, with
the database.

An error makes search engines reject, ignore or misread an entry or file. A warning works, but does harm or is probably
a mistake. A note is worth knowing.

Faults that are fixed one by one have a finding per entry. Habits of the program that writes the sitemaps have one per
file or site, with the number of entries; `issues` of each [url record](records.md#url) names them all the same.
"""
FOOT = "\n<!-- Generated: python tools/make_rules.py -->\n"
FAMILY = """# Rules: {family}

<!-- Generated: python tools/make_rules.py -->

{number}. [All rules](../rules.md) explains severities and units. *Elsewhere* names the report of another tool
that shows the same fault.
"""
SEVERITIES = {"error": "Errors", "warning": "Warnings", "info": "Notes"}
NEEDS: dict[Subject, str] = {
    Of.ROBOTS: "robots.txt",
    Of.VERDICT: "robots.txt",
    Of.REPLY: "verify",
    Of.ASSET: "verify_assets",
    Of.DRAWN: "sample",
    Of.SITE: "whole site",
    Of.WHOLE_SITE: "whole site",
    Of.BASELINE: "baseline",
    Of.REVISIT: "baseline",
}
"""What rules need, by what they judge; the rest run in every crawl."""


def documents() -> dict[str, str]:
    """Return {path below docs/: text} of the pages."""
    rules = all_rules()
    pages = {}
    overview = [HEAD]
    for family in families(rules):
        own = [rule for rule in rules if rule.family == family]
        overview.append(f"\n## {family}\n")
        for kind, group in groupby(sorted(own, key=kind_of), key=kind_of):
            overview.append(heading(*kind))
            overview += map(row, group)
        number = f"{len(own)} rules" if len(own) > 1 else "1 rule"
        pages[f"rules/{family}.md"] = FAMILY.format(family=family, number=number) + "".join(map(section, own))
    return {"rules.md": "".join(overview) + FOOT, **pages}


def kind_of(rule: Rule) -> tuple[int, str]:
    """Return the place of the rule's severity, and what the rule needs: rules of one kind share a list."""
    needs = dict.fromkeys(NEEDS.get(one, "") for one in rule.of)
    return list(SEVERITIES).index(rule.severity), "" if "" in needs else ", ".join(needs)


def heading(severity: int, needs: str) -> str:
    """Return the line above a list of rules."""
    return f"\n{[*SEVERITIES.values()][severity]}{f' (*{needs}*)' if needs else ''}:\n\n"


def row(rule: Rule) -> str:
    """Return the line of a rule in the overview."""
    return f"- [{rule.id}](rules/{rule.family}.md#{rule.id}): {rule.title}\n"


def counted(text: str) -> str:
    """Update the numbers of rules, common paths and known crawlers in a page."""
    for pattern, number in (
        (r"(?<=\| )[\d,]+(?= rules \|)", len(all_rules())),
        (r"(?<=\| robots\.txt, )\d+(?= paths, home page \|)", len(COMMON_PATHS)),
        (r"(?<=\| yes, )\d+(?= crawlers \|)", len(AGENTS)),
    ):
        text, found = re.subn(pattern, str(number), text)
        assert found == 1, f"{pattern} is not in the page"
    return text


if __name__ == "__main__":
    pages = documents()
    (DOCS / "rules").mkdir(exist_ok=True)
    for path in {*(DOCS / "rules").glob("*.md")} - {DOCS / name for name in pages}:
        path.unlink()
    for name, text in pages.items():
        (DOCS / name).write_text(text, encoding="utf-8")
    for page in COUNTED:
        page.write_text(counted(page.read_text(encoding="utf-8")), encoding="utf-8")
