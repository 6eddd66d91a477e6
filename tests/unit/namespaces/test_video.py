"""Google's video namespace."""

from __future__ import annotations

import pytest

from sitemapcrawler.namespaces import text
from sitemapcrawler.namespaces.extensions import VIDEO, VIDEO_EXTENSION, Video
from tests.unit.namespaces.entry import element, page

SINGLE = [name for name, read in VIDEO_EXTENSION.fields.items() if read is text and name != "tag"]


def only(parts: str) -> Video:
    (found,) = page(f"<video:video>{parts}</video:video>").videos
    return found


@pytest.mark.parametrize("name", SINGLE)
def test_every_plain_element(name: str) -> None:
    found = only(f"<video:{name}>\n value </video:{name}>")
    assert found == Video(**{name: "value"})


def test_every_field_of_the_record_is_read() -> None:
    assert {*Video.__slots__} == {*VIDEO_EXTENSION.fields, "extra"}


def test_tags_are_a_list_in_order() -> None:
    assert only("<video:tag>b</video:tag><video:tag>a</video:tag><video:tag>b</video:tag>").tag == ["b", "a", "b"]


@pytest.mark.parametrize(
    ("name", "attributes"),
    [
        ("restriction", {"relationship": "allow"}),
        ("platform", {"relationship": "deny"}),
        ("uploader", {"info": "https://e.com/u"}),
        ("gallery_loc", {"title": "All"}),
        ("player_loc", {"allow_embed": "yes", "autoplay": "ap=1"}),
    ],
)
def test_an_element_with_attributes_is_an_object(name: str, attributes: dict[str, str]) -> None:
    written = "".join(f' {key}="{value}"' for key, value in attributes.items())
    assert getattr(only(f"<video:{name}{written}> x </video:{name}>"), name) == {"value": "x", **attributes}


@pytest.mark.parametrize("name", ["restriction", "platform", "uploader", "gallery_loc"])
def test_an_element_that_lacks_its_attributes_is_an_object_too(name: str) -> None:
    assert getattr(only(f"<video:{name}>x</video:{name}>"), name) == {"value": "x"}


def test_a_player_without_attributes_is_a_plain_value() -> None:
    assert only("<video:player_loc>https://e.com/p</video:player_loc>").player_loc == "https://e.com/p"


def test_an_attribute_named_value_does_not_hide_the_text() -> None:
    found = only('<video:restriction value="no">DE</video:restriction>')
    assert "DE" in str(found.restriction) + str(found.extra)
    assert "no" in str(found.restriction) + str(found.extra)


def test_prices_ids_and_segments_repeat() -> None:
    found = only(
        '<video:price currency="EUR" type="rent" resolution="hd">1,99</video:price><video:price currency="USD"/>'
        '<video:id type="tms">1</video:id><video:id>2</video:id>'
        '<video:content_segment_loc duration="60">a</video:content_segment_loc>'
        '<video:content_segment_loc duration="30">b</video:content_segment_loc>'
    )
    assert found.price == [
        {"value": "1,99", "currency": "EUR", "type": "rent", "resolution": "hd"},
        {"value": "", "currency": "USD"},
    ]
    assert found.id == [{"value": "1", "type": "tms"}, {"value": "2"}]
    assert found.content_segment_loc == [{"value": "a", "duration": "60"}, {"value": "b", "duration": "30"}]
    assert found.extra == []


def test_a_tvshow_is_an_object() -> None:
    names = ("show_title", "video_type", "episode_title", "season_number", "episode_number", "premier_date")
    found = only(f"<video:tvshow>{''.join(f'<video:{name}>{name}</video:{name}>' for name in names)}</video:tvshow>")
    assert found.tvshow == {name: name for name in names}
    assert found.extra == []


def test_repeated_single_elements_are_not_lost() -> None:
    found = only(
        "<video:title>a</video:title><video:title>b</video:title><video:uploader>c</video:uploader><video:uploader>d</video:uploader>"
    )
    assert (found.title, found.uploader) == ("a", {"value": "c"})
    assert found.extra == [{"name": "title", "value": "b"}, {"name": "uploader", "value": "d"}]


def test_unknown_elements_are_not_lost() -> None:
    found = only("<video:live_chat>yes</video:live_chat><o:rating>5</o:rating>")
    assert found.extra == [{"name": "live_chat", "value": "yes"}, {"name": "rating", "uri": "urn:other", "value": "5"}]


def test_several_videos_of_one_page() -> None:
    record = page("<video:video><video:title>a</video:title></video:video><video:video/>")
    assert record.videos == [Video(title="a"), Video()]


def test_another_element_of_the_namespace_is_no_video() -> None:
    assert VIDEO_EXTENSION.object_of(element("<video:title>a</video:title>")) is None
    assert page("<video:title>a</video:title>").extra == {VIDEO: [{"name": "title", "value": "a"}]}
