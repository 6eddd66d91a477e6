"""Detects what a document is, by its content and not by its name or Content-Type, and checks its root."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from sitemapcrawler.reader.entries import FIELDS
from sitemapcrawler.reader.faults import Faults

Format = Literal["xml-urlset", "xml-index", "rss", "atom", "text", "html", "unknown"]

ROOTS: dict[str, Format] = {
    "urlset": "xml-urlset",
    "sitemapindex": "xml-index",
    "rss": "rss",
    "RDF": "rss",
    "feed": "atom",
}
"""Root elements by local name."""
ROOT_NAME = re.compile(r"<(?:(?P<prefix>[A-Za-z_][\w.-]*):)?(?P<name>urlset|sitemapindex|rss|RDF|feed)(?=[\s/>])")
"""The beginning of a start tag of a known root."""
ATTRIBUTES = re.compile(r"""(?P<attributes>[^<>"']*+(?:(?:"[^"]*+"|'[^']*+')[^<>"']*+)*+)>""")
"""The rest of a start tag, quotes respected."""
SECTION_START = re.compile(r"<!--|<\?|<!\[CDATA\[")
"""How that begins what hides a root: a comment, an instruction or a CDATA section."""
SECTION_ENDS = {"<!--": "-->", "<?": "?>", "<![CDATA[": "]]>"}
"""How each of them ends."""
MAX_CANDIDATES = 8
"""Places that are tried as the root where the document does not begin with it."""
MISC = re.compile(r"<\?xml\s[^<>?]*+>|<\?.*?\?>|<!--.*?-->", re.DOTALL)
"""Declaration, also one that ends like a tag, processing instruction or comment: what may stand before the root
(XML 1.0, 2.8)."""
DOCTYPE = re.compile(r"<!DOCTYPE", re.IGNORECASE)
DOCTYPE_PART = re.compile(r"""<!--.*?-->|<\?.*?\?>|"[^"]*"|'[^']*'|\[|\]|>|(?P<open><!--|<\?|"|')""", re.DOTALL)
"""What decides where a document type declaration ends; `open` is what has no end itself."""
HTML = re.compile(r"<(?:html|head|body|script|title|meta|div|table|center|h1|p)[\s>]", re.IGNORECASE)
"""How the content of an HTML page begins."""
HTML_ANYWHERE = re.compile(r"<html[\s>]", re.IGNORECASE)
URL_LINE = re.compile(r"""^[^\S\n]*(?:https?:)?//[^\s/<>"][^\s<>"]*+(?=\s|\Z)""", re.IGNORECASE | re.MULTILINE)
"""A line of a text sitemap."""
XML_TAG = re.compile(r"<(?:[A-Za-z_][\w.-]*+:)?+(?:url|loc|urlset|sitemap|sitemapindex)[\s/>]")
"""What no text sitemap holds: a start tag of the protocol."""
TEXT_WINDOW = 64 * 1024
"""Characters of a text file in which its first URL must stand."""
ENTRY = re.compile(r"<(url|sitemap)>\s*<loc>")
"""An entry, in a fragment that has lost its root."""
CORE_DECLARATION = ' xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
SPACED_DECLARATION = re.compile(r"\ufeff?\s+<\?xml\s")
ENTRY_NEXT = re.compile(r"\s*<(?:[\w.-]+:)?(?:url|sitemap)[\s>/]")
"""What must follow a root in an HTML page, where its name may be mere text."""
BLANK = re.compile("[\\s\ufeff]*")
"""White space and byte order marks."""


@dataclass(frozen=True, slots=True)
class DocumentHead:
    """The start of a document up to its first entry. Positions are in characters."""

    format: Format
    """What the document is."""
    prefix: str = ""
    """Namespace prefix of the root, without colon."""
    name: str = ""
    """Local name of the root."""
    attributes: str = ""
    """The root's attributes, as written."""
    start: int = 0
    """Where the root's start tag begins."""
    end: int = 0
    """Where it ends."""
    junk: str = ""
    """What stands before the root and does not belong there."""
    doctype: bool = False
    """True where a DOCTYPE was skipped."""
    spaced: bool = False
    """True where white space comes before the XML declaration."""
    fragment: bool = False
    """True for entries without a root; the one named here is made up."""

    @property
    def tag(self) -> str:
        """The root's name as written, prefix included."""
        return f"{self.prefix}:{self.name}" if self.prefix else self.name


def sniff(text: str, complete: bool) -> DocumentHead | None:
    """The head of the document that begins with `text`; None where more is needed, never when `complete`."""
    position, doctype = skip_prolog(text, complete)
    head = _root(text, position, doctype)
    if head is not None or not complete:
        return head
    visible = blank_sections(text)
    html = HTML.match(visible, position) is not None or HTML_ANYWHERE.search(visible) is not None
    head = _root_later(visible, position, doctype, html)
    if head is not None:
        return head
    if html:
        return DocumentHead("html")
    fragment = ENTRY.search(visible, position)
    if fragment is not None:
        return _fragment(text, fragment)
    if (
        not text.startswith("<", position)
        and URL_LINE.search(text, 0, TEXT_WINDOW)
        and not XML_TAG.search(visible, 0, TEXT_WINDOW)
    ):
        return DocumentHead("text")
    return DocumentHead("unknown")


def skip_prolog(text: str, complete: bool = True) -> tuple[int, bool]:
    """Where the first element (or anything that is no prolog) begins, and whether a DOCTYPE came before it.

    Unless the text is `complete`, a DOCTYPE ends only where nothing that follows can change that.
    """
    position, doctype = 0, False
    while True:
        position = BLANK.match(text, position).end()  # type: ignore[union-attr]  # it also matches nothing
        misc = MISC.match(text, position)
        if misc is not None:
            position = misc.end()
        elif DOCTYPE.match(text, position):
            end = _doctype_end(text, position, complete)
            if end is None:
                return position, True
            position, doctype = end, True
        else:
            return position, doctype


MAX_UNENDED = 20
"""Quotes and sections without an end in a DOCTYPE: for each the whole text is searched."""


def _doctype_end(text: str, position: int, complete: bool) -> int | None:
    inside, unended = False, 0
    for part in DOCTYPE_PART.finditer(text, position):
        unended += part["open"] is not None
        if unended > (MAX_UNENDED if complete else 0):
            return None
        if part[0] == ">" and not inside:
            return part.end()
        if part[0] in "[]":
            inside = part[0] == "["
    return None


def _root(text: str, position: int, doctype: bool) -> DocumentHead | None:
    name = ROOT_NAME.match(text, position)
    rest = name and ATTRIBUTES.match(text, name.end())
    if not name or not rest:
        return None
    attributes = rest["attributes"]
    return DocumentHead(
        ROOTS[name["name"]],
        name["prefix"] or "",
        name["name"],
        attributes,
        position,
        rest.end(),
        doctype=doctype,
        spaced=SPACED_DECLARATION.match(text) is not None,
    )


def later_root(text: str) -> DocumentHead | None:
    """The root of a second document in what follows the first."""
    return _root_later(blank_sections(text), 0, False, False)


def blank_sections(text: str) -> str:
    """The text with blanks in place of comments, CDATA sections and instructions.

    A comment or CDATA section without an end hides the rest of the text; such an instruction ends with the next `>`.
    """
    parts: list[str] = []
    position = 0
    last = text.rfind("?>")  # found once: a search for the end of each instruction would take quadratic time
    while start := SECTION_START.search(text, position):
        ending = SECTION_ENDS[start[0]] if start[0] != "<?" or start.end() <= last else ">"
        found = text.find(ending, start.end())
        end = len(text) if found < 0 else found + len(ending)
        parts += text[position : start.start()], " " * (end - start.start())
        position = end
    return "".join((*parts, text[position:]))


def _fragment(text: str, entry: re.Match[str]) -> DocumentHead:
    name = "urlset" if entry[1] == "url" else "sitemapindex"
    start = entry.start()
    return DocumentHead(ROOTS[name], "", name, CORE_DECLARATION, start, start, text[:start], fragment=True)


def _root_later(text: str, position: int, doctype: bool, html: bool) -> DocumentHead | None:
    for name in islice(ROOT_NAME.finditer(text, position), MAX_CANDIDATES):
        head = _root(text, name.start(), doctype)
        if head is not None and (not html or ENTRY_NEXT.match(text, head.end)):
            return replace(head, junk=text[: head.start])
    return None


ENTRIES: dict[Format, str] = {"xml-urlset": "url", "xml-index": "sitemap"}
"""Format -> the element of its entries."""
MAX_PROLOG = 1000
"""Characters before the root that are kept."""
BLANKS = "\ufeff \t\n"
"""What may stand before the root, a byte order mark among it."""
SEARCHED = 64 * 1024
"""Characters of a page in which a firewall is looked for."""
ATTRIBUTE = re.compile(r"""\s([\w:.-]+)\s*=\s*("[^"]*"|'[^']*')""")
ELEMENT = re.compile(r"<((?:[\w.-]+:)?([\w.-]+))")
CHALLENGE = re.compile(
    r"_cf_chl_opt|cf-chl-|<title>Just a moment\.\.\.|Attention Required! \| Cloudflare|captcha-delivery\.com|"
    r"Incapsula incident ID|px-captcha|awsWafCookieDomainList|ddos-guard|sgcaptcha|Sucuri WebSite Firewall|"
    r"Checking your browser before accessing|Enable JavaScript and cookies to continue",
    re.IGNORECASE,
)
"""What stands in the pages of firewalls (Cloudflare, DataDome, Imperva, HUMAN, AWS, DDoS-Guard, SiteGround, Sucuri)
that stop a crawler, and not in pages that only pass through them."""


def core_uri(head: DocumentHead) -> str:
    """The namespace that the root declares for itself, as written; empty for none."""
    declaration = f"xmlns:{head.prefix}" if head.prefix else "xmlns"
    return next((value[1:-1] for name, value in ATTRIBUTE.findall(head.attributes) if name == declaration), "")


def note_head(head: DocumentHead, text: str, line: int, faults: Faults) -> None:
    """Note what stands before a root, which begins on `line`, and what it holds besides namespaces."""
    if head.fragment:
        _note_fragment(text, line, faults)
    elif head.junk.strip(BLANKS):
        faults.add("doc-leading-content", "text before the root element", 1, None, head.junk.strip(BLANKS))
    elif head.spaced:
        faults.add("doc-leading-whitespace", "white space before the XML declaration", 1, 1)
    if not head.fragment and text[head.start : head.end] != f"<{head.tag}{head.attributes}>":
        _broken_tag(head.tag, line, faults)  # a section within the tag
    if head.doctype:
        faults.add("doc-doctype", "a DOCTYPE, which was not loaded", _doctype_line(text))
    if head.format in ENTRIES:
        _unknown_attributes(head, line, faults)


def _unknown_attributes(head: DocumentHead, line: int, faults: Faults) -> None:
    """Note the attributes of a root, which begins on `line`, that the protocol does not know."""
    for attribute in ATTRIBUTE.finditer(head.attributes):
        name = attribute[1]
        if name != "xmlns" and ":" not in name:
            at = line + head.attributes.count("\n", 0, attribute.start(1))
            text = f"<{head.tag}> has an attribute {name}, which the protocol does not know"
            faults.add("xml-unknown-attribute", text, at, value=name)


def _doctype_line(text: str) -> int:
    """Line of the DOCTYPE in a document that has one."""
    doctype = DOCTYPE.search(text)
    return 1 + text.count("\n", 0, doctype.start() if doctype else 0)


def _note_fragment(text: str, line: int, faults: Faults) -> None:
    """Note that entries, the first of them on `line`, have no root or one of another name."""
    position, _ = skip_prolog(text)
    element = ELEMENT.match(text, position)
    at = 1 + text.count("\n", 0, position)
    if element is None or element[2] in (*ENTRIES.values(), *FIELDS):
        faults.add("xml-root-unknown", "entries without a root element", line)
    elif element[2] in ROOTS:
        _broken_tag(element[1], at, faults)
    else:
        faults.add("xml-root-unknown", f"entries in a root <{element[1]}>", at, value=element[1])


def no_root(head: DocumentHead, text: str, faults: Faults) -> None:
    """Note what a document that is no sitemap is instead."""
    position, _ = skip_prolog(text)
    line = 1 + text.count("\n", 0, position)
    if head.format == "html":
        page = CHALLENGE.search(text, 0, SEARCHED)
        if page is not None:
            line = 1 + text.count("\n", 0, page.start())
            faults.add("doc-waf-blocked", "the page of a firewall instead of a sitemap", line, value=page[0])
    elif position == len(text) and not head.doctype:
        faults.add("doc-empty-body", "the body is empty")
    else:
        _note_element(text, position, line, faults)


def _note_element(text: str, position: int, line: int, faults: Faults) -> None:
    element = ELEMENT.match(text, position)
    if element is None:
        faults.add("xml-root-unknown", "no sitemap: neither XML nor a list of URLs", line)
    elif element[2] not in ROOTS:
        faults.add("xml-root-unknown", f"no sitemap: the root is <{element[1]}>", line, value=element[1])
    elif ">" in text[position:]:
        _broken_tag(element[1], line, faults)
    else:
        faults.add("doc-truncated", f"the file ends within the start tag <{element[1]}>", line, value=element[1])


def _broken_tag(tag: str, line: int, faults: Faults) -> None:
    faults.add("doc-xml-malformed", f"the start tag <{tag}> is not well formed", line, value=tag)
