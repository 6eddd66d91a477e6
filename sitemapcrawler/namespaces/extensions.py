"""Sitemap extensions: Google's image, video and news namespaces, and xhtml:link for language versions.

Each is a dataclass and a row in `NAMESPACES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sitemapcrawler.namespaces.element import Element, Fields, attributed, fill, nested, text


@dataclass(frozen=True, slots=True)
class Namespace:
    """How elements of one namespace become part of a url record."""

    uri: str
    prefix: str
    """Usual prefix; also the name of the top element."""
    field: str
    """Field of `UrlRecord`."""
    word: str
    """Identifies the namespace if its URI is misspelt: another scheme, host or version, or an extra slash."""
    read: Callable[[Element], Any]
    """Returns the object of an element, or None if the namespace does not define the element there."""
    fields: Fields
    """Parts of the top element."""


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
    extra: list[dict[str, Any]] = field(default_factory=list)
    """Elements that no field holds: unknown ones, and repetitions of single ones."""


IMAGE_FIELDS: Fields = dict.fromkeys(("loc", "caption", "geo_location", "title", "license"), text)

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
    player_loc: str | dict[str, str] | None = None
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
    tvshow: dict[str, str] | None = None
    """{`show_title`, `video_type`, `episode_title`, `season_number`, `episode_number`,
    `premier_date`} (retired 2022)."""
    id: list[dict[str, str]] = field(default_factory=list)
    """Identifiers: {`value`, `type`} (retired)."""
    content_segment_loc: list[dict[str, str]] = field(default_factory=list)
    """Parts of the media file: {`value`: URL, `duration`: seconds} (retired)."""
    extra: list[dict[str, Any]] = field(default_factory=list)
    """Elements that no field holds: unknown ones, and repetitions of single ones."""


def _player(element: Element) -> str | dict[str, str]:
    return attributed(element) if element.attributes else element.text


VIDEO_TEXTS = (
    "thumbnail_loc", "title", "description", "content_loc", "duration", "expiration_date", "rating", "view_count",
    "publication_date", "family_friendly", "requires_subscription", "live", "tag", "category",
)  # fmt: skip
VIDEO_FIELDS: Fields = {
    **dict.fromkeys(VIDEO_TEXTS, text),
    **dict.fromkeys(
        ("restriction", "platform", "uploader", "gallery_loc", "price", "id", "content_segment_loc"), attributed
    ),
    "player_loc": _player,
    "tvshow": nested,
}

NEWS = "http://www.google.com/schemas/sitemap-news/0.9"
"""Source: https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap"""


@dataclass(slots=True)
class News:
    """One `<news:news>`; every value as written, white space stripped."""

    publication: dict[str, str] | None = None
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
    extra: list[dict[str, Any]] = field(default_factory=list)
    """Elements that no field holds: unknown ones, and repetitions of single ones."""


NEWS_FIELDS: Fields = {
    "publication": nested,
    **dict.fromkeys(
        ("publication_date", "title", "access", "genres", "keywords", "stock_tickers", "geo_locations"), text
    ),
}

HREFLANG = "http://www.w3.org/1999/xhtml"
"""Namespace of `<xhtml:link>`."""


@dataclass(slots=True)
class Alternate:
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


def _filled(kind: Callable[[], Any], name: str, fields: Fields) -> Callable[[Element], Any]:
    """Return a reader for elements called `name`."""

    def read(element: Element) -> Any:
        if element.name != name:
            return None
        target = kind()
        fill(target, element, fields)
        return target

    return read


NAMESPACES = {
    namespace.uri: namespace
    for namespace in (
        Namespace(IMAGE, "image", "images", "sitemap-image", _filled(Image, "image", IMAGE_FIELDS), IMAGE_FIELDS),
        Namespace(VIDEO, "video", "videos", "sitemap-video", _filled(Video, "video", VIDEO_FIELDS), VIDEO_FIELDS),
        Namespace(NEWS, "news", "news", "sitemap-news", _filled(News, "news", NEWS_FIELDS), NEWS_FIELDS),
        Namespace(HREFLANG, "xhtml", "alternates", "xhtml", alternate_of, {}),
    )
}
