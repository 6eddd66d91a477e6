"""Detects the format of a document from its content, not its name or Content-Type, and checks its root element."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import islice

from sitemapcrawler.reader.entries import ENTRIES, FIELDS
from sitemapcrawler.reader.faults import Faults
from sitemapcrawler.reader.formats import (
    FORMATS,
    HTML,
    INDEX,
    ROOTS,
    TEXT,
    UNKNOWN,
    URLSET,
    DocumentStart,
    root_start,
)
from sitemapcrawler.urls.display import quoted

ATTRIBUTES = re.compile(r"""(?P<attributes>[^<>"']*+(?:(?:"[^"]*+"|'[^']*+')[^<>"']*+)*+)>""")
"""Rest of a start tag; `>` within quotes does not end it."""
SECTION_START = re.compile(r"<!--|<\?|<!\[CDATA\[")
"""Beginning of a comment, instruction or CDATA section. A root within one does not count."""
SECTION_ENDS = {"<!--": "-->", "<?": "?>", "<![CDATA[": "]]>"}
MAX_CANDIDATES = 8
"""Places tried as the root if the document does not begin with one."""
MISC = re.compile(r"<\?xml\s[^<>?]*+>|<\?.*?\?>|<!--.*?-->", re.DOTALL)
"""What may precede the root (XML 1.0, 2.8): instruction, comment, or declaration, even if it ends with `>`."""
DOCTYPE = re.compile(r"<!DOCTYPE", re.IGNORECASE)
DOCTYPE_PART = re.compile(r"""<!--.*?-->|<\?.*?\?>|"[^"]*"|'[^']*'|\[|\]|>|(?P<open><!--|<\?|"|')""", re.DOTALL)
"""Parts that decide where a DOCTYPE ends; `open` is a quote or section without an end."""
ENTRY = re.compile(r"<(url|sitemap)>\s*<loc>")
"""Entry in a fragment that has lost its root."""
CORE_DECLARATION = ' xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
SPACED_DECLARATION = re.compile(r"\ufeff?\s+<\?xml\s")
ENTRY_NEXT = re.compile(r"\s*<(?:[\w.-]+:)?(?:url|sitemap)[\s>/]")
"""What must follow a root in an HTML page, where its name may be plain text."""
BLANK = re.compile("[\\s\ufeff]*")
"""White space and byte order marks."""


@dataclass(frozen=True, slots=True)
class DocumentHead:
    """The start of a document up to its first entry. Positions are in characters."""

    format: str
    """Name of an `InputFormat`."""
    prefix: str = ""
    """Namespace prefix of the root, without colon."""
    name: str = ""
    """Local name of the root; empty if the document has none."""
    attributes: str = ""
    """The root's attributes, as written."""
    start: int = 0
    """Position of the root's start tag."""
    end: int = 0
    """Position after the root's start tag."""
    junk: str = ""
    """Text before the root that does not belong there."""
    doctype: bool = False
    """True if a DOCTYPE was skipped."""
    spaced: bool = False
    """True if white space precedes the XML declaration."""
    fragment: bool = False
    """True for entries without a root; `name` is then made up."""

    @property
    def entries(self) -> tuple[str, ...]:
        """Names of the elements read as entries."""
        return ROOTS[self.name].roots[self.name]

    @property
    def tag(self) -> str:
        """The root's name as written, prefix included."""
        return f"{self.prefix}:{self.name}" if self.prefix else self.name


def sniff(text: str, complete: bool) -> DocumentHead | None:
    """Return the head of the document, or None if more text is needed, which never happens if `complete`."""
    position, doctype = skip_prolog(text, complete)
    head = _root(text, position, doctype)
    if head is not None or not complete:
        return head
    start = DocumentStart(text, blank_sections(text), position)
    formats = (*(format for format in FORMATS.values() if format not in GUESSES), *GUESSES)
    found = next((format for format in formats if format.sniff is not None and format.sniff(start)), UNKNOWN)
    if found not in GUESSES:
        return DocumentHead(found.name)
    head = _root_later(start.visible, position, doctype, found is HTML)
    if head is not None:
        return head
    fragment = ENTRY.search(start.visible, position) if found is not HTML else None
    return _fragment(text, fragment) if fragment is not None else DocumentHead(found.name)


GUESSES = (HTML, TEXT, UNKNOWN)
"""Formats that are tried last, and apply only if the document contains no root."""


def skip_prolog(text: str, complete: bool = True) -> tuple[int, bool]:
    """Return the position after the prolog, and whether a DOCTYPE was skipped.

    Unless the text is `complete`, skip a DOCTYPE only if more text cannot move its end.
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
"""Quotes and sections without an end that a DOCTYPE may hold: each costs a search of the whole text."""


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
    name = root_start().match(text, position)
    rest = name and ATTRIBUTES.match(text, name.end())
    if not name or not rest:
        return None
    attributes = rest["attributes"]
    return DocumentHead(
        ROOTS[name["name"]].name,
        name["prefix"] or "",
        name["name"],
        attributes,
        position,
        rest.end(),
        doctype=doctype,
        spaced=SPACED_DECLARATION.match(text) is not None,
    )


def later_root(text: str) -> DocumentHead | None:
    """Return the root of a second document in the text after the first."""
    return _root_later(blank_sections(text), 0, False, False)


def blank_sections(text: str) -> str:
    """Replace comments, CDATA sections and instructions with blanks.

    An unclosed comment or CDATA section hides the rest of the text; an unclosed instruction ends at the next `>`.
    """
    parts: list[str] = []
    position = 0
    last = text.rfind("?>")  # found once: searching for each instruction's end would take quadratic time
    while start := SECTION_START.search(text, position):
        ending = SECTION_ENDS[start[0]] if start[0] != "<?" or start.end() <= last else ">"
        found = text.find(ending, start.end())
        end = len(text) if found < 0 else found + len(ending)
        parts += text[position : start.start()], " " * (end - start.start())
        position = end
    return "".join((*parts, text[position:]))


def _fragment(text: str, entry: re.Match[str]) -> DocumentHead:
    format, name = (URLSET, "urlset") if entry[1] == URLSET.protocol_entry else (INDEX, "sitemapindex")
    start = entry.start()
    return DocumentHead(format.name, "", name, CORE_DECLARATION, start, start, text[:start], fragment=True)


def _root_later(text: str, position: int, doctype: bool, html: bool) -> DocumentHead | None:
    for name in islice(root_start().finditer(text, position), MAX_CANDIDATES):
        head = _root(text, name.start(), doctype)
        if head is not None and (not html or ENTRY_NEXT.match(text, head.end)):
            return replace(head, junk=text[: head.start])
    return None


MAX_PROLOG = 1000
"""Characters before the root that are kept."""
BLANKS = "\ufeff \t\n"
"""White space and byte order mark, which may precede the root."""
SEARCHED = 64 * 1024
"""Characters of a page that are searched for a firewall's marks."""
ATTRIBUTE = re.compile(r"""\s([\w:.-]+)\s*=\s*("[^"]*"|'[^']*')""")
ELEMENT = re.compile(r"<((?:[\w.-]+:)?([\w.-]+))")
FIREWALLS = {
    "Cloudflare": r"_cf_chl_opt|cf-chl-|<title>Just a moment\.\.\.|Attention Required! \| Cloudflare",
    "DataDome": r"captcha-delivery\.com",
    "Imperva": r"Incapsula incident ID",
    "HUMAN": r"px-captcha",
    "AWS WAF": r"awsWafCookieDomainList",
    "Akamai": r"errors\.edgesuite\.net|sec-if-cpt-container",
    "Vercel": r"Vercel Security Checkpoint",
    "Fastly": r"/_fs-ch-",
    "DDoS-Guard": r"ddos-guard",
    "SiteGround": r"sgcaptcha",
    "Sucuri": r"Sucuri WebSite Firewall",
    "a firewall": r"Checking your browser before accessing|Enable JavaScript and cookies to continue",
}
"""{firewall: marks of the pages with which it stops a crawler}. Pages that merely pass through a firewall have none of
them."""
CHALLENGE = re.compile("|".join(f"({marks})" for marks in FIREWALLS.values()), re.IGNORECASE)
"""One of these marks; the number of its group is the place of the firewall."""


def firewall_of(text: str) -> str | None:
    """Return the firewall whose page a text is; None for any other text."""
    mark = CHALLENGE.search(text, 0, SEARCHED)
    return None if mark is None or mark.lastindex is None else list(FIREWALLS)[mark.lastindex - 1]


def core_uri(head: DocumentHead) -> str:
    """Return the namespace of the root as declared; empty if it declares none."""
    declaration = f"xmlns:{head.prefix}" if head.prefix else "xmlns"
    return next((value[1:-1] for name, value in ATTRIBUTE.findall(head.attributes) if name == declaration), "")


def note_head(head: DocumentHead, text: str, line: int, faults: Faults) -> None:
    """Note text or a DOCTYPE before the root, a broken start tag, and unknown attributes; the root begins on `line`."""
    if head.fragment:
        _note_fragment(text, line, faults)
    elif head.junk.strip(BLANKS):
        junk = head.junk.strip(BLANKS)
        faults.add("doc-leading-content", f"text before the root element: {quoted(junk)}", 1, None, junk)
    elif head.spaced:
        faults.add("doc-leading-whitespace", "whitespace before the XML declaration", 1, 1)
    if not head.fragment and text[head.start : head.end] != f"<{head.tag}{head.attributes}>":
        _broken_tag(head.tag, line, faults)  # a comment, instruction or CDATA section within the tag
    if head.doctype:
        faults.add("doc-doctype", "a DOCTYPE, which was not loaded", _doctype_line(text))
    if FORMATS[head.format].protocol_entry:
        _unknown_attributes(head, line, faults)


def _unknown_attributes(head: DocumentHead, line: int, faults: Faults) -> None:
    """Note attributes of the root that the protocol does not define; the root begins on `line`."""
    for attribute in ATTRIBUTE.finditer(head.attributes):
        name = attribute[1]
        if name != "xmlns" and ":" not in name:
            at = line + head.attributes.count("\n", 0, attribute.start(1))
            text = f"<{head.tag}> has an attribute {name}, which the protocol does not define"
            faults.add("xml-unknown-attribute", text, at, value=name)


def _doctype_line(text: str) -> int:
    doctype = DOCTYPE.search(text)
    return 1 + text.count("\n", 0, doctype.start() if doctype else 0)


def _note_fragment(text: str, line: int, faults: Faults) -> None:
    """Note that the entries have no known root; the first entry is on `line`."""
    position, _ = skip_prolog(text)
    element = ELEMENT.match(text, position)
    at = 1 + text.count("\n", 0, position)
    if element is None or element[2] in (*ENTRIES, *FIELDS):
        faults.add("xml-root-unknown", "entries without a root element", line)
    elif element[2] in ROOTS:
        _broken_tag(element[1], at, faults)
    else:
        meant = "; element names are in lower case" if element[2].lower() in ROOTS else ""
        faults.add("xml-root-unknown", f"entries in a root <{element[1]}>{meant}", at, value=element[1])


def no_root(head: DocumentHead, text: str, faults: Faults) -> None:
    """Note why a document is not a sitemap."""
    position, _ = skip_prolog(text)
    line = 1 + text.count("\n", 0, position)
    if head.format == HTML.name:
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
        faults.add("xml-root-unknown", "not a sitemap: neither XML nor a list of URLs", line)
    elif element[2] not in ROOTS:
        faults.add("xml-root-unknown", f"not a sitemap: the root is <{element[1]}>", line, value=element[1])
    elif ">" in text[position:]:
        _broken_tag(element[1], line, faults)
    else:
        faults.add("doc-truncated", f"the file ends inside the start tag <{element[1]}>", line, value=element[1])


def _broken_tag(tag: str, line: int, faults: Faults) -> None:
    faults.add("doc-xml-malformed", f"the start tag <{tag}> is not well formed", line, value=tag)
