"""What ultimate-sitemap-parser finds on a site, by its robots.txt, without probing paths.

reading_usp.py ORIGIN OUT.json
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from usp.objects.sitemap import AbstractSitemap
from usp.tree import sitemap_tree_for_homepage

LEVELS = 2
"""Levels above the sitemaps: website and robots.txt."""


def depth_first(sitemap: AbstractSitemap, level: int = 0) -> Iterator[tuple[str, int]]:
    """Yield the URLs and levels of the tree."""
    yield sitemap.url, level
    for child in getattr(sitemap, "sub_sitemaps", ()):
        yield from depth_first(child, level + 1)


def main(origin: str, out: str) -> None:
    """Write the pages, and the children of indexes, including those that failed."""
    logging.disable(logging.CRITICAL)
    tree = sitemap_tree_for_homepage(origin, use_known_paths=False)
    pages = [page.url for page in tree.all_pages()]
    children = [url for url, level in depth_first(tree) if level > LEVELS]
    found = {"version": version("ultimate-sitemap-parser"), "pages": pages, "children": children}
    Path(out).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
