"""Text of a page, as a reader sees it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sitemapcrawler.replies.page.body import Html
from sitemapcrawler.replies.page.tree import HEAD_END, is_data

_WORD = re.compile(r"\w+")
MAX_WORDS = 2_000  # words of one piece
MAX_HEADING = 500  # characters
MAX_TEXT = 16 * 2**10
"""Characters of text, and of markup, by which pages are compared (see fingerprint)."""
MAX_SHORT = 12 * 2**10
"""Characters of markup beyond which no page is searched for an error or an empty list."""
MAX_MOUNT = 80  # characters of text that an element for a framework to fill holds while scripts load
_UNSEEN = ["script", "style", "noscript", "template", "svg", "iframe"]
"""Elements whose content is not visible text."""
_NUMBER = re.compile(r"\d+")
_FURNITURE = ["nav", "header", "footer", "aside", "form", "code"]
"""Elements that do not belong to the content of a page, and quoted code."""
_HIDDEN = re.compile(r"\s*display\s*:\s*none\b", re.IGNORECASE)
_INLINE = [
    "a", "abbr", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "label", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt",
    "u", "var", "wbr"
]  # fmt: skip
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
    """Texts of the blocks in the content: in `<main>`, or outside of menus, header and footer. None for a page that was
    cut or has more than `MAX_SHORT`."""
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
        tuple(_blocks(tree)) if page.whole and len(markup) <= MAX_SHORT else None,
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


def _blocks(tree: LexborHTMLParser) -> Iterator[str]:
    content = tree.css_first("main") or tree.body
    if content is None:
        return
    own = LexborHTMLParser(content.html or "")
    own.strip_tags(_FURNITURE)
    for element in reversed(own.css("[hidden],[style]")):  # the inner ones first
        if "hidden" in element.attributes or _HIDDEN.match(element.attributes["style"] or ""):
            element.decompose()
    own.unwrap_tags(_INLINE)
    own.merge_text_nodes()
    pieces = own.body.text(separator="\0").split("\0") if own.body is not None else []
    yield from filter(None, (" ".join(piece.split()) for piece in pieces))
