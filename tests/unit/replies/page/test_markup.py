"""Cutting HTML into tags, after the HTML standard, 13.2.5; libxml2's parser is asked too."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

from sitemapcrawler.replies.page.head import Tokens, attributes


def names(text: str) -> list[str]:
    return [token.name for token in Tokens().feed(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<a><B></b></A>", ["a", "b", "/b", "/a"]),
        ("<a>text</a>", ["a", "", "/a"]),
        ("<a> \n\t\f\0 </a>", ["a", "/a"]),
        ("<a>\xa0</a>", ["a", "", "/a"]),
        ("<a/><b /><c\n>", ["a", "b", "c"]),
        ("<!doctype html><?xml version='1.0'?><![CDATA[x]]></><a>", ["a"]),
        # 13.2.5.36 on: a quote counts behind "=" only
        ("<a b='>' c=\">\"><d>", ["a", "d"]),
        ("<a b=c'>'><d>", ["a", "", "d"]),
        ("<a b\"c='><d>'><e>", ["a", "e"]),
        ("<a b= \n '>'><d>", ["a", "d"]),
        ('<a href=x?y=">"><d>', ["a", "", "d"]),
        ("<a b='c'd='e'><f>", ["a", "f"]),
        # text
        ("a < b <3 <a>", ["", "", "", "a"]),
        # 13.2.5.42 on: comments
        ("<!-- <a> --><b>", ["b"]),
        ("<!--><a>", ["a"]),
        ("<!---><a>", ["a"]),
        ("<!----><a>", ["a"]),
        ("<!-- a --!><b>", ["b"]),
        ("<!-- > -> <a> --><b>", ["b"]),
        ("<!- <a> --><b>", ["", "b"]),
        # raw text
        ("<script><a></script ><b>", ["script", "b"]),
        ("<script>'</scripty>'</SCRIPT\n x><b>", ["script", "b"]),
        ("<style><!-- </style><b>", ["style", "b"]),
        ("<title></head></title><b>", ["title", "b"]),
        ("<noscript><img></noscript><b>", ["noscript", "b"]),
        ("<template><meta></template><b>", ["template", "b"]),
        ("<titles><a>", ["titles", "a"]),
    ],
)
def test_tokens(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "<", "<a", "</a", "<!", "<!-", "<!--", "<!-- <a>", "<a b='", "<a b='>", "<script><a>", "<title>x</titl", "<?x",
        "<script></script ",
    ],
)  # fmt: skip
def test_what_is_incomplete_is_waited_for(text: str) -> None:
    tokens = Tokens()
    assert list(tokens.feed(text)) == []
    assert tokens.remaining == text


def test_text_of_raw_text_elements() -> None:
    tokens = list(Tokens().feed("<title>a &amp; <b></title><script type='x'>y</script>"))
    assert [token.text for token in tokens] == ["a &amp; <b>", "y"]
    assert tokens[1].attributes == " type='x'"


def test_characters_that_were_cut_are_counted_token_by_token() -> None:
    tokens = Tokens()
    assert [tokens.cut for _ in tokens.feed("<a> <b>x")] == [3, 7, 8]
    assert tokens.remaining == ""


@pytest.mark.parametrize(
    ("start", "end"), [("<script>", "</script>"), ("<!--", "-->"), ("<?", ">"), ("<title>", "</TITLE\n>")]
)
def test_end_of_something_long_is_seen_at_once_wherever_it_is_parted(start: str, end: str) -> None:
    for at in range(len(end)):
        tokens = Tokens()
        assert list(tokens.feed(start + "x" * 100_000 + end[:at])) == []
        assert [token.name for token in tokens.feed(end[at:] + "<a>")][-1] == "a"


MARKUP = '<html><!-- <a> --><head x=\'>\'><title>a<b</title><script>"</head>"</script>&amp;<link href="a\'b"></head>'


@given(st.lists(st.integers(1, 30), max_size=60))
def test_pieces_make_no_difference(sizes: list[int]) -> None:
    tokens, found, rest = Tokens(), [], MARKUP
    for size in sizes:
        found += [token for token in tokens.feed(rest[:size]) if token.name]
        rest = rest[size:]
    found += [token for token in tokens.feed(rest + " " * len(MARKUP)) if token.name]
    assert found == [token for token in Tokens().feed(MARKUP) if token.name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (" a=b c='d' e=\"f\" g", {"a": "b", "c": "d", "e": "f", "g": ""}),
        (" A=1 a=2", {"a": "1"}),
        ("a = 'b' / c/d=e/", {"a": "b", "c": "", "d": "e/"}),
        (" a='b'c=\"d\"", {"a": "b", "c": "d"}),
        (" a=b'c", {"a": "b'c"}),
        (" data-x:y.z=1", {"data-x:y.z": "1"}),
        # 13.2.5.73: named references in attributes
        (" a='?x=1&amp;copy=2&lt;&#38;&#x26;&AMP;'", {"a": "?x=1&copy=2<&&&"}),
        (" a='?x=1&copy=2&lang=en&notit;&regid&reg_id=1'", {"a": "?x=1&copy=2&lang=en&notit;&regid\xae_id=1"}),
        (" a='&copy &copy'", {"a": "\xa9 \xa9"}),
        (" a='&nosuch;&#xD800;&#0;&'", {"a": "&nosuch;\ufffd\ufffd&"}),
    ],
)
def test_attributes(text: str, expected: dict[str, str]) -> None:
    assert attributes(text) == expected


class Target:
    """Collects the start tags that libxml2 sees."""

    def __init__(self) -> None:
        self.found: list[tuple[str, dict[str, str]]] = []

    def start(self, name: str, own: Any) -> None:
        self.found.append((name, dict(own)))

    def close(self) -> list[tuple[str, dict[str, str]]]:
        return self.found


PIECES = [
    "<meta name=a content='b'>", "<link rel=\"c\" href='?a=1&copy=2'>", "<meta c=\"'>'\">", "<!-- <meta d> -->", "<!-->",
    "<script>'<meta e>'</script>", "<style><meta f></style>", "<title></head></title>", " ", "\n", "<meta a=1 A=2 b>",
    "<link x=y/z>", "<base href=/>", "<meta content='&lt;&amp;&#65;'>", "<META NAME=Q>", "<!---->", "<meta\nk\n=\nv\n/>",
]  # fmt: skip


@pytest.mark.skipif(etree.LIBXML_VERSION < (2, 14), reason="older ones do not follow the HTML standard")
@given(st.lists(st.sampled_from(PIECES), max_size=8))
def test_start_tags_are_those_of_libxml2(pieces: list[str]) -> None:
    text = "<html><head>" + "".join(pieces) + "</head>"
    parser = etree.HTMLParser(target=Target())
    parser.feed(text)
    ours = [
        (token.name, attributes(token.attributes)) for token in Tokens().feed(text) if not token.name.startswith("/")
    ]
    assert ours == parser.close()


@given(st.text(), st.text(alphabet="<>!-/ ='\"abscript\0"))
def test_nothing_raises(one: str, other: str) -> None:
    tokens = Tokens()
    for text in (one, other, one + other):
        for token in tokens.feed(text):
            attributes(token.attributes)
    attributes(one + other)


UNITS = [
    "<", "</", "<!", "<!--", "<!-- -", "<!-- --!", "<a", "<a ", "<a b='", "<a b=", "<a =", "<a b='\">", "<script>", "<script></",
    "<script></script", "<title><title>", "&", "<a b=&", "=", "\"", "<a\"", "<a b=c/", "\0", " ", "<!-->", "<?", "<meta>", "a<b ",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("unit", UNITS)
def test_much_of_anything_takes_linear_time(unit: str) -> None:
    text, tokens = unit * (2**17 // len(unit)), Tokens()
    start = time.process_time()
    for at in range(0, len(text), 4096):
        for token in tokens.feed(text[at : at + 4096]):
            attributes(token.attributes)
    attributes(text)
    assert time.process_time() - start < 3  # seconds; were it quadratic, more than ten
