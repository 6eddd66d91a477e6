"""The packages that the commands need. A server that runs this project from an egg installs none of them."""

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
"""{module: what to install}, as pyproject.toml says; without what Scrapy brings, and what can be done without."""
SCRAPY = (2, 18)
"""The oldest version of Scrapy that works."""


def lacking() -> list[str]:
    """What is to be installed before anything can run."""
    found = [requirement for module, requirement in NEEDED.items() if find_spec(module) is None]
    return [f"scrapy>={SCRAPY[0]}.{SCRAPY[1]},<3", *found] if scrapy.version_info[:2] < SCRAPY else found


def require() -> None:
    """End the process with one line, exit code 1, where something is lacking: a traceback would name the first only."""
    if lack := lacking():
        sys.exit(f"sitemapcrawler: {sys.executable} lacks what this needs; install {' '.join(map(repr, lack))} there")
