"""Well-formed sitemaps: the entries are those that lxml reads, on the lines where it reads them."""

from __future__ import annotations

import re

from lxml import etree

from fuzz.reading import as_utf_8, read_any, read_whole
from sitemapcrawler.reader.entries import FREQUENCIES
from sitemapcrawler.reader.notes import TEMPLATE
from tests.unit.reader import oracle
from tests.unit.reader.test_properties import facts_of, plain

SEEDS = ("tests/data/good/*.xml", "tests/data/hard/*.xml", "tests/data/pitfalls/*.xml", "tests/data/bad/*.xml")
DICTIONARY = "xml.dict"
CHANGED = re.compile("<!(?:ENTITY|ATTLIST)|@|&#(?:0*64|x0*40);")
"""Declarations that change the meaning of what follows, and are never loaded here; and what may stand behind a
password, which is left out here and by the oracle is not."""
ROOTS = ("urlset", "sitemapindex")
START_TAG = re.compile(r"""<[^\s<>/!?](?:"[^"]*"|'[^']*'|[^<>"'])*>""")


def check(data: bytes) -> None:
    """Whatever it is, it is read alike in any pieces; what is well formed is read strictly."""
    read_any(data)
    reading = read_whole(data)
    text = as_utf_8(data, reading)
    if text is None or CHANGED.search(text):
        return
    root = oracle.tree(text)
    if root is None or etree.QName(root).localname not in ROOTS:
        return
    strict = [in_lower_case(facts_of(record)) for record in reading.records if not record.recovered]
    listed = [entry for entry in oracle.listed(root) if not TEMPLATE.search(entry.facts.loc)]
    assert strict == [in_lower_case(plain(entry.facts)) for entry in listed]
    if not reading.recovered and not any("\n" in tag for tag in START_TAG.findall(text)):  # lxml counts to their ends
        assert reading.lines == [entry.line for entry in listed]


def in_lower_case(facts: oracle.Facts) -> oracle.Facts:
    """The facts of an entry, with the changefreq as the reader takes it."""
    written = facts.changefreq
    return facts._replace(changefreq=written.lower() if written and written.lower() in FREQUENCIES else written)
