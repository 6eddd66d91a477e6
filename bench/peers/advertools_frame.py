"""advertools: an index into one data frame, of which loc and lastmod are written.

advertools_frame.py INDEX_URL OUT.tsv
"""

from __future__ import annotations

import logging
import sys

import advertools


def main(index: str, out: str) -> None:
    """Write one line for each row of the frame that holds a page."""
    logging.disable(logging.CRITICAL)
    frame = advertools.sitemap_to_df(index)
    frame[["loc", "lastmod"]].to_csv(out, sep="\t", index=False, header=False)


if __name__ == "__main__":
    main(*sys.argv[1:])
