"""Lower bound for Python: fetch, inflate, parse with lxml, write loc and lastmod; no checks, no limits, no lines.

lxml_loop.py INDEX_URL OUT.tsv
"""

from __future__ import annotations

import gzip
import sys
from collections.abc import Iterator
from typing import Any
from urllib.request import urlopen

from lxml import etree

CORE = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
LOC, LASTMOD = f"{CORE}loc", f"{CORE}lastmod"


def elements(url: str, tag: str) -> Iterator[Any]:
    """Yield the elements of one document, each freed after use."""
    with urlopen(url) as response:
        source = gzip.GzipFile(fileobj=response) if url.endswith(".gz") else response
        for _, element in etree.iterparse(source, tag=CORE + tag, resolve_entities=False, no_network=True):
            yield element
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]


def main(index: str, out: str) -> None:
    """Write one line per entry of every file that the index lists."""
    with open(out, "w") as rows:  # noqa: PTH123 - as bare as it gets
        for sitemap in [child.findtext(LOC) for child in elements(index, "sitemap")]:
            for entry in elements(sitemap, "url"):
                fields = {child.tag: child.text for child in entry}
                rows.write(f"{fields[LOC]}\t{fields.get(LASTMOD)}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
