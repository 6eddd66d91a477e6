"""The rules on videos."""

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


def entry(*more: str, page: str = "https://example.com/a", **changed: str | None) -> str:
    """An entry with one video: the required elements on lines 2 to 5, `more` from line 6 on. None leaves one out."""
    values = {**REQUIRED, **changed}
    lines = [f"<video:{name}>{value}</video:{name}>" for name, value in values.items() if value is not None]
    return f"<url><loc>{page}</loc><video:video>\n" + "\n".join([*lines, *more]) + "\n</video:video></url>"


def found(body: str, *wanted: str, root: str = ROOT) -> list[tuple[str, int | None]]:
    return places(judge(f"{root}{body}</urlset>".encode()), ALL, wanted)


def told(*more: str, **changed: str | None) -> list[tuple[str, str]]:
    """Rule and severity of what is found on the video of `entry`."""
    findings = judge(f"{ROOT}{entry(*more, **changed)}</urlset>".encode())
    return [(finding.rule, finding.severity) for finding in findings if finding.rule in RULES]


def test_a_good_file_gives_nothing_not_even_for_information() -> None:
    data = GOOD.read_bytes()
    assert data.count(b"<video:video>") == 3
    assert places(judge(data), ALL, RULES) == []


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("thumbnail_loc", "video-thumbnail-missing"),
        ("title", "video-title-missing"),
        ("description", "video-description-missing"),
        ("content_loc", "video-no-location"),
    ],
)
def test_an_element_that_is_required(name: str, rule: str) -> None:
    line = {"content_loc": 1}.get(name, [*REQUIRED].index(name) + 2)
    assert found(entry(**{name: None})) == [(rule, 1)]
    assert found(entry(**{name: ""})) == [(rule, line)]
    assert found(entry(**{name: " \t "})) == [(rule, line)]
    assert found(entry(**{name: "<![CDATA[ ]]>"})) == [(rule, line)]
    assert found(entry(f"<{name}>https://example.com/2.mp4</{name}>", **{name: None})) == [(rule, 1)]
    inside = [*REQUIRED].index(name) + 2
    assert found(entry(**{name: f"<video:x>{REQUIRED[name]}</video:x>"})) == [("xml-schema-violation", inside)]


def test_a_player_is_a_location() -> None:
    assert found(entry("<video:player_loc>https://example.com/p</video:player_loc>", content_loc=None)) == []
    assert found(entry("<video:player_loc>https://example.com/p</video:player_loc>", content_loc="")) == []


def test_an_empty_video_lacks_four_things() -> None:
    assert [rule for rule, _ in found("<url><loc>https://example.com/a</loc><video:video/></url>")] == [
        "video-description-missing",
        "video-no-location",
        "video-thumbnail-missing",
        "video-title-missing",
    ]


def test_the_second_of_two_videos_has_its_own_line() -> None:
    first = entry().removesuffix("</url>")
    second = "\n<video:video>\n" + entry(title="", duration="0").partition("<video:video>\n")[2]
    assert found(first + second) == [("video-duration-range", 12), ("video-title-missing", 9)]


@pytest.mark.parametrize(
    ("url", "fires"),
    [
        ("https://example.com/a", True),
        ("HTTPS://EXAMPLE.com:443/a#t=10", True),
        ("https://example.com/a.mp4", False),
        ("https://example.com/a?play=1", False),
        ("http://example.com/a", False),
        ("https://example.com/A", False),
    ],
)
@pytest.mark.parametrize("name", ["content_loc", "player_loc"])
def test_a_location_that_is_the_page(name: str, url: str, fires: bool) -> None:
    body = entry(**{"content_loc": None, name: url})
    assert found(body) == ([("video-loc-same-as-page", 5)] if fires else [])


@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("https://example.com/1.mp4", None),
        ("ftp://files.example.com/1.mp4", None),
        ("FTP://files.example.com/1.mp4", None),
        ("https://example.com/フィルム.mp4", None),
        ("rtmp://example.com/1", "video-protocol"),
        ("rtsp://example.com/1", "video-protocol"),
        ("mms://example.com/1", "video-protocol"),
        ("/1.mp4", "video-loc-invalid"),
        ("//example.com/1.mp4", "video-loc-invalid"),
        ("www.youtube.com/embed/1", "video-loc-invalid"),
        ("/go?to=https://example.com/1.mp4", "video-loc-invalid"),
        ("blob:https://www.youtube.com/1", "video-loc-invalid"),
        ("data:video/mp4;base64,AAAA", "video-loc-invalid"),
        ("https://example.com/1 2.mp4", "video-loc-invalid"),
        ("ftp:///1.mp4", "video-loc-invalid"),
        ("https://example.com/%zz.mp4", "video-loc-invalid"),
    ],
)
@pytest.mark.parametrize("name", ["thumbnail_loc", "content_loc", "player_loc"])
def test_a_url_of_a_video(name: str, url: str, rule: str | None) -> None:
    assert [rule for rule, _ in found(entry(**{name: url}))] == ([rule] if rule else [])


def test_a_player_with_attributes_is_judged_like_one_without() -> None:
    player = '<video:player_loc allow_embed="yes">/player</video:player_loc>'
    assert found(entry(player)) == [("video-loc-invalid", 6)]


E = "error"
W = "warning"
VALUES = {
    "duration": (
        "video-duration-range",
        {
            "1": None, "600": None, "28800": None, "0600": None, "+600": None, " 600 ": None,
            "0": E, "28801": E, "-1": E, "600.5": E, "6e2": E, "PT10M": E, "10:00": E, "1 000": E, "٦٠٠": E, "NaN": E,
            "9" * 5000: E, "": W, " ": W,
        },
    ),
    "rating": (
        "video-rating-range",
        {
            "0": None, "0.0": None, "4.2": None, "5": None, "5.0": None, "5.": None, ".5": None, "+3": None, "-0": None,
            "5.01": E, "-0.1": E, "4,2": E, "87%": E, "4/5": E, "1e0": E, "NaN": E, "inf": E, "five": E, "": W,
        },
    ),
    "view_count": (
        "video-view-count-invalid",
        {"0": None, "12345": None, "-1": E, "1,234": E, "1.234": E, "1 234": E, "12K": E, "many": E, "": W},
    ),
    "live": (
        "video-yesno-invalid",
        {"yes": None, "Yes": None, "YES": None, "no": None, "No": None, "NO": None,
         "true": E, "yEs": E, "false": E, "1": E, "0": E, "y": E, "yes no": E, "": W},
    ),
    "family_friendly": ("video-yesno-invalid", {"Yes": None, "true": E}),
    "requires_subscription": ("video-yesno-invalid", {"NO": None, "0": E}),
    "publication_date": (
        "video-date-invalid",
        {
            "2024-05-01": None, "2024-05-01T10:00:00Z": None, "2024-05-01T10:00:00+01:00": None,
            "2024-05-01T10:00:00.123Z": None, "2031-05-01": None, "\n2024-05-01\n": None,
            "2024-05-01T10:00Z": W, "2024-05-01Z": W, "": W,
            "2024": E, "2024-05": E, "2024-05-01T10:00:00": E, "2024-05-01T10:00": E, "2024-05-01 10:00:00": E,
            "2024-05-01T10:00:00+0100": E, "2024-02-30": E, "2024-05-01T25:00:00Z": E, "0000-00-00": E,
            "01/05/2024": E, "May 1, 2024": E, "Wed, 01 May 2024 10:00:00 GMT": E, "1714557600": E, "today": E,
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "rule", "severity"),
    [(name, value, rule, severity) for name, (rule, cases) in VALUES.items() for value, severity in cases.items()],
)
def test_a_value(name: str, value: str, rule: str, severity: str | None) -> None:
    assert told(f"<video:{name}>{value}</video:{name}>") == ([(rule, severity)] if severity else [])


@pytest.mark.parametrize(
    ("value", "fires"),
    [
        ("2026-06-01T12:00:01Z", False),
        ("2026-06-01T11:59:59Z", True),
        ("2026-06-01T12:30:00+01:00", True),
        ("2026-06-01", False),
        ("2026-05-31", False),
        ("2026-05-30", True),
        ("2019-11-05T19:20:30+08:00", True),
        ("9999-12-31", False),
        ("0001-01-01", False),
    ],
)
def test_a_video_that_has_expired(value: str, fires: bool) -> None:
    assert told(f"<video:expiration_date>{value}</video:expiration_date>") == (
        [("video-expired", "warning")] if fires else []
    )


def test_a_date_that_cannot_be_read_is_one_finding() -> None:
    assert told("<video:expiration_date>last year</video:expiration_date>") == [("video-date-invalid", "error")]


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
    ("element", "severities"),
    [
        ('<video:restriction relationship="allow">IE GB US CA</video:restriction>', []),
        ('<video:restriction relationship="deny"> DE\n AT </video:restriction>', []),
        ('<video:restriction relationship="allow">XK</video:restriction>', []),
        ('<video:restriction relationship="allow">de at</video:restriction>', ["info"]),
        ('<video:restriction relationship="Allow">DE</video:restriction>', ["info"]),
        ('<video:restriction relationship="allow"></video:restriction>', ["warning"]),
        ("<video:restriction/>", ["warning"]),
        ('<video:restriction relationship="allow">UK</video:restriction>', ["error"]),
        ('<video:restriction relationship="allow">DE,AT</video:restriction>', ["error"]),
        ('<video:restriction relationship="allow">DE, AT</video:restriction>', ["error"]),
        ('<video:restriction relationship="allow">USA Germany</video:restriction>', ["error"]),
        ("<video:restriction>DE</video:restriction>", ["error"]),
        ('<video:restriction relationship="">DE</video:restriction>', ["error"]),
        ('<video:restriction relationship="permit">DE</video:restriction>', ["error"]),
    ],
)
def test_a_restriction(element: str, severities: list[str]) -> None:
    assert told(element) == [("video-restriction-invalid", severity) for severity in severities]


def test_a_country_that_is_often_meant_is_named() -> None:
    element = '<video:restriction relationship="allow">US UK</video:restriction>'
    [finding] = [finding for finding in judge(f"{ROOT}{entry(element)}</urlset>".encode()) if finding.rule in RULES]
    assert "'UK' (GB is meant)" in finding.message
    assert (finding.line, finding.value) == (6, "US UK")


@pytest.mark.parametrize(
    ("element", "severities"),
    [
        ('<video:platform relationship="allow">web mobile tv</video:platform>', []),
        ('<video:platform relationship="deny">tv</video:platform>', []),
        ('<video:platform relationship="deny">TV</video:platform>', ["info"]),
        ('<video:platform relationship="deny"/>', ["warning"]),
        ('<video:platform relationship="deny">desktop</video:platform>', ["error"]),
        ('<video:platform relationship="deny">web,tv</video:platform>', ["error"]),
        ("<video:platform>web</video:platform>", ["error"]),
    ],
)
def test_a_platform(element: str, severities: list[str]) -> None:
    assert told(element) == [("video-platform-invalid", severity) for severity in severities]


@pytest.mark.parametrize(
    ("info", "fires"),
    [
        ("https://example.com/ann", False),
        ("https://www.example.com/ann", False),
        ("http://users.example.com/ann", False),
        ("", False),
        ("https://example.net/ann", True),
        ("https://www.youtube.com/@ann", True),
        ("/users/ann", True),
        ("ann", True),
    ],
)
def test_the_info_of_an_uploader(info: str, fires: bool) -> None:
    assert told(f'<video:uploader info="{info}">Ann</video:uploader>') == (
        [("video-uploader-offsite", "warning")] if fires else []
    )


def test_an_info_that_is_no_uri_is_what_the_schema_names() -> None:
    body = entry('<video:uploader info="https://example.com/%zz">Ann</video:uploader>')
    assert found(body) == [("xml-schema-violation", 6)]


def test_hosts_of_one_domain_are_never_told_apart() -> None:
    uploader = '<video:uploader info="https://b.example.co.uk/ann">Ann</video:uploader>'
    assert ("video-uploader-offsite", 6) not in found(entry(uploader, page="https://a.example.co.uk/"))
    assert ("video-uploader-offsite", 6) in found(
        entry(uploader, page="https://a.other.co.uk/").replace("co.uk", "com")
    )
    uploader = '<video:uploader info="https://10.0.0.2/ann">Ann</video:uploader>'
    assert ("video-uploader-offsite", 6) in found(entry(uploader, page="https://10.1.0.2/"))


def test_three_uploaders_are_one_finding() -> None:
    assert found(entry(*["<video:uploader>Ann</video:uploader>"] * 3), *RULES) == [("video-uploader-multiple", 7)]


@pytest.mark.parametrize(
    ("element", "named"),
    [
        ("<video:category>Food</video:category>", "<video:category>"),
        ('<video:price currency="EUR">1.99</video:price>', "<video:price>"),
        ("<video:price/>", "<video:price>"),
        ('<video:gallery_loc title="All">https://example.com/all</video:gallery_loc>', "<video:gallery_loc>"),
        ("<video:tvshow><video:show_title>A</video:show_title></video:tvshow>", "<video:tvshow>"),
        ('<video:id type="url">https://example.com/1</video:id>', "<video:id>"),
        ('<video:player_loc autoplay="ap=1">https://example.com/p</video:player_loc>', "<video:player_loc autoplay>"),
    ],
)
def test_retired_elements_and_attributes(element: str, named: str) -> None:
    [finding] = [finding for finding in judge(f"{ROOT}{entry(element)}</urlset>".encode()) if finding.rule in RULES]
    assert (finding.rule, finding.severity, finding.line) == ("video-deprecated", "info", 6)
    assert named in finding.message


def test_retired_elements_are_told_once_for_an_entry_at_the_first() -> None:
    video = entry("<video:category>Food</video:category>").partition("</loc>")[2].removesuffix("</url>")
    assert found(f"<url><loc>https://example.com/a</loc>{video}{video}</url>", *RULES) == [("video-deprecated", 6)]


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


@pytest.mark.parametrize(
    ("url", "fires"),
    [
        ("https://www.youtube.com/watch?v=dQw4w9WgXcQ", True),
        ("https://m.youtube.com/watch?v=dQw4w9WgXcQ", True),
        ("https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ", True),
        ("https://youtu.be/dQw4w9WgXcQ", True),
        ("https://youtube.com/shorts/dQw4w9WgXcQ", True),
        ("https://vimeo.com/76979871", True),
        ("https://player.vimeo.com/video/76979871", True),
        ("https://www.dailymotion.com/video/x7tgad0", True),
        ("https://www.dailymotion.com/embed/video/x7tgad0", True),
        ("https://player.vimeo.com/external/76979871.hd.mp4?s=1", False),
        ("https://player.vimeo.com/progressive_redirect/playback/1/rendition/720p", False),
        ("https://cdn.example.com/youtube.com/watch.mp4", False),
        ("https://example.com/watch?v=1", False),
    ],
)
def test_pages_of_platforms_are_no_media_files(url: str, fires: bool) -> None:
    assert ("video-content-is-page" in {rule for rule, _ in told(content_loc=url)}) is fires
    assert "video-content-is-page" not in {rule for rule, _ in told(player_loc=url)}
