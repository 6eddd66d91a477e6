"""What the root of a document, or the lack of one, says about it: facts for the rules."""

from __future__ import annotations

import re

from sitemapcrawler.reader.faults import Faults
from sitemapcrawler.reader.notes import FIELDS
from sitemapcrawler.reader.sniff import DOCTYPE, ROOTS, Format, Head, skip_prolog

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


def core_uri(head: Head) -> str:
    """The namespace that the root declares for itself, as written; empty for none."""
    declaration = f"xmlns:{head.prefix}" if head.prefix else "xmlns"
    return next((value[1:-1] for name, value in ATTRIBUTE.findall(head.attributes) if name == declaration), "")


def note_head(head: Head, text: str, line: int, faults: Faults) -> None:
    """Note what stands before a root, which begins on `line`, and what it holds besides namespaces."""
    if head.fragment:
        _fragment(text, line, faults)
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


def _unknown_attributes(head: Head, line: int, faults: Faults) -> None:
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


def _fragment(text: str, line: int, faults: Faults) -> None:
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


def no_root(head: Head, text: str, faults: Faults) -> None:
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
