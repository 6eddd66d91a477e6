"""Which namespace is meant, and what becomes of the unknown ones."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.namespaces import MOBILE, PAGEMAP, declared, find, uri_of
from tests.unit.namespaces.entry import URIS, page
from tests.unit.reader.reading import CORE
from tests.unit.tables import cases

NAMES = {"image": "images", "video": "videos", "news": "news", "xhtml": "alternates"}


@pytest.mark.parametrize(("prefix", "field"), NAMES.items())
def test_each_namespace_is_found_by_its_uri(prefix: str, field: str) -> None:
    namespace = find(URIS[prefix])
    assert namespace is not None
    assert (namespace.prefix, namespace.field) == (prefix, field)
    assert uri_of(prefix) == namespace.uri
    assert namespace in declared()


@pytest.mark.parametrize(
    ("written", "field"),
    cases(
        (["https://www.google.com/schemas/sitemap-image/1.1", "http://www.google.com/schemas/sitemap-image/1.1/",
          " http://www.google.com/schemas/sitemap-image/1.1", "http://www.google.com/schemas/sitemap-image/1.0",
          "http://google.com/schemas/Sitemap-Image/1.1"], "images"),
        (["https://www.google.com/schemas/sitemap-video/1.1"], "videos"),
        (["https://www.google.com/schemas/sitemap-news/0.9",
          "http://www.google.com/schemas/sitemap-news/0.9/"], "news"),
        (["https://www.w3.org/1999/xhtml", "http://www.w3.org/1999/xhtml/",
          "http://www.w3.org/TR/xhtml11/xhtml11_schema.html"], "alternates"),
    ),
)  # fmt: skip
def test_a_uri_that_is_written_wrong_is_recognised(written: str, field: str) -> None:
    namespace = find(written)
    assert namespace is not None
    assert namespace.field == field


@pytest.mark.parametrize(
    "uri", ["", "urn:x", "http://www.sitemaps.org/schemas/sitemap/0.9", MOBILE, PAGEMAP, "http://e.com/image"]
)
def test_another_uri_is_none_of_ours(uri: str) -> None:
    assert find(uri) is None


def test_elements_under_a_uri_written_wrong_are_read() -> None:
    wrong = {prefix: uri.replace("http:", "https:") + "/" for prefix, uri in URIS.items()}
    record = page(
        "<image:image><image:loc>i</image:loc></image:image><video:video><video:title>v</video:title></video:video>"
        '<news:news><news:title>n</news:title></news:news><xhtml:link rel="alternate" hreflang="de" href="x"/>',
        wrong,
    )
    assert (record.images[0].loc, record.videos[0].title, record.alternates[0].hreflang) == ("i", "v", "de")
    assert record.news is not None
    assert record.news.title == "n"


def test_another_prefix_means_the_same() -> None:
    uris = {"i": URIS["image"], "image": "urn:not-images"}
    record = page("<i:image><i:loc>a</i:loc></i:image><image:image><image:loc>b</image:loc></image:image>", uris)
    assert [image.loc for image in record.images] == ["a"]
    assert record.extra == {"urn:not-images": [{"name": "image", "children": [{"name": "loc", "value": "b"}]}]}


def test_elements_in_an_unrelated_namespace_or_in_that_of_the_sitemap_are_kept_in_extra() -> None:
    links = '<xhtml:link rel="alternate" hreflang="de" href="x"/><link rel="alternate" hreflang="en" href="y"/>'
    record = page(links, {"xhtml": "http://www.w3.org/1999/xlink"})
    assert record.alternates == ()
    assert record.extra is not None
    assert {uri: tree["attributes"]["hreflang"] for uri, [tree] in record.extra.items()} == {
        "http://www.w3.org/1999/xlink": "de",
        CORE: "en",
    }


def test_mobile_and_pagemap_are_recognised_and_kept() -> None:
    parts = (
        f'<mobile:mobile xmlns:mobile="{MOBILE}"/>'
        f'<PageMap xmlns="{PAGEMAP}"><DataObject type="document"><Attribute name="title">x</Attribute></DataObject></PageMap>'
    )
    record = page(parts)
    assert record.extra is not None
    assert set(record.extra) == {MOBILE, PAGEMAP}
    assert record.extra[MOBILE] == [{"name": "mobile"}]
    (tree,) = record.extra[PAGEMAP]
    assert tree["children"][0]["children"] == [{"name": "Attribute", "attributes": {"name": "title"}, "value": "x"}]


Tree = dict[str, Any]
texts = st.text("abc é&<>\"'\n]", min_size=1).map(str.strip).filter(bool)
names = st.sampled_from(("a", "b-c", "_d", "url", "loc"))
attributes = st.dictionaries(st.sampled_from(("k", "{urn:other}k", "value", "name")), texts, max_size=2)


def _tree(name: str, given: dict[str, str], inside: str | list[Any] | None) -> Tree:
    tree: Tree = {"name": name}
    if given:
        tree["attributes"] = given
    if isinstance(inside, str):
        tree["value"] = inside
    elif inside:
        tree["children"] = inside
    return tree


def _mixed(children: list[Any]) -> list[Any]:
    """Texts that follow each other are one; without any element there are no children."""
    kept: list[Any] = []
    for child in children:
        if not (isinstance(child, str) and kept and isinstance(kept[-1], str)):
            kept.append(child)
    return kept if any(isinstance(child, dict) for child in kept) else []


trees: st.SearchStrategy[Tree] = st.recursive(
    st.builds(_tree, names, attributes, st.none() | texts),
    lambda inner: st.builds(_tree, names, attributes, st.lists(inner | texts, max_size=3).map(_mixed)),
    max_leaves=8,
)


def written(tree: Tree | str, comment: str) -> str:
    """A tree as XML, with a comment after each text, which must not show."""
    if isinstance(tree, str):
        return escape(tree) + comment
    name = f"o:{tree['name']}"
    given = "".join(
        f" {key.replace('{urn:other}', 'o:')}={quoteattr(value.replace(chr(10), ' '))}"
        for key, value in tree.get("attributes", {}).items()
    )
    inside = escape(tree.get("value", "")) + "".join(written(child, comment) for child in tree.get("children", ()))
    return f"<{name}{given}>{inside}</{name}>"


@given(st.lists(trees, min_size=1, max_size=3), st.sampled_from(("", "<!-- </url> -->", "<?pi?>")))
def test_an_unknown_namespace_is_kept_without_loss(given: list[Tree], comment: str) -> None:
    for tree in given:
        _unwrap(tree)
    record = page("\n".join(written(tree, comment) for tree in given))
    assert record.extra == {"urn:other": given}


def _unwrap(tree: Tree) -> None:
    """XML makes a line break in an attribute a blank."""
    if "attributes" in tree:
        tree["attributes"] = {key: value.replace("\n", " ") for key, value in tree["attributes"].items()}
    for child in tree.get("children", ()):
        if isinstance(child, dict):
            _unwrap(child)
