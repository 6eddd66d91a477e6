"""Lower bound for rich entries: like lxml_loop.py, but writes every element and attribute, as JSON lines.

lxml_rich.py INDEX_URL OUT.jsonl
"""

from __future__ import annotations

import json
import sys
from typing import Any

from lxml_loop import LOC, elements


def plain(element: Any) -> Any:
    """Convert an element to text, or to its attributes and children by name."""
    value = {**element.attrib}
    for child in element:
        value.setdefault(child.tag, []).append(plain(child))
    return value or element.text


def main(index: str, out: str) -> None:
    """Write one line per entry of every file that the index lists."""
    encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
    with open(out, "w") as rows:  # noqa: PTH123 - as bare as it gets
        for sitemap in [child.findtext(LOC) for child in elements(index, "sitemap")]:
            rows.writelines(encode(plain(entry)) + "\n" for entry in elements(sitemap, "url"))


if __name__ == "__main__":
    main(*sys.argv[1:])
