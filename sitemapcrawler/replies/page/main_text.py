"""The main text of a page, in parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sitemapcrawler.replies.page.boilerplate import HEADINGS, MAY_BE_REVIEWS, NOISE, PHRASES, REVIEWS
from sitemapcrawler.replies.page.tokens import folded

HALF = 0.5
"""Share of the text at which a part without a heading to tell by is the content itself."""
MIN_LINKS = 4
"""Links of a list that is navigation. Fewer are part of a text."""
LINK_SHARE = 0.8
"""Share of the text of such a list that is inside links."""
MAX_LINKS = 2_000
"""Links that are checked for lists; pages with more are lists themselves."""
LABEL = 20
"""Bytes in UTF-8 of the text of a link that is no label, such as the title of a page. A label may stand before a
count."""
MAX_NAMES = 500  # characters of class and id
MAX_MEASURED = 20
"""Text that may be measured to find the size of parts, in lengths of the page's text; bounds nested parts."""
MIN_COST = 10
"""What measuring a part without text costs, in characters."""
SPACE = "\n"
ASCII_BLANKS = bytes(code for code in range(128) if chr(code).isspace())

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
OF_LAYOUT = frozenset(("has", "no", "with", "without"))
"""Words before the name of a part that is beside what is named: `main--withSidebar`."""
HOOK = "js-"
"""Prefix of names that are for scripts."""
AD_WORDS = frozenset(
    ("detail", "details", "title", "description", "price", "content", "body", "info", "gallery", "page")
)
"""Words after `ad` on sites of classified advertisements, where it is the content."""
HIDDEN = frozenset(("hidden", "d-none", "hide", "is-hidden", "invisible"))
RESPONSIVE = re.compile(r"(?:sm|md|lg|xl)[:-](?:block|flex|grid|inline)|d-(?:sm|md|lg|xl|print)-")
"""Class names that show a hidden part on other screens."""
_IS_NAME = re.compile(r"[a-zA-Z_-]+").fullmatch
"""Matches class names that no build or database has numbered."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\d:.]+")
MAX_HEADINGS = 4
"""First headings that are checked for text."""
MAX_HEADING = 60  # characters; a longer one is a sentence of the text


@dataclass(frozen=True, slots=True)
class MainText:
    """The main text of a page as it stands."""

    template: str
    """Elements around the main heading, with their first class; pages of one template share it."""
    paragraphs: str = ""
    """Of those that stand side by side and have the most text."""
    rest: str = ""
    """All other text, a line for each text node."""
    links: str = ""
    """Of links that are longer than a label."""


def main_text(tree: LexborHTMLParser) -> MainText:
    """Return the main text of a page. Removes parts of the tree."""
    body = tree.body
    if body is None:
        return MainText("")
    tree.strip_tags(UNSEEN, recursive=True)
    whole = body.text(separator=SPACE)
    template = _template(tree.css_first("h1") or body)
    tree.strip_tags(FURNITURE, recursive=True)
    part = _Part(tree, body)
    part.remove_all()
    if _ink(part.root.text(separator=SPACE)) <= part.heading:
        return MainText(template, rest=part.text if part.text.strip() else whole)
    links = _taken(part.root.css("a"), lambda text: len(text.encode("utf-8", "replace")) >= LABEL)
    paragraphs = _taken(_largest(part.root.css("p")), bool)
    return MainText(template, paragraphs, part.root.text(separator=SPACE), links)


def _template(node: LexborNode) -> str:
    names = []
    above: LexborNode | None = node
    while above is not None:
        classes = (above.attributes.get("class") or "")[:MAX_NAMES].split()
        names.append(f"{above.tag}.{next(filter(_IS_NAME, classes), '')}")
        above = above.parent
    return " ".join(names)


def _largest(nodes: Iterable[LexborNode]) -> list[LexborNode]:
    """Return the nodes of the parent that has the most text in them."""
    groups: dict[int, list[LexborNode]] = {}
    for node in nodes:
        if (parent := node.parent) is not None:
            groups.setdefault(parent.mem_id, []).append(node)
    return max(groups.values(), key=lambda group: sum(len(node.text()) for node in group), default=[])


def _taken(nodes: Sequence[LexborNode], wanted: Callable[[str], bool]) -> str:
    """Remove nodes whose text is wanted, and return these texts."""
    found = [(node, text) for node in nodes if wanted(text := node.text(separator=" "))]
    for node, _ in reversed(found):
        node.decompose()
    return SPACE.join(text for _, text in found)


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
        articles = [node for node in landmarks if node.tag == "article" and not _is_noise(*_names(node))]
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
        self._remove([node for node in self.root.css(NAMED) if _is_noise(*_names(node))])
        self._remove([node for node in self.root.css(PARTS) if _is_part(node)])
        if self.root.css_first(MAY_BE_REVIEWS) is not None:
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
            text = folded(heading.text(separator=SPACE))
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
            while (whole := item.parent) is not None and item.prev is None and item.next is None:  # its only child
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


def _ink(text: str) -> int:
    if text.isascii():
        return len(text.encode("ascii").translate(None, ASCII_BLANKS))
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


def _names(node: LexborNode) -> tuple[str | None, str | None]:
    """Classes and id."""
    attributes = node.attributes
    return attributes.get("class"), attributes.get("id")


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
    if LAYOUT.match(name) or name.startswith(HOOK):
        return False
    plain = _CAMEL.sub("-", name).lower()
    words = plain.split("-")
    found = {
        word for word, before in zip(words, ["", *words], strict=False) if word in NOISE and before not in OF_LAYOUT
    }
    return (bool(found) and (found != {"ad"} or AD_WORDS.isdisjoint(words))) or any(
        phrase in plain for phrase in PHRASES
    )
