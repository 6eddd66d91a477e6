"""What advertools finds on a site, by its robots.txt: rows of one data frame.

reading_advertools.py ORIGIN OUT.json
"""

from __future__ import annotations

import json
import logging
import sys
from importlib.metadata import version
from pathlib import Path

import advertools


def main(origin: str, out: str) -> None:
    """Write the pages, and the sitemaps in the frame."""
    logging.disable(logging.CRITICAL)
    frame = advertools.sitemap_to_df(f"{origin}/robots.txt")
    pages = list(frame["loc"].dropna()) if "loc" in frame else []
    children = list(frame["sitemap"].dropna()) if "sitemap" in frame else []
    found = {"version": version("advertools"), "pages": pages, "children": children}
    Path(out).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
