"""XML sitemaps: input that expat rejects has a fault; well-formed input gives the entries that lxml reads, on its
lines."""

from __future__ import annotations

import re
from xml.parsers import expat

from lxml import etree

from fuzz.reading import as_utf_8, read_any, read_whole
from sitemapcrawler.reader.entries import FREQUENCIES, TEMPLATE
from tests.unit.reader import oracle
from tests.unit.reader.oracle import facts_of, plain

SEEDS = ("tests/data/good/*.xml", "tests/data/hard/*.xml", "tests/data/pitfalls/*.xml", "tests/data/bad/*.xml")
DICTIONARY = "xml.dict"
CHANGED = re.compile("<!(?:ENTITY|ATTLIST)|@|&#(?:0*64|x0*40);")
"""Declarations that change the meaning of what follows, which are never loaded here; and signs that may follow a
password, which only the oracle keeps."""
ERRORS = {"doc-leading-whitespace", "doc-encoding-not-utf8"}
"""Errors of files that count as read without a fault in their entries."""
NO_XML = ("text", "html", "unknown")
ROOTS = ("urlset", "sitemapindex")
START_TAG = re.compile(r"""<[^\s<>/!?](?:"[^"]*"|'[^']*'|[^<>"'])*>""")


def check(data: bytes) -> None:
    """Check that pieces make no difference, and that well-formed input is read strictly."""
    read_any(data)
    reading = read_whole(data)
    text = as_utf_8(data, reading)
    if text is None:
        return
    if reading.document.format not in NO_XML and reading.document.outcome == "ok" and not ERRORS & reading.rules.keys():
        assert not is_refused(text), "a strict parser refuses what passes here"
    if CHANGED.search(text):
        return
    root = oracle.tree(text)
    if root is None or etree.QName(root).localname not in ROOTS:
        return
    strict = [in_lower_case(facts_of(record)) for record in reading.records if not record.recovered]
    listed = [entry for entry in oracle.listed(root) if not is_template(entry.facts.loc)]
    assert strict == [in_lower_case(plain(entry.facts)) for entry in listed]
    if not reading.recovered and not any(
        "\n" in tag for tag in START_TAG.findall(text)
    ):  # lxml reports the line of a tag's end
        assert reading.lines == [entry.line for entry in listed]


def is_template(loc: str) -> bool:
    """True for a URL with an unfilled template placeholder, which is omitted."""
    return TEMPLATE.search(loc) is not None and not loc.startswith(("http:", "https:"))


def is_refused(text: str) -> bool:
    """True if expat rejects the text."""
    try:
        expat.ParserCreate("utf-8", " ").Parse(text.encode(), True)
    except expat.ExpatError:
        return True
    return False


def in_lower_case(facts: oracle.Facts) -> oracle.Facts:
    """Convert the changefreq of an entry's facts to lower case, as the reader does."""
    written = facts.changefreq
    return facts._replace(changefreq=written.lower() if written and written.lower() in FREQUENCIES else written)
