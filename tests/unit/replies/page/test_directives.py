"""Robots `<meta>` elements and X-Robots-Tag headers, after Google's documentation of both."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.replies.page import Denial, PageFacts, Place, read_page
from sitemapcrawler.replies.page.metadata import Directive, denials, directives
from tests.unit.tables import cases

URL = "https://e.com/"


def meta(*elements: str) -> PageFacts:
    return read_page(f"<head>{''.join(elements)}</head>".encode(), {}, URL)


def header(*values: str) -> PageFacts:
    return read_page(b"<head></head>", {"x-robots-tag": list(values)}, URL)


@pytest.mark.parametrize(
    ("element", "noindex", "agents"),
    cases(
        (['<meta name="robots" content="noindex">', '<meta name="robots" content="noindex, nofollow">',
          '<meta name="ROBOTS" content="NOINDEX,NOFOLLOW"/>', "<META CONTENT=none NAME=robots>",
          "<meta name=' robots ' content=' noindex '>", '<meta name="robots" content="nofollow noindex">',
          '<meta name="robots" content="nofollow;noindex">', '<meta name="robots" content="index, noindex">',
          '<meta name="robots" content="max-snippet:0, noindex">'], True, ()),
        (['<meta name="googlebot" content="noindex">'], False, ("googlebot",)),
        (['<meta name="Googlebot-News" content="noindex">'], False, ("googlebot-news",)),
        (['<meta name="bingbot" content="none">'], False, ("bingbot",)),
        (['<meta name="yandex" content="noindex">'], False, ("yandex",)),
        (['<meta name="robots" content="index, follow">', '<meta name="robots" content="all">',
          '<meta name="robots" content="noindexing">',
          '<meta name="robots" content="noimageindex, nofollow, noarchive">',
          '<meta name="robots" content="max-image-preview:none">',
          '<meta name="robots" content="max-image-preview: none, max-snippet:-1">', '<meta name="robots" content="">',
          '<meta name="robots">', '<meta name="description" content="noindex">',
          '<meta property="robots" content="noindex">', '<meta http-equiv="x-robots-tag" content="noindex">',
          '<!-- <meta name="robots" content="noindex"> -->',
          '<noscript><meta name="robots" content="noindex"></noscript>',
          '<script>"<meta name=robots content=noindex>"</script>',
          '<template><meta name="robots" content="noindex"></template>'], False, ()),
    ),
)  # fmt: skip
def test_meta_element(element: str, noindex: bool, agents: tuple[str, ...]) -> None:
    page = meta(element)
    assert (page.noindex, page.noindex_agents) == (noindex, agents)


def test_several_elements_add_up() -> None:
    page = meta(
        "<meta name=robots content='index'>", "<meta name=googlebot content='noindex'>", "<meta name=robots content='noindex'>",
        "<meta name=googlebot content='none'>", "<meta name=bingbot content='noindex'>",
    )  # fmt: skip
    assert (page.noindex, page.noindex_agents) == (True, ("googlebot", "bingbot"))


def test_element_behind_the_head_counts_and_is_told_apart() -> None:
    page = meta("<img><meta name=robots content=noindex>")
    assert page.denials == (Denial("", Place.BODY, "noindex"),)
    assert page.noindex


@pytest.mark.parametrize(
    ("value", "noindex", "agents"),
    cases(
        (["noindex", "NoIndex, NoFollow", "none", "noindex, googlebot: nofollow", "*: noindex",
          "robots: noindex"], True, ()),
        (["googlebot: noindex, nofollow", "Googlebot : noindex",
          "nofollow, googlebot: noindex"], False, ("googlebot",)),
        (["otherbot: noindex, nofollow, googlebot: nofollow",
          "googlebot: nofollow, otherbot: noindex"], False, ("otherbot",)),
        (["max-image-preview:none", "googlebot: max-image-preview:none", "unavailable_after: 25 Jun 2999 15:00:00 PST",
          "unavailable_after", "unavailable_after: some day", "noarchive", "noindex: googlebot", "", ":", "googlebot:"], False, ()),
    ),
)  # fmt: skip
def test_header(value: str, noindex: bool, agents: tuple[str, ...]) -> None:
    page = header(value)
    assert (page.noindex, page.noindex_agents) == (noindex, agents)


def test_agent_of_one_header_is_not_that_of_the_next() -> None:
    page = header("googlebot: nofollow", "noindex")
    assert (page.noindex, page.noindex_agents) == (True, ())


def test_meta_element_has_no_agent_inside() -> None:
    assert directives("googlebot: noindex") == [Directive("", "googlebot:", ""), Directive("", "noindex", "")]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("unavailable_after: 25 Jun 2010 15:00:00 PST", [("", "25 Jun 2010 15:00:00 PST")]),
        ("unavailable_after: Friday, 25-Jun-10 15:00:00 GMT, noarchive", [("", "Friday, 25-Jun-10 15:00:00 GMT")]),
        ("noarchive, Unavailable_After: Fri, 25 Jun 2010 15:00:00 GMT", [("", "Fri, 25 Jun 2010 15:00:00 GMT")]),
        ("googlebot: unavailable_after: 2010-06-25T15:00:00Z", [("googlebot", "2010-06-25T15:00:00Z")]),
        ("unavailable_after:2010-06-25, googlebot: nofollow", [("", "2010-06-25")]),
    ],
)
def test_date_of_unavailable_after_has_colons_and_commas(value: str, expected: list[tuple[str, str]]) -> None:
    page = header(value)
    assert [(denial.agent, denial.until) for denial in page.denials] == expected
    assert page.noindex == (expected[0][0] == "")


def test_date_in_a_meta_element() -> None:
    page = meta("<meta name=robots content='unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, noindex'>")
    assert [denial.until for denial in page.denials] == ["Fri, 25 Jun 2010 15:00:00 GMT", None]


def test_page_that_is_no_html_has_its_header() -> None:
    page = read_page(b"%PDF", {"content-type": ["application/pdf"], "x-robots-tag": ["noindex"]}, URL)
    assert page.noindex
    assert page.complete
    assert page.encoding is None


@given(st.text(), st.sampled_from(list(Place)))
def test_nothing_raises(text: str, place: Place) -> None:
    list(denials(text, place))


def test_megabyte_of_directives_is_cut() -> None:
    assert len(list(denials("noindex," * 2**17, Place.HEADER))) <= 300
