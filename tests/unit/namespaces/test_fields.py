"""Filling a namespace object from an element."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sitemapcrawler.namespaces.element import Element, attributed, fill, nested, own, text
from tests.unit.namespaces.entry import element


@dataclass
class Thing:
    a: str | None = None
    b: list[str] = field(default_factory=list)
    c: dict[str, str] | None = None
    d: dict[str, str] | None = None
    extra: list[dict[str, Any]] = field(default_factory=list)


FIELDS = {"a": text, "b": text, "c": attributed, "d": nested}


def filled(inside: str) -> Thing:
    thing = Thing()
    fill(thing, element(f"<o:thing>{inside}</o:thing>"), FIELDS)
    return thing


def test_each_kind_of_field() -> None:
    thing = filled('<o:a> x </o:a><o:b>1</o:b><o:b>2</o:b><o:c k="v">y</o:c><o:d><o:p>q</o:p></o:d>')
    assert thing == Thing("x", ["1", "2"], {"value": "y", "k": "v"}, {"p": "q"})


def test_nothing_at_all() -> None:
    assert filled("") == Thing()


def test_what_no_field_holds_is_kept() -> None:
    thing = filled('<o:a>1</o:a><o:a>2</o:a><o:z/><o:a k="v">3</o:a>')
    assert thing.a == "1"
    assert thing.extra == [
        {"name": "a", "value": "2"},
        {"name": "z"},
        {"name": "a", "attributes": {"k": "v"}, "value": "3"},
    ]


def test_attributes_of_a_plain_field_are_kept_beside_it() -> None:
    thing = filled('<o:a k="v">1</o:a><o:b k="v">2</o:b>')
    assert (thing.a, thing.b) == ("1", ["2"])
    assert [tree["attributes"] for tree in thing.extra] == [{"k": "v"}, {"k": "v"}]


def test_a_field_of_another_namespace_is_none() -> None:
    assert filled('<x:a xmlns:x="urn:x">1</x:a>').a is None


def test_half_a_value_is_none() -> None:
    thing = filled("<o:a>1<o:x/>2</o:a><o:c>1<o:x/></o:c>")
    assert (thing.a, thing.c) == (None, None)
    assert [tree["name"] for tree in thing.extra] == ["a", "c"]


def test_a_nested_field_that_holds_more_is_kept_whole_as_well() -> None:
    for inside in (
        "<o:p>1</o:p><o:p>2</o:p>",
        '<o:p k="v">1</o:p>',
        "<o:p><o:q/></o:p>",
        "text<o:p/>",
        '<x:p xmlns:x="u">1</x:p>',
    ):
        thing = filled(f"<o:d>{inside}</o:d>")
        assert thing.d is not None
        assert [tree["name"] for tree in thing.extra] == ["d"], inside


def test_what_an_element_holds_itself() -> None:
    assert own(Element("", "a", {}, 1)) == {"name": "a"}
    assert own(element('<o:a k="v"> x <o:b/></o:a>')) == {"name": "a", "attributes": {"k": "v"}, "value": "x"}
