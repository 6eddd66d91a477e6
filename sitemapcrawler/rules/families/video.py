"""Rules on the videos of an entry: what must be there, and where it is. Google's video namespace."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sitemapcrawler.namespaces.extensions import Video
from sitemapcrawler.rules.facts.given import UrlFacts
from sitemapcrawler.rules.facts.objects import lacks, line_of, parts, stray, videos
from sitemapcrawler.rules.families.assets import Flaw, flaw
from sitemapcrawler.rules.registry import Message, Severity, rule
from sitemapcrawler.urls import visit_key

GOOGLE = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/video-sitemaps"
RETIREMENT = "https://developers.google.com/search/blog/2022/05/spring-cleaning-sitemap-extensions"
RETIRED = ("category", "gallery_loc", "price", "tvshow", "id", "content_segment_loc")
"""Elements without effect. Source: `RETIREMENT`; the last two left Google's documentation before."""
RETIRED_ATTRIBUTES = ("allow_embed", "autoplay")
"""Attributes of `player_loc` without effect. Source: `RETIREMENT`"""
LOCATIONS = ("content_loc", "player_loc")
URLS = ("thumbnail_loc", *LOCATIONS)
PROTOCOLS = ("http", "https", "ftp")
"""What files can be fetched by. Source: `GOOGLE`"""
STREAM = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
"""The start of a URL that names a host, whatever its scheme."""
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
"""Watch pages and embedded players of video platforms. Files are elsewhere: `player.vimeo.com/external/1.hd.mp4`."""
MAX_TAGS = 32
"""Tags of one video. Source: `GOOGLE`"""


def text(video: Video, name: str) -> str:
    """The text of an element that may carry attributes; empty where it is missing."""
    value = getattr(video, name)
    return (value.get("value") if isinstance(value, dict) else value) or ""


def missing(entry: UrlFacts, name: str) -> Iterator[Message]:
    """A message for each video without content of a required element."""
    for video, element in videos(entry):
        if not text(video, name) and lacks(element, name):
            yield Message(f"a video without <video:{name}>{stray(element, name)}", line_of(element, name))


@rule("video-thumbnail-missing", Severity.ERROR, GOOGLE, also={"Search Console": "Missing thumbnail URL"})
def video_thumbnail_missing(entry: UrlFacts) -> Iterator[Message]:
    """A video has no `<video:thumbnail_loc>`, or an empty one.

    Why: it is required; results show the thumbnail.
    Bad: a `<video:video>` with title, description and content_loc only
    Good: `<video:thumbnail_loc>https://example.com/thumbs/1.jpg</video:thumbnail_loc>` in it
    """
    yield from missing(entry, "thumbnail_loc")


@rule("video-title-missing", Severity.ERROR, GOOGLE, also={"Search Console": "Missing video title"})
def video_title_missing(entry: UrlFacts) -> Iterator[Message]:
    """A video has no `<video:title>`, or an empty one.

    Why: it is required.
    Bad: `<video:title></video:title>`
    Good: `<video:title>How to grill</video:title>`
    """
    yield from missing(entry, "title")


@rule("video-description-missing", Severity.ERROR, GOOGLE, also={"Search Console": "Missing XML tag"})
def video_description_missing(entry: UrlFacts) -> Iterator[Message]:
    """A video has no `<video:description>`, or an empty one.

    Why: it is required.
    Bad: `<video:description/>`
    Good: `<video:description>Six steps to a good steak</video:description>`
    """
    yield from missing(entry, "description")


@rule("video-no-location", Severity.ERROR, GOOGLE, also={"Search Console": "Missing XML tag"})
def video_no_location(entry: UrlFacts) -> Iterator[Message]:
    """A video has neither `<video:content_loc>` nor `<video:player_loc>`.

    Why: one of them is required; it is by its location that a video is known.
    Bad: a `<video:video>` with thumbnail, title and description only
    Good: `<video:content_loc>https://example.com/videos/1.mp4</video:content_loc>` in it
    """
    for video, element in videos(entry):
        if not any(text(video, name) or not lacks(element, name) for name in LOCATIONS):
            remark = stray(element, LOCATIONS[0]) or stray(element, LOCATIONS[1])
            yield Message(f"a video without <video:content_loc> and <video:player_loc>{remark}", line_of(element))


@rule(
    "video-loc-same-as-page",
    Severity.ERROR,
    GOOGLE,
    also={"Search Console": "Video location and play page location are the same"},
)
def video_loc_same_as_page(entry: UrlFacts) -> Iterator[Message]:
    """The location of a video is that of its page.

    Why: it must be the media file, or a player; a page is neither.
    Bad: `<loc>https://example.com/v/1</loc>` and `<video:player_loc>https://example.com/v/1</video:player_loc>`
    Good: `<video:player_loc>https://example.com/player?v=1</video:player_loc>`
    """
    for video, element in videos(entry):
        for name in LOCATIONS:
            url = text(video, name)
            if url and visit_key(url) == visit_key(entry.record.loc):
                yield Message(f"<video:{name}> is the page itself", line_of(element, name), value=url)


@rule(
    "video-content-is-page",
    Severity.WARNING,
    GOOGLE,
    also={"Search Console": "Video location appears to be a play page"},
)
def video_content_is_page(entry: UrlFacts) -> Iterator[Message]:
    """The content_loc of a video is a watch page or a player of YouTube, Vimeo, Dailymotion or another platform.

    Why: it must be the media file. Search engines cannot read a page in its place; a player belongs into player_loc.
    Bad: `<video:content_loc>https://www.youtube.com/watch?v=dQw4w9WgXcQ</video:content_loc>`
    Good: `<video:player_loc>https://www.youtube.com/embed/dQw4w9WgXcQ</video:player_loc>`
    """
    for video, element in videos(entry):
        url = text(video, "content_loc")
        if url and PLATFORM_PAGE.match(url) and visit_key(url) != visit_key(entry.record.loc):
            message = "<video:content_loc> is a page of a video platform, not a media file"
            yield Message(message, line_of(element, "content_loc"), value=url)


def flaws(entry: UrlFacts) -> Iterator[tuple[Flaw, bool, int | None, str]]:
    """What is wrong with the URLs of the videos: the flaw, whether it is the protocol, line and value."""
    for video, element in videos(entry):
        for name in URLS:
            url = text(video, name)
            found = flaw(url, PROTOCOLS) if url else None
            if found is not None:
                yield found, found.kind == "scheme" and bool(STREAM.match(url)), line_of(element, name), url


@rule("video-loc-invalid", Severity.ERROR, GOOGLE, also={"Search Console": "Invalid URL"})
def video_loc_invalid(entry: UrlFacts) -> Iterator[Message]:
    """A URL of a video is no valid, absolute one: thumbnail_loc, content_loc or player_loc.

    Why: what it means is up to the reader; a search engine may fetch neither video nor thumbnail.
    Bad: `<video:content_loc>/videos/1.mp4</video:content_loc>`
    Good: `<video:content_loc>https://example.com/videos/1.mp4</video:content_loc>`
    """
    for found, protocol, line, value in flaws(entry):
        if not protocol:
            yield Message(found.text, line, value=value)


@rule("video-protocol", Severity.WARNING, GOOGLE, also={"Search Console": "Invalid URL"})
def video_protocol(entry: UrlFacts) -> Iterator[Message]:
    """A URL of a video uses another protocol than HTTP or FTP.

    Why: files must be there to fetch; streaming protocols are not supported.
    Bad: `<video:content_loc>rtmp://example.com/live/1</video:content_loc>`
    Good: `<video:content_loc>https://example.com/videos/1.mp4</video:content_loc>`
    """
    for found, protocol, line, value in flaws(entry):
        if protocol:
            yield Message(found.text, line, value=value)


@rule("video-tags-too-many", Severity.ERROR, GOOGLE)
def video_tags_too_many(entry: UrlFacts) -> Iterator[Message]:
    """A video has more than 32 tags.

    Why: search engines take no more.
    Bad: 40 `<video:tag>`
    Good: a few tags that say what the video is about
    """
    for video, element in videos(entry):
        if len(video.tag) > MAX_TAGS:
            message = f"{len(video.tag):,} tags; {MAX_TAGS} are allowed"
            surplus = parts(element, "tag")[MAX_TAGS] if element is not None else None
            yield Message(message, line_of(surplus), value=str(len(video.tag)))


@rule("video-uploader-multiple", Severity.ERROR, GOOGLE, also={"Search Console": "Invalid XML: too many tags"})
def video_uploader_multiple(entry: UrlFacts) -> Iterator[Message]:
    """A video has more than one uploader.

    Why: one is allowed; which of several counts is not defined.
    Bad: `<video:uploader>Ann</video:uploader><video:uploader>Bob</video:uploader>`
    Good: `<video:uploader>Ann and Bob</video:uploader>`
    """
    for _, element in videos(entry):
        uploaders = [] if element is None else parts(element, "uploader")
        if len(uploaders) > 1:
            message = f"{len(uploaders)} uploaders; one is allowed for a video"
            yield Message(message, uploaders[1].line, value=uploaders[1].text)


@rule("video-deprecated", Severity.INFO, RETIREMENT)
def video_deprecated(entry: UrlFacts) -> Iterator[Message]:
    """Videos have elements or attributes that were retired. Once for an entry.

    Why: Google has not read category, gallery_loc, price, tvshow, and allow_embed and autoplay of player_loc since
    6 August 2022; id and content_segment_loc left its documentation before. They do no harm.
    Bad: `<video:category>Cooking</video:category>`
    Good: `<video:tag>cooking</video:tag>`
    """
    used: dict[str, int | None] = {}
    for video, element in videos(entry):
        for tag, name in retired(video):
            if tag not in used:
                used[tag] = line_of(element, name)
    if used:
        yield Message(f"{', '.join(used)}: without effect", next(iter(used.values())), value=next(iter(used)))


def retired(video: Video) -> Iterator[tuple[str, str]]:
    """What a video has of the retired elements and attributes: as a message names it, and the name of the element."""
    yield from ((f"<video:{name}>", name) for name in RETIRED if getattr(video, name) not in (None, []))
    player = video.player_loc if isinstance(video.player_loc, dict) else {}
    yield from ((f"<video:player_loc {name}>", "player_loc") for name in RETIRED_ATTRIBUTES if name in player)
