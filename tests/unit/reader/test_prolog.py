"""What stands before and behind the root: where lxml or expat refuses a file, an error says so, and all is read.

Productions 15, 16 and 22 to 28 of XML 1.0: comments, processing instructions, prolog, declaration, DOCTYPE.
"""

from __future__ import annotations

import gzip
from itertools import pairwise
from xml.parsers import expat

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from lxml import etree

from tests.unit.reader.reading import CORE, read
from tests.unit.rules.judging import judge

LOC = "https://e.com/page"
ENTRY = f"<url><loc>{LOC}</loc></url>"
ROOTS = {
    "urlset": f'<urlset xmlns="{CORE}">{ENTRY}</urlset>',
    "index": f'<sitemapindex xmlns="{CORE}"><sitemap><loc>{LOC}</loc></sitemap></sitemapindex>',
    "rss": f'<rss version="2.0"><channel><item><link>{LOC}</link></item></channel></rss>',
    "atom": f'<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="{LOC}"/></entry></feed>',
}
DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'
MALFORMED = f"the XML declaration is not well formed: write {DECLARATION}"
BROKEN = {
    "comment-first": (f"<!-- made by a plugin -->\n{DECLARATION}\n", "doc-leading-content", 2, "a comment before the XML declaration"),
    "stylesheet-first": (f'<?xml-stylesheet href="x.xsl"?>{DECLARATION}', "doc-leading-content", 1, "a stylesheet before the XML declaration"),
    "instruction-first": (f"<?php x ?>{DECLARATION}", "doc-leading-content", 1, "a processing instruction before the XML declaration"),
    "declared-twice": (f"{DECLARATION}\n{DECLARATION}", "doc-leading-content", 2, "a second XML declaration"),
    "second-mark": (f"\ufeff\ufeff{DECLARATION}", "doc-leading-content", 1, "a second byte order mark: only one is allowed"),
    "mark-behind": (f"{DECLARATION}\n\ufeff", "doc-leading-content", 2, "a byte order mark that is not at the start"),
    "hyphens": (f"{DECLARATION}<!-- a -- b -->", "doc-xml-malformed", 1, "-- inside a comment"),
    "curly-quotes": ("<?xml version=“1.0” encoding=“UTF-8”?>", "doc-xml-malformed", 1, MALFORMED),
    "order": ('<?xml encoding="UTF-8" version="1.0"?>', "doc-xml-malformed", 1, MALFORMED),
    "upper-case": ('<?XML version="1.0"?>', "doc-xml-malformed", 1, MALFORMED),
    "ends-like-a-tag": ('<?xml version="1.0" encoding="UTF-8">\n', "doc-xml-malformed", 1, MALFORMED),
    "target-that-is-no-name": (f"{DECLARATION}<?1 x?>", "doc-xml-malformed", 1, "not well formed (illegal character), before the root element"),
    "null": (f"{DECLARATION}\n<!-- \0 -->", "doc-control-character", 2, "not well formed (illegal character), before the root element"),
    "cdata": ("<![CDATA[x]]>", "doc-xml-malformed", 1, "syntax error, before the root element"),
    "doctype-name": (f'{DECLARATION}<!DOCTYPE &a;b [<!ENTITY a "b">]>', "doc-unescaped-ampersand", 1, "not well formed (illegal character), before the root element"),
    "doctype": (f"{DECLARATION}\n<!DOCTYPE urlset PUBLIC 'x'>", "doc-xml-malformed", 2, "syntax error, before the root element"),
    "entity": ('<!DOCTYPE urlset [<!ENTITY a "b & c">]>', "doc-unescaped-ampersand", 1, "not well formed (illegal character), before the root element"),
}  # fmt: skip
PARTS = (
    "", " ", "\n", "\x0b", "\x85", "\xa0", "\u2028", "\ufeff", "x", "&amp;", "&#32;", "<![CDATA[x]]>",
    DECLARATION, '<?xml version="1.0"?>', "<?xml version='1.1' ?>", '<?xml version = "1.0"\nstandalone="no"?>',
    '<?xml version="1.00"?>', '<?xml version="2.0"?>', '<?xml version="1"?>', '<?xml version=""?>',
    '<?xml version="1.0a"?>', '<?xml version="1.0" standalone="YES"?>', '<?xml version="1.0"encoding="UTF-8"?>',
    '<?xml version="1.0" standalone="yes" encoding="UTF-8"?>', '<?xml version="1.0" encoding="UTF 8"?>',
    '<?xml version="1.0" encoding=""?>', '<?xml version="1.0" encoding=UTF-8?>', '<?xml version="1.0" version="1.0"?>',
    '<?xml version="1.0" foo="bar"?>', "<?xml version='1.0\"?>", '<?xml\xa0version="1.0"?>', '<?xml version="1.0">',
    "<?XML ?>", "<?Xml version='1.0'?>", "<?xml?>", "<?xml ?>", "<?xml-stylesheet?>", '<?xml-stylesheet href="x"?>',
    "<?a?>", "<?a:b ?>", "<?1?>", "<? a?>", "<??>", '<?a"b?>', "<?a \x01?>", "<?a ?b?>", "<?é <urlset> ?>", "<?a ",
    "<!---->", "<!-- a -->", "<!-- a -- b -->", "<!-- a --->", "<!--->", "<!--> -->", "<!-- \0 -->", "<!-- \ufffe -->",
    "<!-- <urlset> <?xml?> -->", "<!-- a", "<! a>", "<!>",
    "<!DOCTYPE urlset>", "<!DOCTYPE>", "<!doctype urlset>", "<!DOCTYPE urlset []>", "<!DOCTYPE urlset [>",
    '<!DOCTYPE a PUBLIC "x">', '<!DOCTYPE a PUBLIC "x" "y">', '<!DOCTYPE a PUBLIC "{" "y">', "<!DOCTYPE a SYSTEM>",
    '<!DOCTYPE a SYSTEM "y"[<!-- ]> -->]>', '<!DOCTYPE a [<!ENTITY x "&y;">]>', '<!DOCTYPE a [<!ENTITY x "&y">]>',
    "<!DOCTYPE a [<!ATTLIST b c CDATA '&y;'>]>", "<!DOCTYPE a [<!ELEMENT a (b,c)*>%y;]>", "<!DOCTYPE a [<!ELEMENT a (b,c|d)>]>",
    "<!DOCTYPE a [<!FOO>]>", "<!DOCTYPE a [<!-- a -- b -->]>", "<!DOCTYPE a [<?xml x?>]>", "<!DOCTYPE a [<!NOTATION b SYSTEM 'c'>]>",
)  # fmt: skip
"""Parts of prologs, as they should be and as they should not."""
NO_ERROR = {"doc-bom", "doc-doctype"}
"""Faults of files that every parser takes."""


def refused(text: str) -> bool:
    """True where one of two strict parsers does not take the text."""
    data = text.encode()
    try:
        expat.ParserCreate(None, " ").Parse(data, True)
        etree.fromstring(data, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except (expat.ExpatError, etree.XMLSyntaxError):
        return True
    return False


def check(text: str) -> None:
    """What a strict parser refuses has an error, and nothing else has."""
    faults = set(read(text).rules) - NO_ERROR
    assert bool(faults) is refused(text), (text, faults)


@pytest.mark.parametrize("root", ROOTS.values(), ids=ROOTS)
@pytest.mark.parametrize(("prolog", "rule", "line", "message"), BROKEN.values(), ids=BROKEN)
def test_a_broken_prolog_is_an_error_and_all_entries_are_read(
    prolog: str, rule: str, line: int, message: str, root: str
) -> None:
    reading = read(prolog + root)
    assert reading.locs == [LOC]
    assert not reading.recovered
    assert reading.document.outcome == "recovered"
    assert reading.document.error == f"{message} (line {line})"
    assert {rule: 1}.items() <= reading.rules.items()
    if root == ROOTS["urlset"]:
        severities = {finding.rule: finding.severity for finding in judge((prolog + root).encode())}
        assert severities[rule] == "error"
        assert "doc-xml-declaration-missing" not in severities or "<?xml" not in prolog.lower()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "gzip"])
@pytest.mark.parametrize(("prolog", "rule", "line", "message"), BROKEN.values(), ids=BROKEN)
def test_neither_chunks_nor_encodings_make_a_difference(
    prolog: str, rule: str, line: int, message: str, encoding: str
) -> None:
    text = prolog.replace("UTF-8", "utf-16" if "16" in encoding else "UTF-8") + ROOTS["urlset"]
    if encoding == "utf-16-be" and not text.startswith("<"):
        text = f"\ufeff{text}"
    data = gzip.compress(text.encode(), mtime=0) if encoding == "gzip" else text.encode(encoding)
    whole = read(data)
    assert whole.document.error == f"{message} (line {line})"
    assert rule in whole.rules
    for size in (1, 2, 3, 7, 16, 61):
        assert read(data, size).facts() == whole.facts()


def test_a_declaration_behind_a_comment_says_the_encoding() -> None:
    text = f'<!-- a --><?xml version="1.0" encoding="ISO-8859-1"?><urlset xmlns="{CORE}"><url><loc>{LOC}é</loc></url></urlset>'
    reading = read(text.encode("latin-1"))
    assert (reading.locs, reading.document.encoding) == ([f"{LOC}é"], "iso8859-1")
    hidden = text.replace("<!-- a -->", "<!-- ").replace("?><urlset", "?> --><urlset")
    assert read(hidden).document.encoding == "utf-8"


def test_a_broken_prolog_does_not_hide_what_the_root_declares() -> None:
    rules = {finding.rule for finding in judge(f"{DECLARATION}<!-- a -- b --><urlset>{ENTRY}</urlset>".encode())}
    assert {"doc-xml-malformed", "xml-namespace-missing"} <= rules


def test_an_instruction_within_the_root_is_an_error() -> None:
    reading = read(ROOTS["urlset"].replace("<urlset ", "<urlset <?xml version='1.0'?>"))
    assert (reading.locs, reading.document.outcome) == ([LOC], "recovered")
    assert reading.rules == {"doc-xml-malformed": 1}


def test_entities_that_a_prolog_declares_are_never_expanded() -> None:
    names = "abcdefghijklmnop"
    entities = "".join(f'<!ENTITY {name} "{f"&{before};" * 99}">' for before, name in pairwise(names))
    text = f'<!DOCTYPE urlset [<!ENTITY a "aaaaaaaaaa">{entities}<!ATTLIST urlset x CDATA "&p;">]>{ROOTS["urlset"]}'
    assert read(text).rules == {"doc-doctype": 1}


@pytest.mark.parametrize("part", PARTS)
def test_prologs_and_epilogs_are_refused_where_strict_parsers_refuse_them(part: str) -> None:
    for other in PARTS:
        for text in (f"{part}{other}{ROOTS['urlset']}", f"{part}{ROOTS['urlset']}{other}"):
            check(text)


pieces = st.sampled_from(PARTS) | st.text("<?!->[]xml \"'=&;%\n\0", max_size=6)


@given(st.lists(pieces, max_size=4).map("".join), st.lists(pieces, max_size=2).map("".join))
@example("<?xml version='1.0'?><!-- a ", "-->")
@example("", "<!-- a -- ")
def test_any_prolog_and_epilog(prolog: str, epilog: str) -> None:
    check(f"{prolog}{ROOTS['urlset']}{epilog}")
