"""Parts of a page that are not content by their tag, role, style or name."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sitemapcrawler.replies.page.boilerplate import NOISE, PHRASES, REVIEWS
from sitemapcrawler.replies.page.nodes import MAX_NAMES, SUBHEADINGS, ink

PARTS = "[hidden],[aria-hidden],[inert],[style],[role],[itemprop],header,aside,form,time"
"""Elements that may be parts that are not content."""
TAGS = frozenset(("header", "aside", "form", "time"))
ROLES = frozenset(
    ("navigation", "banner", "contentinfo", "search", "complementary", "dialog", "alertdialog", "timer", "log",
     "marquee", "menu", "menubar", "tablist", "toolbar")
)  # fmt: skip
"""Roles of such parts. A status tells prices, availability, or how many entries a list has."""
HIDING = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
PANEL = "tabpanel"
"""Role of what a tab shows."""
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
"""Words before the name of a part that is beside what is named: `main--withSidebar`, `anchorWithStickyNavbar`."""
NO_NAMES = ("js-", "css-", "sc-")
"""Prefixes of names for scripts, and of the hashes that Emotion and styled-components write for styles."""
AD_WORDS = frozenset(
    ("detail", "details", "title", "description", "price", "content", "body", "info", "gallery", "page", "job",
     "classified", "listing", "vehicle", "car", "property")
)  # fmt: skip
"""Words beside `ad` on sites of classified advertisements, where it is the content."""
RELATED = frozenset(("related", "similar", "suggested"))
"""Words in names of teasers, and of texts that relate to the page."""
OF_PRICES = frozenset(("cena", "fiyat", "preco", "precio", "preis", "prezzo", "price", "prijs", "pris", "prix"))
"""Words in names of prices, whose currency a style may write."""
PRICES = "[itemprop=price],[class*=price]"
"""Selector of prices."""
OFFERS = f"{PRICES},[class*=stock],[class*=availab],[id*=availab]"
"""Selector of what an offer says: a form around it is that of a product, which may hold more of its content."""
CARTS = frozenset(("cart", "basket"))
"""Words of the cart, but in names of what adds to it."""
HIDDEN = frozenset(("hidden", "d-none", "hide", "is-hidden", "invisible"))
RESPONSIVE = re.compile(r"(?:sm|md|lg|xl)[:-](?:block|flex|grid|inline)|d-(?:sm|md|lg|xl|print)-")
"""Class names that show a hidden part on other screens."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\d:.]+")
_HASH = re.compile(r"(?<![a-zA-Z0-9])(?=[a-z]*\d+[a-z])(?!\d+x\d|[a-z]+\d+x\d)[a-z0-9]{5,}(?![a-zA-Z0-9])")
"""A part of a class name that a build has made, such as `1ad139`, but no size, such as `300x250`."""


def is_furniture(node: LexborNode) -> bool:
    """True for elements that are not content by their tag, role or style."""
    attributes = node.attributes
    tag = node.tag
    if tag in TAGS:
        if tag == "time":
            return "Date" not in (attributes.get("itemprop") or "")
        if tag == "aside":
            return not _is_note(attributes.get("class") or "") and node.css_first("a,form,input") is not None
        if tag == "header":
            heading = node.css_first(SUBHEADINGS)
            return heading is None or node.css_first("a") is not None or ink(heading.text()) < ink(node.text())
        return tag != "form" or node.css_first(OFFERS) is None
    if attributes.get("aria-hidden") == "true" and node.css_first(PRICES) is not None:
        return False  # another text for screen readers is left out
    is_off = is_hidden(attributes) or attributes.get("role") in ROLES
    return (is_off and not is_panel(attributes)) or _is_count(attributes)


def _is_count(attributes: dict[str, str | None]) -> bool:
    """True for counts of votes and the like in microdata, and for comments."""
    return (attributes.get("itemprop") or "").endswith(("Count", "interactionStatistic", "aggregateRating", "comment"))


def is_panel(attributes: dict[str, str | None]) -> bool:
    """True for what a tab or a question shows, hidden or not."""
    role = attributes.get("role")
    return role == PANEL or ("aria-labelledby" in attributes and role not in ROLES)


def mark_panels(tree: LexborHTMLParser) -> None:
    """Give the role of a panel to what stands right behind the button that shows it, or behind its heading.

    Source: https://www.w3.org/WAI/ARIA/apg/patterns/disclosure/
    """
    for button in tree.css("[aria-expanded]:not([aria-haspopup])"):
        node = _behind(button) or _behind(button.parent)
        if node is not None and node.is_element_node and "role" not in node.attributes:
            node.attrs["role"] = PANEL


def _behind(node: LexborNode | None) -> LexborNode | None:
    """The element or text that follows an element in its parent."""
    found = None if node is None else node.next
    while found is not None and not found.is_element_node and not (found.is_text_node and found.text(strip=True)):
        found = found.next
    return found


def is_hidden(attributes: dict[str, str | None]) -> bool:
    """True for an element that its attributes hide."""
    hidden = attributes.get("hidden", UNTIL_FOUND)
    return (
        (hidden or "").lower() != UNTIL_FOUND
        or attributes.get("aria-hidden") == "true"
        or "inert" in attributes
        or HIDING.search(attributes.get("style") or "") is not None
    )


def has_noisy_name(node: LexborNode) -> bool:
    attributes = node.attributes
    return kind_of_name(attributes.get("class"), attributes.get("id")) in ("noise", "related")


def _is_note(names: str) -> bool:
    return not NOTES.isdisjoint(_CAMEL.sub("-", names[:MAX_NAMES]).lower().replace(" ", "-").split("-"))


@lru_cache(4096)
def kind_of_name(classes: str | None, identity: str | None) -> str:
    """Return what class and id name: `noise`, which is no content, `hidden`, `price`, `related`, perhaps `reviews`, or
    nothing."""
    names = _HASH.sub("", f"{identity or ''} {classes or ''}"[:MAX_NAMES])
    found = [name.rstrip("0123456789") for name in names.split()]
    kinds = set(map(_kind_of_one, found))
    if "noise" in kinds:
        return "noise"
    if not HIDDEN.isdisjoint(found) and not RESPONSIVE.search(names):
        return "hidden"
    return max(kinds, default="")


@lru_cache(4096)
def _kind_of_one(name: str) -> str:
    """Return what one name says: `noise`, `price`, `related` or nothing. What is related has links, or is short."""
    if LAYOUT.match(name) or name.startswith(NO_NAMES):
        return ""
    plain = _CAMEL.sub("-", name).lower()
    words = plain.split("-")
    if not OF_PRICES.isdisjoint(words):
        return "price"
    found = set(takewhile(lambda word: word not in OF_LAYOUT, words)) & NOISE
    if found and found <= RELATED:
        return "related"
    if "add" in words:
        found -= CARTS
    is_noise = (bool(found) and (found != {"ad"} or AD_WORDS.isdisjoint(words))) or any(
        phrase in plain for phrase in PHRASES
    )
    if is_noise:
        return "noise"
    is_of_reviews = (plain.endswith(REVIEWS) or "testimonial" in plain) and "description" not in words
    return "reviews" if is_of_reviews else ""
