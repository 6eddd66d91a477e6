"""Audit rules: one function per rule, one module per topic. `all_rules` returns the catalogue.

May import `replies`, `reader`, `robots`, `items`, `namespaces` and `urls`, never Scrapy or the database. Start reading
in `registry.py`, then in `families/loc.py` and `judge.py`.
"""

from __future__ import annotations

from importlib import import_module

from sitemapcrawler.rules.registry import (
    RULES,
    Message,
    Objects,
    Of,
    Per,
    Rule,
    Severity,
    UrlWith,
    load_plugins,
    rule,
)

FAMILIES = (
    "transport",
    "file_bytes",
    "xml_structure",
    "loc",
    "place",
    "words",
    "index",
    "lastmod",
    "hints",
    "hreflang",
    "image",
    "video",
    "asset_replies",
    "news",
    "robots_file",
    "robots_groups",
    "robots_crawlers",
    "usage",
    "page_replies",
    "html",
    "across_files",
    "between_pages",
    "page_texts",
    "unlisted_pages",
    "beside_sitemap",
    "crawlers",
    "index_status",
    "rendering",
)
"""Modules with rules, in the order of the catalogue."""

__all__ = ["Message", "Objects", "Of", "Per", "Rule", "Severity", "UrlWith", "all_rules", "rule"]


def all_rules() -> tuple[Rule, ...]:
    """Return all rules in the order of the catalogue, followed by those of plug-ins and of `SITEMAP_RULES` in the order
    they were loaded.

    Raises ValueError if a plug-in cannot be imported.
    """
    modules = [f"{__name__}.families.{name}" for name in FAMILIES]
    for name in modules:
        import_module(name)
    load_plugins()
    places = {name: place for place, name in enumerate(modules)}
    return tuple(sorted(RULES.values(), key=lambda rule: places.get(rule.check.__module__, len(places))))
