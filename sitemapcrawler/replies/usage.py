"""Usage preferences of listed URLs, as their records have them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sitemapcrawler.items import UrlRecord, UsageRecord
from sitemapcrawler.robots.policy import Policy
from sitemapcrawler.robots.ruleset import path_of
from sitemapcrawler.robots.usage import Preference, Use, combined

ALLOW, DISALLOW = "allow", "disallow"
MAX_KNOWN = 1_000  # sets of preferences whose record is kept; a robots.txt has some dozen


def set_usage(records: Sequence[UrlRecord], policy: Policy) -> None:
    """Set on records of one authority what the group `*` of its robots.txt states."""
    usage = policy.usage_of()
    if usage is None:
        return
    if not usage.by_path:
        alike = recorded(usage.preferences("/"))
        for record in records:
            record.usage = alike
        return
    for record in records:
        record.usage = recorded(usage.preferences(path_of(record.loc)))


@lru_cache(MAX_KNOWN)
def recorded(preferences: tuple[Preference, ...]) -> UsageRecord | None:
    """Return the record of preferences; None for none. Records share it."""
    found = {
        name: value
        for use, allowed, places in combined(preferences)
        for name, value in ((use, ALLOW if allowed else DISALLOW), (f"{use}_by", ", ".join(places)))
    }
    return UsageRecord(**found) if found else None


def preferences_of(record: UsageRecord | None) -> tuple[Preference, ...]:
    """The preferences of a record."""
    held = [(use, getattr(record, use), getattr(record, f"{use}_by")) for use in Use if record is not None]
    return tuple(Preference(use, value == ALLOW, place) for use, value, place in held if value)
