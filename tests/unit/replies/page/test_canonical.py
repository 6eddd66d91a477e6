"""Canonicals: RFC 6596, Google's documentation, and RFC 8288 for the Link header."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.replies.page import Canonical, PageFacts, Place, read_page
from sitemapcrawler.replies.page.metadata import header_links

URL = "https://e.com/dir/page?x=1"


def page(*elements: str, link: list[str] | None = None) -> PageFacts:
    return read_page(f"<head>{''.join(elements)}</head>".encode(), {"link": link or []}, URL)


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ('<link rel="canonical" href="https://e.com/a">', "https://e.com/a"),
        ("<LINK HREF=https://e.com/a REL=Canonical />", "https://e.com/a"),
        ("<link rel='nofollow canonical' href='/a'>", "https://e.com/a"),
        ("<link rel=canonical href=' b '>", "https://e.com/dir/b"),
        ("<link rel=canonical href='//other.com/'>", "https://other.com/"),
        ("<link rel=canonical href='?y=1&copy=2'>", "https://e.com/dir/page?y=1&copy=2"),
        ("<link rel=canonical href='?y=1&amp;z=2'>", "https://e.com/dir/page?y=1&z=2"),
        ("<base href='/base/'><link rel=canonical href='b'>", "https://e.com/base/b"),
        ("<link rel=canonical href='b'><base href='/base/'>", "https://e.com/base/b"),
        ("<base target=_top><base href='https://other.com/'><link rel=canonical href='b'>", "https://other.com/b"),
        ("<base href='javascript:x'><link rel=canonical href='b'>", "https://e.com/dir/b"),
        ("<link rel=canonical href='é'>", "https://e.com/dir/é"),
        ("<link rel=canonical href=''>", None),
        ("<link rel=canonical>", None),
        ("<link rel='canonical-url' href=/a>", None),
        ("<link rel=canonical href='javascript:x'>", None),
        ("<link rel=canonical href='http://'>", None),
        ("<a rel=canonical href=/a>", None),
        ("<!-- <link rel=canonical href=/a> -->", None),
        # consolidate-duplicate-urls: these mean another language or device
        ("<link rel=canonical hreflang=de href=/a>", None),
        ("<link rel=canonical media='only screen' href=/a>", None),
        ("<link rel='alternate canonical' type='text/html' href=/a>", None),
    ],
)
def test_link_element(element: str, expected: str | None) -> None:
    assert page(element).canonical == expected


def test_canonical_in_the_body_does_not_count() -> None:
    found = read_page(b"<head></head><body><link rel=canonical href=/a></body>", {}, URL)
    assert [canonical.place for canonical in found.canonicals] == [Place.BODY]
    assert (found.canonical, found.broken_by) == (None, None)


def test_canonical_behind_a_broken_head_does_not_count_and_is_told() -> None:
    found = page("<iframe></iframe><link rel=canonical href=/a>")
    assert found.canonical is None
    assert found.canonicals == (Canonical("/a", "https://e.com/a", Place.BODY),)
    assert found.broken_by == "iframe"


def test_several_are_all_told_and_the_first_of_the_head_counts() -> None:
    found = page("<link rel=canonical href=/a>", "<link rel=canonical href=/b>", link=["</h>; rel=canonical"])
    assert [(one.href, one.place) for one in found.canonicals] == [
        ("/a", Place.HEAD), ("/b", Place.HEAD), ("/h", Place.HEADER),
    ]  # fmt: skip
    assert found.canonical == "https://e.com/a"


def test_one_that_is_no_url_is_passed_over() -> None:
    found = page("<link rel=canonical href='http://'>", link=["</h>; rel=canonical"])
    assert found.canonical == "https://e.com/h"
    assert found.canonicals[0] == Canonical("http://", None, Place.HEAD)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ('<https://e.com/a>; rel="canonical"', ["https://e.com/a"]),
        ("</a>;rel=canonical", ["https://e.com/a"]),
        ("<b>; REL=Canonical", ["https://e.com/dir/b"]),
        ('< /a >; title="a, b; rel=next"; rel="canonical"', ["https://e.com/a"]),
        ('</x>; rel="preload"; as=font, </a>; rel="canonical"', ["https://e.com/a"]),
        ('</a>; rel="up canonical"', ["https://e.com/a"]),
        ('</a>; rel="next"; rel="canonical"', []),  # RFC 8288, 3.3: the first rel counts
        ('</a>; title="\\"rel=canonical"; rel=next', []),
        ('</a,b>; rel="canonical"', ["https://e.com/a,b"]),
        ("</a>; rel = canonical", ["https://e.com/a"]),
        ("</a>; rel=canonical; anchor='#part'", []),
        ('</a>; rel=canonical; anchor="/other"', []),
        ('</a>; rel=canonical; anchor="#part"', ["https://e.com/a"]),
        ('</a>; rel=canonical; anchor=""', ["https://e.com/a"]),
        ("</a>; rel=canonical, </b>; rel=canonical", ["https://e.com/a", "https://e.com/b"]),
        ("</a>; rel=canonical; hreflang=de", []),
        ("https://e.com/a; rel=canonical", []),
        ("</a; rel=canonical", []),
        ("</a>", []),
        ("", []),
    ],
)
def test_link_header(value: str, expected: list[str]) -> None:
    assert [one.url for one in page(link=[value]).canonicals] == expected


def test_several_headers() -> None:
    found = page(link=["</style.css>; rel=preload", "</a>; rel=canonical"])
    assert found.canonical == "https://e.com/a"


def test_link_header_is_not_resolved_against_the_base_element() -> None:
    assert page("<base href='/base/'>", link=["<b>; rel=canonical"]).canonical == "https://e.com/dir/b"


def test_pdf_has_a_canonical_in_its_header() -> None:
    headers = {"content-type": ["application/pdf"], "link": ['<https://e.com/a.html>; rel="canonical"']}
    assert read_page(b"%PDF", headers, URL).canonical == "https://e.com/a.html"


def test_parameters_of_a_link() -> None:
    (link,) = header_links(['<a>; rel="x y"; Title="b\\"c"; crossorigin; Rel=z'])
    assert (link.target, link.rel) == ("a", ("x", "y"))
    assert link.parameters == {"rel": "x y", "title": 'b"c', "crossorigin": ""}


@given(st.text() | st.text(alphabet='<>;,="\\ relcanonical'))
def test_nothing_raises(text: str) -> None:
    page(link=[text])
    read_page(f"<link rel=canonical href={text}".encode("utf-8", "replace"), {}, URL)


@pytest.mark.parametrize(
    "unit", ["<", "<a>", '<a>;"', '<a>;x="', '"', '\\"', "<a>;", ";", ",", '<a>; rel="canonical",', "<a>;a=b;"]
)
def test_quarter_of_a_megabyte_of_anything_takes_linear_time(unit: str) -> None:
    start = time.process_time()
    list(header_links([unit * (2**18 // len(unit))]))
    assert time.process_time() - start < 10  # seconds; were it quadratic, minutes
