"""Where the head ends, and that nothing takes long."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from sitemapcrawler.replies.page import PAGE_LIMIT, Place, read_page
from sitemapcrawler.replies.page.tree import MAX_DEPTH, attributes, parsed, plain, shortened

URL = "https://e.com/"
LINK = "<link rel=canonical href=/>"


# The HTML standard, 13.2.6.4.4: "anything else" ends the head.
@pytest.mark.parametrize(
    ("thing", "name"),
    [
        ("<img>", "img"), ("<div>", "div"), ("<iframe></iframe>", "iframe"), ("<h1>", "h1"), ("<svg>", "svg"), ("<p>", "p"),
        ("word", "text"), ("\ufeff", "text"), ("\xa0", "text"), ("<3", "text"), ("<template-x>", "template-x"),
    ],
)  # fmt: skip
def test_what_may_not_stand_in_a_head_ends_it(thing: str, name: str) -> None:
    page = read_page(f"<head><meta charset=utf-8><title>a</title>{thing}{LINK}</head>".encode(), {}, URL)
    assert (page.broken_by, page.title, page.complete) == (name, "a", True)
    assert [canonical.place for canonical in page.canonicals] == [Place.BODY]


@pytest.mark.parametrize(
    "thing",
    [
        "<noscript><img></noscript>", "<template><div></div></template>", "<script></script>", "<!-- x -->", "</p>",
        "<bgsound>", "<style></head></style>", "<meta content='</head>'>", "</head>", "\t",
    ],
)  # fmt: skip
def test_what_may_stand_in_a_head_does_not_end_it(thing: str) -> None:
    page = read_page(f"<head><title>a</title>{thing}{LINK}".encode(), {"content-type": ["text/html"]}, URL)
    assert (page.canonical, page.broken_by) == (URL, None)


def test_byte_order_mark_at_the_start_does_not_end_the_head() -> None:
    assert read_page(f"\ufeff<!doctype html><head>{LINK}</head>".encode(), {}, URL).canonical == URL


def test_warning_in_front_of_the_document_breaks_the_head() -> None:
    body = f"<br />Warning: include(): in /a.php<br /><html lang=en><head><title>a</title>{LINK}</head>"
    page = read_page(body.encode(), {}, URL)
    assert (page.broken_by, page.title, page.lang, page.canonical) == ("br", "a", "en", None)


@pytest.mark.parametrize(
    ("cut", "complete", "title"),
    [
        ("<head><title>x</title><link rel=cano", False, None), ("<head><title>x</ti", False, None),
        ("<head><title>x</title></head><body><p", False, None), ("<head><title>x</title></head><body><p>", True, "x"),
        ("<head><title>x</title><script>'</head><body><p>'", False, None),
    ],
)  # fmt: skip
def test_page_that_is_cut_is_complete_if_its_head_is(cut: str, complete: bool, title: str | None) -> None:
    page = read_page(cut.encode(), {}, URL, whole=False)
    assert (page.complete, page.title) == (complete, title)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b c='d' e=\"f\" g", {"a": "b", "c": "d", "e": "f", "g": ""}), ("A=1 a=2", {"a": "1"}),
        ("a='?x=1&copy=2&lang=en&notit;&regid&amp;y'", {"a": "?x=1&copy=2&lang=en&notit;&regid&y"}),
    ],
)  # fmt: skip
def test_attributes(text: str, expected: dict[str, str]) -> None:
    [element] = parsed(f"<i {text}>").css("i")
    assert attributes(element) == expected


PIECES = [
    "<a href='/a?b=1&amp;c=2'>", "</a>", "<div>", "</div>", "<p>", "<li>", "<ul>", "</ul>", "<table><tr><td>", "</table>", "text ",
    "a < b <3 ", "<!-- <p> -->", "<!-->", "<script>'<p>'</script>", "<b>", "</b>", "<x-y z='>'>", "<title>a<b &lt;</title>", "&amp;",
    "<meta name=a content=b>", "<link rel=c href=d>", "<input>", "<svg><title>t</title></svg>", "<![CDATA[x]]>", "</>", "<?x?>", "<H1 A>",
    '<script type="application/ld+json">{"a": "<b>"}</script>', "<textarea><p></textarea>", "<select><option>a<option>b</select>",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=30))
def test_rewritten_page_has_the_same_text_links_and_metadata(pieces: list[str]) -> None:
    text = "<!doctype html><html lang=en><body>" + "".join(pieces)
    one, other = LexborHTMLParser(text, scripting=True), LexborHTMLParser("".join(plain(text)), scripting=True)
    for tree in (one, other):
        tree.strip_tags(["script", "svg"])
    assert _words(one) == _words(other)
    for selector in ("meta", "link", "a[href]", "input"):
        assert _attributes(one, selector) == _attributes(other, selector)


def _words(tree: LexborHTMLParser) -> list[str]:
    return sorted(tree.body.text(separator=" ").split()) if tree.body is not None else []


def _attributes(tree: LexborHTMLParser, selector: str) -> list[dict[str, str]]:
    unique = {str(found): found for found in map(attributes, tree.css(selector))}
    return list(unique.values())


NAMES = [
    "div", "span", "p", "b", "i", "a", "table", "tr", "td", "th", "li", "ul", "dl", "dd", "select", "option",
    "optgroup", "form", "svg", "math", "mi", "desc", "foreignObject", "title", "style", "script", "textarea",
    "button", "h1", "h2", "template", "object", "ruby", "rt", "caption", "tbody", "colgroup", "frameset", "noscript",
    "x-y", "center", "nobr", "font", "input", "br", "body", "html", "head",
]  # fmt: skip
TAGS = st.builds(
    "{}{}{}>".format,
    st.sampled_from(("<", "<", "</")),
    st.sampled_from(NAMES),
    st.sampled_from(("", " a=1", " a='", ' b="', "/")),
)


@given(
    st.lists(TAGS | st.sampled_from(("x", "<!--", "-->", "<![CDATA[", "]]>", "'", '"', ">")), min_size=1, max_size=8)
)
def test_rewritten_page_is_not_deep(unit: list[str]) -> None:
    tree = LexborHTMLParser("".join(plain("".join(unit) * 1_000)), scripting=True)
    depth, node = 0, tree.root
    while node is not None:  # the last ones are those that are still open
        depth, node = depth + 1, node.last_child
    assert depth < 2 * MAX_DEPTH


HOSTILE = {
    **{unit: unit * (PAGE_LIMIT // len(unit)) for unit in (
        "<div>", "<b>", "<a href=x>", "<dl><dd>", "<a><div>", "<b>x</i>", "<div></b>", "<center>", "<select><option><b>", "<svg>",
        "<math><mi>", "<!--", "<", "</", "<a b='", "<a b=", "&", "\0", "<p>", "<table><td>", "<span><form></span></form>", "<rt>",
        "<div><table><td></div></table>", "<svg><style><div>", "<div><svg><![CDATA[</svg></div>]]>", "<div a='</div>'>", "<a<",
        "<script><x y='</script><div>", "<template><div>", "<svg><title>", "<h1", "<title>", "='<a", " a",
    )},
    "formatting elements that each block repeats": "<p>" + "".join(f"<b a={n}>" for n in range(5_000)) + "<p>x" * 400_000,
    "attributes": "<a " + " ".join(f"a{n}" for n in range(300_000)) + ">",
    "attributes of one element in many tags": "".join(f"<html a{n}>" for n in range(200_000)),
    "attributes behind a quote in a script": "<script><x y='</script><a " + " ".join(f"a{n}" for n in range(300_000)) + ">",
    "many attributes each": "".join("<a " + " ".join(f"a{n}" for n in range(190)) + ">" for _ in range(2_000)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_page_holds_the_crawl(text: str) -> None:
    body = text[:PAGE_LIMIT].encode()
    start = time.process_time()
    read_page(body, {"content-type": ["text/html"]}, URL)
    assert time.process_time() - start < 3  # seconds; were it quadratic, minutes


def test_text_without_tags_is_not_shortened() -> None:
    assert shortened("a" * 100_000) == "a" * 100_000
