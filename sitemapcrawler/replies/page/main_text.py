"""The main text of a page, in parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from unicodedata import normalize

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sitemapcrawler.replies.page.boilerplate import (
    ADVERTISEMENTS,
    HEADINGS,
    NEWSLETTERS,
    NOISE,
    PHRASES,
    REVIEWS,
)
from sitemapcrawler.replies.page.tokens import SYMBOLS, folded

HALF = 0.5
"""Share of the text at which a part of a page without a heading is the content itself."""
MIN_LINKS = 4
"""Links of a list that is navigation. Fewer are part of a text."""
LINK_SHARE = 0.8
"""Share of the text of such a list that is inside links."""
IS_NO_PAGE = re.compile(
    r"#.|mailto:|tel:|[^?#]*\.(?:pdf|docx?|xlsx?|pptx?|od[pst]|rtf|csv|epub|zip|mp3|ics)(?:[?#]|\Z)", re.IGNORECASE
).match
"""Matches what links to a part of the page, or to a document: a list of these is content."""
IS_HOME = re.compile(r"(?:https?:)?(?://[^/?#]*)?[./]*\Z").match
"""Matches what links to the home page."""
MAX_LINKS = 2_000
"""Links that are checked for lists; pages with more are lists themselves."""
LABEL = 20
"""Bytes in UTF-8 of the text of a link that is no label, such as the title of a page. A label may stand before a
count."""
LONG = 60
"""Characters of a text node that is no label, some nine English words; bytes in UTF-8 of signs that are more than a
letter, such as 20 Chinese characters."""
FIRST_SIGN = "\u0e00"
"""First of these signs."""
MIN_PROSE = 120
"""Bytes in UTF-8 without blanks, some 25 English words: a page with so much text beside its lists is not made of them,
however long they are."""
MIN_LISTED = 12
"""Entries of a list that may be the content of a page with some text. Pages have fewer teasers of others."""
LONG_PROSE = 1_000
"""Characters without blanks of a text beside which such a list of links is not the content."""
MIN_TEASERS = 2
MAX_TEASER = 180
"""Characters without blanks of teasers on average. Posts and excerpts are longer."""
MAX_EXCERPT = 300
"""The same for teasers whose headings are links to other pages: an excerpt of WordPress has 55 words."""
TEASERS = frozenset(("div", "article", "section", "li", "tr", "a", "figure"))
LABELS = frozenset(("h2", "h3", "h4", "h5", "h6", "b", "strong", "div", "span", "header", "label"))
FIRST_LABELS = frozenset(("div", "span", "header"))
"""Elements that may be the label of a list of teasers; the latter are others in a part that they do not begin."""
BOXES = frozenset(("div", "section", "article", "ul", "ol", "dl", "table"))
LISTS = frozenset(("ul", "ol", "dl", "table", "tbody"))
TABLES = "ul,ol,dl,table"
SUBHEADINGS = "h2,h3,h4,h5,h6"
LINKED = ",".join(f"{heading} a,a {heading}" for heading in SUBHEADINGS.split(","))
"""Selector of headings that are links."""
BLOCKS = "p,div,img,figure"
"""Selector of what a link is around that is more than a part of a sentence."""
MAX_NAMES = 500  # characters of class and id
MAX_MEASURED = 20
"""Text that may be measured to find the size of parts, in lengths of the page's text; bounds nested parts."""
MIN_COST = 10
"""What measuring a part without text costs, in characters."""
SPACE = "\0"
"""What separates the texts of nodes. No page has it: the parser replaces it."""
ASCII_BLANKS = SPACE.encode() + bytes(code for code in range(128) if chr(code).isspace())

UNSEEN = (
    "script,style,noscript,template,svg,iframe,object,canvas,audio,video,select,textarea,datalist,progress,meter,map,"
    "noframes,amp-ad,button:not(h2>button,h3>button,h4>button,h5>button,h6>button,dt>button)"
)
"""Selector of elements without text to read, and of controls, but for questions that show their answers."""
FURNITURE = ["nav", "footer", "dialog", "menu"]
NAMED = "[class],[id],[data-testid]"
PARTS = (
    "[hidden],[aria-hidden],[inert],[style],[role],[itemprop$=Count],[itemprop=interactionStatistic],"
    "header,aside,form,time"
)
"""Elements that may be parts that are not content."""
TAGS = frozenset(("header", "aside", "form", "time"))
ROLES = frozenset(
    ("navigation", "banner", "contentinfo", "search", "complementary", "dialog", "alertdialog", "timer", "status",
     "log", "marquee", "menu", "menubar", "tablist", "toolbar")
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
NO_NAMES = ("js-", "css-", "sc-")
"""Prefixes of names for scripts, and of the hashes that Emotion and styled-components write for styles."""
AD_WORDS = frozenset(
    ("detail", "details", "title", "description", "price", "content", "body", "info", "gallery", "page")
)
"""Words after `ad` on sites of classified advertisements, where it is the content."""
RELATED = frozenset(("related", "similar", "suggested"))
"""Words in names of teasers, and of texts that relate to the page."""
OF_PRICES = frozenset(("cena", "fiyat", "preco", "precio", "preis", "prezzo", "price", "prijs", "pris", "prix"))
"""Words in names of prices, whose currency a style may write."""
PRICES = "[itemprop=price],[class*=price]"
"""Selector of prices: a form around them is that of a product, which may hold more of its content."""
HIDDEN = frozenset(("hidden", "d-none", "hide", "is-hidden", "invisible"))
RESPONSIVE = re.compile(r"(?:sm|md|lg|xl)[:-](?:block|flex|grid|inline)|d-(?:sm|md|lg|xl|print)-")
"""Class names that show a hidden part on other screens."""
_IS_NAME = re.compile(r"[a-zA-Z_-]+").fullmatch
"""Matches class names that no build or database has numbered."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[_\d:.]+")
_HASH = re.compile(r"(?<![a-zA-Z0-9])(?=[a-z]*\d+[a-z])(?!\d+x\d|[a-z]+\d+x\d)[a-z0-9]{5,}(?![a-zA-Z0-9])")
"""A part of a class name that a build has made, such as `1ad139`, but no size, such as `300x250`."""
MAX_HEADINGS = 4
"""First headings that are checked for text."""
OTHER_HEADINGS = f"{SUBHEADINGS},[role=heading]"
MAX_TITLES, MAX_TITLE = 20, 300
"""Headings that are compared with the title of a page, and characters of a text that are compared."""
OF_PARTS = HEADINGS + NEWSLETTERS
"""Beginnings of headings of parts that may be no content."""
ENDS = (".", "!", "?", "؟")
"""What a sentence ends with."""
MAX_HEADING = 60  # characters; a longer one is a sentence of the text
MAX_LABEL = 2 * max(map(len, ADVERTISEMENTS))  # characters; decomposed ones are more
AD_LABELS = "span,small,p,div,i,em,b,strong,font,label,td"
_OF_ADS = "|".join(sorted({normalize(form, label) for label in ADVERTISEMENTS for form in ("NFC", "NFD")}))
_HAS_AD_LABEL = re.compile(rf"{SPACE}\s*+(?:{_OF_ADS})\s*+:?+\s*+{SPACE}").search
"""Finds a line that labels an advertisement."""


@dataclass(frozen=True, slots=True)
class MainText:
    """The main text of a page as it stands."""

    template: str
    """Elements around the main heading, with their first class; pages of one template share it."""
    paragraphs: str = ""
    """Main heading, and paragraphs and headings that stand side by side and have the most text."""
    tables: str = ""
    """Of lists and tables without links."""
    rest: str = ""
    """All other text, a line for each text node."""
    links: str = ""
    """Of links that are longer than a label."""
    prices: frozenset[str] = frozenset()
    """Texts of elements that their names call prices."""


def main_text(tree: LexborHTMLParser) -> MainText:
    """Return the main text of a page. Removes parts of the tree."""
    body = tree.body
    if body is None:
        return MainText("")
    for node in reversed(tree.css(UNSEEN)):
        node.decompose()
    whole = body.text(separator=SPACE)
    tree.strip_tags(FURNITURE, recursive=True)
    part = _Part(tree, body)
    template = _template(part.title or tree.css_first("h1") or body)
    part.remove_all()
    if _ink(part.root.text(separator=SPACE)) <= part.heading:
        return MainText(template, rest=part.text if part.text.strip() else whole)
    title = _taken([part.title] if part.title is not None else [])
    links = _taken(part.root.css("a"), lambda text: _bytes(folded(text)) >= LABEL)
    paragraphs = _taken(_largest(part.root.css(f"p,{SUBHEADINGS}")))
    tables = _taken(part.tables(), separator=SPACE)
    rest = part.root.text(separator=SPACE)
    return MainText(template, f"{title}{SPACE}{paragraphs}", tables, rest, links, frozenset(part.prices))


def _headings(root: LexborNode, title: str) -> list[LexborNode]:
    """Return the main heading, which the title of the page names, and which is no link home, as the name of a site is.
    Without one, return the first headings of the first level."""
    first = root.css("h1")[:MAX_HEADINGS]
    if not title:
        return first
    named = [node for node in first if _is_named(node, title)]
    named = named or [node for node in root.css(OTHER_HEADINGS)[:MAX_TITLES] if _is_named(node, title)]
    return [max(named, key=lambda node: len(_key(node)))] if named else first


def _is_named(node: LexborNode, title: str) -> bool:
    """True for a heading that is most of the title of the page, or has it as its beginning or end."""
    text = _key(node)
    return (
        len(text) >= HALF * len(title)
        and (title.startswith(text) or title.endswith(text))
        and not any(IS_HOME(link.attributes.get("href") or "") for link in node.css("a"))
    )


def _key(node: LexborNode | None) -> str:
    """Return the letters and digits of a text."""
    return "" if node is None else "".join(filter(str.isalnum, folded(node.text()[:MAX_TITLE])))


def _template(node: LexborNode) -> str:
    names = []
    above: LexborNode | None = node
    while above is not None:
        names.append(_kind(above))
        above = above.parent
    return " ".join(names)


def _kind(node: LexborNode) -> str:
    """Tag and first class, which elements of one list have in common."""
    classes = (node.attributes.get("class") or "")[:MAX_NAMES].split()
    return f"{node.tag}.{next(filter(_IS_NAME, classes), '')}"


def _largest(nodes: Iterable[LexborNode]) -> list[LexborNode]:
    """Return the nodes of the parent that has the most text in them."""
    groups: dict[int, list[LexborNode]] = {}
    for node in nodes:
        if (parent := node.parent) is not None:
            groups.setdefault(parent.mem_id, []).append(node)
    return max(groups.values(), key=lambda group: sum(len(node.text()) for node in group), default=[])


def _taken(nodes: Sequence[LexborNode], wanted: Callable[[str], bool] = bool, separator: str = " ") -> str:
    """Remove nodes whose text is wanted, and return these texts."""
    found = []
    for node in reversed(nodes):  # the innermost first
        if wanted(text := node.text(separator=separator)):
            found.append(text)
            node.decompose()
    return SPACE.join(reversed(found))


_Found = tuple[list[LexborNode], int]
"""Elements, and their characters without blanks."""


class _Part:
    """The element that holds the main content. Removes other parts inside, the innermost first: a node must not be used
    after the one around it has gone."""

    def __init__(self, tree: LexborHTMLParser, body: LexborNode) -> None:
        landmarks = tree.css("main,[role=main]:not(main),article")
        self.root = body
        mains = [node for node in landmarks if node.tag != "article"]
        if len(mains) == 1 and mains[0].text(strip=True):
            self.root = mains[0]
        self.text = self.root.text(separator=SPACE)
        blanks = sum(map(self.text.count, (" ", "\n", "\t", "\r", SPACE)))
        self._characters = (len(self.text) - blanks) / max(_bytes(self.text) - blanks, 1)  # for each byte
        articles = {node.mem_id: node for node in landmarks if node.tag == "article" and not _has_noisy_name(node)}
        first: dict[int, tuple[set[int], int]] = {}  # heading of the page, and of each article
        title = _key(next(iter(tree.tags("title")), None))
        headings = _headings(self.root, title)
        for node in headings:
            if size := _ink(node.text()):
                above = list(_ancestors(node))
                inner = above[: above.index(self.root.mem_id)]
                place = next((identity for identity in reversed(inner) if identity in articles), self.root.mem_id)
                first.setdefault(place, (set(above), size))
        self._holders, self.heading = next(iter(first.values()), ({self.root.mem_id}, 0))
        if len(with_heading := first.keys() & articles.keys()) == 1:
            [identity] = with_heading
            text = articles[identity].text(separator=SPACE)
            if _ink(text) >= first[identity][1] + LONG * self._characters:
                self.root, self.text = articles[identity], text
                self._holders, self.heading = first[identity]
        headings = headings or _headings(body, title)  # it may stand before `<main>`
        self.title = next((node for node in headings if node.mem_id in self._holders or not self.heading), None)
        self._budget = MAX_MEASURED * (len(self.text) + 1_000)
        self.prices: set[str] = set()
        self._removed: set[int] = set()
        self._bars: set[int] = set()  # elements around lists of links

    def tables(self) -> list[LexborNode]:
        """Return lists and tables without links, but for those that lay out the page."""
        found = self.root.css(TABLES)
        return [node for node in found if node.mem_id not in self._holders and node.css_first("a") is None]

    def remove_all(self) -> None:
        whole = _ink(self.text)
        most = max(HALF * whole, whole - self.heading - MIN_PROSE * self._characters)
        noise: list[LexborNode] = []
        for node in self.root.css(NAMED):
            attributes = node.attributes
            kind = _kind_of_name(attributes.get("class"), attributes.get("id") or attributes.get("data-testid"))
            if (
                kind == "noise"
                or (kind == "hidden" and not _is_panel(attributes))
                or (kind == "related" and self._is_of_others(node))
                or (kind == "reviews" and self._budget > 0 and self._ink(node) <= most)
            ):
                noise.append(node)
            if kind == "price" and self._budget > 0:
                self.prices.add(text := node.text(strip=True))
                self._budget -= len(text) + MIN_COST
        self._remove(noise)
        self._remove([node for node in self.root.css(PARTS) if _is_part(node)])
        self._remove_advertisements()
        self._remove_links_in_text()
        self._remove_by_heading()
        self._remove_teasers()
        if self.heading:
            self._remove_labels_above()

    def _is_of_others(self, node: LexborNode) -> bool:
        """True for what is named after related pages, but for a text without links that is related to this one."""
        return node.css_first("a[href]") is not None or self._ink(node) < MIN_PROSE * self._characters

    def _remove_labels_above(self) -> None:
        """Remove labels above the part with the main heading, such as the weather, and what is left of bars of links,
        such as a greeting. Prices remain."""
        whole, is_body = self.root, self.root.tag == "body"
        while True:
            above = []
            node = whole.first_child
            while node is not None and node.mem_id not in self._holders:
                above.append(node)
                node = node.next
            if node is None:
                return
            is_body = is_body and self.title is not None and node.mem_id != self.title.mem_id
            for label in above:
                if label.is_element_node and (is_body or label.mem_id in self._bars):
                    lines = folded(label.text(separator=SPACE)).split(SPACE)
                    if not any(is_long(line) or not SYMBOLS.isdisjoint(line) for line in lines):
                        label.decompose()
            whole, is_body = node, False

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

    def _remove_advertisements(self) -> None:
        """Remove short boxes with a link or a sentence whose first line says that they are advertisements."""
        if _HAS_AD_LABEL(self.text.casefold()) is None:
            return
        for label in reversed(self.root.css(AD_LABELS)):
            inner = label.first_child
            if label.mem_id in self._removed or inner is None or inner.next is not None or not inner.is_text_node:
                continue
            text = label.text(strip=True)
            if len(text) > MAX_LABEL or folded(text).rstrip(":") not in ADVERTISEMENTS:
                continue
            part = self._outermost(label)
            whole = part.parent
            if whole is None or self._holds_content(whole) or _element(whole.first_child) != part.mem_id:
                continue
            is_short = self._budget > 0 and self._ink(whole) <= MAX_EXCERPT * self._characters
            if is_short and (whole.css_first("a[href]") is not None or whole.text(strip=True).endswith(ENDS)):
                self._remove_all_of(whole)

    def _remove_by_heading(self) -> None:
        for heading in reversed(self.root.css("h2,h3,h4,h5,b,strong")):
            if heading.mem_id in self._removed or self._budget < 0:
                continue
            text = folded(heading.text(separator=SPACE))
            if len(text) > MAX_HEADING or not text.startswith(OF_PARTS):
                continue
            part = self._outermost(heading)
            whole = part.parent
            if text.startswith(NEWSLETTERS) and (whole is None or not self._is_box(whole)):
                continue
            if heading.tag in ("b", "strong") and (whole is None or not self._is_of_links(whole, heading)):
                continue
            if whole is not None and not self._holds_content(whole) and _element(whole.first_child) == part.mem_id:
                self._remove_all_of(whole)
            elif not self._holds_content(part):
                self._remove_all_alike(part.next)
                self._remove_all_of(part)

    def _remove_links_in_text(self) -> None:
        """Remove paragraphs of one link behind words such as `Read also:`."""
        for link in reversed(self.root.css("p>a,b>a,strong>a")):
            if link.mem_id in self._removed:
                continue
            label, whole = link.prev, link.parent
            if whole is None or label is None or not label.is_text_node or label.prev is not None:
                continue
            text = folded(label.text())
            if len(text) <= MAX_HEADING and text.startswith(HEADINGS) and self._with_text(link.next, "next") is None:
                part = self._outermost(whole)
                if not self._holds_content(part):
                    self._remove_all_of(part)

    def _remove_all_alike(self, node: LexborNode | None) -> None:
        """Remove what stands below the heading of a part without an element of its own: lists with links, or several
        elements of one kind, the first with a link."""
        first = self._with_text(node, "next")
        if first is None or first.tag not in BOXES:
            return
        self._budget -= len(first.css("*"))
        if first.css_first("a[href]") is None:
            return
        kind = _kind(first)
        while (found := self._with_text(node, "next")) is not None and found.is_element_node and _kind(found) == kind:
            node = found.next
            if not self._holds_content(found):
                self._remove_all_of(found)

    def _with_text(self, node: LexborNode | None, way: str) -> LexborNode | None:
        """Return the first node with text, from a node on among its siblings, in the direction `next` or `prev`."""
        while node is not None and self._budget > 0:
            text = node.text()
            self._budget -= len(text) + MIN_COST
            if _has_text(text):
                break
            node = getattr(node, way)
        return node

    def _is_label(self, node: LexborNode) -> bool:
        """True for one line of text without a price: a heading, or what a part begins with."""
        if node.tag not in LABELS or (node.tag in FIRST_LABELS and self._with_text(node.prev, "prev") is not None):
            return False
        text = node.text(separator=SPACE, strip=True)
        return (
            len(text) <= MAX_HEADING
            and SPACE not in text
            and SYMBOLS.isdisjoint(text)
            and node.css_first("a,p") is None
        )

    def _is_one_of_many(self, part: LexborNode) -> bool:
        """True for a part behind another of its kind that is a heading alone, such as a card of an icon and a title."""
        before = self._with_text(part.prev, "prev")
        if before is None or not before.is_element_node or _kind(before) != _kind(part):
            return False
        heading = before.css_first(SUBHEADINGS)
        return heading is not None and _ink(heading.text()) == _ink(before.text())

    def _is_box(self, whole: LexborNode) -> bool:
        """True for a short part without links."""
        return self._ink(whole) <= MAX_EXCERPT * self._characters and whole.css_first("a") is None

    def _remove_all_of(self, node: LexborNode) -> None:
        """Remove a node, and note what was in it: later nodes of a loop may be."""
        self._removed.update(inner.mem_id for inner in node.css("*"))
        node.decompose()

    def _is_of_links(self, whole: LexborNode, label: LexborNode) -> bool:
        """True for a part that has nothing but a label and links."""
        return self._ink(whole) - self._ink(label) <= sum(self._ink(link) for link in whole.css("a"))

    def _remove_teasers(self) -> None:
        """Remove lists of links and of teasers of other pages, if the page has a text of its own."""
        inside: dict[int, list[LexborNode]] = {}  # elements with links, by the element around them
        links: dict[int, int] = {}  # characters in links, by element
        for link in islice(self.root.css("a"), MAX_LINKS):
            if IS_NO_PAGE(link.attributes.get("href") or ""):
                continue
            links[link.mem_id] = self._ink(link)
            node = link
            while node.mem_id != self.root.mem_id and (whole := node.parent) is not None:
                items = inside.setdefault(whole.mem_id, [])
                items.append(node)
                if len(items) > 1:
                    break
                node = whole
        parts = [self.root]
        for part in parts:
            parts += inside.get(part.mem_id, ())
        for part in reversed(parts):
            if part.mem_id in inside:
                links[part.mem_id] = sum(links[item.mem_id] for item in inside[part.mem_id])
        prose = self._ink(self.root) - self.heading
        label = LABEL * self._characters
        lists: list[list[LexborNode]] = []
        parts = [self.root]
        for part in parts:
            items = inside.get(part.mem_id, [])
            if len(items) == 1 and links[items[0].mem_id] < label:
                parts += items
                continue
            others = [item for item in items if item.mem_id not in self._holders]
            teasers, size = self._teasers(part, others, links)
            if teasers:
                prose -= size
                lists.append(teasers)
                taken = {item.mem_id for item in teasers}
                items = [item for item in items if item.mem_id not in taken]
            parts += items
        for teasers in lists:
            number = sum(item.tag != "dd" for item in teasers)
            if prose >= (MIN_PROSE * self._characters if number < MIN_LISTED else LONG_PROSE):
                self._remove_list(teasers)
        self._remove_empty()

    def _remove_list(self, teasers: list[LexborNode]) -> None:
        """Remove teasers, what they leave empty, and the label before it: all of it comes and goes."""
        if teasers[0].mem_id in self._removed:
            return
        for item in teasers[1:]:
            item.decompose()
        part = self._outermost(teasers[0]) if teasers[0].text(strip=True) else teasers[0]
        label = self._with_text(part.prev, "prev") if part.text(strip=True) else None
        if label is not None and label.mem_id not in self._holders and self._is_label(label):
            self._remove_all_of(label)
        if len(teasers) >= MIN_LINKS:
            self._bars.update(_ancestors(part))
        self._remove_all_of(part)

    def _remove_empty(self) -> None:
        """Remove headings of lists without items, and those that are all that is left of a part."""
        for heading in reversed(self.root.css(SUBHEADINGS)):
            if (
                heading.mem_id in self._removed
                or heading.mem_id in self._holders
                or self._with_text(heading.next, "next") is not None
            ):
                continue
            part = self._outermost(heading)
            has_frame = part.mem_id != heading.mem_id or _element(heading.next) is not None
            is_last = has_frame and self._with_text(part.next, "next") is None and not self._is_one_of_many(part)
            is_empty = part.css_first("ul,ol,table") is not None or (is_last and part.css_first("img,picture") is None)
            if is_empty and not self._holds_content(part):
                self._remove_all_of(part)

    def _teasers(self, whole: LexborNode, items: list[LexborNode], links: dict[int, int]) -> _Found:
        """Return those of the elements with links in a part that are a list of links, or teasers of other pages, and
        their size."""
        if not items or self._budget < 0:
            return [], 0
        if len(items) == 1 and not self.heading:
            return [], 0
        sizes = [self._ink(item) for item in items]
        found = self._titles(whole, items, sizes, links)
        if not found[0] and len(items) >= MIN_LINKS:
            found = self._navigation(whole, items, sum(sizes), links)
        found = found if found[0] else self._cards(whole, items, sizes, links)
        return found if found[0] else self._lines(whole, items, links)

    def _titles(self, whole: LexborNode, items: list[LexborNode], sizes: list[int], links: dict[int, int]) -> _Found:
        """Links as long as titles, and nothing else but a label; of a `<dl>`, with an excerpt each."""
        if whole.tag not in LISTS | TEASERS or not self._are_titles(items, sizes, links):
            return [], 0
        size = sum(sizes)
        rest = self._ink(whole) - size
        has_label = rest <= LABEL * self._characters and not whole.text(deep=False, strip=True)
        if rest == 0 or (has_label and whole.tag in TEASERS):
            return items, size
        entries = [node for node in whole.iter() if node.mem_id not in self._holders]
        is_list = whole.tag == "dl" and sum(node.tag == items[0].tag for node in entries) == len(items)
        return (entries, size + rest) if is_list and size + rest <= MAX_EXCERPT * len(items) else ([], 0)

    def _navigation(self, whole: LexborNode, items: list[LexborNode], size: int, links: dict[int, int]) -> _Found:
        """Links with little text beside them."""
        in_links = sum(links[item.mem_id] for item in items)
        is_list = whole.tag in LISTS or size >= LINK_SHARE * self._ink(whole)
        return (items, size) if in_links >= LINK_SHARE * size and is_list else ([], 0)

    def _cards(self, whole: LexborNode, items: list[LexborNode], sizes: list[int], links: dict[int, int]) -> _Found:
        """Teasers with a title, and perhaps a picture or an excerpt."""
        kinds: dict[str, list[tuple[LexborNode, int]]] = {}
        for item, length in zip(items, sizes, strict=True):
            if item.tag in TEASERS:
                kinds.setdefault(_kind(item), []).append((item, length))
        alike = max(kinds.values(), key=len, default=[])
        number, size = len(alike), sum(length for _, length in alike)
        if not min(MIN_TEASERS, len(items)) <= number < MIN_LISTED or size > MAX_EXCERPT * number:
            return [], 0
        are_teasers = sum(_is_card(item) for item, _ in alike) > HALF * number or (
            size <= MAX_TEASER * number
            and (len(items) > 1 or (whole.tag in LISTS and size == self._ink(whole)))
            and sum(found := [_title_size(item, length - links[item.mem_id]) for item, length in alike])
            >= LABEL * number
            and sum(map(bool, found)) > HALF * number
        )
        return ([item for item, _ in alike], size) if are_teasers and not _is_in_prose(whole) else ([], 0)

    def _lines(self, whole: LexborNode, items: list[LexborNode], links: dict[int, int]) -> _Found:
        """Links on lines of their own: between them are breaks, and no text."""
        found: list[LexborNode] = []
        lines: list[LexborNode] = []
        breaks = 0
        places = {item.mem_id for item in items if item.tag == "a"}
        if len(places) <= 1 or not self._ink(whole):
            return [], 0
        for node in whole.iter(include_text=True):
            if node.mem_id in places:
                lines.append(node)
                found = lines if len(found) < len(lines) <= breaks + 1 else found
            elif node.tag == "br":
                breaks += 1
            elif _has_text(node.text()):
                lines, breaks = [], 0
        sizes = [links[node.mem_id] for node in found]
        is_list = len(found) >= MIN_LINKS or (len(found) > 1 and self._are_titles(found, sizes, links))
        return (found, sum(sizes)) if is_list else ([], 0)

    def _are_titles(self, items: list[LexborNode], sizes: list[int], links: dict[int, int]) -> bool:
        """True for parts that are links as long as titles, and nothing else."""
        return sum(sizes) >= LABEL * self._characters * len(items) and all(
            links[item.mem_id] == size for item, size in zip(items, sizes, strict=True)
        )


def _has_text(text: str) -> bool:
    """True for a text with letters or digits."""
    return any(map(str.isalnum, text))


def _ink(text: str) -> int:
    if text.isascii():
        return len(text.encode("ascii").translate(None, ASCII_BLANKS))
    return len("".join(text.split())) - text.count(SPACE)


def _bytes(text: str) -> int:
    """Number of bytes in UTF-8."""
    return len(text.encode("utf-8", "replace"))


def is_long(line: str) -> bool:
    """True for a line that is no label."""
    return len(line) >= LONG or (not line.isascii() and max(line) >= FIRST_SIGN and _bytes(line) >= LONG)


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


def _title_size(item: LexborNode, outside: int) -> int:
    """Return the bytes of the link that a part begins with, after a time or number; 0 without one, or if text beside
    its heading is no link. `outside`: characters outside of links."""
    if (heading := item.css_first(SUBHEADINGS)) is not None:
        return LABEL if item.css_first(LINKED) is not None or outside <= _ink(heading.text()) else 0
    is_link = item.tag == "a"
    link = item if is_link else item.css_first("a")
    if link is None or (is_link and item.css_first(BLOCKS) is None):
        return 0
    title = link.text(strip=True)
    return 0 if not title or any(map(str.isalpha, item.text(strip=True).partition(title)[0])) else _bytes(title)


def _is_card(item: LexborNode) -> bool:
    """True for a part whose heading is a link to another page, or which is a link around blocks."""
    link = item if item.tag == "a" else item.css_first("a")
    if link is None or "#" in (link.attributes.get("href") or ""):
        return False
    heading = item.css_first(SUBHEADINGS)
    title = (link if heading is None else heading).text(strip=True)
    if _bytes(title) < LABEL:
        return False
    if heading is not None:
        return title in link.text(strip=True)
    return link.css_first(BLOCKS) is not None and item.text(strip=True) == title


def _is_in_prose(whole: LexborNode) -> bool:
    """True for a list or table beside a paragraph."""
    if whole.tag not in LISTS:
        return False
    while whole.tag in LISTS and whole.parent is not None:
        whole = whole.parent
    paragraphs = (node.text(strip=True) for node in whole.iter() if node.tag == "p")
    return any(_bytes(text) >= LONG for text in paragraphs)


def _is_part(node: LexborNode) -> bool:
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
            return heading is None or node.css_first("a") is not None or _ink(heading.text()) < _ink(node.text())
        return tag != "form" or node.css_first(PRICES) is None
    is_off = is_hidden(attributes) or attributes.get("role") in ROLES
    return (is_off and not _is_panel(attributes)) or _is_count(attributes)


def _is_count(attributes: dict[str, str | None]) -> bool:
    """True for a count of votes, comments and the like in microdata."""
    return (attributes.get("itemprop") or "").endswith(("Count", "interactionStatistic"))


def _is_panel(attributes: dict[str, str | None]) -> bool:
    """True for what a tab or a question shows, hidden or not."""
    role = attributes.get("role")
    return role == "tabpanel" or ("aria-labelledby" in attributes and role not in ROLES)


def is_hidden(attributes: dict[str, str | None]) -> bool:
    """True for an element that its attributes hide."""
    hidden = attributes.get("hidden", UNTIL_FOUND)
    return (
        (hidden or "").lower() != UNTIL_FOUND
        or attributes.get("aria-hidden") == "true"
        or "inert" in attributes
        or HIDING.search(attributes.get("style") or "") is not None
    )


def _has_noisy_name(node: LexborNode) -> bool:
    attributes = node.attributes
    return _kind_of_name(attributes.get("class"), attributes.get("id")) in ("noise", "related")


def _is_note(names: str) -> bool:
    return not NOTES.isdisjoint(_CAMEL.sub("-", names[:MAX_NAMES]).lower().replace(" ", "-").split("-"))


@lru_cache(4096)
def _kind_of_name(classes: str | None, identity: str | None) -> str:
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
    found = {
        word for word, before in zip(words, ["", *words], strict=False) if word in NOISE and before not in OF_LAYOUT
    }
    if found and found <= RELATED:
        return "related"
    is_noise = (bool(found) and (found != {"ad"} or AD_WORDS.isdisjoint(words))) or any(
        phrase in plain for phrase in PHRASES
    )
    if is_noise:
        return "noise"
    return "reviews" if plain.endswith(REVIEWS) else ""
