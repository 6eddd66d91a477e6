"""Writes docs/rules.md and docs/rules/ from the registered rules and their docstrings, and the numbers that
other pages state: python tools/make_rules.py"""

from __future__ import annotations

import re
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

A crawl checks these rules. `-a select=` and `-a ignore=` take their ids and families (the part of an id before its
first dash); `-a select=none` runs none of them. `sitemapcrawler validate --explain RULE` prints the page of a rule.

- **Checked when** says what a rule needs. Rules *while reading* run in every crawl. *robots.txt* needs a site, and
  *verify*, *verify_assets*, *sample* and *baseline* need the [argument](settings.md#arguments) of that name. Rules on
  the *whole site* run at the end of a crawl, with the database.
- **One finding per** is the unit that a rule reports. Faults that are fixed one by one have a finding *per entry*; in
  a robots.txt, a line is an entry. Habits of the program that writes the sitemaps have one *per file* or *per site*,
  with the number of entries and the first as an example. *Per file and value* is one for each dead image, wrong code
  and the like, however many entries have it. The `url` records of all these entries name the rule in `issues`. Notes
  of a rule with a higher severity are reported per file, too.
- A finding names its rule, severity, file, line and value. At most `SITEMAP_FINDINGS_PER_RULE` findings of a rule and
  file become rows; the counts in the summary are complete.

`xml-schema-violation`, `xml-element-order` and `xml-missing-element` come from XML Schemas of our own, whose verdicts
tests compare with those of the official schemas of sitemaps.org and Google.
"""
FOOT = "\n<!-- Generated: python tools/make_rules.py -->\n"
FAMILY = """# Rules: {family}

<!-- Generated: python tools/make_rules.py -->

{number}. [All rules](../rules.md) explains severities and units. *Elsewhere* names the report of another tool
that shows the same fault.
"""
CHECKED: dict[Subject, str] = {
    Of.ROBOTS: "robots.txt",
    Of.VERDICT: "robots.txt",
    Of.REPLY: "verify",
    Of.ASSET: "verify_assets",
    Of.DRAWN: "sample",
    Of.SITE: "whole site",
    Of.WHOLE_SITE: "whole site",
    Of.BASELINE: "baseline",
    Of.REVISIT: "baseline",
    Of.FAILURE: "always",
    Of.GIVEN_UP: "always",
    Of.UNLISTED: "always",
    Of.ALLOWANCE: "always",
}
"""When rules are checked, by what they judge; while reading for the rest."""


def documents() -> dict[str, str]:
    """Return {path below docs/: text} of the pages."""
    rules = all_rules()
    pages = {}
    overview = [HEAD]
    for family in families(rules):
        own = [rule for rule in rules if rule.family == family]
        overview.append(
            f"\n## {family}\n\n| id | title | severity | checked when | one finding |\n|---|---|---|---|---|\n"
        )
        overview += map(row, own)
        number = f"{len(own)} rules" if len(own) > 1 else "1 rule"
        pages[f"rules/{family}.md"] = FAMILY.format(family=family, number=number) + "".join(map(section, own))
    return {"rules.md": "".join(overview) + FOOT, **pages}


def row(rule: Rule) -> str:
    """Return the row of a rule in the overview."""
    when = ", ".join(dict.fromkeys(CHECKED.get(one, "while reading") for one in rule.of))
    title = rule.title.replace("|", "\\|")
    return f"| [{rule.id}](rules/{rule.family}.md#{rule.id}) | {title} | {rule.severity} | {when} | {rule.scope} |\n"


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
