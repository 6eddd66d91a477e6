"""Scrapy commands, one per module: crawl, inspect, validate and fleet.

Checks first that the packages they need are installed: Scrapy imports this package before it looks for a command, and
a server that runs this project from an egg installs no dependencies.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

import scrapy

NEEDED = {
    "protego": "protego>=0.4,<1",
    "lxml": "lxml>=5.3,<7",
    "itemadapter": "itemadapter>=0.12,<1",
    "msgspec": "msgspec>=0.19,<1",
    "pycountry": "pycountry>=24.6,<28",
    "ada_url": "ada-url>=1.15,<5",
    "certifi": "certifi>=2024.7.4",
    "isal": "isal>=1.7,<2",
    "duckdb": "duckdb>=1.3,<3",
    "rich": "rich>=13.9,<16",
    "jinja2": "jinja2>=3.1.6,<4",
    "pygal": "pygal>=3.0.5,<4",
}
"""{module: requirement}, as in pyproject.toml, without optional packages and those that Scrapy brings."""
SCRAPY = (2, 18)
"""Oldest version of Scrapy that is supported."""


def lacking() -> list[str]:
    """Requirements that are not installed."""
    found = [requirement for module, requirement in NEEDED.items() if find_spec(module) is None]
    return [f"scrapy>={SCRAPY[0]}.{SCRAPY[1]},<3", *found] if scrapy.version_info[:2] < SCRAPY else found


def require() -> None:
    """End the process with one line that names every missing package; exit code 1."""
    if lack := lacking():
        sys.exit(f"sitemapcrawler: {sys.executable} lacks what this needs; install {' '.join(map(repr, lack))} there")


require()
