"""Refuses a release whose table of crawlers is old: python release/crawlers.py

Operators add crawlers and move their pages every few months.
"""

from __future__ import annotations

import sys
import tomllib
from datetime import date, timedelta
from pathlib import Path

TABLE = Path(__file__).parents[1] / "sitemapcrawler" / "robots" / "crawlers.toml"
MAX_AGE = timedelta(days=180)


def problem(reviewed: date, today: date) -> str | None:
    """Say what is wrong with the date of the table; None if nothing is."""
    if reviewed > today:
        return f"{TABLE.name} was reviewed on {reviewed}, after today"
    if today - reviewed > MAX_AGE:
        return f"{TABLE.name} was last reviewed on {reviewed}: open the pages of the operators, and set the date"
    return None


if __name__ == "__main__":
    sys.exit(problem(tomllib.loads(TABLE.read_text("utf-8"))["reviewed"], date.today()))
