"""The allowlist: findings that somebody looked at and accepts, for a reason and perhaps for a time."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Mapping
from datetime import date, datetime
from typing import Any

from sitemapcrawler.rules.choice import Allowance, check_names
from sitemapcrawler.rules.registry import Rule

TABLE = "allow"
"""Name of the tables, one for each entry."""
TEXTS = ("rule", "url", "reason")
"""Keys that every entry has; `until` may stand besides them."""
KEYS = (*TEXTS, "until")


def parse(text: str, rules: Collection[Rule]) -> tuple[Allowance, ...]:
    """The entries of an allowlist in TOML; ValueError, one line that names the entry, for one that cannot be used.

    An entry is a table `[[allow]]` with `rule` (id or family), `url` (a regular expression), `reason`, and where it
    is to end, `until` (a date, the last day).
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"no TOML: {error}") from None
    entries = document.pop(TABLE, [])
    if document or not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ValueError(f"accepted: tables [[{TABLE}]] with {', '.join(TEXTS)} and perhaps until")
    return tuple(_entry(number, entry, rules) for number, entry in enumerate(entries, 1))


def _entry(number: int, entry: Mapping[str, Any], rules: Collection[Rule]) -> Allowance:
    try:
        _check(entry, rules)
        return Allowance(entry["rule"], re.compile(entry["url"]), entry["reason"], entry.get("until"))
    except ValueError as error:
        raise ValueError(f"entry {number}: {error}") from None
    except re.error as error:
        raise ValueError(f"entry {number}: url={entry['url']!r} is no regular expression: {error}") from None


def _check(entry: Mapping[str, Any], rules: Collection[Rule]) -> None:
    for key in TEXTS:
        if not isinstance(entry.get(key), str) or not entry[key].strip():
            raise ValueError(f"{key} is missing, or no text")
    for key in entry:
        if key not in KEYS:
            raise ValueError(f"no key {key!r}; accepted: {', '.join(KEYS)}")
    until = entry.get("until", date.max)
    if not isinstance(until, date) or isinstance(until, datetime):
        raise ValueError(f"until={until!r} is no date like 2027-01-31 (without quotes)")
    check_names([entry["rule"]], rules)
