"""Rules on videos of an entry, in Google's video namespace."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from sitemapcrawler.namespaces.extensions import VIDEO_EXTENSION, Video
from sitemapcrawler.namespaces.schemas.terms import LOCATIONS
from sitemapcrawler.rules.facts.given import UrlFacts
from sitemapcrawler.rules.facts.languages import RESERVED, is_country
from sitemapcrawler.rules.facts.objects import (
    VIDEOS,
    Flaw,
    are_usual,
    flaw,
    lacks,
    left_entity,
    line_of,
    origin_of,
    parts,
    stray,
    videos,
)
from sitemapcrawler.rules.facts.written import MAX_DURATION_S, DateForm, Standard, span, written
from sitemapcrawler.rules.registry import (
    ERROR,
    ESCAPING,
    INFO,
    WARNING,
    Check,
    Message,
    Objects,
    Per,
    Severity,
    row,
    rule,
)
from sitemapcrawler.urls import authority, visit_key
from sitemapcrawler.urls.display import quoted

RETIREMENT = "https://developers.google.com/search/blog/2022/05/spring-cleaning-sitemap-extensions"
RETIRED = ("category", "gallery_loc", "price", "tvshow", "id", "content_segment_loc")
"""Elements without effect. Source: `RETIREMENT`; the last two disappeared from Google's documentation earlier."""
RETIRED_ATTRIBUTES = ("allow_embed", "autoplay")
"""Attributes of `player_loc` without effect. Source: `RETIREMENT`"""
URLS = ("thumbnail_loc", *LOCATIONS)
PROTOCOLS = ("http", "https", "ftp")
"""Protocols allowed for files. Source: `GOOGLE`"""
STREAM = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
"""Start of a URL with a host and any scheme."""
PLATFORM_PAGE = re.compile(
    r"https?://(?:(?:www|m|music|mobile)\.)?(?:"
    r"youtube(?:-nocookie)?\.com/(?:watch|embed/|v/|shorts/|live/|playlist)|youtu\.be/[\w-]"
    r"|vimeo\.com/(?:[0-9]|channels/|groups/|album/|showcase/|ondemand/)|player\.vimeo\.com/video/"
    r"|dailymotion\.com/(?:video/|embed/)|geo\.dailymotion\.com/player|dai\.ly/\w"
    r"|facebook\.com/(?:watch|reel/|plugins/video|[^/?#]+/videos/)|fb\.watch/|tiktok\.com/(?:@|embed/)|instagram\.com/(?:p|reels?|tv)/"
    r"|twitch\.tv/videos/|clips\.twitch\.tv/|player\.twitch\.tv/|loom\.com/(?:share|embed)/|fast\.wistia\.(?:com|net)/embed/iframe/"
    r"|rutube\.ru/(?:video|play/embed)/|vk(?:video)?\.(?:com|ru)/video|bilibili\.com/video/|ok\.ru/video)",
    re.IGNORECASE,
)
"""Watch pages and embedded players of video platforms, not files such as `player.vimeo.com/external/1.hd.mp4`."""
MAX_TAGS = 32
"""Maximum number of tags of a video. Source: `GOOGLE`"""


def _text(video: Video, name: str) -> str:
    """Text of an element with optional attributes; empty if it is missing."""
    value = getattr(video, name)
    return (value.get("value") if isinstance(value, dict) else value) or ""


UNUSUAL = ("expiration_date", "rating", "view_count", "restriction", "platform", "uploader")
"""Parts whose presence alone makes a video unusual: rules check their values."""


def has_usual_videos(entry: UrlFacts) -> bool:
    """True for an entry whose videos have valid required parts, and of the others only some simple ones."""
    page = entry.record.loc
    return all(_is_usual(video, page) for video in entry.record.videos)


def _is_usual(video: Video, page: str) -> bool:
    locations = [url for url in (video.content_loc, video.player_loc) if isinstance(url, str) and url]
    if not (video.thumbnail_loc and video.title and video.description and locations) or video.extra:
        return False
    if isinstance(video.player_loc, dict) or "" in (video.content_loc, video.player_loc):
        return False
    if any(getattr(video, name) not in (None, []) for name in RETIRED) or any(
        getattr(video, name) is not None for name in UNUSUAL
    ):
        return False
    if not are_usual([video.thumbnail_loc, *locations], origin_of(page)):
        return False
    if visit_key(page) in [visit_key(url) for url in locations] or PLATFORM_PAGE.match(video.content_loc or ""):
        return False
    duration, date = video.duration, video.publication_date
    if duration is not None and not _is_duration(duration):
        return False
    if date is not None and written(date, Standard.W3C).form is not DateForm.LEGAL:
        return False
    if not all(getattr(video, name) in (None, *ANSWERS) for name in YES_OR_NO):
        return False
    return len(video.title) <= MAX_TITLE and len(video.description) <= MAX_DESCRIPTION and len(video.tag) <= MAX_TAGS


UNUSUAL_VIDEOS = Objects(VIDEO_EXTENSION, usual=has_usual_videos)
video_rule = partial(rule, of=UNUSUAL_VIDEOS)
"""Registers a rule on entries with videos that are not all usual."""


def required_part(name: str, id: str, also: dict[str, str]) -> Callable[[str], Check]:
    """A rule on a required element of a video that is missing or empty."""

    def check(entry: UrlFacts) -> Iterator[Message]:
        for video, element in videos(entry):
            if not _text(video, name) and lacks(element, name):
                yield Message(f"a video without <video:{name}>{stray(element, name)}", line_of(element, name))

    return row(check, id, ERROR, VIDEOS, UNUSUAL_VIDEOS, also=also)


def limited_part(name: str, limit: int, id: str, severity: Severity = ERROR) -> Callable[[str], Check]:
    """A rule on an element of a video that exceeds a limit in characters."""

    def check(entry: UrlFacts) -> Iterator[Message]:
        for video, element in videos(entry):
            value = _text(video, name)
            if len(value) > limit:
                long = f"<video:{name}> has {len(value):,} characters; {limit:,} are allowed"
                yield Message(long, line_of(element, name), value=value)

    return row(check, id, severity, VIDEOS, UNUSUAL_VIDEOS)


required_part("thumbnail_loc", "video-thumbnail-missing", also={"Search Console": "Missing thumbnail URL"})("""
    A video has no `<video:thumbnail_loc>`, or an empty one.

    Why: It is required; search results show the thumbnail.
    Fix: Add a `<video:thumbnail_loc>` with the URL of a preview image.
    Bad: a `<video:video>` with title, description and content_loc only
    Good: `<video:thumbnail_loc>https://example.com/thumbs/1.jpg</video:thumbnail_loc>` in it
""")

required_part("title", "video-title-missing", also={"Search Console": "Missing video title"})("""
    A video has no `<video:title>`, or an empty one.

    Why: It is required.
    Fix: Add a `<video:title>` with the video's title.
    Bad: `<video:title></video:title>`
    Good: `<video:title>How to grill</video:title>`
""")

required_part("description", "video-description-missing", also={"Search Console": "Missing XML tag"})("""
    A video has no `<video:description>`, or an empty one.

    Why: It is required.
    Fix: Add a `<video:description>` of a sentence or two.
    Bad: `<video:description/>`
    Good: `<video:description>Six steps to a good steak</video:description>`
""")


@video_rule("video-no-location", ERROR, VIDEOS, also={"Search Console": "Missing XML tag"})
def video_no_location(entry: UrlFacts) -> Iterator[Message]:
    """A video has neither `<video:content_loc>` nor `<video:player_loc>`.

    Why: One of them is required; search engines identify a video by its location.
    Fix: Add a `<video:content_loc>` with the media file, or a `<video:player_loc>` with the player.
    Bad: a `<video:video>` with thumbnail, title and description only
    Good: `<video:content_loc>https://example.com/videos/1.mp4</video:content_loc>` in it
    """
    for video, element in videos(entry):
        if not any(_text(video, name) or not lacks(element, name) for name in LOCATIONS):
            remark = stray(element, LOCATIONS[0]) or stray(element, LOCATIONS[1])
            yield Message(f"a video without <video:content_loc> or <video:player_loc>{remark}", line_of(element))


@video_rule(
    "video-loc-same-as-page",
    ERROR,
    VIDEOS,
    also={"Search Console": "Video location and play page location are the same"},
)
def video_loc_same_as_page(entry: UrlFacts) -> Iterator[Message]:
    """The URL of a video is that of its page.

    Why: It must be that of the media file or a player; the page is neither.
    Fix: Write the URL of the media file or of the embedded player.
    Bad: `<loc>https://example.com/v/1</loc>` and `<video:player_loc>https://example.com/v/1</video:player_loc>`
    Good: `<video:player_loc>https://example.com/player?v=1</video:player_loc>`
    """
    for video, element in videos(entry):
        for name in LOCATIONS:
            url = _text(video, name)
            if url and visit_key(url) == visit_key(entry.record.loc):
                yield Message(f"<video:{name}> is the page itself", line_of(element, name), value=url)


@video_rule(
    "video-content-is-page",
    WARNING,
    VIDEOS,
    per=Per.FILE("have videos whose content_loc is a page"),
    also={"Search Console": "Video location appears to be a play page"},
)
def video_content_is_page(entry: UrlFacts) -> Iterator[Message]:
    """The content_loc of a video is a page. It is a watch page or a player of YouTube, Vimeo, Dailymotion or another
    platform.

    Why: It must be the media file. Search engines cannot use a page instead; a player belongs in player_loc.
    Fix: Move the URL to `<video:player_loc>`, as the platform's embed URL.
    Bad: `<video:content_loc>https://www.youtube.com/watch?v=dQw4w9WgXcQ</video:content_loc>`
    Good: `<video:player_loc>https://www.youtube.com/embed/dQw4w9WgXcQ</video:player_loc>`
    """
    for video, element in videos(entry):
        url = _text(video, "content_loc")
        if url and PLATFORM_PAGE.match(url) and visit_key(url) != visit_key(entry.record.loc):
            message = "<video:content_loc> is a page of a video platform, not a media file"
            yield Message(message, line_of(element, "content_loc"), value=url)


def _flaws(entry: UrlFacts) -> Iterator[tuple[Flaw, bool, int | None, str]]:
    """Yield the problems of the videos' URLs: flaw, whether the protocol is to blame, line and value."""
    for video, element in videos(entry):
        for name in URLS:
            url = _text(video, name)
            found = flaw(entry.decoded(url), PROTOCOLS) if url else None
            if found is not None:
                yield found, found.kind == "scheme" and bool(STREAM.match(url)), line_of(element, name), url


@video_rule("video-loc-invalid", ERROR, VIDEOS, also={"Search Console": "Invalid URL"})
def video_loc_invalid(entry: UrlFacts) -> Iterator[Message]:
    """A URL of a video is not valid. Its thumbnail_loc, content_loc and player_loc must be valid, absolute URLs.

    Why: Readers interpret it differently; a search engine may not fetch the video or thumbnail at all.
    Fix: Write the full URL with scheme and host, percent-encoded.
    Bad: `<video:content_loc>/videos/1.mp4</video:content_loc>`
    Good: `<video:content_loc>https://example.com/videos/1.mp4</video:content_loc>`
    """
    for found, protocol, line, value in _flaws(entry):
        if not protocol:
            yield Message(found.text, line, value=value)


@video_rule(
    "video-loc-double-escaped", WARNING, ESCAPING, per=Per.FILE("have a video with a URL that was escaped twice")
)
def video_loc_double_escaped(entry: UrlFacts) -> Iterator[Message]:
    """A URL of a video was escaped twice for XML. Checks thumbnail_loc, content_loc and player_loc.

    Why: It names a URL that contains the characters `&amp;`, which is a different file.
    Fix: Escape the URL once: write `&amp;` for `&`, not `&amp;amp;`.
    Bad: `<video:content_loc>https://example.com/1.mp4?a=1&amp;amp;b=2</video:content_loc>`
    Good: `<video:content_loc>https://example.com/1.mp4?a=1&amp;b=2</video:content_loc>`
    """
    for video, element in videos(entry, entry.brief):
        for name in URLS:
            text = left_entity(_text(video, name))
            if text is not None:
                yield Message(text, line_of(element, name), value=_text(video, name))


@video_rule("video-protocol", WARNING, VIDEOS, also={"Search Console": "Invalid URL"})
def video_protocol(entry: UrlFacts) -> Iterator[Message]:
    """A URL of a video is not HTTP or FTP.

    Why: Search engines must be able to download the file; they do not support streaming protocols.
    Fix: Serve the video over https, and list that URL.
    Bad: `<video:content_loc>rtmp://example.com/live/1</video:content_loc>`
    Good: `<video:content_loc>https://example.com/videos/1.mp4</video:content_loc>`
    """
    for found, protocol, line, value in _flaws(entry):
        if protocol:
            yield Message(found.text, line, value=value)


@video_rule("video-tags-too-many", ERROR, VIDEOS)
def video_tags_too_many(entry: UrlFacts) -> Iterator[Message]:
    """A video has more than 32 tags.

    Why: Search engines use only the first 32.
    Fix: Keep at most 32 tags.
    Bad: 40 `<video:tag>`
    Good: a few tags that say what the video is about
    """
    for video, element in videos(entry):
        if len(video.tag) > MAX_TAGS:
            message = f"{len(video.tag):,} tags; {MAX_TAGS} are allowed"
            surplus = parts(element, "tag")[MAX_TAGS] if element is not None else None
            yield Message(message, line_of(surplus), value=str(len(video.tag)))


@video_rule("video-uploader-multiple", ERROR, VIDEOS, also={"Search Console": "Invalid XML: too many tags"})
def video_uploader_multiple(entry: UrlFacts) -> Iterator[Message]:
    """A video has more than one uploader.

    Why: One is allowed; it is undefined which of several counts.
    Fix: Keep one `<video:uploader>`.
    Bad: `<video:uploader>Ann</video:uploader><video:uploader>Bob</video:uploader>`
    Good: `<video:uploader>Ann and Bob</video:uploader>`
    """
    for _, element in videos(entry):
        uploaders = [] if element is None else parts(element, "uploader")
        if len(uploaders) > 1:
            message = f"{len(uploaders)} uploaders; one is allowed for a video"
            yield Message(message, uploaders[1].line, value=uploaders[1].text)


@video_rule("video-deprecated", INFO, RETIREMENT, per=Per.SITE("have deprecated video elements or attributes"))
def video_deprecated(entry: UrlFacts) -> Iterator[Message]:
    """Videos have deprecated elements or attributes.

    Why: Google has not read category, gallery_loc, price, tvshow, and allow_embed and autoplay of player_loc since 6
    August 2022; id and content_segment_loc were removed from its documentation earlier. They do no harm.
    Fix: Remove the deprecated elements and attributes.
    Bad: `<video:category>Cooking</video:category>`
    Good: `<video:tag>cooking</video:tag>`
    """
    used: dict[str, int | None] = {}
    for video, element in videos(entry, entry.brief):
        for tag, name in _retired(video):
            if tag not in used:
                used[tag] = line_of(element, name)
    if used:
        yield Message(f"{', '.join(used)}: no effect", next(iter(used.values())), value=next(iter(used)))


def _retired(video: Video) -> Iterator[tuple[str, str]]:
    """Yield (name in messages, element name) for retired elements and attributes of a video."""
    yield from ((f"<video:{name}>", name) for name in RETIRED if getattr(video, name) not in (None, []))
    player = video.player_loc if isinstance(video.player_loc, dict) else {}
    yield from ((f"<video:player_loc {name}>", "player_loc") for name in RETIRED_ATTRIBUTES if name in player)


DATES = ("publication_date", "expiration_date")

YES_OR_NO = ("family_friendly", "requires_subscription", "live")

ANSWERS = frozenset(("yes", "Yes", "YES", "no", "No", "NO"))
"""Source: Google's schema of the namespace."""

RELATIONSHIPS = ("allow", "deny")

PLATFORMS = ("web", "mobile", "tv")

MAX_DESCRIPTION = 2048
"""Characters. Source: `GOOGLE`"""

MAX_TITLE = 100
"""Characters. Source: an earlier version of `GOOGLE`"""

MAX_UPLOADER = 255
"""Characters. Source: `GOOGLE`"""

MAX_RATING = 5.0
"""Source: `GOOGLE`"""

MAX_NAMED = 5
"""Wrong codes that a message names."""

INTEGER = re.compile(r"\+?[0-9]{1,18}")
"""A non-negative integer in a plausible range for seconds or views."""

DECIMAL = re.compile(r"[+-]?(?:[0-9]{1,18}\.?[0-9]{0,18}|\.[0-9]{1,18})")


def _is_integer(value: str) -> bool:
    return INTEGER.fullmatch(value) is not None


def _is_duration(value: str) -> bool:
    return _is_integer(value) and 1 <= int(value) <= MAX_DURATION_S


def _is_rating(value: str) -> bool:
    return DECIMAL.fullmatch(value) is not None and 0 <= float(value) <= MAX_RATING


def value_of(name: str, is_valid: Callable[[str], bool], wanted: str, id: str) -> Callable[[str], Check]:
    """Make a row for a part whose value must be `wanted`."""

    def check(entry: UrlFacts) -> Iterator[Message]:
        for video, element in videos(entry):
            value = getattr(video, name)
            if value is not None and not is_valid(value):
                yield _unfit(name, value, wanted, line_of(element, name))

    return row(check, id, ERROR, VIDEOS, UNUSUAL_VIDEOS, also={"Search Console": "Invalid tag value"})


limited_part("description", MAX_DESCRIPTION, "video-description-too-long")("""
    A description has more than 2,048 characters.

    Why: Search engines accept at most 2,048 characters.
    Fix: Shorten the description to 2,048 characters at most.
    Bad: the text of the whole page
    Good: some sentences about the video
""")

limited_part("title", MAX_TITLE, "video-title-too-long", WARNING)("""
    A title has more than 100 characters.

    Why: Earlier versions of Google's documentation have this limit, the current one has none. Search results truncate
    titles much earlier.
    Fix: Shorten the title to 100 characters at most.
    Bad: a title of 150 characters
    Good: `<video:title>How to grill</video:title>`
""")


value_of("duration", _is_duration, f"whole seconds from 1 to {MAX_DURATION_S:,}", "video-duration-range")("""
    The duration of a video is out of range. It must be a whole number of seconds from 1 to 28,800. A warning if it
    is empty.

    Why: Search engines ignore any other value.
    Fix: Write the duration in whole seconds, from 1 to 28,800, or omit it.
    Bad: `<video:duration>05:30</video:duration>`
    Good: `<video:duration>330</video:duration>`
""")
value_of("rating", _is_rating, f"a number from 0.0 to {MAX_RATING}", "video-rating-range")("""
    A rating is not between 0.0 and 5.0. A warning if it is empty.

    Why: Search engines ignore any other value.
    Fix: Write a number from 0.0 to 5.0 with a decimal point, or omit the rating.
    Bad: `<video:rating>4,5</video:rating>`, `<video:rating>87%</video:rating>`
    Good: `<video:rating>4.5</video:rating>`
""")
value_of("view_count", _is_integer, "a whole number without separators", "video-view-count-invalid")("""
    The view count of a video is not valid. It must be a whole number, 0 or more. A warning if it is empty.

    Why: Search engines ignore any other value.
    Fix: Write the number of views as digits only, or omit it.
    Bad: `<video:view_count>1,234</video:view_count>`
    Good: `<video:view_count>1234</video:view_count>`
""")


def _unfit(name: str, value: str, wanted: str, line: int | None, severity: Severity | None = None) -> Message:
    """Make a message about an invalid value; only a warning if it is empty, which does little harm."""
    if not value:
        return Message(f"<video:{name}> is empty; it can be omitted", line, value=value, severity=WARNING)
    return Message(f"<video:{name}> is {quoted(value)}, not {wanted}", line, value=value, severity=severity)


@video_rule("video-date-invalid", ERROR, VIDEOS, also={"Search Console": "Invalid date"})
def video_date_invalid(entry: UrlFacts) -> Iterator[Message]:
    """The date of a video is not valid. It must be `YYYY-MM-DD`, or `YYYY-MM-DDThh:mm:ss` with a time zone. A warning
    if it is empty, or legal by another standard (W3C Datetime without seconds, XML Schema's day with a time zone).

    Why: Search engines ignore any other value.
    Fix: Write the date as `YYYY-MM-DD`, or with time, seconds and time zone.
    Bad: `<video:publication_date>2026-01-05T10:00:00</video:publication_date>`
    Good: `<video:publication_date>2026-01-05T10:00:00+01:00</video:publication_date>`
    """
    for video, element in videos(entry):
        for name in DATES:
            value = getattr(video, name)
            form = DateForm.LEGAL if value is None else written(value, Standard.W3C).form
            if form is DateForm.LEGAL:
                continue
            wanted = {
                DateForm.IMPOSSIBLE: "an existing day and time",
                DateForm.NO_ZONE: "a time with its time zone, such as 2026-01-05T10:00:00+01:00",
            }.get(form, "YYYY-MM-DD or YYYY-MM-DDThh:mm:ss with a time zone")
            severity = WARNING if form in (DateForm.NO_SECONDS, DateForm.ZONED_DAY) else None
            yield _unfit(name, value, wanted, line_of(element, name), severity)


@video_rule("video-expired", WARNING, VIDEOS)
def video_expired(entry: UrlFacts) -> Iterator[Message]:
    """The expiration date of a video is in the past.

    Why: Search results no longer show the video. A date without a time counts once that day is over everywhere on
    earth.
    Fix: Remove the video from its entry, or set a later expiration date.
    Bad: `<video:expiration_date>2019-12-31</video:expiration_date>`
    Good: a future date, or no `<video:video>`
    """
    for video, element in videos(entry):
        value = video.expiration_date
        when = span(value) if value else None
        if when is not None and when[1] < entry.file.fetched_at:
            message = f"the video expired on {value}; the file was fetched on {entry.file.fetched_at:%Y-%m-%d}"
            yield Message(message, line_of(element, "expiration_date"), value=value)


@video_rule("video-yesno-invalid", ERROR, VIDEOS, also={"Search Console": "Invalid tag value"})
def video_yesno_invalid(entry: UrlFacts) -> Iterator[Message]:
    """family_friendly, requires_subscription or live is neither yes nor no. A warning if it is empty.

    Why: Search engines ignore any other value.
    Fix: Write `yes` or `no`, or omit the element.
    Bad: `<video:live>true</video:live>`
    Good: `<video:live>yes</video:live>`
    """
    for video, element in videos(entry):
        for name in YES_OR_NO:
            value = getattr(video, name)
            if value is not None and value not in ANSWERS:
                yield _unfit(name, value, "yes or no", line_of(element, name))


@dataclass(frozen=True, slots=True)
class Codes:
    """Valid codes of a list."""

    known: Callable[[str], bool]
    usual: Callable[[str], str]
    """Returns the usual case of a code."""
    what: str
    """End of the sentence about an unknown code."""


COUNTRIES = Codes(is_country, str.upper, "which is not an ISO 3166-1 country; separate codes by spaces")

DEVICES = Codes(PLATFORMS.__contains__, str.lower, "which is not web, mobile or tv; separate them by spaces")


@video_rule("video-restriction-invalid", ERROR, VIDEOS, also={"Search Console": "Invalid attribute value"})
def video_restriction_invalid(entry: UrlFacts) -> Iterator[Message]:
    """The restriction of a video is not valid. It must be a list of countries (ISO 3166-1, separated by spaces) with a
    relationship. A warning if the list is empty, a note if only the case is wrong.

    Why: Search engines cannot tell in which countries to show the video.
    Fix: List country codes separated by spaces, with `relationship="allow"` or `"deny"`.
    Bad: `<video:restriction>UK,US</video:restriction>`
    Good: `<video:restriction relationship="allow">GB US</video:restriction>`
    """
    for video, element in videos(entry):
        if video.restriction is not None:
            yield from _code_list_faults("restriction", video.restriction, COUNTRIES, line_of(element, "restriction"))


@video_rule("video-platform-invalid", ERROR, VIDEOS, also={"Search Console": "Invalid attribute value"})
def video_platform_invalid(entry: UrlFacts) -> Iterator[Message]:
    """The platform of a video is not valid. It must be a list of web, mobile and tv, separated by spaces, with a
    relationship. A warning if the list is empty, a note if only the case is wrong.

    Why: Search engines cannot tell on which devices to show the video.
    Fix: List web, mobile or tv, separated by spaces, with `relationship="allow"` or `"deny"`.
    Bad: `<video:platform relationship="allow">desktop, mobile</video:platform>`
    Good: `<video:platform relationship="allow">web mobile</video:platform>`
    """
    for video, element in videos(entry):
        if video.platform is not None:
            yield from _code_list_faults("platform", video.platform, DEVICES, line_of(element, "platform"))


def _code_list_faults(name: str, given: Mapping[str, str], codes: Codes, line: int | None) -> Iterator[Message]:
    """Yield messages on a list of codes and its relationship: {`value`, `relationship`}."""
    written = given.get("value", "")
    if not written:
        yield _unfit(name, "", "", line)
        return
    unknown = [code for code in written.split() if not codes.known(codes.usual(code))]
    if unknown:
        named = ", ".join(quoted(code) + _meant_code(code) for code in unknown[:MAX_NAMED])
        yield Message(f"<video:{name}> has {named}, {codes.what}", line, value=written)
    elif codes.usual(written) != written:
        message = f"<video:{name}> is {quoted(written)}; it is written {quoted(codes.usual(written))}"
        yield Message(message, line, value=written, severity=INFO)
    relationship = given.get("relationship")
    if relationship not in RELATIONSHIPS:
        told = "no relationship" if relationship is None else f"the relationship {quoted(relationship)}"
        severity = INFO if relationship and relationship.lower() in RELATIONSHIPS else None
        yield Message(
            f"<video:{name}> has {told}; it must be allow or deny", line, value=relationship, severity=severity
        )


def _meant_code(code: str) -> str:
    meant = RESERVED.get(code.upper())
    return f" ({meant} is meant)" if meant else ""


limited_part("uploader", MAX_UPLOADER, "video-uploader-too-long")("""
    The name of an uploader has more than 255 characters.

    Why: Search engines accept at most 255 characters.
    Fix: Shorten the uploader's name to 255 characters at most.
    Bad: a biography
    Good: `<video:uploader>Ann</video:uploader>`
""")


@video_rule("video-uploader-offsite", WARNING, VIDEOS)
def video_uploader_offsite(entry: UrlFacts) -> Iterator[Message]:
    """The uploader's URL is on another domain than the page.

    Why: Search engines ignore an `info` URL on another domain.
    Fix: Link `info` to a page about the uploader on this domain, or omit it.
    Bad: `<video:uploader info="https://www.youtube.com/@ann">Ann</video:uploader>` for a page of `example.com`
    Good: `<video:uploader info="https://example.com/ann">Ann</video:uploader>`
    """
    for video, element in videos(entry):
        info = (video.uploader or {}).get("info", "").strip()
        place, there = authority(entry.record.loc), authority(info)
        found = flaw(info) if info else None
        if found is not None and found.kind != "invalid":  # the schema reports text that is not a URI
            message = f"the info of <video:uploader>: {found.text}"
            yield Message(message, line_of(element, "uploader"), value=info)
        elif place and there and _domain(place.host) != _domain(there.host):
            message = f"the info of <video:uploader> is on {there.host}, the page on {place.host}"
            yield Message(message, line_of(element, "uploader"), value=info)


def _domain(host: str) -> str:
    """Last two labels of a host. They may span several domains (`co.uk`), but never split one."""
    return host if host.replace(".", "").isdecimal() else ".".join(host.split(".")[-2:])
