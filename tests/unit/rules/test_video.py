"""The rules on videos, beyond the files `video-*` in `tests/data/bad`."""

from __future__ import annotations

import pytest

from .expecting import ALL, BAD, places, rules_of
from .judging import judge

RULES = rules_of("video")
ROOT = (
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1">'
)
GOOD = BAD.parent / "good" / "video-all-elements.xml"
REQUIRED = {
    "thumbnail_loc": "https://example.com/1.jpg",
    "title": "How to grill",
    "description": "Six steps",
    "content_loc": "https://example.com/1.mp4",
}


def entry(*more: str, page: str = "https://example.com/a", **changed: str) -> str:
    """An entry with one video: the required elements on lines 2 to 5, `more` from line 6 on."""
    lines = [f"<video:{name}>{value}</video:{name}>" for name, value in (REQUIRED | changed).items()]
    return f"<url><loc>{page}</loc><video:video>\n" + "\n".join([*lines, *more]) + "\n</video:video></url>"


def found(body: str) -> list[tuple[str, int | None]]:
    return places(judge(f"{ROOT}{body}</urlset>".encode()), ALL)


def test_a_good_file_gives_nothing_not_even_for_information() -> None:
    data = GOOD.read_bytes()
    assert data.count(b"<video:video>") == 3
    assert places(judge(data), ALL, RULES) == []


def test_a_number_of_more_digits_than_python_converts() -> None:
    assert found(entry(f"<video:duration>{'9' * 5000}</video:duration>")) == [("video-duration-range", 6)]


def test_white_space_around_a_date_does_not_count() -> None:
    assert found(entry("<video:publication_date>\n2024-05-01\n</video:publication_date>")) == []


@pytest.mark.parametrize(
    ("name", "limit", "rule"),
    [
        ("description", 2048, "video-description-too-long"),
        ("title", 100, "video-title-too-long"),
        ("uploader", 255, "video-uploader-too-long"),
    ],
)
def test_the_length_of_a_text(name: str, limit: int, rule: str) -> None:
    assert found(entry(**{name: "&amp;" * limit})) == []
    assert found(entry(**{name: " \n" + "é" * limit + "\n "})) == []
    assert [rule for rule, _ in found(entry(**{name: "é" * (limit + 1)}))] == [rule]


@pytest.mark.parametrize(
    ("page", "user", "fires"),
    [
        ("https://a.example.co.uk/", "https://b.example.co.uk/ann", False),
        ("https://a.other.com/", "https://b.example.com/ann", True),
        ("https://10.1.0.2/", "https://10.0.0.2/ann", True),
    ],
)
def test_an_uploader_on_another_host_of_the_domain(page: str, user: str, fires: bool) -> None:
    body = entry(f'<video:uploader info="{user}">Ann</video:uploader>', page=page)
    assert (("video-uploader-offsite", 6) in found(body)) is fires


def test_an_info_that_is_no_uri_is_what_the_schema_names() -> None:
    body = entry('<video:uploader info="https://example.com/%zz">Ann</video:uploader>')
    assert found(body) == [("xml-schema-violation", 6)]


def test_thousands_of_bad_videos_are_found_one_by_one() -> None:
    videos = "\n<video:video><video:title/></video:video>" * 3000
    findings = judge(f"{ROOT}<url><loc>https://example.com/a</loc>{videos}</url></urlset>".encode())
    lines = [finding.line for finding in findings if finding.rule == "video-title-missing"]
    assert lines == list(range(2, 3002))


def test_what_a_recovered_entry_lost_is_not_called_missing_and_what_it_has_is_judged() -> None:
    body = "<url><loc>https://example.com/a</loc><video:video><video:duration>0</video:duration></video:video>"
    findings = judge(f"{ROOT}{body}<video:video><video:title>A & B".encode())
    assert [finding.rule for finding in findings if finding.rule in RULES] == ["video-duration-range"]


def test_videos_of_a_feed_are_not_judged_by_these_rules() -> None:
    item = "<item><link>https://example.com/a</link><media:content medium='video' url='/a.mp4' duration='0'/></item>"
    text = f"<rss version='2.0' xmlns:media='http://search.yahoo.com/mrss/'><channel>{item}</channel></rss>"
    assert [finding for finding in judge(text.encode()) if finding.rule in RULES] == []
