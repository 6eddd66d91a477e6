"""Rules about any entry of a file: a page of a urlset, feed or text, or a sitemap in an index."""

from __future__ import annotations

from collections.abc import Callable

from sitemapcrawler.rules.registry import Check, Needs, Severity, rule


def entry_rule(
    id: str, severity: Severity, source: str, also: dict[str, str] | None = None, faults: bool = False
) -> Callable[[Check], Check]:
    """Register a check as the rule `id` for pages and children; with `faults` for what the reader notes under it."""

    needs = (Needs.URL, Needs.CHILD, Needs.FAULT) if faults else (Needs.URL, Needs.CHILD)
    return rule(id, severity, source, needs, also)
