"""Writes sitemap sets of any size; the same arguments give the same bytes.

    python -m bench.generate plain OUT --files 20 --entries 50000 [--raw]
    python -m bench.generate rich OUT --files 5 --entries 20000
    python -m bench.generate plain OUT --files 1 --gib 1

`plain` entries have loc, lastmod, changefreq and priority in this order; `unusual` ones have another order, and
milliseconds; `faulty` ones have a wrong date. `rich` ones have loc, lastmod, 3 images and 10 language versions; every
4th has a video, every 5th a news article. `multilingual` ones have the same in clusters of pages that link to each
other, with nothing wrong. With `--gib`, files grow to that size.

A set is a site of its own, and OUT is its document root:

    robots.txt                 names index.xml
    index.xml                  names the files below
    sitemap-000.xml.gz ...     urlsets, compressed while they are written
    index-raw.xml, sitemap-000.xml ...     with --raw: the same uncompressed
    set.json                   the arguments and the totals: urls, bytes, gz_bytes
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, BinaryIO

from bench.entries import CORE, ENTRIES, ROOTS

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
TAIL = "</urlset>\n"
GIB = 1 << 30
BUFFER = 1 << 20  # bytes to collect before compressing and writing
LEVEL = 6  # the default of gzip, and so of most sites


@dataclass(frozen=True)
class Recipe:
    """Parameters of a set."""

    kind: str
    """plain, unusual, pages, rich, multilingual or faulty."""
    host: str
    """Origin that will serve the set, `http://127.0.0.1:8961`, and of its page URLs."""
    files: int = 20
    entries: int | None = 50_000
    """Entries of each file; None if `gib` decides."""
    gib: float | None = None
    """Uncompressed size of each file, in GiB."""
    raw: bool = False
    """Also write the files uncompressed."""
    seed: int = 7
    rules: str = "User-agent: *\nDisallow: /admin/\n"
    """Content of robots.txt besides the name of the index."""


@dataclass
class Written:
    """Totals of a set."""

    urls: int = 0
    bytes: int = 0
    gz_bytes: int = 0


def ensure(recipe: Recipe, out: Path) -> dict[str, Any]:
    """Return the content of `set.json`; write the set if it is missing."""
    manifest = out / "set.json"
    known = json.loads(manifest.read_text()) if manifest.exists() else {}
    if asdict(recipe).items() <= {"rules": Recipe.rules, **known}.items():
        return known
    manifest.unlink(missing_ok=True)
    made = {**asdict(recipe), **asdict(write_set(recipe, out))}
    manifest.write_text(json.dumps(made, indent=1) + "\n")
    return made


def write_set(recipe: Recipe, out: Path) -> Written:
    """Write all files of a set except its manifest."""
    out.mkdir(parents=True, exist_ok=True)
    names = [f"sitemap-{number:03}.xml" for number in range(recipe.files)]
    written = Written()
    for number, name in enumerate(names):
        write_file(recipe, number, out / name, written)
    write_index(out / "index.xml", recipe.host, [f"{name}.gz" for name in names])
    if recipe.raw:
        write_index(out / "index-raw.xml", recipe.host, names)
    (out / "robots.txt").write_text(f"{recipe.rules}\nSitemap: {recipe.host}/index.xml\n")
    return written


def write_file(recipe: Recipe, number: int, path: Path, written: Written) -> None:
    """Write one urlset to `path` with `.gz` added, and for a raw set to `path` itself."""
    compressed = path.with_name(f"{path.name}.gz")
    with ExitStack() as stack:
        file = stack.enter_context(compressed.open("wb"))
        # No name and no time in the header: the same bytes whenever and wherever the set is made.
        compressor = gzip.GzipFile("", "wb", compresslevel=LEVEL, fileobj=file, mtime=0)
        targets: list[gzip.GzipFile | BinaryIO] = [stack.enter_context(compressor)]
        if recipe.raw:
            targets.append(stack.enter_context(path.open("wb")))
        for piece in pieces(recipe, number, written):
            written.bytes += len(piece)
            for target in targets:
                target.write(piece)
    written.gz_bytes += compressed.stat().st_size


def pieces(recipe: Recipe, number: int, written: Written) -> Iterator[bytes]:
    """Yield one urlset in pieces of about `BUFFER` bytes."""
    parts, size, total = [HEAD + ROOTS[recipe.kind]], 0, 0
    for entry in file_entries(recipe, number):
        parts.append(entry)
        size += len(entry)  # all is ASCII
        written.urls += 1
        if size >= BUFFER:
            yield "".join(parts).encode()
            parts, size, total = [], 0, total + size
        if recipe.gib is not None and total + size >= recipe.gib * GIB:
            break
    yield ("".join(parts) + TAIL).encode()


def file_entries(recipe: Recipe, number: int) -> Iterator[str]:
    """Yield the entries of file `number`; endless if the size decides."""
    chance = Random(f"{recipe.seed} {recipe.kind} {number}")
    first = number * (recipe.entries or 0)
    make = ENTRIES[recipe.kind]
    for page in range(first, first + recipe.entries) if recipe.entries else count():
        yield make(chance, recipe.host, page)


def write_index(path: Path, host: str, names: list[str]) -> None:
    children = "".join(
        f"  <sitemap><loc>{host}/{name}</loc><lastmod>2025-01-01</lastmod></sitemap>\n" for name in names
    )
    path.write_text(f"{HEAD}<sitemapindex {CORE}>\n{children}</sitemapindex>\n")


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.generate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=sorted(ENTRIES))
    parser.add_argument("out", type=Path)
    parser.add_argument("--host", default="http://127.0.0.1:8961", help="where it is served, default: %(default)s")
    parser.add_argument("--files", type=int, default=20, help="default: %(default)s")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--entries", type=int, default=50_000, help="of each file, default: %(default)s")
    size.add_argument("--gib", type=float, help="uncompressed size of each file instead")
    parser.add_argument("--raw", action="store_true", help="write the files uncompressed as well")
    parser.add_argument("--seed", type=int, default=7, help="default: %(default)s")
    arguments = vars(parser.parse_args())
    out = arguments.pop("out")
    if arguments["gib"] is not None:
        arguments["entries"] = None
    print(json.dumps(ensure(Recipe(**arguments), out)))


if __name__ == "__main__":
    main()
