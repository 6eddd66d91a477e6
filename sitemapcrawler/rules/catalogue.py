"""Documentation of a rule, as Markdown and for a terminal."""

from __future__ import annotations

import difflib
import re
import textwrap
from collections.abc import Callable, Iterable

from sitemapcrawler.rules.registry import Rule, families

Paint = Callable[[str, str], str]
"""Styles a text by kind; unknown kinds stay plain."""

MAX_NEAR = 3
"""Maximum number of suggestions for an unknown name."""
_PART = re.compile(r"^(?=(?:Why|Fix|Bad|Good): )", re.MULTILINE)
_LABEL = re.compile(r"\s*^(Why|Fix|Bad|Good): ", re.MULTILINE)


def section(rule: Rule) -> str:
    """Format a rule in Markdown: id, severity, scope, docstring, source and names in other tools."""
    lines = [f"\n## {rule.id}\n", f"*{rule.severity}, {rule.scope}*\n", markdown(rule) + "\n"]
    if rule.source.startswith("http"):
        lines.append(f"Source: <{rule.source}>\n")
    elif rule.source:
        lines.append(f"Source: {rule.source}\n")
    if rule.also:
        lines.append(f"Elsewhere: {names_elsewhere(rule)}\n")
    return "\n".join(lines)


def markdown(rule: Rule) -> str:
    """Format the docstring in Markdown, one paragraph per part."""
    return _LABEL.sub(r"\n\n**\1:** ", rule.documentation)


def names_elsewhere(rule: Rule) -> str:
    return "; ".join(f"{tool}: {name}" for tool, name in rule.also.items())


def page(rule: Rule, width: int, paint: Paint) -> str:
    """Format a rule for a terminal of `width` characters; `paint` styles headings and severities."""
    what, *parts = (" ".join(part.split()) for part in _PART.split(rule.documentation))
    blocks = [
        f"{paint(rule.id, 'id')}  {paint(rule.severity, rule.severity)}  {rule.scope}",
        _filled(what, width, ""),
    ]
    told = [part.split(": ", 1) for part in parts] + [["Source", rule.source], ["Elsewhere", names_elsewhere(rule)]]
    told.append(["See", rule.address])
    for name, text in told:
        if text:
            label = f"{name}:".ljust(len("Elsewhere: "))
            blocks.append(paint(label, "label") + _filled(text, width, " " * len(label)))
    return "\n\n".join(blocks[:2]) + "\n\n" + "\n".join(blocks[2:]) + "\n"


def listed(rules: Iterable[Rule], paint: Paint) -> str:
    """Format one line per rule: severity, id and title."""
    rules = list(rules)
    width = max((len(rule.id) for rule in rules), default=0)
    lines = (
        f"{paint(f'{rule.severity:<7}', rule.severity)}  {paint(f'{rule.id:<{width}}', 'id')}  {rule.title}\n"
        for rule in rules
    )
    return "".join(lines)


def beginning_with(name: str, rules: Iterable[Rule]) -> list[Rule]:
    """Return the rules of a family, or those whose ids start with these words: `loc`, `hreflang-target`."""
    start = name.lower().rstrip("-*") + "-"
    return [rule for rule in rules if rule.id.startswith(start)]


def near(name: str, rules: Iterable[Rule]) -> list[str]:
    """Suggest ids and families for an unknown name, the most likely first."""
    rules, name = list(rules), name.lower()
    ids = list(dict.fromkeys(rule.id for rule in rules))
    near = difflib.get_close_matches(name, ids, MAX_NEAR) or difflib.get_close_matches(name, families(rules), MAX_NEAR)
    return near or [id for id in ids if name in id][:MAX_NEAR]


def _filled(text: str, width: int, indent: str) -> str:
    """Wrap text; the first line is already indented."""
    lines = textwrap.wrap(text, max(width - len(indent), 20), break_long_words=False, break_on_hyphens=False)
    return f"\n{indent}".join(lines)
