"""The main text of a page, in parts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from unicodedata import normalize

from selectolax.lexbor import LexborHTMLParser, LexborNode

from sitemapcrawler.replies.page.boilerplate import (
    ADVERTISEMENTS,
    DISCUSSIONS,
    HEADINGS,
    NEWSLETTERS,
    OF_READERS,
    WHOLE_HEADINGS,
)
from sitemapcrawler.replies.page.furniture import (
    PARTS,
    PRICES,
    has_noisy_name,
    is_furniture,
    is_panel,
    kind_of_name,
    mark_panels,
)
from sitemapcrawler.replies.page.nodes import (
    ENDS,
    LABEL,
    LONG,
    MAX_HEADINGS,
    SPACE,
    SUBHEADINGS,
    ancestors,
    byte_count,
    element_from,
    grouped,
    has_own_text,
    has_text,
    has_words,
    ink,
    is_leaf,
    is_long,
    kind_of,
)
from sitemapcrawler.replies.page.teasers import (
    ENTRIES,
    LISTS,
    PICTURED,
    has_ages,
    is_card,
    is_entry,
    is_in_prose,
    is_pictured,
    title_size,
)
from sitemapcrawler.replies.page.tokens import folded, has_price

HALF = 0.5
"""Share of the text at which a part of a page without a heading is the content itself."""
MIN_LINKS = 4
"""Links of a list that is navigation. Fewer are part of a text."""
LINK_SHARE = 0.8
"""Share of the text of such a list that is inside links."""
_DOCUMENT = r"mailto:|tel:|[^?#]*\.(?:pdf|docx?|xlsx?|pptx?|od[pst]|rtf|csv|epub|zip|mp3|ics)(?:[?#]|\Z)"
IS_DOCUMENT = re.compile(_DOCUMENT, re.IGNORECASE).match
IS_NO_PAGE = re.compile(f"#.|{_DOCUMENT}", re.IGNORECASE).match
"""Matches what links to a part of the page, or to a document: a list of these is content."""
IS_HOME = re.compile(r"(?:https?:)?(?://[^/?#]*)?[./]*\Z").match
"""Matches what links to the home page."""
MAX_LINKS = 2_000
"""Links that are checked for lists; pages with more are lists themselves."""
MIN_PROSE = 120
"""Bytes in UTF-8 without blanks, some 25 English words: a page with so much text beside its lists is not made of them,
however long they are."""
MAX_LISTED = 100
MIN_LISTED = 12
"""Entries of a list that may be the content of a page with some text. Pages have fewer teasers of others."""
LONG_PROSE = 1_000
"""Characters without blanks of a text beside which such a list of links is not the content."""
MIN_TEASERS = 2
MAX_EXCERPT = 300
"""Characters without blanks of teasers on average: an excerpt of WordPress has 55 words. Posts are longer."""
TEASERS = frozenset(("div", "article", "section", "li", "tr", "a", "figure"))
LABELS = frozenset(("h2", "h3", "h4", "h5", "h6", "b", "strong", "div", "span", "header", "label"))
FIRST_LABELS = frozenset(("div", "span", "header"))
"""Elements that may be the label of a list of teasers; the latter are others in a part that they do not begin."""
NAMES_OF_PARTS = ("h2,h3,h4,h5", "b,strong,div,span,p")
"""Selectors of elements that may name a part. Most other ones are in parts that a heading names."""
CAPTIONS = frozenset(("div", "span", "p"))
BOXES = frozenset(("div", "section", "article", "ul", "ol", "dl", "table"))
CELLS = frozenset(("td", "th", "dd", "dt"))
TABLES = "ul,ol,dl,table,address,pre,figcaption"
"""Selector of lists, tables, code and captions, whose numbers all count."""
INLINE = "a,b,strong,i,em,u,span,font,small,mark,sup,sub,abbr,data,time"
FACTS = "div,p,span"
MIN_FACTS = 3
"""Parts of one kind side by side, of a name and a value each, that are a table."""
MAX_MEASURED = 20
"""Text that may be measured to find the size of parts, in lengths of the page's text; bounds nested parts."""
MIN_COST = 10
"""What measuring a part without text costs, in characters."""

UNSEEN = [
    "script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "audio", "video", "select",
    "textarea", "datalist", "progress", "meter", "map", "noframes", "amp-ad", "amp-consent", "amp-sidebar",
    "amp-user-notification",
]  # fmt: skip
"""Elements without text to read, and controls."""
BUTTONS = "button:not(h2>button,h3>button,h4>button,h5>button,h6>button,dt>button)"
"""Selector of other controls, but for questions that show their answers."""
FURNITURE = ["nav", "footer", "dialog", "menu"]
NAMED = "[class],[id],[data-testid]"

OUTER = frozenset(("html", "body", "div", "form"))
"""Elements that may be around the footer of the page; in others, it is that of a part."""
CONTENTS = "main,article,[role=main]"
"""Selector of what no banner behind the footer has."""
CAROUSELS = "[class*=carousel],[class*=slider],[class*=swiper],[class*=slick],[class*=slides],[class*=gallery]"

OTHER_HEADINGS = f"{SUBHEADINGS},[role=heading]"
LEAVES, MAX_LEAVES = "b,strong,font,span,div,td,p", 1_000
"""Elements that may be the main heading of a page without one, and how many are checked."""
_PARTS_OF_TITLE = re.compile(r"\s[-|·•»:\u2013\u2014]+\s|[|\uff5c]").split
MAX_TITLES, MAX_TITLE = 20, 300
"""Headings that are compared with the title of a page, and characters of a text that are compared."""
_OF_PARTS: dict[str, tuple[str, ...]] = {}
"""Beginnings of headings of parts that may be no content, by their first characters."""
FIRST = 2
for _phrase in (*HEADINGS, *DISCUSSIONS, *NEWSLETTERS):
    _OF_PARTS[_phrase[:FIRST]] = (*_OF_PARTS.get(_phrase[:FIRST], ()), _phrase)
MAX_COUNT = 3
"""Words of a heading that is a count."""
_DIGIT = re.compile(r"\d").search
IS_YEAR = re.compile(r"(?:19|20)\d\d\Z").match
QUOTES = re.compile('["\u00ab\u201c-\u201f]')
AFTER_HEADING = " :()0123456789"
"""What may follow the text of a heading: a count."""
MAX_HEADING = 60  # characters; a longer one is a sentence of the text
MAX_RAW = 4 * MAX_HEADING  # characters with the blanks of the markup
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
    title: str = ""
    """Main heading."""
    paragraphs: str = ""
    """Paragraphs and headings that stand side by side and have the most text."""
    tables: str = ""
    """Of lists and tables without links."""
    headings: str = ""
    """Of all other headings, and of tables with links."""
    rest: str = ""
    """All other text, by lines."""
    links: str = ""
    """Of links that are longer than a label."""
    prices: frozenset[str] = frozenset()
    """Texts of elements that their names call prices."""


def main_text(tree: LexborHTMLParser) -> MainText:
    """Return the main text of a page. Removes parts of the tree."""
    body = tree.body
    if body is None:
        return MainText("")
    messages = {identity for node in tree.tags("textarea") for identity in ancestors(node)}
    tree.strip_tags(UNSEEN, recursive=True)
    mark_panels(tree)
    for node in reversed(tree.css(BUTTONS)):
        node.decompose()
    whole = body.text(separator=SPACE)
    _remove_behind_footer(tree)
    tree.strip_tags(FURNITURE, recursive=True)
    part = _Part(tree, body, messages)
    template = _template(part.title or tree.css_first("h1") or body)
    part.remove_all()
    if ink(part.root.text(separator=SPACE)) <= part.heading:
        return MainText(template, rest=part.text if part.text.strip() else whole)
    title = _taken([part.title] if part.title is not None else [])
    part.remove_lone_links()
    unordered = part.take_unordered()
    links = _taken(part.root.css("a"), lambda text: byte_count(folded(text)) >= LABEL)
    paragraphs = _taken(_largest(part.root.css(f"p,{SUBHEADINGS}")))
    tables = _taken(part.tables(), separator=SPACE)
    headings = _taken(part.outside(f"table,{SUBHEADINGS}"), separator=SPACE)
    _join_lines(part.root)
    rest = SPACE.join((part.root.text(separator=SPACE), *sorted(unordered)))
    return MainText(template, title, paragraphs, tables, headings, rest, links, frozenset(part.prices))


def _remove_behind_footer(tree: LexborHTMLParser) -> None:
    """Remove what stands behind the footer of the page: banners, chats and other windows that scripts add. A footer
    that the first heading is not beside, or with less text before than behind it, is that of a part."""
    footers = tree.tags("footer") or tree.css("[role=contentinfo]")
    heading = tree.css_first("h1") or tree.css_first("h2")
    if not footers or heading is None:
        return
    node = footers[-1]
    around: list[LexborNode] = []
    while node.tag != "body":
        whole = node.parent
        if whole is None or whole.tag not in OUTER:
            return
        around.append(node)
        node = whole
    above = set(ancestors(heading))
    if around[0].mem_id in above or (around[1:] or [node])[0].mem_id not in above:
        return
    behind = [each for inner in around for each in _siblings_behind(inner)]
    size = sum(ink(each.text()) for each in behind)
    is_longer = size > 0 and 2 * size > ink(node.text()) - ink(footers[-1].text())
    if not is_longer and not any(each.is_element_node and each.css_first(CONTENTS) is not None for each in behind):
        for each in behind:
            each.decompose()


def _siblings_behind(node: LexborNode) -> Iterator[LexborNode]:
    """Yield what follows an element in its parent, in order."""
    found = node.next
    while found is not None:
        yield found
        found = found.next


def _headings(root: LexborNode, title: str, start: str) -> list[LexborNode]:
    """Return the main heading, which the title of the page names, and which is no link home, as the name of a site is.
    Without one, return the first headings of the first level."""
    first = root.css("h1")[:MAX_HEADINGS]
    if not title:
        return first
    named = [node for node in first if _is_named(node, title)]
    start = "" if first else start
    named = named or [node for node in root.css(OTHER_HEADINGS)[:MAX_TITLES] if _is_named(node, title, start)]
    if not named and not first:
        named = [node for node in root.css(LEAVES)[:MAX_LEAVES] if is_leaf(node) and _is_named(node, title, start)][:1]
    return [max(named, key=lambda node: len(_key(node.text())))] if named else first


def _is_named(node: LexborNode, title: str, start: str = "") -> bool:
    """True for a heading that is most of the title of the page and its beginning or end, or all before the name of the
    site, `start`."""
    text = _key(node.text())
    return (
        text != ""
        and (text == start or (len(text) >= HALF * len(title) and (title.startswith(text) or title.endswith(text))))
        and not any(IS_HOME(link.attributes.get("href") or "") for link in node.css("a"))
    )


def _key(text: str) -> str:
    """Return the letters and digits of a text."""
    return "".join(filter(str.isalnum, folded(text[:MAX_TITLE])))


def _template(node: LexborNode) -> str:
    names = []
    above: LexborNode | None = node
    while above is not None:
        names.append(kind_of(above))
        above = above.parent
    return " ".join(names)


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


def _join_lines(root: LexborNode) -> None:
    """Make one text node of a text with elements inside."""
    texts: dict[int, bool] = {}
    for node in root.css(INLINE):
        if (whole := node.parent) is not None and has_own_text(whole, texts):
            node.unwrap()
    root.merge_text_nodes()


_Found = tuple[list[LexborNode], int]
"""Elements, and their characters without blanks."""


class _Part:
    """The element that holds the main content. Removes other parts inside, the innermost first: a node must not be used
    after the one around it has gone."""

    def __init__(self, tree: LexborHTMLParser, body: LexborNode, messages: set[int]) -> None:
        self._messages = messages
        """Elements around fields for a message, as on a page for contacts."""
        mains = tree.tags("main") or [node for node in tree.css("[role=main]") if node.tag != "article"]
        text = mains[0].text(separator=SPACE) if len(mains) == 1 else ""
        self.root, self.text = (mains[0], text) if ink(text) else (body, body.text(separator=SPACE))
        self._characters = 1.0  # for each byte
        if not self.text.isascii():
            blanks = sum(map(self.text.count, (" ", "\n", "\t", "\r", SPACE)))
            self._characters = (len(self.text) - blanks) / max(byte_count(self.text) - blanks, 1)
        articles = {node.mem_id: node for node in tree.tags("article")}
        first: dict[int, tuple[set[int], int]] = {}  # heading of the page, and of each article
        named = next((node.text() for node in tree.tags("title")), "")
        title, start = _key(named), _key(_PARTS_OF_TITLE(named)[0])
        headings = _headings(self.root, title, start)
        for node in headings:
            if size := ink(node.text()):
                above = list(ancestors(node))
                inner = above[: above.index(self.root.mem_id)]
                named_articles = (at for at in reversed(inner) if at in articles and not has_noisy_name(articles[at]))
                place = next(named_articles, self.root.mem_id)
                first.setdefault(place, (set(above), size))
        self._holders, self.heading = next(iter(first.values()), ({self.root.mem_id}, 0))
        if len(with_heading := first.keys() & articles.keys()) == 1:
            [identity] = with_heading
            text = articles[identity].text(separator=SPACE)
            if ink(text) >= first[identity][1] + LONG * self._characters:
                self.root, self.text = articles[identity], text
                self._holders, self.heading = first[identity]
        headings = headings or _headings(body, title, start)  # it may stand before `<main>`
        self.title = next((node for node in headings if node.mem_id in self._holders or not self.heading), None)
        self._budget = MAX_MEASURED * (len(self.text) + 1_000)
        self.prices: set[str] = set()
        self._removed: set[int] = set()
        self._bars: set[int] = set()  # elements around lists of links

    def outside(self, selector: str) -> list[LexborNode]:
        """Return the elements that are not around the main heading."""
        return [node for node in self.root.css(selector) if node.mem_id not in self._holders]

    def tables(self) -> list[LexborNode]:
        """Return lists, tables, code and captions without links, but for tables that lay out the page."""
        found = self.outside(TABLES)
        for nodes in grouped(filter(_has_two, self.root.css(FACTS)), of_columns=True):
            if len(nodes) >= MIN_FACTS and all(map(_is_fact, nodes)):
                found += nodes
        return [node for node in found if node.css_first("a") is None]

    def take_unordered(self) -> list[str]:
        """Remove parts whose order says nothing, and return their texts: slides, and entries of a list of links."""
        found: list[str] = []
        for whole in reversed(self.root.css(f"ul,{CAROUSELS}")):
            items = list(whole.iter())
            if len(items) > 1 and len(set(map(kind_of, items))) == 1 and self._is_unordered(whole, items):
                found += (node.text(separator=SPACE) for node in items)
                for node in items:
                    node.decompose()
        return found

    def _is_unordered(self, whole: LexborNode, items: list[LexborNode]) -> bool:
        """True for slides, and for a list with links in most of its entries."""
        if whole.mem_id in self._holders or self._budget < 0:
            return False
        if whole.tag != "ul":
            return True
        self._budget -= sum(len(node.text()) + MIN_COST for node in items)
        return sum(node.css_first("a[href]") is not None for node in items) > HALF * len(items)

    def remove_lone_links(self) -> None:
        """Remove links beside which is no text, as of controls, but for those in headings, lists and tables."""
        if self._ink(self.root) - self.heading < MIN_PROSE * self._characters:
            return
        kept = {link.mem_id for heading in self.root.css(SUBHEADINGS) for link in heading.css("a")}
        texts: dict[int, bool] = {}
        for node in reversed(self.root.css("a[href]")):
            whole = node.parent
            if whole is None or whole.tag in CELLS or node.mem_id in kept:
                continue
            if whole.tag == "li" and not self._is_alone(whole):
                continue
            if IS_DOCUMENT(node.attributes.get("href") or "") or has_own_text(whole, texts):
                continue
            if whole.tag in BOXES or self._is_alone(node):
                node.decompose()

    def _is_alone(self, node: LexborNode) -> bool:
        """True for an element without text beside it."""
        return self._with_text(node.prev, "prev") is None and self._with_text(node.next, "next") is None

    def remove_all(self) -> None:
        whole = ink(self.text)
        most = max(HALF * whole, whole - self.heading - MIN_PROSE * self._characters)
        self._remove_advertisements()
        noise: list[LexborNode] = []
        for node in self.root.css(NAMED):
            attributes = node.attributes
            classes, identity = attributes.get("class"), attributes.get("id")
            kind = kind_of_name(classes, identity or attributes.get("data-testid"))
            if kind == "noise" and identity and not classes and _is_anchor(node, identity):
                kind = ""
            if kind and (
                kind == "noise"
                or (kind == "hidden" and not is_panel(attributes))
                or (kind == "related" and self._is_of_others(node))
                or (kind == "reviews" and self._budget > 0 and self._ink(node) <= most)
            ):
                noise.append(node)
            if kind == "price" and self._budget > 0:
                self.prices.add(text := node.text(strip=True))
                self._budget -= len(text) + MIN_COST
        self._remove_subscriptions()
        self._remove(noise)
        self._remove([node for node in self.root.css(PARTS) if is_furniture(node)])
        self._remove_links_in_text()
        self._remove_by_heading()
        self._remove_teasers()
        if self.heading:
            self._remove_labels_above()

    def _remove_subscriptions(self) -> None:
        """Remove short parts around a field for an address of mail, but not around one for a message."""
        for field in self.root.css("input"):
            attributes = field.attributes
            if attributes.get("type") != "email" and "mail" not in (attributes.get("name") or "").lower():
                continue
            node = field
            while (whole := node.parent) is not None and not self._holds_content(whole) and self._budget > 0:
                if self._ink(whole) > MAX_EXCERPT * self._characters or whole.css_first(PRICES) is not None:
                    break
                if whole.mem_id in self._messages:
                    break
                node = whole
                if node.css_first(SUBHEADINGS) is not None:
                    break
            if node.mem_id != field.mem_id and node.mem_id not in self._removed:
                self._remove_all_of(node)

    def _is_of_others(self, node: LexborNode) -> bool:
        """True for what is named after related pages, but for a text without links that is related to this one."""
        return node.css_first("a[href]") is not None or self._ink(node) < MIN_PROSE * self._characters

    def _remove_labels_above(self) -> None:
        """Remove labels above the part with the main heading and a text, such as the weather, and what is left of bars
        of links, such as a greeting. Prices remain."""
        whole = self.root
        while whole.mem_id in self._holders:
            above = []
            node = whole.first_child
            while node is not None and node.mem_id not in self._holders:
                above.append(node)
                node = node.next
            if node is None:
                return
            is_frame = self._ink(node) - self.heading >= MIN_PROSE * self._characters
            for label in above:
                text = label.text(separator=SPACE)
                is_short = (
                    ink(text) <= MAX_EXCERPT * self._characters
                    if is_frame
                    else (label.mem_id in self._bars or label.css_first("a") is not None)
                    and not any(map(is_long, folded(text).split(SPACE)))
                )
                if label.is_element_node and is_short and not has_price(text):
                    label.decompose()
            whole = node

    def _remove_part(self, part: LexborNode, links: int) -> None:
        """Remove a part, and if it is a list of titles, what is left of a short part around it, as in a sidebar."""
        if self.heading and links >= LABEL * self._characters * MIN_LINKS:
            part = self._short(part, MAX_EXCERPT * self._characters + self._ink(part))
        self._remove_all_of(part)

    def _short(self, node: LexborNode, size: float) -> LexborNode:
        """Return the outermost part around a node without price, heading of the page and a text of this size."""
        while (whole := node.parent) is not None and not self._holds_content(whole) and self._budget > 0:
            text = whole.text()
            self._budget -= len(text) + MIN_COST
            if ink(text) > size or has_price(text):
                break
            node = whole
        return node

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
        return ink(text)

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
            if label.mem_id in self._removed or not is_leaf(label):
                continue
            text = label.text(strip=True)
            if len(text) > MAX_LABEL or folded(text).rstrip(":") not in ADVERTISEMENTS:
                continue
            part = self._outermost(label)
            whole = part.parent
            if whole is None or self._holds_content(whole) or element_from(whole.first_child) != part.mem_id:
                continue
            is_short = self._budget > 0 and self._ink(whole) <= MAX_EXCERPT * self._characters
            if is_short and (whole.css_first("a[href]") is not None or whole.text(strip=True).endswith(ENDS)):
                self._remove_all_of(whole)

    def _remove_by_heading(self) -> None:
        for heading in (node for names in NAMES_OF_PARTS for node in reversed(self.root.css(names))):
            if heading.mem_id in self._removed or self._budget < 0:
                continue
            is_heading = heading.tag not in CAPTIONS
            inner = heading if is_heading else heading.first_child
            if inner is None or (inner is not heading and not inner.is_text_node):
                continue
            text = inner.text(separator=SPACE)
            if (
                len(text) > MAX_RAW
                or len(text := folded(text)) > MAX_HEADING
                or not (
                    text.startswith(_OF_PARTS.get(text[:FIRST], ()))
                    or text.rstrip(AFTER_HEADING) in WHOLE_HEADINGS
                    or (_DIGIT(text) and _is_of_count(text) and (is_heading or _is_above_entries(heading)))
                )
            ):
                continue
            if not is_heading and (text.endswith(ENDS) or has_words(inner.next)):
                continue
            part = self._outermost(heading)
            whole = part.parent
            while whole is not None and not self._holds_content(whole) and self._ink(whole) <= LABEL * self._characters:
                part = self._outermost(whole)
                whole = part.parent
            if text.startswith(NEWSLETTERS) and (whole is None or not self._is_box(whole)):
                continue
            if (
                heading.tag in ("b", "strong")
                and part.mem_id == heading.mem_id
                and (whole is None or not self._is_of_links(whole, heading))
            ):
                continue
            if whole is not None and not self._holds_content(whole) and element_from(whole.first_child) == part.mem_id:
                self._remove_part(whole, sum(self._ink(link) for link in whole.css("a")))
            elif not self._holds_content(part):
                is_of_readers = text.startswith(DISCUSSIONS) or not OF_READERS.isdisjoint(_letters(text))
                self._remove_all_alike(part.next, is_of_readers)
                self._remove_all_of(part)

    def _remove_links_in_text(self) -> None:
        """Remove paragraphs of one link behind words such as `Read also:`."""
        for link in reversed(self.root.css("p>a,div>a,b>a,strong>a")):
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

    def _remove_all_alike(self, node: LexborNode | None, is_of_readers: bool) -> None:
        """Remove what stands below the heading of a part without an element of its own: lists with links, or several
        elements of one kind, the first with a link. Lists of what readers write have none."""
        first = self._with_text(node, "next")
        if first is None or first.tag not in BOXES:
            return
        self._budget -= len(first.css("*"))
        if first.css_first("a[href]") is None and not (is_of_readers and first.tag in LISTS):
            return
        kind = kind_of(first)
        while (found := self._with_text(node, "next")) is not None and found.is_element_node and kind_of(found) == kind:
            node = found.next
            if not self._holds_content(found):
                self._remove_all_of(found)

    def _with_text(self, node: LexborNode | None, way: str) -> LexborNode | None:
        """Return the first node with text, from a node on among its siblings, in the direction `next` or `prev`."""
        while node is not None and self._budget > 0:
            text = node.text()
            self._budget -= len(text) + MIN_COST
            if has_text(text):
                break
            node = getattr(node, way)
        return node

    def _is_label(self, node: LexborNode) -> bool:
        """True for one line of text without a price: a heading, or what a part begins with."""
        if node.tag not in LABELS or (node.tag in FIRST_LABELS and self._with_text(node.prev, "prev") is not None):
            return False
        text = node.text(separator=SPACE, strip=True)
        return len(text) <= MAX_HEADING and SPACE not in text and not has_price(text) and node.css_first("a,p") is None

    def _is_one_of_many(self, part: LexborNode) -> bool:
        """True for a part behind another of its kind that is a heading alone, such as a card of an icon and a title."""
        before = self._with_text(part.prev, "prev")
        if before is None or not before.is_element_node or kind_of(before) != kind_of(part):
            return False
        heading = before.css_first(SUBHEADINGS)
        return heading is not None and ink(heading.text()) == ink(before.text())

    def _is_box(self, whole: LexborNode) -> bool:
        """True for a short part without links."""
        return self._ink(whole) <= MAX_EXCERPT * self._characters and whole.css_first("a") is None

    def _remove_all_of(self, node: LexborNode) -> None:
        """Remove a node, and note what was in it: later nodes of a loop may be."""
        self._removed.update(inner.mem_id for inner in node.traverse())
        node.decompose()

    def _is_of_links(self, whole: LexborNode, label: LexborNode) -> bool:
        """True for a part that has nothing but a label and links."""
        return self._ink(whole) - self._ink(label) <= sum(self._ink(link) for link in whole.css("a"))

    def _remove_teasers(self) -> None:
        """Remove lists of links and of teasers of other pages, if the page has a text of its own."""
        inside: dict[int, list[LexborNode]] = {}  # elements with links, by the element around them
        links: dict[int, int] = {}  # characters in links, by element
        for link in islice(self.root.css("a[href]"), MAX_LINKS):
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
        lists: list[_Found] = []
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
                lists.append((teasers, size))
                taken = {item.mem_id for item in teasers}
                items = [item for item in items if item.mem_id not in taken]
            parts += items
        for teasers, size in lists:
            number = sum(item.tag != "dd" for item in teasers)
            if prose >= (MIN_PROSE * self._characters if number < MIN_LISTED else LONG_PROSE):
                self._remove_list(teasers, size)
        if self.heading:
            self._remove_entries()
        self._remove_empty()

    def _remove_entries(self) -> None:
        """Remove parts of one kind side by side with an age each, such as comments, if there is a text beside them."""
        text = self.root.text(separator=SPACE)
        if not has_ages(text.split(SPACE), MIN_TEASERS):
            return
        prose = ink(text) - self.heading
        for nodes in grouped(self.outside(ENTRIES)):
            if len(nodes) < MIN_TEASERS or nodes[0].mem_id in self._removed:
                continue
            size = sum(map(self._ink, nodes))
            if self._budget < 0 or prose - size < MIN_PROSE * self._characters:
                continue
            entries = list(filter(is_entry, nodes))
            if len(entries) >= MIN_TEASERS and len(entries) > HALF * len(nodes):
                prose -= size
                self._removed.update(inner.mem_id for node in entries[1:] for inner in node.css("*"))
                self._remove_list(entries, 0)

    def _remove_list(self, teasers: list[LexborNode], size: int) -> None:
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
            self._bars.update(ancestors(part))
        self._remove_part(part, size if size >= LABEL * self._characters * len(teasers) else 0)

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
            has_frame = part.mem_id != heading.mem_id or element_from(heading.next) is not None
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
        if not found[0] and len(items) > 1:
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
        if len(items) < MIN_LINKS:
            text = whole.text()
            for item in items:
                text = text.replace(item.text(), "", 1)
            return (items, size) if in_links == size and not has_text(text) else ([], 0)
        is_list = whole.tag in LISTS or size >= LINK_SHARE * self._ink(whole)
        return (items, size) if in_links >= LINK_SHARE * size and is_list else ([], 0)

    def _cards(self, whole: LexborNode, items: list[LexborNode], sizes: list[int], links: dict[int, int]) -> _Found:
        """Teasers with a title, and perhaps a picture or an excerpt."""
        kinds: dict[str, list[tuple[LexborNode, int]]] = {}
        for item, length in zip(items, sizes, strict=True):
            if item.tag in TEASERS:
                kinds.setdefault(kind_of(item), []).append((item, length))
        alike = max(kinds.values(), key=len, default=[])
        number, size = len(alike), sum(length for _, length in alike)
        if not min(MIN_TEASERS, len(items)) <= number < MIN_LISTED or size > MAX_EXCERPT * number:
            return [], 0
        are_teasers = sum(is_card(item) for item, _ in alike) > HALF * number or (
            (len(items) > 1 or (whole.tag in LISTS and size == self._ink(whole)))
            and sum(found := [title_size(item, length - links[item.mem_id]) for item, length in alike])
            >= LABEL * number
            and sum(map(bool, found)) > HALF * number
        )
        are_teasers = are_teasers or (number > 1 and all(is_pictured(item) for item, _ in alike))
        are_teasers = are_teasers and (alike[0][0].css_first(PICTURED) is not None or not is_in_prose(whole))
        return ([item for item, _ in alike], size) if are_teasers else ([], 0)

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
            elif has_text(node.text()):
                lines, breaks = [], 0
        sizes = [links[node.mem_id] for node in found]
        is_list = len(found) >= MIN_LINKS or (len(found) > 1 and self._are_titles(found, sizes, links))
        return (found, sum(sizes)) if is_list else ([], 0)

    def _are_titles(self, items: list[LexborNode], sizes: list[int], links: dict[int, int]) -> bool:
        """True for parts that are links as long as titles, and nothing else."""
        return sum(sizes) >= LABEL * self._characters * len(items) and all(
            links[item.mem_id] == size for item, size in zip(items, sizes, strict=True)
        )


def _is_anchor(node: LexborNode, identity: str) -> bool:
    """True for a heading, or a section with one, that has its text as id."""
    heading = node if node.tag != "section" else node.css_first(SUBHEADINGS)
    return heading is not None and heading.tag in LABELS and _key(heading.text()) == _key(identity)


def _is_of_count(text: str) -> bool:
    """True for a heading such as `3 comments`, which may name what they are on in quotes."""
    words = [word.strip("():") for word in text.split()]
    if OF_READERS.isdisjoint(words):
        return False
    numbers = [word for word in words if word[:1].isdigit()]
    is_short = len(words) <= MAX_COUNT or QUOTES.search(text) is not None
    return is_short and len(numbers) == 1 and not IS_YEAR(numbers[0])


def _is_above_entries(node: LexborNode) -> bool:
    """True for an element above several of one kind, up to the end of the part."""
    kinds: list[str] = []
    below = node.next
    while below is not None and len(kinds) <= MAX_LISTED:
        if below.is_element_node:
            kinds.append(kind_of(below))
        below = below.next
    return len(kinds) > 1 and len(set(kinds)) == 1 and kinds[0].partition(".")[0] in BOXES


def _letters(text: str) -> list[str]:
    return "".join(char if char.isalpha() else " " for char in text).split()


def _has_two(node: LexborNode) -> bool:
    """True for an element with another node behind its first element."""
    name = node.first_child
    while name is not None and not name.is_element_node:
        name = name.next
    return name is not None and name.next is not None


def _is_fact(node: LexborNode) -> bool:
    """True for a name and a value."""
    lines = node.text(separator=SPACE, strip=True).split(SPACE)
    return len(lines) == 2 and len(lines[0]) <= MAX_HEADING and len(lines[1]) <= MAX_HEADING
