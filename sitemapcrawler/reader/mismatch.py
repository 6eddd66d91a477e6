"""Entries in which an end tag does not fit its start tag, and nothing else is unusual."""

from __future__ import annotations

import re

from sitemapcrawler.element import Element

PART = r"<(?!url>|sitemap>)([A-Za-z][A-Za-z0-9]*+)>([^<>&]*+(?:&amp;[^<>&]*+)*+)</([A-Za-z][A-Za-z0-9]*+)>[ \t\n]*+"
ENTRY = re.compile(rf"[ \t\n]*+<url>[ \t\n]*+(?:{PART})*+</url>[ \t\n]*+")
PARTS = re.compile(PART)


def read_mismatch(text: str, line: int, uri: str) -> tuple[Element, int] | None:
    """The entry in `text` up to the first end tag that does not fit, as the strict parser would leave it, and where in
    `text` the name in that tag begins; None where `text` is anything else.

    `line`: where `text` begins; `uri`: the namespace of the entry. Text with faults of other kinds must not be given.
    """
    if not ENTRY.fullmatch(text):
        return None
    start = text.index("<url>")
    entry = Element(uri, "url", {}, line + text.count("\n", 0, start))
    for part in PARTS.finditer(text, start + 5):
        name, value, end = part.groups()
        if name != end:
            return entry, part.start(3)
        child = Element(uri, name, {}, line + text.count("\n", 0, part.start()))
        child.content += [value.replace("&amp;", "&")] if value else []
        entry.content.append(child)
    return None
