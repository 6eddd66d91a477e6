"""ultimate-sitemap-parser: reads the tree of a site from its robots.txt, without probing paths; writes loc and lastmod.

ultimate_sitemap_parser.py HOME_URL OUT.tsv
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path

from usp.tree import sitemap_tree_for_homepage


def main(home: str, out: str) -> None:
    """Write one line per page of the tree."""
    logging.disable(logging.CRITICAL)
    tree = sitemap_tree_for_homepage(home, use_known_paths=False)
    with Path(out).open("w") as rows:
        rows.writelines(f"{page.url}\t{page.last_modified}\n" for page in tree.all_pages())


if __name__ == "__main__":
    main(*sys.argv[1:])
