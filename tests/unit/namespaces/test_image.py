"""Google's image namespace."""

from __future__ import annotations

from sitemapcrawler.namespaces.extensions import IMAGE, IMAGE_EXTENSION, Image
from tests.unit.namespaces.entry import element, page


def test_every_element_retired_ones_included() -> None:
    parts = "".join(f"<image:{name}>\n {name} </image:{name}>" for name in IMAGE_EXTENSION.fields)
    (found,) = page(f"<image:image>{parts}</image:image>").images
    assert found == Image("loc", "caption", "geo_location", "title", "license")


def test_every_field_of_the_record_is_read() -> None:
    assert {*Image.__slots__} == {*IMAGE_EXTENSION.fields, "extra"}


def test_images_keep_their_order_and_none_is_merged() -> None:
    parts = "".join(f"<image:image><image:loc>{number % 3}</image:loc></image:image>" for number in range(7))
    assert [found.loc for found in page(parts).images] == ["0", "1", "2", "0", "1", "2", "0"]


def test_an_empty_image_is_one() -> None:
    assert page("<image:image/>").images == [Image()]


def test_an_empty_element_is_no_missing_one() -> None:
    (found,) = page("<image:image><image:loc/><image:title></image:title></image:image>").images
    assert (found.loc, found.title, found.caption) == ("", "", None)


def test_repeated_elements_are_not_lost() -> None:
    (found,) = page("<image:image><image:loc>a</image:loc><image:loc>b</image:loc></image:image>").images
    assert found.loc == "a"
    assert found.extra == [{"name": "loc", "value": "b"}]


def test_unknown_elements_and_attributes_are_not_lost() -> None:
    parts = '<image:image id="7"><image:loc type="x">a</image:loc><image:width>3</image:width>words</image:image>'
    (found,) = page(parts).images
    assert found.loc == "a"
    assert found.extra == [
        {"name": "image", "attributes": {"id": "7"}, "value": "words"},
        {"name": "loc", "attributes": {"type": "x"}, "value": "a"},
        {"name": "width", "value": "3"},
    ]


def test_an_element_of_another_namespace_within_keeps_its_own() -> None:
    (found,) = page("<image:image><o:loc>a</o:loc></image:image>").images
    assert found.loc is None
    assert found.extra == [{"name": "loc", "uri": "urn:other", "value": "a"}]


def test_half_a_value_is_none() -> None:
    (found,) = page("<image:image><image:loc>https://e.com/<b/>i</image:loc></image:image>").images
    assert found.loc is None
    assert [tree["name"] for tree in found.extra] == ["loc"]


def test_another_element_of_the_namespace_is_no_image() -> None:
    assert IMAGE_EXTENSION.object_of(element("<image:loc>a</image:loc>")) is None
    record = page("<image:loc>a</image:loc>")
    assert record.images == ()
    assert record.extra == {IMAGE: [{"name": "loc", "value": "a"}]}


def test_a_url_in_cdata_with_an_ampersand() -> None:
    (found,) = page("<image:image><image:loc><![CDATA[ https://e.com/?a&b ]]></image:loc></image:image>").images
    assert found.loc == "https://e.com/?a&b"
