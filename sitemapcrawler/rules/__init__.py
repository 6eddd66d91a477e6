"""The rules of sitemaps: one function each, one module a family. `all_rules` is the catalogue."""

from __future__ import annotations

from importlib import import_module

from sitemapcrawler.rules.registry import RULES, Message, Needs, Rule, Severity, rule

FAMILIES = (
    "transport",
    "security",
    "document",
    "xml",
    "schema",
    "loc",
    "place",
    "loc_content",
    "limit",
    "index",
    "lastmod",
    "reply_dates",
    "changefreq",
    "priority",
    "hreflang",
    "hreflang_targets",
    "image",
    "video",
    "video_values",
    "asset_replies",
    "news",
    "robots",
    "robots_sitemaps",
    "robots_fields",
    "robots_groups",
    "robots_crawlers",
    "blocked",
    "status",
    "status_redirects",
    "page",
    "site",
    "site_repeats",
    "site_discovery",
    "site_hreflang",
    "site_replies",
    "internal",
)
"""Modules of the families, in the order of the catalogue."""

__all__ = ["Message", "Needs", "Rule", "Severity", "all_rules", "rule"]


def all_rules() -> tuple[Rule, ...]:
    """Every rule, in the order of the catalogue; rules of a user's own follow, as they were loaded."""
    modules = [f"{__name__}.families.{name}" for name in FAMILIES]
    for name in modules:
        import_module(name)
    places = {name: place for place, name in enumerate(modules)}
    return tuple(sorted(RULES.values(), key=lambda rule: places.get(rule.check.__module__, len(places))))
