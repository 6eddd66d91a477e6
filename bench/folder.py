"""Sitemaps of a folder as inputs, with the URLs that a strict parser (or, if it fails, a regular expression) finds."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from urllib.parse import urljoin
from xml.etree import ElementTree

from bench.hard import SITE, Answer, Input

SUFFIXES = (".xml", ".gz", ".txt")
GZIP = b"\x1f\x8b"
LOC = re.compile(r"<(url|sitemap)>\s*<loc>\s*([^<\s]+)\s*</loc>")
"""URL of an entry, for files that are not well-formed; none of them uses prefixes."""
BLANK = re.compile(r"\{\{|\{%")
"""Template placeholder."""


def inputs(folder: Path) -> list[Input]:
    """Return one input per sitemap of the folder, sorted by name; files called robots.txt are skipped."""
    files = [path for path in sorted(folder.iterdir()) if path.suffix in SUFFIXES and "robots" not in path.name]
    return [_input(path) for path in files]


def _input(path: Path) -> Input:
    body = path.read_bytes()
    kind = "application/gzip" if path.suffix == ".gz" else "text/plain" if path.suffix == ".txt" else "application/xml"
    where = f"/{path.name}"
    plain = gzip.decompress(body) if body.startswith(GZIP) else body
    index, urls = listed(plain)
    found = tuple(dict.fromkeys(urljoin(SITE + where, url) for url in urls if url))
    return Input(path.name, {where: Answer(body, kind)}, () if index else found, found if index else None)


def listed(body: bytes) -> tuple[bool, list[str]]:
    """Return whether a document is an index, and the URLs that it lists, as written."""
    try:
        root = ElementTree.fromstring(body)
    except ElementTree.ParseError:
        return _by_expression(body.decode("utf-8", "replace"))
    return _name(root) == "sitemapindex", list(_links(root))


def _by_expression(text: str) -> tuple[bool, list[str]]:
    found = [(name, unescape(url)) for name, url in LOC.findall(text) if not BLANK.search(url)]
    if not found and "<" not in text:
        return False, text.split()
    return bool(found) and found[0][0] == "sitemap", [url for _, url in found]


def _links(root: ElementTree.Element) -> Iterator[str]:
    for entry in root.iter():
        if _name(entry) in ("url", "sitemap", "item"):
            wanted = "link" if _name(entry) == "item" else "loc"
            yield from ((child.text or "").strip() for child in entry if _name(child) == wanted)
        elif _name(entry) == "entry":
            yield from (child.get("href", "") for child in entry if _name(child) == "link")


def _name(element: ElementTree.Element) -> str:
    return element.tag.rpartition("}")[2]
