"""Scrapy commands, one per module: audit, inspect, validate, fix, crawl, fleet and mcp.

Importing this package checks that the required packages are installed: Scrapy imports it before it looks for a command,
and a server that runs this project from an egg installs no dependencies. Commands may import every other package. Start
reading in `audit.py`; `options` is what they share.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec

import scrapy

NEEDED = {
    "protego": "protego>=0.7,<1",
    "lxml": "lxml>=5.4,<7",
    "itemadapter": "itemadapter>=0.12.2,<1",
    "msgspec": "msgspec>=0.19,<1",
    "pydantic": "pydantic>=2.10,<3",
    "pycountry": "pycountry>=26.2,<28",
    "idna": "idna>=3.7,<4",
    "certifi": "certifi>=2026.10.19",
    "isal": "isal>=1.7,<2",
    "selectolax": "selectolax>=1.0.2,<2",
    "duckdb": "duckdb>=2.0.1,<3",
    "rich": "rich>=15,<16",
    "jinja2": "jinja2>=3.1.6,<4",
    "pygal": "pygal>=3.0.5,<4",
    "xlsxwriter": "xlsxwriter>=3.2.2,<4",
}
"""{module: requirement}, as in pyproject.toml, without optional packages and Scrapy's own dependencies."""
SCRAPY = (2, 18)
"""Oldest supported version of Scrapy."""


def lacking() -> list[str]:
    """Return the requirements that are not installed."""
    found = [requirement for module, requirement in NEEDED.items() if find_spec(module) is None]
    return [f"scrapy>={SCRAPY[0]}.{SCRAPY[1]},<3", *found] if scrapy.version_info[:2] < SCRAPY else found


def require() -> None:
    """Exit with code 1 and one line that names every missing package, if there is one."""
    if lack := lacking():
        sys.exit(f"sitemapcrawler: {sys.executable} lacks what this needs; install {' '.join(map(repr, lack))} there")


require()
