"""advertools: reads an index into one data frame, and writes its loc and lastmod.

advertools_frame.py INDEX_URL OUT.tsv
"""

from __future__ import annotations

import logging
import sys

import advertools


def main(index: str, out: str) -> None:
    """Write one line per row of the frame that has a page."""
    logging.disable(logging.CRITICAL)
    frame = advertools.sitemap_to_df(index)
    frame[["loc", "lastmod"]].to_csv(out, sep="\t", index=False, header=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
