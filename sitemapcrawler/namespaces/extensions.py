"""Sitemap extensions: Google's image, video and news namespaces, and xhtml:link for language versions.

Each is a dataclass and a declaration. Media RSS in feeds is read as images and videos.
Source: https://www.rssboard.org/media-rss
"""

from __future__ import annotations

from dataclasses import dataclass, field

from sitemapcrawler.namespaces.declared import Namespace, register
from sitemapcrawler.namespaces.element import Element, Tree, either, nested

IMAGE = "http://www.google.com/schemas/sitemap-image/1.1"
"""Source: https://developers.google.com/search/docs/crawling-indexing/sitemaps/image-sitemaps"""


@dataclass(slots=True)
class Image:
    """One `<image:image>`; every value as written, white space stripped."""

    loc: str | None = None
    """URL of the image."""
    caption: str | None = None
    """Caption (retired 2022-08-06)."""
    geo_location: str | None = None
    """Place (retired 2022-08-06)."""
    title: str | None = None
    """Title (retired 2022-08-06)."""
    license: str | None = None
    """URL of the licence (retired 2022-08-06)."""
    extra: list[Tree] = field(default_factory=list)
    """Elements that no field holds: unknown ones, and repetitions of single ones."""


IMAGE_EXTENSION = register(
    Namespace(uri=IMAGE, prefix="image", field="images", kind=Image, word="sitemap-image", schema="image.xsd", own=True)
)

VIDEO = "http://www.google.com/schemas/sitemap-video/1.1"
"""Source: https://developers.google.com/search/docs/crawling-indexing/sitemaps/video-sitemaps"""


@dataclass(slots=True)
class Video:
    """One `<video:video>`; every value as written, white space stripped.

    An element that carries attributes is {`value`, and each attribute}.
    """

    thumbnail_loc: str | None = None
    """URL of the thumbnail image."""
    title: str | None = None
    """Title."""
    description: str | None = None
    """Description, 2,048 characters at most."""
    content_loc: str | None = None
    """URL of the media file."""
    player_loc: str | dict[str, str] | None = field(default=None, metadata={"read": either})
    """URL of the player; with the retired attributes {`value`, `allow_embed`, `autoplay`}."""
    duration: str | None = None
    """Length in seconds, 1 to 28,800."""
    expiration_date: str | None = None
    """Last day the video is available (W3C Datetime)."""
    rating: str | None = None
    """Rating, 0.0 to 5.0."""
    view_count: str | None = None
    """Number of views."""
    publication_date: str | None = None
    """When the video was published (W3C Datetime)."""
    family_friendly: str | None = None
    """yes or no."""
    restriction: dict[str, str] | None = None
    """{`value`: ISO 3166 country codes separated by blanks, `relationship`: allow or deny}."""
    platform: dict[str, str] | None = None
    """{`value`: web, mobile, tv separated by blanks, `relationship`: allow or deny}."""
    requires_subscription: str | None = None
    """yes or no."""
    uploader: dict[str, str] | None = None
    """{`value`: name, 255 characters at most, `info`: URL}."""
    live: str | None = None
    """yes or no."""
    tag: list[str] = field(default_factory=list)
    """Tags, 32 at most."""
    category: str | None = None
    """Category (retired 2022)."""
    gallery_loc: dict[str, str] | None = None
    """{`value`: URL, `title`} of the gallery (retired 2022)."""
    price: list[dict[str, str]] = field(default_factory=list)
    """Prices: {`value`, `currency`, `type`, `resolution`} (retired 2022)."""
    tvshow: dict[str, str] | None = field(default=None, metadata={"read": nested})
    """{`show_title`, `video_type`, `episode_title`, `season_number`, `episode_number`,
    `premier_date`} (retired 2022)."""
    id: list[dict[str, str]] = field(default_factory=list)
    """Identifiers: {`value`, `type`} (retired)."""
    content_segment_loc: list[dict[str, str]] = field(default_factory=list)
    """Parts of the media file: {`value`: URL, `duration`: seconds} (retired)."""
    extra: list[Tree] = field(default_factory=list)
    """Elements that no field holds: unknown ones, and repetitions of single ones."""


VIDEO_EXTENSION = register(
    Namespace(
        uri=VIDEO,
        prefix="video",
        field="videos",
        kind=Video,
        word="sitemap-video",
        schema="video.xsd",
        own=True,
    )
)

NEWS = "http://www.google.com/schemas/sitemap-news/0.9"
"""Source: https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap"""


@dataclass(slots=True)
class News:
    """One `<news:news>`; every value as written, white space stripped."""

    publication: dict[str, str] | None = field(default=None, metadata={"read": nested})
    """{`name`, `language`} of the publication."""
    publication_date: str | None = None
    """When the article was published (W3C Datetime)."""
    title: str | None = None
    """Title of the article."""
    access: str | None = None
    """Subscription or Registration (retired)."""
    genres: str | None = None
    """Comma separated genres (retired)."""
    keywords: str | None = None
    """Comma separated keywords (retired)."""
    stock_tickers: str | None = None
    """Comma separated tickers (retired)."""
    geo_locations: str | None = None
    """Places (retired)."""
    extra: list[Tree] = field(default_factory=list)
    """Elements that no field holds: unknown ones, and repetitions of single ones."""


NEWS_EXTENSION = register(
    Namespace(
        uri=NEWS,
        prefix="news",
        field="news",
        kind=News,
        noun="news article",
        word="sitemap-news",
        single=True,
        schema="news.xsd",
        own=True,
    )
)

HREFLANG = "http://www.w3.org/1999/xhtml"
"""Namespace of `<xhtml:link>`."""


class Returning:
    """Base of a link to a language version, which may be returned."""

    __slots__ = ("_returns",)

    @property
    def returns(self) -> str | None:
        """See `AlternateRecord.returns`. No field of a url record: it is known at the end of a crawl."""
        return getattr(self, "_returns", None)

    @returns.setter
    def returns(self, value: str | None) -> None:
        self._returns = value


@dataclass(slots=True)
class Alternate(Returning):
    """One `<xhtml:link rel="alternate" hreflang="..." href="..."/>`."""

    hreflang: str | None = None
    """Language code as written."""
    href: str | None = None
    """URL of the language version as written, white space stripped."""
    rel: str | None = None
    """The `rel` attribute where it is not `alternate`; empty where it is missing."""
    attributes: dict[str, str] = field(default_factory=dict)
    """Other attributes, such as `type` or `media`."""


def alternate_of(link: Element) -> Alternate | None:
    """Return the alternate that a link states, or None for other links (canonical, mobile, AMP)."""
    attributes = dict(link.attributes)
    hreflang, href, rel = (attributes.pop(name, None) for name in ("hreflang", "href", "rel"))
    if link.name != "link" or (hreflang is None and ("media" in attributes or rel != "alternate")):
        return None
    return Alternate(hreflang, href and href.strip(), None if rel == "alternate" else rel or "", attributes)


HREFLANG_EXTENSION = register(
    Namespace(
        uri=HREFLANG,
        prefix="xhtml",
        field="alternates",
        kind=Alternate,
        noun="language version",
        element="link",
        word="xhtml",
        empty=True,
        schema="xhtml-link.xsd",
        read=alternate_of,
        own=True,
    )
)


MEDIA = "http://search.yahoo.com/mrss/"
GROUP = "group"


def media_of(item: Element) -> tuple[list[Image], list[Video]]:
    """Return the images and videos of a feed item, as the image and video namespaces would state them.

    Other media (audio, documents, ratings, credits) stay in the item's `extra`.
    """
    images: list[Image] = []
    videos: list[Video] = []
    shared = _firsts(item)
    for child in item.children:
        if child.uri == MEDIA and child.name == "content":
            _add(child, (shared,), images, videos)
        elif child.uri == MEDIA and child.name == GROUP:
            group = _firsts(child)
            for content in child.children:
                if content.name == "content":
                    _add(content, (group, shared), images, videos)
    return images, videos


Firsts = dict[str, Element]
"""Name -> the first child of that name."""


def _firsts(element: Element) -> Firsts:
    firsts: Firsts = {}
    for child in element.children:
        if child.uri == MEDIA:
            firsts.setdefault(child.name, child)
    return firsts


def _add(content: Element, around: tuple[Firsts, ...], images: list[Image], videos: list[Video]) -> None:
    """Add the image or video of a `media:content`. Titles and thumbnails may come from `around`, nearest first."""
    places = (_firsts(content), *around)
    if _is(content, "image"):
        images.append(Image(content.attributes.get("url"), title=_text("title", places)))
    elif _is(content, "video"):
        videos.append(_video(content, places))


def _is(content: Element, medium: str) -> bool:
    given = content.attributes.get("medium")
    return given == medium or (given is None and content.attributes.get("type", "").startswith(f"{medium}/"))


def _video(content: Element, places: tuple[Firsts, ...]) -> Video:
    return Video(
        thumbnail_loc=_url("thumbnail", places),
        title=_text("title", places),
        description=_text("description", places),
        content_loc=content.attributes.get("url"),
        player_loc=_url("player", places),
        duration=content.attributes.get("duration"),
    )


def _nearest(name: str, places: tuple[Firsts, ...]) -> Element | None:
    return next((place[name] for place in places if name in place), None)


def _text(name: str, places: tuple[Firsts, ...]) -> str | None:
    element = _nearest(name, places)
    return None if element is None else element.text


def _url(name: str, places: tuple[Firsts, ...]) -> str | None:
    element = _nearest(name, places)
    return None if element is None else element.attributes.get("url")
