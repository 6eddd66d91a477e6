"""How much slower the reader is on broken files than on clean ones of the same kind, in one process.

    python -m bench.broken [--entries 50000]

Prints, for each kind of fault, the time over that of the clean file with 1 % of the entries broken and with all.
"""

from __future__ import annotations

import argparse
import time
from statistics import median

from sitemapcrawler.reader import Document

ROOT = '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"{}>\n'
ENTRY = "<url><loc>https://example.com/page/{}.html{}</loc><lastmod>2024-05-01T10:00:00+00:00</lastmod>{}</url>\n"
IMAGE = "<image:image><image:loc>https://example.com/1.jpg</image:loc></image:image>"
DECLARED = ' xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"'
CHUNK = 1 << 16
ROUNDS = 3


def entry(number: int, fault: str) -> str:
    """One entry with a fault of this kind."""
    if fault == "tags that do not match":
        return ENTRY.format(number, "", "").replace("</loc>", "</lok>")
    marks = {"raw ampersand": "?a=1&b=2", "HTML entity": "&eacute;", "control character": "\x01", "bad byte": "\udce9"}
    return ENTRY.format(number, marks.get(fault, ""), IMAGE if "prefix" in fault or "image" in fault else "")


def document(entries: int, fault: str, every: int, clean: str = "") -> bytes:
    """A urlset in which each `every`-th entry has the fault, the others are of the kind `clean`."""
    body = "".join(entry(number, clean if number % every else fault) for number in range(entries))
    return (ROOT.format(DECLARED if fault == "image" else "") + body + "</urlset>\n").encode("utf-8", "surrogateescape")


def seconds(data: bytes) -> float:
    """Median time to read a document."""

    def once() -> float:
        start = time.perf_counter()
        for _ in Document("https://example.com/sitemap.xml").read(
            data[place : place + CHUNK] for place in range(0, len(data), CHUNK)
        ):
            pass
        return time.perf_counter() - start

    return median(once() for _ in range(ROUNDS))


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=50_000)
    entries = parser.parse_args().entries
    clean, images = seconds(document(entries, "", 1)), seconds(document(entries, "image", 1))
    print(f"clean: {clean / entries * 1e6:.1f} us an entry; with an image each: {images / entries * 1e6:.1f} us\n")
    print("| fault | 1 % broken | all broken |\n|---|---|---|")
    for fault in ("raw ampersand", "HTML entity", "control character", "bad byte", "tags that do not match"):
        some, every = (seconds(document(entries, fault, step)) / clean for step in (100, 1))
        print(f"| {fault} | {some:.2f} | {every:.1f} |")
    print(f"| undeclared prefix (over declared) | | {seconds(document(entries, 'prefix', 1)) / images:.1f} |")


if __name__ == "__main__":
    main()
