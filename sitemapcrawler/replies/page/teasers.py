"""Teasers, which lead to other pages, and entries of many people, such as comments."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

from selectolax.lexbor import LexborNode

from sitemapcrawler.replies.page.boilerplate import AFTER, AGO_AFTER, AGO_BEFORE
from sitemapcrawler.replies.page.nodes import (
    ENDS,
    LABEL,
    LONG,
    MAX_HEADINGS,
    SPACE,
    SUBHEADINGS,
    byte_count,
    has_text,
    ink,
)
from sitemapcrawler.replies.page.tokens import has_price

LISTS = frozenset(("ul", "ol", "dl", "table", "tbody"))
AWAY = 'a:not([href*="#"])'
"""Selector of links, but for those to a part of a page, such as a post of a thread."""
LINKED = ",".join(f"{heading} {AWAY},{AWAY} {heading}" for heading in SUBHEADINGS.split(","))
"""Selector of headings that are such links."""
BLOCKS = "p,div,img,figure"
"""Selector of what a link is around that is more than a part of a sentence."""
PICTURED = f"img,{SUBHEADINGS}"
"""Selector of what a teaser has, but no entry of a list in a text."""

_NAMES_TITLE = re.compile(r"title|headline|heading", re.IGNORECASE).search
MAX_CAPTION = 120
"""Characters of a teaser with a title and a line below."""
_IS_FILE = re.compile(r"#|[^?]*\.(?:jpe?g|png|webp|gif|avif|svg)\Z", re.IGNORECASE).match
"""Matches what links to a part of the page, or to a larger picture."""
ENTRIES = "li,div,article,section,figure,tr"
MAX_AGE = 40  # characters of a line with an age
_DIGIT = re.compile(r"\d").search
_AGES = "|".join(map(re.escape, sorted(AGO_AFTER | AGO_BEFORE)))
_AGE = re.compile(
    rf"\d\s?\w* ?\b(?:{_AGES})\b|\b(?:{_AGES}) \d|\d\s?(?:{'|'.join(map(re.escape, AFTER))})", re.IGNORECASE
).search


def title_size(item: LexborNode, outside: int) -> int:
    """Return the bytes of the link that a part begins with, after a time or number; 0 without one, or if text beside
    its heading is no link. `outside`: characters outside of links."""
    if (heading := item.css_first(SUBHEADINGS)) is not None:
        return LABEL if item.css_first(LINKED) is not None or outside <= ink(heading.text()) else 0
    is_link = item.tag == "a"
    links = [item] if is_link else item.css("a")[:MAX_HEADINGS]
    link = next((link for link in links if has_text(link.text())), None)  # others are around pictures
    if link is None or (is_link and item.css_first(BLOCKS) is None):
        return 0
    title = link.text(strip=True)
    if _is_title(link) or (link.parent is not None and link.parent.mem_id != item.mem_id and _is_title(link.parent)):
        return LABEL
    before = item.text(strip=True).partition(title)[0]
    is_time = not any(map(str.isalpha, before)) or (len(before) <= LABEL and any(map(str.isdigit, before)))
    return byte_count(title) if is_time else 0


def _is_title(node: LexborNode) -> bool:
    """True for an element that its class calls a title."""
    return _NAMES_TITLE(node.attributes.get("class") or "") is not None


def is_card(item: LexborNode) -> bool:
    """True for a part whose heading is a link to another page, or which is a link around blocks."""
    link = item if item.tag == "a" else item.css_first("a")
    if link is None or "#" in (link.attributes.get("href") or ""):
        return False
    heading = item.css_first(SUBHEADINGS)
    title = (link if heading is None else heading).text(strip=True)
    if byte_count(title) < LABEL:
        return False
    if heading is not None:
        last, text = link.text(strip=True), item.text(strip=True)
        return title in last or (text.endswith(last) and not has_price(text))
    return link.css_first(BLOCKS) is not None and item.text(strip=True) == title


def is_pictured(item: LexborNode) -> bool:
    """True for a short part without a sentence that begins with a picture which is a link to another page."""
    link = item if item.tag == "a" else item.css_first("a")
    if link is None or link.css_first("img,picture") is None or _IS_FILE(link.attributes.get("href") or ""):
        return False
    text = item.text(separator=SPACE, strip=True)
    return has_text(text) and len(text) <= MAX_CAPTION and not text.endswith(ENDS)


def is_in_prose(whole: LexborNode) -> bool:
    """True for a list or table beside a paragraph."""
    if whole.tag not in LISTS:
        return False
    while whole.tag in LISTS and whole.parent is not None:
        whole = whole.parent
    paragraphs = (node.text(strip=True) for node in whole.iter() if node.tag == "p")
    return any(byte_count(text) >= LONG for text in paragraphs)


def is_entry(item: LexborNode) -> bool:
    """True for a part with an age on a line of its own and another text, but no price or heading of a section."""
    text = item.text(separator=SPACE, strip=True)
    lines = text.split(SPACE)
    return len(lines) > 1 and has_ages(lines, 1) and not has_price(text) and item.css_first("h2,h3,table") is None


def has_ages(lines: Iterable[str], number: int) -> bool:
    """True for so many lines that are ages, such as `3 days ago`."""
    found = (line for line in lines if len(line) <= MAX_AGE and _DIGIT(line) and _AGE(line))
    return sum(1 for _ in islice(found, number)) == number
