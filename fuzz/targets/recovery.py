"""Broken documents: an entry that is not marked as recovered equals what a strict parser reads of it alone."""

from __future__ import annotations

import re

from fuzz.reading import as_utf_8, read_any, read_whole
from fuzz.targets.xml import in_lower_case
from sitemapcrawler.urls.display import masked_url
from tests.unit.reader import oracle
from tests.unit.reader.oracle import facts_of, plain
from tests.unit.reader.reading import Reading

SEEDS = ("tests/data/hard/*.xml", "tests/data/pitfalls/*.xml", "tests/data/bad/doc-*.xml", "tests/data/bad/xml-*.xml")
DICTIONARY = "xml.dict"
MAX_BYTES = 2048
ROOTS = re.compile("<[^<>/]*?(?:urlset|sitemapindex)")
"""Start of a root's start tag, which may be broken further on."""
ODD_NAMESPACE = re.compile(r"""xmlns[^=<>]*+=\s*+["'][A-Za-z0-9_:/.#?=%~-]*+[^"']""")
"""Namespace that lxml may reject, since it is not a URI."""
LATER_DECLARATION = re.compile(r"(?!^)<\?xml\s", re.IGNORECASE)
"""XML declaration after the start: recovery skips it like an instruction, also within an entry; a strict parser
stops."""


def check(data: bytes) -> None:
    """Check that unmarked values are those of a strict parser, and that every record is on the line that it names."""
    read_any(data)
    reading = read_whole(data)
    text = as_utf_8(data, reading)
    if text is None or reading.document.format not in ("xml-urlset", "xml-index"):
        return
    _check_strict(reading, text)
    lines = text.split("\n")
    for record in reading.records:
        assert oracle.START.search(lines[record.line - 1] + "\n"), record


def _check_strict(reading: Reading, text: str) -> None:
    strict = {in_lower_case(facts_of(record)) for record in reading.records if not record.recovered}
    root = reading.document.root
    if ODD_NAMESPACE.search(text) or LATER_DECLARATION.search(text):
        return
    if len(ROOTS.findall(text)) > 1:  # nested roots: an oracle cannot tell the scope of declarations
        return
    if (
        strict and oracle.tree(f"{root.removesuffix('>').removesuffix('/')}/>") is not None
    ):  # a namespace may not be a URI
        found = oracle.whole(text) | oracle.standing_alone(text, root)
        trusted = {in_lower_case(_without_passwords(plain(facts))) for facts in found}
        assert not strict - trusted, strict - trusted


def _without_passwords(facts: oracle.Facts) -> oracle.Facts:
    """Remove passwords from facts, as in records; lxml keeps them."""
    shown = {name: masked_url(text) for name, text in facts._asdict().items() if text}
    return facts._replace(**shown)
