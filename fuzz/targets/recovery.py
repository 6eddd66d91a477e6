"""Broken documents: what is not marked as recovered is what a strict parser reads of the entry alone."""

from __future__ import annotations

import re

from fuzz.reading import as_utf_8, read_any, read_whole
from fuzz.targets.xml import in_lower_case
from sitemapcrawler.urls.display import masked_url
from tests.unit.reader import oracle
from tests.unit.reader.reading import Reading
from tests.unit.reader.test_properties import facts_of, plain

SEEDS = ("tests/data/hard/*.xml", "tests/data/pitfalls/*.xml", "tests/data/bad/doc-*.xml", "tests/data/bad/xml-*.xml")
DICTIONARY = "xml.dict"
MAX_BYTES = 2048
RUNS = 2_000
ROOTS = re.compile("<[^<>/]*?(?:urlset|sitemapindex)")
"""The begin of a root's start tag, which may be broken further on."""
ODD_NAMESPACE = re.compile(r"""xmlns[^=<>]*+=\s*+["'][A-Za-z0-9_:/.#?=%~-]*+[^"']""")
"""A namespace that lxml may not take, since it is no URI."""
LATER_DECLARATION = re.compile(r"(?!^)<\?xml\s", re.IGNORECASE)
"""Which recovery passes over like an instruction, also within an entry, where a strict parser ends."""


def check(data: bytes) -> None:
    """No value passes as a right one that no strict parser reads, and every record stands on the line that it names."""
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
    if len(ROOTS.findall(text)) > 1:  # one within another: what is declared where is not for an oracle to say
        return
    if strict and oracle.tree(f"{root.removesuffix('>').removesuffix('/')}/>") is not None:  # a namespace may be no URI
        found = oracle.whole(text) | oracle.standing_alone(text, root)
        trusted = {in_lower_case(_without_passwords(plain(facts))) for facts in found}
        assert not strict - trusted, strict - trusted


def _without_passwords(facts: oracle.Facts) -> oracle.Facts:
    """The facts as records have them: lxml knows of no passwords."""
    shown = {name: masked_url(text) for name, text in facts._asdict().items() if text}
    return facts._replace(**shown)
