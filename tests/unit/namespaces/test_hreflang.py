"""xhtml:link: the language versions of a page."""

from __future__ import annotations

import pytest

from sitemapcrawler.namespaces.extensions import HREFLANG, Alternate
from tests.unit.namespaces.entry import URIS, element, page


@pytest.mark.parametrize(
    ("attributes", "alternate"),
    [
        ('rel="alternate" hreflang="de" href="https://e.com/de"', Alternate("de", "https://e.com/de")),
        ('href=" https://e.com/de " hreflang="x-default" rel="alternate"', Alternate("x-default", "https://e.com/de")),
        ('rel="alternate" hreflang="de" href="?a=1&amp;b"', Alternate("de", "?a=1&b")),
        ('rel="alternate" hreflang="de"', Alternate("de", None)),
        ('rel="alternate" href="x"', Alternate(None, "x")),
        ('rel="alternate" hreflang="" href=""', Alternate("", "")),
        ('hreflang="de" href="x"', Alternate("de", "x", "")),
        ('rel="Alternate" hreflang="de" href="x"', Alternate("de", "x", "Alternate")),
        ('rel="alternate nofollow" hreflang="de" href="x"', Alternate("de", "x", "alternate nofollow")),
        ('rel="alternate" hreflang="de" href="x" type="text/html"', Alternate("de", "x", None, {"type": "text/html"})),
        ('rel="alternate" hreflang="de" media="handheld" href="x"', Alternate("de", "x", None, {"media": "handheld"})),
    ],
)
def test_an_alternate(attributes: str, alternate: Alternate) -> None:
    assert page(f"<xhtml:link {attributes}/>").alternates == [alternate]
    assert page(f"<xhtml:link {attributes}></xhtml:link>").alternates == [alternate]


@pytest.mark.parametrize(
    "link",
    [
        '<xhtml:link rel="alternate" media="only screen and (max-width: 640px)" href="https://m.e.com/"/>',
        '<xhtml:link rel="canonical" href="https://e.com/"/>',
        '<xhtml:link rel="amphtml" href="https://e.com/amp"/>',
        '<xhtml:meta name="x"/>',
    ],
)
def test_what_is_no_language_version_is_kept_as_it_stands(link: str) -> None:
    record = page(link)
    assert record.alternates == ()
    assert record.extra == {HREFLANG: [element(link).tree()]}


def test_alternates_keep_their_order_and_their_repetitions() -> None:
    links = "".join(
        f'<xhtml:link rel="alternate" hreflang="{code}" href="x"/>' for code in ("de", "en", "de", "fr", "en")
    )
    assert [alternate.hreflang for alternate in page(links).alternates] == ["de", "en", "de", "fr", "en"]


def test_links_in_mixed_forms() -> None:
    """The namespace declared on the link itself, by a prefix, or as its default; the link closed or not."""
    parts = (
        f'<link xmlns="{URIS["xhtml"]}" rel="alternate" hreflang="a" href="x"/>'
        f'<h:link xmlns:h="{URIS["xhtml"]}" rel="alternate" hreflang="b" href="x"></h:link>'
        '<xhtml:link rel="alternate" hreflang="c" href="x">\n</xhtml:link>'
    )
    assert [alternate.hreflang for alternate in page(parts).alternates] == ["a", "b", "c"]


def test_links_within_links_are_not_lost() -> None:
    inner = '<xhtml:link rel="alternate" hreflang="en" href="y"/>'
    record = page(f'<xhtml:link rel="alternate" hreflang="de" href="x">{inner}</xhtml:link>')
    assert '"en"' in str(record).replace("'", '"')


def test_a_link_without_namespace_is_no_alternate() -> None:
    assert page('<link rel="alternate" hreflang="de" href="x"/>').alternates == ()
