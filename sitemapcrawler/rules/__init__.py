"""The rules of sitemaps: one function each, one module a family. `all_rules` is the catalogue."""

from __future__ import annotations

from importlib import import_module

from sitemapcrawler.rules.registry import RULES, Message, Needs, Rule, Severity, rule

FAMILIES = (
    "transport",
    "document",
    "xml",
    "schema",
    "text",
    "loc",
    "place",
    "limit",
    "index",
    "lastmod",
    "lastmods",
    "changefreq",
    "priority",
    "hreflang",
    "hreflang_links",
    "image",
    "video",
    "video_values",
    "news",
    "internal",
)
"""Modules of the families, in the order of the catalogue."""

__all__ = ["Message", "Needs", "Rule", "Severity", "all_rules", "rule"]


def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of the catalogue."""
    for name in FAMILIES:
        import_module(f"sitemapcrawler.rules.{name}")
    return tuple(sorted(RULES.values(), key=lambda rule: FAMILIES.index(rule.check.__module__.rpartition(".")[2])))
