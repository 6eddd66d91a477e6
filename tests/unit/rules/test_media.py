"""The rules on images and videos, beyond the files `image-*` and `video-*` in `tests/data/bad`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.rules.facts.objects import USUAL
from sitemapcrawler.urls.grammar import BLANK, fault_of, form_of

from .expecting import ALL, BAD, CORE, places, rules_of
from .judging import judge

RULES = rules_of("image", "video")
ROOT = (
    f'<urlset xmlns="{CORE}" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" '
    'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1">'
)
REQUIRED = {
    "thumbnail_loc": "https://example.com/1.jpg",
    "title": "How to grill",
    "description": "Six steps",
    "content_loc": "https://example.com/1.mp4",
}


def document(body: str) -> bytes:
    return f"{ROOT}{body}</urlset>".encode()


def found(body: str, *wanted: str) -> list[tuple[str, int | None]]:
    return places(judge(document(body)), ALL, wanted)


def lines_of(rule: str, parts: str) -> list[int | None]:
    """Lines of the findings of a rule on an entry."""
    body = document(f"<url><loc>https://example.com/a</loc>{parts}</url>")
    return [finding.line for finding in judge(body) if finding.rule == rule]


def images(*locs: str) -> str:
    """Images, each on a line of its own."""
    return "".join(f"\n<image:image><image:loc>{loc}</image:loc></image:image>" for loc in locs)


def video(*more: str, page: str = "https://example.com/a", **changed: str) -> str:
    """An entry with one video: the required elements on lines 2 to 5, `more` from line 6 on."""
    lines = [f"<video:{name}>{value}</video:{name}>" for name, value in (REQUIRED | changed).items()]
    return f"<url><loc>{page}</loc><video:video>\n" + "\n".join([*lines, *more]) + "\n</video:video></url>"


@pytest.mark.parametrize(
    ("name", "element", "number"),
    [("image-several.xml", b"<image:image>", 6), ("video-all-elements.xml", b"<video:video>", 3)],
)
def test_a_good_file_gives_nothing_not_even_for_information(name: str, element: bytes, number: int) -> None:
    data = (BAD.parent / "good" / name).read_bytes()
    assert data.count(element) == number
    assert places(judge(data), ALL, RULES) == []


@pytest.mark.parametrize(
    ("rule", "part"),
    [
        ("image-loc-relative", "\n<image:image><image:loc>/{}.jpg</image:loc></image:image>"),
        ("video-title-missing", "\n<video:video><video:title/></video:video>"),
    ],
)
def test_thousands_of_bad_ones_are_found_one_by_one(rule: str, part: str) -> None:
    assert lines_of(rule, "".join(part.format(number) for number in range(3000))) == list(range(2, 3002))


@pytest.mark.parametrize("medium", ["image", "video"])
def test_media_of_a_feed_are_not_judged_by_these_rules(medium: str) -> None:
    media = f"<media:content medium='{medium}' url='/a' duration='0'/>"
    text = f"<rss version='2.0' xmlns:media='http://search.yahoo.com/mrss/'><channel><item><link>https://example.com/a</link>{media}"
    assert [finding for finding in judge(f"{text}</item></channel></rss>".encode()) if finding.rule in RULES] == []


@pytest.mark.parametrize(
    ("parts", "rules"),
    [
        ("<image:image><image:title>A & B</image:title><image:loc>/a", []),
        (
            "<video:video><video:duration>0</video:duration></video:video><video:video><video:title>A & B",
            ["video-duration-range"],
        ),
    ],
    ids=["image", "video"],
)
def test_what_a_recovered_entry_lost_is_not_called_missing_and_what_it_has_is_judged(
    parts: str, rules: list[str]
) -> None:
    findings = judge(f"{ROOT}<url><loc>https://example.com/a</loc>{parts}".encode())
    assert "doc-recovered-entry" in {finding.rule for finding in findings}
    assert [finding.rule for finding in findings if finding.rule in RULES] == rules


# Images


@given(st.from_regex(USUAL, fullmatch=True))
def test_a_usual_url_has_no_fault(url: str) -> None:
    assert fault_of(url) is None
    assert form_of(url) == "absolute"
    assert BLANK.search(url) is None


def test_the_same_image_on_two_pages_is_no_duplicate() -> None:
    image = images("https://example.com/logo.png")
    entries = (f"<url><loc>https://example.com/{page}</loc>{image}</url>" for page in "ab")
    assert found("".join(entries), *RULES) == []


# Videos


def test_a_number_of_more_digits_than_python_converts() -> None:
    assert found(video(f"<video:duration>{'9' * 5000}</video:duration>")) == [("video-duration-range", 6)]


def test_white_space_around_a_date_does_not_count() -> None:
    assert found(video("<video:publication_date>\n2024-05-01\n</video:publication_date>")) == []


@pytest.mark.parametrize(
    ("name", "limit", "rule"),
    [
        ("description", 2048, "video-description-too-long"),
        ("title", 100, "video-title-too-long"),
        ("uploader", 255, "video-uploader-too-long"),
    ],
)
def test_the_length_of_a_text(name: str, limit: int, rule: str) -> None:
    assert found(video(**{name: "&amp;" * limit})) == []
    assert found(video(**{name: " \n" + "é" * limit + "\n "})) == []
    assert [rule for rule, _ in found(video(**{name: "é" * (limit + 1)}))] == [rule]


@pytest.mark.parametrize(
    ("page", "user", "fires"),
    [
        ("https://a.example.co.uk/", "https://b.example.co.uk/ann", False),
        ("https://a.other.com/", "https://b.example.com/ann", True),
        ("https://10.1.0.2/", "https://10.0.0.2/ann", True),
    ],
)
def test_an_uploader_on_another_host_of_the_domain(page: str, user: str, fires: bool) -> None:
    body = video(f'<video:uploader info="{user}">Ann</video:uploader>', page=page)
    assert (("video-uploader-offsite", 6) in found(body)) is fires


def test_an_info_that_is_no_uri_is_what_the_schema_names() -> None:
    body = video('<video:uploader info="https://example.com/%zz">Ann</video:uploader>')
    assert found(body) == [("xml-schema-violation", 6)]
