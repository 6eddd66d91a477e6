"""Text of a page, as a reader sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sitemapcrawler.replies.page.body import Html
from sitemapcrawler.replies.page.furniture import HIDDEN, RESPONSIVE, ROLES, is_hidden
from sitemapcrawler.replies.page.tree import HEAD_END, is_data

_WORD = re.compile(r"\w+")
MAX_WORDS = 2_000  # words of one piece
MAX_HEADING = 500  # characters
MAX_TEXT = 16 * 2**10
"""Characters of text, and of markup, by which pages are compared (see fingerprint)."""
THIN = 100
"""Words of content below which a page that says that nothing was found has nothing else."""
MAX_NODES = 10_000  # elements and texts that are read for these words
MAX_MOUNT = 80  # characters of text that an element for a framework to fill holds while scripts load
_UNSEEN = ["script", "style", "noscript", "template", "svg", "iframe"]
"""Elements whose content is not visible text."""
_NUMBER = re.compile(r"\d+")
_FURNITURE = frozenset(("nav", "header", "footer", "aside", "form", "code"))
"""Elements that do not belong to the content of a page, and quoted code."""
_WHOLE = "nav,header,footer,h1"
"""Parts of a page: a form around them is the whole page, as in ASP.NET."""
_INLINE = frozenset((
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt",
    "u", "var", "wbr"
))  # fmt: skip
_FILLING = "audio,canvas,embed,frame,frameset,iframe,img,input,object,picture,svg,video"
"""Elements that may show or load something."""
_MOUNT = re.compile(r"_*(?:root|app|next|nuxt|gatsby|svelte)|app-root|react-root|q-app", re.IGNORECASE)
"""Names of elements that common frameworks fill with the page."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What a page shows, as far as it was read."""

    text: str = ""
    """Visible text, at most `MAX_TEXT` characters."""
    markup: str = ""
    """Markup after the head, at most `MAX_TEXT` characters."""
    sampled: bool = False
    """True if the markup has its full length, or extends to the end of the page."""
    blocks: tuple[str, ...] | None = None
    """Texts of the first blocks in the content, up to `THIN` words: in `<main>`, or outside of menus, header and
    footer. None for a page that was cut."""
    empty: bool = False
    """True if the page is nothing but white space."""
    blank: bool = False
    """True if the page shows nothing, and no script fills it."""
    is_frame: bool = False
    """True if it has an empty element for a framework to fill."""


def words(text: str) -> list[str]:
    """Return words in lower case, with 0 for all digits: clocks, counters and ids differ between responses."""
    return _WORD.findall(_NUMBER.sub("0", text.casefold()))[:MAX_WORDS]


def heading(tree: LexborHTMLParser) -> str | None:
    """Return the text of the first `<h1>` that has any."""
    return next(filter(None, (joined_text(found)[:MAX_HEADING] for found in tree.css("h1"))), None)


def joined_text(element: LexborNode) -> str:
    """Return the text of an element with single blanks."""
    return " ".join(element.text(separator=" ").split())


def shown(tree: LexborHTMLParser, page: Html) -> Shown:
    """Return what a page shows. Removes what is no visible text from its tree."""
    start = HEAD_END.search(page.text)
    markup = page.text[start.start() if start else 0 :]
    is_filled = tree.css_first(_FILLING) is not None or any(map(_runs, tree.css("script")))
    is_frame = any(map(_is_mount, tree.css("[id],app-root")))
    tree.strip_tags(_UNSEEN)
    body = tree.body
    text = body.text(separator=" ") if body is not None else ""
    return Shown(
        text[:MAX_TEXT],
        markup[:MAX_TEXT],
        page.whole or len(markup) >= MAX_TEXT,
        _blocks(tree) if page.whole else None,
        page.whole and not page.text.strip(),
        page.whole and not (is_filled or text.strip() or _has_custom_element(body)),
        is_frame,
    )


def _runs(script: LexborNode) -> bool:
    return not is_data(script.attributes.get("type") or "")


def _is_mount(element: LexborNode) -> bool:
    if element.tag != "app-root" and not _MOUNT.fullmatch(element.id or ""):
        return False
    return next(element.iter(), None) is None and len(element.text()) <= MAX_MOUNT


def _has_custom_element(body: LexborNode | None) -> bool:
    return body is not None and any(
        element.is_element_node and "-" in (element.tag or "") for element in body.traverse()
    )


def _blocks(tree: LexborHTMLParser) -> tuple[str, ...] | None:
    """The texts of the first blocks in the content, up to `THIN` words; None if there is too much markup."""
    content = tree.css_first("main") or tree.body
    blocks: list[str] = []
    parts: list[str] = []
    count = 0
    for number, piece in enumerate(_pieces(content) if content is not None else ()):
        if piece is not None:
            parts.append(piece)
            continue
        text = " ".join("".join(parts).split())
        parts.clear()
        if text:
            blocks.append(text)
            count += len(words(text))
        if number >= MAX_NODES:
            return None
        if count >= THIN:
            break
    return tuple(blocks)


def _pieces(content: LexborNode) -> Iterator[str | None]:
    """The texts in the content in their order, and None where a block begins or ends."""
    waiting: list[LexborNode | None] = [None, content.child]
    while waiting:
        node = waiting.pop()
        if node is None:
            yield None
            continue
        waiting += [node.next] if node.next is not None else []
        yield node.text() if node.is_text_node else ""
        if node.is_element_node and not _is_furniture(node):
            if node.tag not in _INLINE:
                yield None
                waiting.append(None)
            waiting += [node.child] if node.child is not None else []


def _is_furniture(element: LexborNode) -> bool:
    """True for what is hidden or does not belong to the content."""
    if element.tag in _FURNITURE:
        return element.tag != "form" or element.css_first(_WHOLE) is None
    attributes = element.attributes
    names = attributes.get("class") or ""
    is_hidden_by_class = not HIDDEN.isdisjoint(names.split()) and not RESPONSIVE.search(names)
    return is_hidden_by_class or is_hidden(attributes) or attributes.get("role") in ROLES
