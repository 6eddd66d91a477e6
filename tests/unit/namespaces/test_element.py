"""One XML element."""

from __future__ import annotations

from sitemapcrawler.namespaces.element import Element


def built(name: str, *content: Element | str, uri: str = "urn:a", **attributes: str) -> Element:
    element = Element(uri, name, attributes, 7)
    element.content += content
    return element


def test_text_is_the_elements_own_without_blanks_around() -> None:
    assert built("a", "\n x \t").text == "x"
    assert built("a", " x", built("b", "no"), "y ").text == "xy"
    assert built("a").text == ""
    assert built("a", built("b", "no")).text == ""


def test_blanks_inside_a_text_stay() -> None:
    assert built("a", "x ", " y").text == "x  y"


def test_children_are_elements_in_order() -> None:
    one, two = built("b"), built("c")
    element = built("a", "x", one, "y", two)
    assert list(element.children) == [one, two]
    assert element.has_children
    assert not built("a", "x").has_children


def test_an_element_names_itself_and_its_line() -> None:
    assert repr(built("a")) == "<a line=7>"


def test_a_tree_of_nothing_is_a_name() -> None:
    assert built("a").tree() == {"name": "a"}


def test_a_tree_keeps_attributes_and_text() -> None:
    assert built("a", " x ", k="v").tree() == {"name": "a", "attributes": {"k": "v"}, "value": "x"}


def test_a_tree_keeps_children_and_texts_in_order() -> None:
    tree = built("a", "\n x ", built("b", "y"), " \n ", built("b"), "z").tree()
    assert tree == {"name": "a", "children": ["x", {"name": "b", "value": "y"}, {"name": "b"}, "z"]}


def test_a_text_that_came_in_parts_is_one() -> None:
    tree = built("a", "x ", "y", built("b")).tree()
    assert tree == {"name": "a", "children": ["x y", {"name": "b"}]}


def test_a_child_of_another_namespace_carries_it() -> None:
    tree = built("a", built("b", "x", uri="urn:b", k="v"), built("c", uri="")).tree()
    assert tree["children"] == [
        {"name": "b", "uri": "urn:b", "attributes": {"k": "v"}, "value": "x"},
        {"name": "c", "uri": ""},
    ]


def test_a_tree_is_a_copy() -> None:
    element = built("a", k="v")
    element.tree()["attributes"]["k"] = "changed"
    assert element.attributes == {"k": "v"}
