"""Fingerprint of a page's main content, which a change of its frame, counters or advertisements leaves as it is.

Main content is the text of `<main>` or of the only article, else of the body, without navigation, header, footer,
forms, controls, hidden parts, comments, reviews of customers, related pages, advertisements and lists of links, and
without numbers and tokens that differ between two answers: counters, ages, time stamps, session ids, years of a
copyright. Prices, availability, `<details>`, bare dates and opening hours are content. Punctuation, case, alternative
texts and images are not: a new picture is no new text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from struct import pack
from zlib import crc32

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sitemapcrawler.replies.page.boilerplate import (
    AFTER,
    AGO_AFTER,
    AGO_BEFORE,
    BEFORE,
    COUNTED,
    HEADINGS,
    NOISE,
    NUMBERED,
    PEOPLE,
    PHRASES,
    RESERVED,
    REVIEWS,
    SINCE,
    TIMES,
    UNITS,
    VIEWED,
    WATCHED,
)

CONTENT_VERSION = 1
"""Version of the extraction. Raise it with every change of the rules below: hashes of two versions differ."""
HASH_SIZE = 16  # bytes
SHINGLE = 3  # words; single ones would make all pages of one language alike
MAX_TOKENS = 2_000
"""Tokens that the simhash is made of, the first and the last ones of a longer text."""
HALF = 0.5
"""Share of the text at which a part without a heading to tell by is the content itself."""
MIN_LINKS = 4
"""Links of a list that is navigation. Fewer are part of a text."""
LINK_SHARE = 0.8
"""Share of the text of such a list that is inside links."""
MAX_LINKS = 2_000
"""Links that are checked for lists; pages with more are lists themselves."""
MAX_NAMES = 500  # characters of class and id
MAX_MEASURED = 20
"""Text that may be measured to find the size of parts, in lengths of the page's text; bounds nested parts."""
MIN_COST = 10
"""What measuring a part without text costs, in characters."""
SPACE = "\n"

UNSEEN = [
    "script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "audio", "video", "select",
    "textarea", "datalist", "button", "progress", "meter", "map", "noframes",
]  # fmt: skip
"""Elements without text to read, and controls."""
FURNITURE = ["nav", "footer", "dialog", "menu"]
NAMED = "[class],[id]"
PARTS = "[hidden],[aria-hidden],[inert],[style],[role],header,aside,form,time"
"""Elements that may be parts that are not content."""
TAGS = frozenset(("header", "aside", "form", "time"))
ROLES = frozenset(
    ("navigation", "banner", "contentinfo", "search", "complementary", "dialog", "alertdialog", "timer", "status",
     "log", "marquee", "menu", "menubar", "toolbar")
)  # fmt: skip
HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
UNTIL_FOUND = "until-found"
"""Value of `hidden` of a text that the search of a browser finds."""
NOTES = frozenset(
    ("admonition", "callout", "caution", "danger", "info", "note", "notice", "pullquote", "quote", "tip", "warning")
)
"""Words in names of asides that belong to the text."""

LAYOUT = re.compile(
    r"(?:category|tag|type|status|format|product_cat|product_tag|post_tag|has|with|without|no|not|is|layout|elementor|ui)"
    r"(?=[-_A-Z])|(?:left|right)-sidebar|sidebar-(?:left|right|none)"
)
"""Class names that describe a page or its layout: `has-sidebar`, `category-cookies` of WordPress."""
AD_WORDS = frozenset(
    ("detail", "details", "title", "description", "price", "content", "body", "info", "gallery", "page")
)
"""Words after `ad` on sites of classified advertisements, where it is the content."""
HIDDEN = frozenset(("hidden", "d-none", "hide", "is-hidden", "invisible"))
RESPONSIVE = re.compile(r"(?:sm|md|lg|xl)[:-](?:block|flex|grid|inline)|d-(?:sm|md|lg|xl|print)-")
"""Class names that show a hidden part on other screens."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\d:.]+")
MAX_HEADINGS = 4
"""First headings that are checked for text."""
MAX_HEADING = 60  # characters; a longer one is a sentence of the text

SIGNS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
BLANKLESS = SIGNS + "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Scripts written without blanks: Thai, Lao, Burmese, Khmer, kana and Chinese characters."""
LETTERS_A_WORD = 2  # of Chinese and Japanese
SIGNS_A_WORD = 4  # of Thai, Lao, Burmese and Khmer, vowel signs and tones included
_BLANKLESS = re.compile(f"[{BLANKLESS}]")
SYMBOLS = frozenset("©€$£¥₩₽₹฿₺₴₫")
_SIGNS = re.compile(f"[{SIGNS}]")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\ud800-\udfff]+"
)
_NUMBER = r"\d++(?:[.,:/'\u2019\u2013-]\d++)*+[km]?+(?!\w)"
MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
"""Marks on letters, which `\\w` of Python leaves out: Hebrew, Arabic and Indian vowels."""
_TOKEN = re.compile(rf"{_NUMBER}|[{BLANKLESS}]|(?:(?![{BLANKLESS}])[\w{MARKS}])+|[{''.join(sorted(SYMBOLS))}]")
"""A number with its separators, a character of a script without blanks, a word, or a currency; no punctuation."""
_ASCII_TOKEN = re.compile(rf"[a-z_]\w*+|{_NUMBER}|\w++|\$", re.ASCII)
_YEAR = re.compile(r"(?:19|20)\d\d(?:\D(?:19|20)?\d\d)?\Z")
_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d[t ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:\s?z|\s?[+-]\d\d:?\d\d)?|\d{1,2}:\d\d:\d\d(?:\s?[ap]\.?m)?"
)
"""Time stamps of ISO 8601, and clocks with seconds."""
_LONG = re.compile(
    r"(?=\D*\d)(?=[^a-z]*[a-z])[a-z0-9_+=-]{20,}|[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
LONG = 16
"""Characters of a token of a session or a request, with letters and digits."""
EARLIER, LATER = 4, 6  # words before and after a number that tell its meaning
SIGNS_AROUND = 14  # characters, in scripts without blanks
RIGHTS = frozenset(("©", "c", "copyright", "℗"))
IL_Y_A, A_JOUR = ["il", "y", "a"], frozenset(("à", "jour"))
HINTS = (
    AGO_AFTER
    | AGO_BEFORE
    | COUNTED
    | WATCHED
    | VIEWED
    | SINCE
    | RIGHTS
    | frozenset(("rights", "alle", "il", "todos", "tous", "tutti"))
)
"""One of these is near any number in ASCII text that is left out."""


@dataclass(frozen=True, slots=True)
class Content:
    """Fingerprint of the main text of a page."""

    words: int
    """Words. Two Chinese or Japanese characters count as one, and four of Thai, Lao, Burmese and Khmer."""
    content_hash: str
    """Version of the extraction, a hyphen, and 32 hex digits: equal for equal texts, whatever their blanks and case."""
    simhash: str
    """16 hex digits: the fewer bits differ (`distance`), the more sequences of three words two texts have in common."""


def content_of(tree: LexborHTMLParser) -> Content:
    """Return the fingerprint of a page's main text. Removes parts of the tree."""
    return content_of_text(main_text(tree))


def content_of_text(text: str) -> Content:
    """Return the fingerprint of a text without markup."""
    tokens = _stable_tokens(_plain(text))
    whole = "".join(tokens)
    digest = blake2b(whole.encode("utf-8", "replace"), digest_size=HASH_SIZE).hexdigest()
    words = len(tokens) - sum(map(whole.count, SYMBOLS))
    size = SHINGLE
    if not whole.isascii() and (letters := len(_BLANKLESS.findall(whole))):
        signs = len(_SIGNS.findall(whole))
        words += -(-(letters - signs) // LETTERS_A_WORD) - (-signs // SIGNS_A_WORD) - letters
        if letters > HALF * len(tokens):
            size *= SIGNS_A_WORD if signs > HALF * letters else LETTERS_A_WORD
    return Content(words, f"{CONTENT_VERSION}-{digest}", f"{simhash(tokens, size):016x}")


def distance(one: str, other: str) -> int:
    """Return in how many of 64 bits two values of `simhash` differ. Unrelated texts differ in some 32."""
    return (int(one, 16) ^ int(other, 16)).bit_count()


def simhash(tokens: list[str], size: int) -> int:
    """Return the simhash of the distinct sequences of `size` tokens, of at most `MAX_TOKENS`; 0 without tokens.

    Source: Charikar, Similarity estimation techniques from rounding algorithms, 2002. A sequence has 64 bits: those of
    its CRC-32, and for each of them the exclusive or with the next. Any two of the 64 are independent, which is all
    that the method needs.
    """
    if len(tokens) > MAX_TOKENS:
        tokens = tokens[: MAX_TOKENS // 2] + tokens[-MAX_TOKENS // 2 :]
    encoded = " ".join(tokens).encode("utf-8", "replace").split(b" ")
    shifted = (encoded[start:] for start in range(min(size, len(encoded))))
    found = set(map(crc32, map(b" ".join, zip(*shifted, strict=False))))
    if not tokens:
        return 0
    number = len(found)
    columns = pack(f"<{number}I", *found)
    ones = int.from_bytes(b"\1" * number)
    planes = [int.from_bytes(columns[byte::4]) >> bit & ones for byte in range(4) for bit in range(8)]
    planes += [plane ^ planes[(at + 1) % 32] for at, plane in enumerate(planes)]
    return sum(1 << at for at, plane in enumerate(planes) if 2 * plane.bit_count() > number)


def main_text(tree: LexborHTMLParser) -> str:
    """Return the main text of a page as it stands, with the numbers that `content_of_text` leaves out."""
    body = tree.body
    if body is None:
        return ""
    tree.strip_tags(UNSEEN, recursive=True)
    whole = body.text(separator=SPACE)
    tree.strip_tags(FURNITURE, recursive=True)
    part = _Part(tree, body)
    part.remove_all()
    text = part.root.text(separator=SPACE)
    return text if _ink(text) > part.heading else part.text if part.text.strip() else whole


class _Part:
    """The element that holds the main content. Removes other parts inside, the innermost first: a node must not be used
    after the one around it has gone."""

    def __init__(self, tree: LexborHTMLParser, body: LexborNode) -> None:
        landmarks = tree.css("main,[role=main]:not(main),article,h1")
        self.root = body
        mains = [node for node in landmarks if node.tag not in ("article", "h1")]
        if len(mains) == 1 and mains[0].text(strip=True):
            self.root = mains[0]
        self.text = self.root.text(separator=SPACE)
        articles = [node for node in landmarks if node.tag == "article"]
        if len(articles) == 1 and len(text := articles[0].text(separator=SPACE)) >= HALF * len(self.text):
            self.root, self.text = articles[0], text
        self._holders = {self.root.mem_id}
        self.heading = 0
        for node in [node for node in landmarks if node.tag == "h1"][:MAX_HEADINGS]:
            above = set(_ancestors(node))
            if self.root.mem_id in above and (size := _ink(node.text())):
                self._holders, self.heading = above, size
                break
        self._budget = MAX_MEASURED * (len(self.text) + 1_000)

    def remove_all(self) -> None:
        self._remove(
            [
                node
                for node in self.root.css(NAMED)
                if _is_noise((names := node.attributes).get("class"), names.get("id"))
            ]
        )
        self._remove([node for node in self.root.css(PARTS) if _is_part(node)])
        self._remove([node for node in self.root.css(REVIEWS) if self._ink(node) <= HALF * _ink(self.text)])
        self._remove_by_heading()
        self._remove_links()

    def _remove(self, nodes: list[LexborNode]) -> None:
        for node in reversed(nodes):
            if not self._holds_content(node):
                node.decompose()

    def _holds_content(self, node: LexborNode) -> bool:
        """True for what holds the main heading, or most of the text of a page without one."""
        if node.mem_id in self._holders:
            return True
        return not self.heading and (self._budget < 0 or self._ink(node) > HALF * len(self.text))

    def _ink(self, node: LexborNode) -> int:
        """Number of characters without blanks."""
        text = node.text()
        self._budget -= len(text) + MIN_COST
        return _ink(text)

    def _outermost(self, node: LexborNode) -> LexborNode:
        """Return the outermost element with the text of a node, and no other."""
        size = self._ink(node)
        while self._budget > 0 and (parent := node.parent) is not None and parent.mem_id not in self._holders:
            if self._ink(parent) > size:
                break
            node = parent
        return node

    def _remove_by_heading(self) -> None:
        for heading in reversed(self.root.css("h2,h3,h4,h5")):
            text = _plain(heading.text(separator=SPACE))
            if len(text) > MAX_HEADING or not text.startswith(HEADINGS):
                continue
            part = self._outermost(heading)
            whole = part.parent
            if whole is not None and not self._holds_content(whole) and _element(whole.first_child) == part.mem_id:
                whole.decompose()
            elif not self._holds_content(part):
                part.decompose()

    def _remove_links(self) -> None:
        """Remove lists whose text is nearly all links, if most of the text remains."""
        rest = self._ink(self.root)
        least = HALF * rest
        for node in reversed(self.root.css("ul,ol")):
            links = node.css("a") if self._budget > 0 else []
            if len(links) < MIN_LINKS or self._holds_content(node):
                continue
            size = self._ink(node)
            if rest - size >= least and sum(map(self._ink, links)) >= LINK_SHARE * size:
                rest -= size
                node.decompose()
        groups: dict[int, tuple[LexborNode, list[LexborNode]]] = {}
        for link in islice(self.root.css("a"), MAX_LINKS):
            item = link
            while (whole := item.parent) is not None and _is_only_child(item, whole):
                item = whole
            if whole is not None:
                groups.setdefault(whole.mem_id, (whole, []))[1].append(item)
        for whole, items in groups.values():
            if len(items) < MIN_LINKS or self._budget < 0:
                continue
            size = sum(map(self._ink, items))
            if rest - size >= least and size >= LINK_SHARE * self._ink(whole):
                rest -= size
                for item in items:
                    item.decompose()


def _is_only_child(node: LexborNode, parent: LexborNode) -> bool:
    first, last = parent.first_child, parent.last_child
    return first is not None and last is not None and first.mem_id == node.mem_id == last.mem_id


def _ink(text: str) -> int:
    return len("".join(text.split()))


def _ancestors(node: LexborNode) -> Iterator[int]:
    above: LexborNode | None = node
    while above is not None:
        yield above.mem_id
        above = above.parent


def _element(node: LexborNode | None) -> int | None:
    """Identity of the first element from a node on, among its siblings."""
    while node is not None and not node.is_element_node:
        node = node.next
    return node.mem_id if node is not None else None


def _is_part(node: LexborNode) -> bool:
    """True for elements that are not content by their tag, role or style."""
    attributes = node.attributes
    tag = node.tag
    if tag in TAGS:
        if tag == "time":
            return "Date" not in (attributes.get("itemprop") or "")
        return tag != "aside" or not _is_note(attributes.get("class") or "")
    return _is_off(attributes)


def _is_off(attributes: dict[str, str | None]) -> bool:
    """True for hidden elements, and those with the role of a part that is not content."""
    hidden = attributes.get("hidden", UNTIL_FOUND)
    return (
        (hidden or "").lower() != UNTIL_FOUND
        or attributes.get("aria-hidden") == "true"
        or "inert" in attributes
        or attributes.get("role") in ROLES
        or HIDING.search(attributes.get("style") or "") is not None
    )


def _is_note(names: str) -> bool:
    return not NOTES.isdisjoint(_CAMEL.sub("-", names[:MAX_NAMES]).lower().replace(" ", "-").split("-"))


@lru_cache(4096)
def _is_noise(classes: str | None, identity: str | None) -> bool:
    """True if class and id name a part that is not content."""
    names = f"{identity or ''} {classes or ''}"
    found = [name.rstrip("0123456789") for name in names[:MAX_NAMES].split()]
    return any(map(_names_noise, found)) or (not HIDDEN.isdisjoint(found) and not RESPONSIVE.search(names))


@lru_cache(4096)
def _names_noise(name: str) -> bool:
    if LAYOUT.match(name):
        return False
    plain = _CAMEL.sub("-", name).lower()
    words = plain.split("-")
    found = NOISE.intersection(words)
    return (bool(found) and (found != {"ad"} or AD_WORDS.isdisjoint(words))) or any(
        phrase in plain for phrase in PHRASES
    )


def _plain(text: str) -> str:
    """Return a text with single blanks, folded case and composed characters, without invisible ones."""
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return " ".join(text.casefold().split())


def _stable_tokens(text: str) -> list[str]:
    """Return the tokens of a text, without numbers and tokens of sessions that differ between two answers."""
    words = text.split(" ")
    if max(map(len, words)) >= LONG:
        text = " ".join(word for word in words if len(word) < LONG or not _LONG.fullmatch(word))
    is_ascii = text.isascii()
    tokens = (_ASCII_TOKEN if is_ascii else _TOKEN).findall(_STAMP.sub(" ", text) if ":" in text else text)
    numbers = [at for at, token in enumerate(tokens) if token < ":" or (not is_ascii and token[0].isdigit())]
    for at in numbers:
        earlier, later = tokens[max(0, at - SIGNS_AROUND) : at], tokens[at + 1 : at + 1 + SIGNS_AROUND]
        is_counter = not is_ascii and ("".join(earlier).endswith(BEFORE) or "".join(later).startswith(AFTER))
        if is_counter or _is_counter(tokens[at], earlier[-EARLIER:], later[:LATER], is_ascii):
            tokens[at] = ""
    return list(filter(None, tokens)) if numbers else tokens


def _is_counter(number: str, earlier: list[str], later: list[str], is_ascii: bool) -> bool:
    """True for a count of visits, the age of something, the year of a copyright and the like."""
    if is_ascii and HINTS.isdisjoint(earlier) and HINTS.isdisjoint(later):
        return False
    if later:
        unit = later[0]
        around = {*earlier, *later}
        if unit in COUNTED or (unit in PEOPLE and not WATCHED.isdisjoint(around)):
            return True
        if unit in TIMES and not VIEWED.isdisjoint(around):
            return True
        if unit in UNITS and (
            not AGO_AFTER.isdisjoint(later[1:3]) or not AGO_BEFORE.isdisjoint(earlier[-2:]) or earlier[-3:] == IL_Y_A
        ):
            return True
    if earlier and earlier[-1] in NUMBERED:
        earlier = earlier[:-1]
    if earlier and (earlier[-1] in COUNTED or not SINCE.isdisjoint(earlier) or A_JOUR.issubset(earlier)):
        return True
    return _YEAR.match(number) is not None and (
        not RIGHTS.isdisjoint(earlier) or "".join(later).startswith(RESERVED) or "".join(earlier).endswith(RESERVED)
    )
