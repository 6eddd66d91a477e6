"""Cost of broken files compared with clean ones of the same kind, in one process.

    python -m bench.broken [--entries 50000] [--rounds 5]

Prints, for each kind of fault, the ratio of processor times to the clean file, with 1 % and with all of the entries
broken (median of the rounds); then the cost of hostile documents for a MiB, and for a document four times as long.
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
MARKS = {
    "raw ampersand": "?a=1&b=2",
    "HTML entity": "&eacute;",
    "control character": "\x01",
    "bad byte": "\udce9",
    "tags that do not match": "",
    "the same with a reference": "?a=1&amp;b=2",
}
"""{fault: text in the URL}."""
URL = "<url><loc>https://example.com/1</loc></url>"
HOSTILE = {
    "start tags": "<url>",
    "end tags": "</url>",
    "entries without end": "<url><loc>https://example.com/1</loc>",
    "wrappers in wrappers": f"<g>{URL}&{URL}",
    "elements in elements": "<x>",
    "comments without end": f"&<!-- {URL}",
    "CDATA in an element": "<x><![CDATA[</url>]]></x>",
    "ampersands": "&",
    "ampersands between entries": f"&{URL}",
    "less-than signs": "<",
    "quotes": '<url a="\'"',
    "undeclared prefixes": "<a:b/><c:d/></url>",
    "documents": f"<urlset>{URL}</urlset>",
    "ends of CDATA": "]]>",
}
"""{kind: part that a document repeats to its end}."""
CHUNK = 1 << 16
MIB = 1 << 20


def entry(number: int, fault: str) -> str:
    """Return an entry with a fault of this kind."""
    text = ENTRY.format(number, MARKS.get(fault, ""), IMAGE if fault in ("prefix", "image") else "")
    return text.replace("</loc>", "</lok>") if fault in [*MARKS][-2:] else text


def document(entries: int, fault: str, every: int, clean: str = "") -> bytes:
    """Return a urlset in which every `every`-th entry has the fault; the others are of the kind `clean`."""
    body = "".join(entry(number, clean if number % every else fault) for number in range(entries))
    return (ROOT.format(DECLARED if fault == "image" else "") + body + "</urlset>\n").encode("utf-8", "surrogateescape")


def hostile(part: str, size: int) -> bytes:
    """Return a document of about `size` bytes that repeats a part."""
    return (ROOT.format("") + part * (size // len(part))).encode()


def seconds(data: bytes) -> float:
    """Measure the processor time to read a document."""
    start = time.process_time()
    for _ in Document("https://example.com/sitemap.xml").read(
        data[place : place + CHUNK] for place in range(0, len(data), CHUNK)
    ):
        pass
    return time.process_time() - start


def ratio(slow: bytes, fast: bytes, rounds: int) -> float:
    """Median of the ratios of the times for two documents, round by round."""
    return median(seconds(slow) / seconds(fast) for _ in range(rounds))


def broken(entries: int, rounds: int) -> None:
    """Print the cost of faults."""
    clean, images = document(entries, "", 1), document(entries, "image", 1)
    each = [median(seconds(data) for _ in range(rounds)) / entries * 1e6 for data in (clean, images)]
    print(f"clean: {each[0]:.1f} us an entry; with an image each: {each[1]:.1f} us\n")
    print("| fault | 1 % broken | all broken |\n|---|---|---|")
    for fault in MARKS:
        some, every = (ratio(document(entries, fault, step), clean, rounds) for step in (100, 1))
        print(f"| {fault} | {some:.2f} | {every:.1f} |")
    print(f"| undeclared prefix (over declared) | | {ratio(document(entries, 'prefix', 1), images, rounds):.1f} |\n")


def attacks(rounds: int) -> None:
    """Print the cost of hostile documents."""
    print("| hostile | s for 1 MiB | 4 MiB over 1 MiB |\n|---|---|---|")
    for name, part in HOSTILE.items():
        once = median(seconds(hostile(part, MIB)) for _ in range(rounds))
        print(f"| {name} | {once:.2f} | {ratio(hostile(part, 4 * MIB), hostile(part, MIB), 1):.1f} |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=50_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    broken(arguments.entries, arguments.rounds)
    attacks(min(arguments.rounds, 3))


if __name__ == "__main__":
    main()
