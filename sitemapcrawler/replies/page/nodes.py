"""Texts and places of the elements of a page."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from selectolax.lexbor import LexborNode

LABEL = 20
"""Bytes in UTF-8 of the text of a link that is no label, such as the title of a page. A label may stand before a
count."""
SUBHEADINGS = "h2,h3,h4,h5,h6"
ENDS = (".", "!", "?", "؟")
"""What a sentence ends with."""
SPACE = "\0"
"""What separates the texts of nodes. No page has it: the parser replaces it."""
ASCII_BLANKS = SPACE.encode() + bytes(code for code in range(128) if chr(code).isspace())
LONG = 60
"""Characters of a text node that is no label, some nine English words; bytes in UTF-8 of signs that are more than a
letter, such as 20 Chinese characters."""
FIRST_SIGN = "\u2e80"
"""First of these signs."""
MAX_NAMES = 500  # characters of class and id
_IS_NAME = re.compile(r"[a-zA-Z_-]+").fullmatch
"""Matches class names that no build or database has numbered."""
MAX_HEADINGS = 4
"""First headings that are checked for text."""


def has_text(text: str) -> bool:
    """True for a text with letters or digits."""
    return any(map(str.isalnum, text))


def ink(text: str) -> int:
    if text.isascii():
        return len(text.encode("ascii").translate(None, ASCII_BLANKS))
    return len("".join(text.split())) - text.count(SPACE)


def byte_count(text: str) -> int:
    """Number of bytes in UTF-8."""
    return len(text.encode("utf-8", "replace"))


def is_long(line: str) -> bool:
    """True for a line that is no label."""
    return len(line) >= LONG or (not line.isascii() and max(line) >= FIRST_SIGN and byte_count(line) >= LONG)


def ancestors(node: LexborNode) -> Iterator[int]:
    above: LexborNode | None = node
    while above is not None:
        yield above.mem_id
        above = above.parent


def element_from(node: LexborNode | None) -> int | None:
    """Identity of the first element from a node on, among its siblings."""
    while node is not None and not node.is_element_node:
        node = node.next
    return node.mem_id if node is not None else None


def kind_of(node: LexborNode) -> str:
    """Tag and first class, which elements of one list have in common."""
    classes = (node.attributes.get("class") or "")[:MAX_NAMES].split()
    return f"{node.tag}.{next(filter(_IS_NAME, classes), '')}"


def grouped(nodes: Iterable[LexborNode], of_columns: bool = False) -> Collection[list[LexborNode]]:
    """Group elements that have one parent and are of one kind, in `of_columns` each perhaps alone in an element."""
    groups: dict[tuple[int, str], list[LexborNode]] = {}
    for node in nodes:
        column, whole = node, node.parent
        while of_columns and whole is not None and is_alone(column):
            column, whole = whole, whole.parent
        if whole is not None:
            groups.setdefault((whole.mem_id, kind_of(node)), []).append(node)
    return groups.values()


def is_alone(node: LexborNode) -> bool:
    """True for an element without others beside it, whatever text stands between them."""
    for way in ("prev", "next"):
        beside = getattr(node, way)
        if beside is not None and (beside.is_element_node or getattr(beside, way) is not None):
            return False
    return True


def is_leaf(node: LexborNode) -> bool:
    """True for an element with one text node and nothing else."""
    inner = node.first_child
    return inner is not None and inner.next is None and inner.is_text_node


def has_words(node: LexborNode | None) -> bool:
    """True for letters from a node on among its siblings, of which there may be few."""
    for _ in range(MAX_HEADINGS):
        if node is None:
            return False
        if any(map(str.isalpha, node.text())):
            break
        node = node.next
    return True


def has_own_text(whole: LexborNode, known: dict[int, bool]) -> bool:
    """True for an element with text that is in no other. `known`: answers so far, as many ask for one element."""
    if whole.mem_id not in known:
        known[whole.mem_id] = has_text(whole.text(deep=False))
    return known[whole.mem_id]
