"""Repairing the text of one broken entry."""

from __future__ import annotations

import pytest

from sitemapcrawler.reader.repair import UNREADABLE, flatten, repair


@pytest.mark.parametrize(
    ("broken", "mended"),
    [
        ("?a=1&b=2", "?a=1&amp;b=2"),
        ("?a=1&b;=2", "?a=1&amp;b;=2"),
        ("a && b", "a &amp;&amp; b"),
        ("&", "&amp;"),
        ("&amp", "&amp;amp"),
        ("&amp b", "&amp;amp b"),
        ("?a&copy=1", "?a&amp;copy=1"),
        ("?a=1&lt=2", "?a=1&amp;lt=2"),
        ("&#", "&amp;#"),
        ("&#65", "&amp;#65"),
        ("&#x;", "&amp;#x;"),
        ("&#a;", "&amp;#a;"),
        ("&1;", "&amp;1;"),
        ("caf&eacute;", "café"),
        ("&nbsp;", "\u00a0"),
        ("&Eacute;&eacute;", "Éé"),
        ("&NotEqualTilde;", "\u2242\u0338"),
        ("&LT;&AMP;", "&lt;&amp;"),
        ("&unknown;", "&amp;unknown;"),
        ("a < b", "a &lt; b"),
        ("a <3", "a &lt;3"),
        ("<", "&lt;"),
        ("a\x08b", f"a{UNREADABLE}b"),
        ("a\x00b\x1f\ufffe", f"a{UNREADABLE}b{UNREADABLE * 2}"),
        ("&#0;", UNREADABLE),
        ("&#8;&#xD800;&#xFFFF;&#x110000;", UNREADABLE * 4),
        ("&#55356;&#57118; &#xD83C;&#xdf1e;", "\U0001f31e \U0001f31e"),
        ("&#57118;&#55356;a&#56320;&#56320;", f"{UNREADABLE * 2}a{UNREADABLE * 2}"),
    ],
)
def test_what_can_be_told_is_mended(broken: str, mended: str) -> None:
    assert repair(broken, doctype=False) == mended


@pytest.mark.parametrize(
    "good",
    [
        "", "text", "&amp;&lt;&gt;&quot;&apos;", "&#65;&#x1F389;&#9;", "<loc>a</loc>", "<!-- -->", "<?pi?>", "</x>",
        "\t\n é🎉\x7f",
    ],
)  # fmt: skip
def test_what_is_well_formed_stays(good: str) -> None:
    assert repair(good, doctype=False) == good


def test_mending_twice_is_mending_once() -> None:
    broken = "a&b &eacute; &amp; < \x08 &#0; &x; &#65;"
    once = repair(broken, doctype=False)
    assert repair(once, doctype=False) == once


def test_an_entity_that_the_document_may_have_declared_has_no_value() -> None:
    """Its declaration is not loaded: any value would be a guess."""
    assert repair("&company;", doctype=True) == UNREADABLE
    assert repair("&eacute;&amp;", doctype=True) == "é&amp;"


def test_comments_go_and_cdata_becomes_text() -> None:
    text = "a<!-- <url> & -->b<![CDATA[ <x> & ]]>c"
    assert flatten(text) == ("ab &lt;x&gt; &amp; c", "")


def test_lines_stay_where_they_are() -> None:
    text = "<!--\n\n--><![CDATA[\n]]>\n<!-- -->"
    flat, _ = flatten(text)
    assert flat.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("text", "flat", "end"),
    [
        ("a<!-- b", "a", "-->"),
        ("a<![CDATA[ b", "a", "]]>"),
        ("a<!-- b --><![CDATA[ c", "a", "]]>"),
        ("a<!-- <![CDATA[ ]]> b", "a", "-->"),
        ("a<![CDATA[ <!-- --> b", "a", "]]>"),
        ("<![CDATA[ <!-- ]]>x", " &lt;!-- x", ""),
        ("<!-- <![CDATA[ -->x", "x", ""),
    ],
)
def test_a_section_without_an_end_is_cut_away_and_named(text: str, flat: str, end: str) -> None:
    assert flatten(text) == (flat, end)


@pytest.mark.parametrize(
    ("text", "flat"),
    [
        ("<<?x?>url>", "<\x00url>"),
        ("<<!-- -->?x><url>", "<\x00?x><url>"),
        ("<ur<!-- -->l>", "<ur\x00l>"),
        ("<url <!--\n--><![CDATA[ a='1' ]]>>", "<url \x00\n\x00>"),
        ("</<!-- -->url>", "</\x00url>"),
        ("<url><!-- --><loc>a<![CDATA[b]]>c<!-- -->d", "<url><loc>abcd"),
        ("a < b <!-- -->c <3<![CDATA[<]]>", "a < b c <3&lt;"),
    ],
)
def test_a_section_within_a_tag_leaves_a_fault(text: str, flat: str) -> None:
    assert flatten(text) == (flat, "")


def test_an_ampersand_in_cdata_is_no_reference() -> None:
    flat, _ = flatten("<loc><![CDATA[https://e.com/?a=1&amp;b&c]]></loc>")
    assert repair(flat, doctype=False) == "<loc>https://e.com/?a=1&amp;amp;b&amp;c</loc>"
