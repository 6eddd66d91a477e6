"""The records of a crawl: one dataclass for each `type` of feed row, and what items of a pipeline have in common.

`type` is the first field of every record. The string under a field is its documentation: it becomes
the description in `docs/records.schema.json`. Field order is column order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from datetime import UTC, datetime
from operator import attrgetter
from typing import Annotated, Any, Self, get_args, overload

from sitemapcrawler.namespaces import OWN, Namespace, plugged
from sitemapcrawler.namespaces.element import Tree
from sitemapcrawler.namespaces.extensions import (
    HREFLANG_EXTENSION,
    IMAGE_EXTENSION,
    NEWS_EXTENSION,
    VIDEO_EXTENSION,
    Alternate,
    Image,
    News,
    Video,
)
from sitemapcrawler.urls.display import counted

SCHEMA_VERSION = 11
"""Version of the records' fields and of the tables of a job's database. Databases, Parquet files and data sets of a
fleet state it; databases and data sets of other versions are refused."""
UtcTime = Annotated[str, datetime]
"""A time as ISO 8601 text in UTC, as `reader.dates.iso` writes it. Parquet files and databases store a timestamp."""
Unpacked = list[Any]  # Any: records of several types, and a user's own items
"""What one item stands for."""
JsonObject = dict[str, Any]  # Any: fields have the types that its writer gave them
"""An object of JSON."""


@dataclass(slots=True)
class Hop:
    """One redirect: the answer that sent the crawler on."""

    status: int
    """HTTP status, 3xx."""
    url: str
    """URL that gave this answer."""


@dataclass(slots=True)
class ReplyRecord:
    """What asking for a URL came to."""

    kind: str = "unchecked"
    """ok, redirected, http-error, timeout, dns, tls, refused, reset, truncated, too-large, redirect-loop,
    address-refused or unchecked."""
    reason: str | None = None
    """Why a URL is unchecked: blocked (robots.txt forbids it for this crawl), sampled-out, off-site, unreadable (its
    bytes do not fit the file's encoding) or stopped."""
    status: int | None = None
    """HTTP status of the first answer, that of the URL itself; null where none came."""
    final_status: int | None = None
    """HTTP status of the last answer, behind all redirects; null where the last request got none."""
    final_url: str | None = None
    """URL of the last answer; where none came, the URL that gave none, or that was refused."""
    redirects: Sequence[Hop] = ()
    """The redirects on the way, in order: status and URL of each."""
    attempts: int | None = None
    """Requests that were sent: redirects, retries, and GET after a refused HEAD included."""
    elapsed_ms: int | None = None
    """Response time: milliseconds from the start of each request, with name look-up, connection and TLS handshake if
    there is no connection yet, to the headers of its answer; summed over redirects, answered retries and GET after
    HEAD. Waiting in the crawl is excluded."""
    content_type: str | None = None
    """Content-Type header as sent; several ones joined by commas."""
    last_modified: str | None = None
    """Last-Modified header as sent."""
    etag: str | None = None
    """ETag header as sent."""
    noindex: bool | None = None
    """Whether the page tells all crawlers not to index it; null where its head was not read."""
    noindex_agents: Sequence[str] = ()
    """Crawlers that it tells so by name."""
    canonical: str | None = None
    """URL under which the page wants to be indexed, absolute."""
    refresh: str | None = None
    """URL of another page to which a meta refresh or `Refresh` header leads at once, absolute."""
    title: str | None = None
    """Title of the page, 500 characters at most; null where it has none or was not read."""
    h1: str | None = None
    """First main heading of the page, 500 characters at most; null where it has none or was not read."""
    words: int | None = None
    """Words of the page's main content; null where the page was not read to its end."""
    content_hash: str | None = None
    """Hash of the main content: version of the extraction, `-`, and 32 hexadecimal digits, four each of the template,
    prose with lists and tables, numbers in it, other texts, labels, prices, other numbers and links. Hashes of two
    versions cannot be compared. Null where the page was not read to its end."""
    simhash: str | None = None
    """Similarity hash of the main content, 16 hexadecimal digits: of two pages, the fewer bits differ, the more alike
    they are. Null where `content_hash` is."""
    soft_404: str | None = None
    """Why the page counts as an error page although its status is 200, 204 or 205; null if it does not, or was not
    read."""
    shell: bool | None = None
    """True if its HTML is the same as that of a made-up URL, so that it proves nothing about the page: scripts render
    it, or a wall stands before it. Null otherwise."""
    head_status: int | None = None
    """Status that HEAD got where GET got another one; 0 where HEAD got no answer, and GET did."""
    error: str | None = None
    """What went wrong, in one sentence."""


@dataclass(slots=True)
class UsageRecord:
    """Preferences on the use of a page's content, apart from fetching it: allow, disallow, or null if nothing is said.
    Of several statements, one that disallows wins."""

    train: str | None = None
    """Training of AI models."""
    train_by: str | None = None
    """What says so, such as `robots.txt line 12` or `Content-Usage header`; several ones joined by commas."""
    search: str | None = None
    """Search that directs its users to the page."""
    search_by: str | None = None
    """What says so."""
    input: str | None = None
    """Input of AI models, as for answers based on the page."""
    input_by: str | None = None
    """What says so."""


@dataclass(slots=True)
class Target:
    """The page that search engines index in place of a listed one."""

    url: str = ""
    """The canonical of the page, or of the page that a redirect leads to; without one, where the redirect leads."""
    kind: str = "unchecked"
    """Kind of its own reply, as in `reply`."""
    reason: str | None = None
    """Why it was not requested: blocked, off-site or stopped."""
    status: int | None = None
    """HTTP status of its answer."""
    final_url: str | None = None
    """URL of the last answer; of a canonical that redirects, where it leads, which is not requested."""
    indexable: bool | None = None
    """Whether a search engine can index it; null if that is not known."""
    indexability: str | None = None
    """The same in words."""


@dataclass(slots=True)
class IndexStatus:
    """What Google says of a URL, by its URL Inspection."""

    verdict: str | None = None
    """PASS (indexed), PARTIAL (indexed, with issues), FAIL or NEUTRAL (not indexed); null if it is not said."""
    reason: str | None = None
    """Why, as Google words it, such as `Crawled - currently not indexed`; of an indexed page, how."""
    canonical: str | None = None
    """URL that Google indexes in place of this one, or this one; null for most pages that are not indexed."""
    last_crawl: UtcTime | None = None
    """Last crawl by Google, ISO 8601 in UTC; null if there was none."""


@dataclass(slots=True)
class UrlRecord:
    """One `<url>` of a urlset, one item of a feed, or one line of a text sitemap."""

    type: str = field(default="url", init=False)
    """Always `url`."""
    loc: str = ""
    """Absolute URL of the page: white space stripped, relative references resolved against the sitemap."""
    loc_raw: str | None = None
    """The URL as written, where it differs from `loc`."""
    sitemap: str = ""
    """URL of the file the entry stands in, as it was requested."""
    line: int | None = None
    """Line of the file on which the entry begins, counted from 1."""
    lastmod: str | None = None
    """Last modification as written."""
    lastmod_at: UtcTime | None = None
    """`lastmod` as ISO 8601 in UTC (`2024-05-01T10:00:00Z`); a date alone is its midnight, a time without a zone
    is read as UTC; null where it cannot be read."""
    changefreq: str | None = None
    """How often the page is said to change, as written."""
    priority: float | None = None
    """Priority as a number; null where it is no number."""
    images: Sequence[Image] = ()
    """Images of the page (Google's image namespace)."""
    videos: Sequence[Video] = ()
    """Videos of the page (Google's video namespace)."""
    news: News | None = None
    """News article (Google's news namespace)."""
    alternates: Sequence[Alternate] = ()
    """Language versions of the page (xhtml:link)."""
    extra: dict[str, list[Tree]] | None = None
    """Elements of other namespaces, by namespace URI, and objects of namespaces that plug-ins declare, by the name that
    they give them; in document order."""
    recovered: bool = False
    """True where the entry could only be read after a repair."""
    blocked_for: Sequence[str] | None = None
    """Crawlers that robots.txt does not allow this URL, of those it was judged for (the argument `agents`); empty:
    none of them; null: not judged."""
    usage: UsageRecord | None = None
    """What robots.txt states in the group `*` on the use of the page, and with `verify` the headers and robots elements
    of the page; null if nothing is said, and with `agents=none`."""
    fetched: dict[str, str] | None = None
    """Crawlers that requested the URL by the access logs in the argument `compare`, with the last time as ISO 8601 in
    UTC; null if none did, and without logs."""
    segment: str | None = None
    """Part of the site that the URL belongs to: a name of the argument `segments`, or `other`; null without it."""
    google: IndexStatus | None = None
    """Index status at Google by rows of URL Inspection in the argument `compare`; null without such a row."""
    reply: ReplyRecord | None = None
    """What asking for the URL came to; null where the argument `verify` is off."""
    indexable: bool | None = None
    """Whether a search engine (Googlebot, or the first one of the argument `agents`) can index the URL; null if that is
    not known."""
    indexability: str | None = None
    """ok, or why the URL is not indexable: blocked (by robots.txt), unreachable, server error, not found, client error,
    redirect, soft 404, noindex or canonicalised; unknown (the HTML of a made-up URL), page not read (as with
    `verify=head`) or not checked if that is not known. Null if `verify` is off, except for blocked URLs."""
    target: Target | None = None
    """The page that takes the place of one that redirects, or names another canonical; null for all others, and without
    `verify`. With `verify=head`, which reads no canonical, only redirects have one."""
    issues: Sequence[str] = ()
    """Ids of the rules that found something on this entry."""
    change: str | None = None
    """added, removed, changed or unchanged since the `baseline`; null without one. A removed URL is a row of the
    baseline, with all that was known of it, and of no file of this crawl."""
    changed_fields: Sequence[str] = ()
    """What a changed one changed, by name of the field."""
    what_changed: str | None = None
    """The same in one word, the first that applies: status, indexability (noindex, soft 404), canonical, title (or main
    heading), content, robots (crawlers denied), entry (what the sitemap says of the page), lastmod (its date alone)."""


class Moment:
    """Descriptor in a subclass of a record: a moment that the record stores as text, as a `datetime` in UTC.

    Reading converts the text, so that dates which are never read cost nothing.
    """

    def __init__(self, record: type, name: str) -> None:
        """`record`, `name`: the class with slots, and its field that stores the text."""
        self._stored = record.__dict__[name]

    @overload
    def __get__(self, record: None, owner: type) -> Self: ...
    @overload
    def __get__(self, record: object, owner: type) -> datetime | None: ...
    def __get__(self, record: object | None, owner: type) -> Self | datetime | None:
        if record is None:
            return self
        text = self.text(record)
        return None if text is None else datetime.fromisoformat(text)

    def text(self, record: object) -> str | None:
        """Return the text that is stored."""
        text: str | None = self._stored.__get__(record)
        return text

    def __set__(self, record: object, value: datetime | str | None) -> None:
        """Also takes ISO 8601 in UTC, as records store it."""
        if isinstance(value, datetime):
            value = value.astimezone(UTC).isoformat().replace("+00:00", "Z")
        self._stored.__set__(record, value)


class UrlEntry(UrlRecord):
    """A url record in the hands of a program: `lastmod_at` is a `datetime` in UTC, or None."""

    __slots__ = ()
    lastmod_at: Moment = Moment(UrlRecord, "lastmod_at")  # type: ignore[assignment]  # feeds and rules work on the text
    """`lastmod`; None where it cannot be read."""

    @classmethod
    def convert(cls, record: UrlRecord) -> UrlEntry:
        """Turn a record that nothing else uses any more into an entry, in place: a copy would take as long as reading
        it took."""
        record.__class__ = cls
        return record  # type: ignore[return-value]  # it is one now

    def plain(self) -> UrlRecord:
        """Return a copy whose `lastmod_at` is text, as feeds write it."""
        values = {one.name: getattr(self, one.name) for one in fields(self) if one.init}
        return UrlRecord(**values | {"lastmod_at": UrlEntry.lastmod_at.text(self)})


@dataclass(slots=True)
class Counts:
    """How many namespace objects the URLs of a sitemap carry."""

    images: int = 0
    """Images."""
    videos: int = 0
    """Videos."""
    news: int = 0
    """News articles."""
    alternates: int = 0
    """Language versions."""
    extra: dict[str, int] = field(default_factory=dict)
    """Objects of namespaces that plug-ins declare, by the name that they give them."""

    def add(self, numbers: Mapping[str, int]) -> None:
        """Add the objects of a record, as from `objects_in`."""
        for name, number in numbers.items():
            if name in _OWN_FIELDS:
                setattr(self, name, getattr(self, name) + number)
            else:
                self.extra[name] = self.extra.get(name, 0) + number

    def number(self, name: str) -> int:
        """Number of objects, by the `field` of their namespace."""
        return getattr(self, name) if name in _OWN_FIELDS else self.extra.get(name, 0)


_OWN_FIELDS = {namespace.field: namespace.single for namespace in OWN}
"""{field of a url record with objects of a namespace: True if it holds one object, not a list}"""
_HELD = attrgetter(*_OWN_FIELDS, "extra")
_NOTHING = _HELD(UrlRecord())


def objects_in(record: UrlRecord) -> Mapping[str, int]:
    """{field of a namespace: number of its objects in a record}, without those that it lacks."""
    held = _HELD(record)
    if held == _NOTHING:
        return {}
    numbers = {
        name: 1 if single else len(value)
        for (name, single), value in zip(_OWN_FIELDS.items(), held[:-1], strict=True)
        if value
    }
    if record.extra is not None:
        numbers |= {namespace.field: len(objects) for namespace in plugged() if (objects := namespace.objects(record))}
    return numbers


@dataclass(slots=True)
class ImageRecord:
    """One image of a url record, as a row of its own."""

    type: str = field(default="image", init=False)
    """Always `image`."""
    loc: str = ""
    """URL of the page, as in its url record."""
    image_loc: str | None = None
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
    sitemap: str = ""
    """URL of the file, as in the url record."""
    line: int | None = None
    """Line on which the entry of the page begins, as in its url record."""


@dataclass(slots=True)
class VideoRecord:
    """One video of a url record, as a row of its own."""

    type: str = field(default="video", init=False)
    """Always `video`."""
    loc: str = ""
    """URL of the page, as in its url record."""
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
    restriction: str | None = None
    """ISO 3166 country codes, separated by blanks."""
    restriction_relationship: str | None = None
    """allow or deny."""
    platform: str | None = None
    """web, mobile and tv, separated by blanks."""
    platform_relationship: str | None = None
    """allow or deny."""
    requires_subscription: str | None = None
    """yes or no."""
    uploader: str | None = None
    """Name of the uploader, 255 characters at most."""
    uploader_info: str | None = None
    """URL of a page about the uploader."""
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
    extra: list[Tree] = field(default_factory=list)
    """Elements that no field holds: unknown ones, and repetitions of single ones."""
    sitemap: str = ""
    """URL of the file, as in the url record."""
    line: int | None = None
    """Line on which the entry of the page begins, as in its url record."""


@dataclass(slots=True)
class NewsRecord:
    """The news article of a url record, as a row of its own."""

    type: str = field(default="news", init=False)
    """Always `news`."""
    loc: str = ""
    """URL of the page, as in its url record."""
    publication_name: str | None = None
    """Name of the publication."""
    publication_language: str | None = None
    """Language of the publication."""
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
    sitemap: str = ""
    """URL of the file, as in the url record."""
    line: int | None = None
    """Line on which the entry of the page begins, as in its url record."""


@dataclass(slots=True)
class AlternateRecord:
    """One language version of a url record, as a row of its own."""

    type: str = field(default="alternate", init=False)
    """Always `alternate`."""
    loc: str = ""
    """URL of the page, as in its url record."""
    hreflang: str | None = None
    """Language code as written."""
    href: str | None = None
    """URL of the language version as written, white space stripped."""
    returns: str | None = None
    """Whether the language version lists the page back: yes (also for the page itself), no, or not listed: no sitemap
    that was read lists it. Null if that is not known: without a database, of a removed URL, or if the crawl ended
    early."""
    rel: str | None = None
    """The `rel` attribute where it is not `alternate`; empty where it is missing."""
    attributes: dict[str, str] = field(default_factory=dict)
    """Other attributes, such as `type` or `media`."""
    sitemap: str = ""
    """URL of the file, as in the url record."""
    line: int | None = None
    """Line on which the entry of the page begins, as in its url record."""


EXTENSIONS: Mapping[type, Namespace] = {
    ImageRecord: IMAGE_EXTENSION,
    VideoRecord: VIDEO_EXTENSION,
    NewsRecord: NEWS_EXTENSION,
    AlternateRecord: HREFLANG_EXTENSION,
}
"""Record types for the objects of url records, with their namespace. Feeds make these records from url records."""


_SOURCES = {
    "image_loc": ("loc", ""),
    "publication_name": ("publication", "name"),
    "publication_language": ("publication", "language"),
    **{name: (name, "value") for name in ("restriction", "platform", "uploader")},
    "restriction_relationship": ("restriction", "relationship"),
    "platform_relationship": ("platform", "relationship"),
    "uploader_info": ("uploader", "info"),
}
"""{field of a record of an object: (field of the object, key in that; empty: all of it)}, where they differ."""


def _values_of(kind: type) -> Callable[[object], tuple[object, ...]]:
    """Return a function that reads the fields of a record type from an object of its namespace."""
    names = [one.name for one in fields(kind) if one.name not in ("type", "loc", "sitemap", "line")]
    sources = [_SOURCES.get(name, (name, "")) for name in names]
    read, keys = attrgetter(*(name for name, _ in sources)), [key for _, key in sources]
    if not any(keys):
        return read
    return lambda one: tuple(
        value if not key or value is None else value.get(key) for value, key in zip(read(one), keys, strict=True)
    )


_VALUES = {kind: _values_of(kind) for kind in EXTENSIONS}


def extension_records(url: UrlRecord, kinds: Collection[type] = EXTENSIONS) -> Iterator[object]:
    """Yield the objects of a url record as records of these types, in the order of `kinds`; those of a removed URL are
    no longer listed."""
    for kind in () if url.change == "removed" else kinds:
        for one in EXTENSIONS[kind].objects(url):
            yield kind(url.loc, *_VALUES[kind](one), url.sitemap, url.line)


@dataclass(slots=True)
class FindingRecord:
    """One thing that a rule found."""

    type: str = field(default="finding", init=False)
    """Always `finding`."""
    rule: str = ""
    """Id of the rule; docs/rules.md explains it."""
    severity: str = ""
    """error, warning or info."""
    message: str = ""
    """One sentence with the offending value and the limit."""
    sitemap: str | None = None
    """URL of the file; null for a finding on the crawl itself."""
    line: int | None = None
    """Line of the file, counted from 1."""
    column: int | None = None
    """Column, counted from 1."""
    url: str | None = None
    """The listed URL that the finding is about."""
    value: str | None = None
    """The offending value."""
    source: str | None = None
    """URL of the text that the rule implements."""


@dataclass(slots=True)
class Lastmods:
    """How far the lastmod dates of a file or a site can be trusted."""

    dated: float
    """Share of the entries that have a date, from 0 to 1."""
    compared: int
    """Dates that were compared with what the page or its server says."""
    trusted: float | None = None
    """Share of the dates that can be trusted at most; null if none was compared and nothing speaks against any."""
    evidence: dict[str, int] = field(default_factory=dict)
    """Dates that something speaks against: future, epoch (the zero of a clock), at_fetch (made by the request),
    identical (made in one batch), older_than_header, newer_than_header, older_than_page, newer_than_page."""


@dataclass(slots=True)
class FileRevisits:
    """How many dates of one file proved true over two crawls."""

    sitemap: str = ""
    """URL of the file."""
    compared: int = 0
    """Its dated entries whose pages both crawls have read."""
    true: int = 0
    """Dates that moved with the page, or stayed with it."""
    moved: int = 0
    """Dates that moved although nothing on the page had changed."""
    stayed: int = 0
    """Dates that stayed although the content of the page had changed."""


@dataclass(slots=True)
class Revisits:
    """How many dates of all files proved true over two crawls."""

    compared: int = 0
    """Dated entries whose pages both crawls have read."""
    true: int = 0
    """Dates that moved with the page, or stayed with it."""
    moved: int = 0
    """Dates that moved although nothing on the page had changed."""
    stayed: int = 0
    """Dates that stayed although the content of the page had changed."""
    files: Sequence[FileRevisits] = ()
    """At most 20 files, those with the smallest share of true dates first."""


@dataclass(slots=True)
class SitemapRecord:
    """One sitemap file, also one that could not be read."""

    type: str = field(default="sitemap", init=False)
    """Always `sitemap`."""
    sitemap: str = ""
    """URL of the file as it was requested; for a file of this machine its `file:` URL."""
    parent: str | None = None
    """URL of the index, robots.txt or page that named the file."""
    found_by: str = "argument"
    """How it was found: robots, common-path, html-link, index, argument, or the method of a plug-in."""
    depth: int = 0
    """Number of indexes above the file."""
    offsite: bool | None = None
    """True where the file is on another host than the index, robots.txt or page that names it."""
    format: str = "unknown"
    """xml-urlset, xml-index, rss, atom, text, html, unknown, or the format of a plug-in, decided by content alone; list
    for one of the argument `urls`."""
    status: int | None = None
    """HTTP status of the last answer; 200 where it was 304, since the cache has the content."""
    final_url: str | None = None
    """URL that gave the content, where redirects led elsewhere."""
    hops: list[Hop] = field(default_factory=list)
    """The redirects on the way, in order."""
    outcome: str = "ok"
    """ok, recovered (the file is not well formed, and was read to its end), truncated (the file ends before its
    end), failed (nothing could be read), blocked (robots.txt forbids it) or unchanged (read to its end, and the same
    as in the baseline)."""
    url_count: int = 0
    """Entries listed in the file, before any filter: pages of a urlset, children of an index."""
    bytes: int = 0
    """Size in bytes, uncompressed, of what was read."""
    bytes_fetched: int = 0
    """Bytes as they came over the network, now or when the cache kept them, or the size of the file on disk."""
    encoding: str | None = None
    """Character encoding the file was read in."""
    etag: str | None = None
    """ETag header as sent."""
    last_modified: str | None = None
    """Last-Modified header as sent."""
    lastmod_min: UtcTime | None = None
    """Oldest `lastmod_at` in the file."""
    lastmod_max: UtcTime | None = None
    """Newest `lastmod_at` in the file."""
    counts: Counts = field(default_factory=Counts)
    """Totals over the entries of the file."""
    replies: dict[str, int] = field(default_factory=dict)
    """Entries by kind of reply, unchecked ones by their reason; empty where nothing was verified."""
    lastmod: Lastmods | None = None
    """How far the dates of its entries can be trusted; null where nothing was verified."""
    namespaces: list[str] = field(default_factory=list)
    """Namespace URIs declared in the file, in order of appearance."""
    issues: Sequence[str] = ()
    """Ids of the rules that found something on the file itself."""
    error: str | None = None
    """What went wrong, in one sentence."""


READ = ("ok", "recovered", "unchanged")
"""Outcomes of files that tell all they list."""
UNREAD = ("failed", "blocked")
"""Outcomes of files of which nothing could be read."""
MAX_SITE_TIME = "max_site_time"
"""Name under which sitemaps of a site that exceeded its time budget are counted."""
LIMITS = ("max_urls", "max_sitemaps", MAX_SITE_TIME)
"""What `partial` of a summary says of a crawl that read as much as it was allowed, and came to its end with that."""
PROXY = "proxy"
"""Value of `partial`: a request failed because of its proxy."""


@dataclass(slots=True)
class RobotsRecord:
    """One robots.txt: that of an authority which the crawl asked, or whose URLs a sitemap lists."""

    type: str = field(default="robots", init=False)
    """Always `robots`."""
    robots: str = ""
    """URL of the robots.txt; its rules hold for the scheme, host and port of this URL."""
    status: int | None = None
    """HTTP status of the last answer; null where none came."""
    outcome: str = "parsed"
    """parsed, unavailable (4xx: everything is allowed, but with 429 denied to Google's crawlers), too-many-redirects
    (everything is allowed) or unreachable (5xx or no answer: everything is denied)."""
    final_url: str | None = None
    """URL that gave the content, where redirects led elsewhere."""
    bytes: int = 0
    """Size of the file in bytes."""
    sitemaps: Sequence[str] = ()
    """The sitemaps it names, absolute, each once."""
    schemamaps: Sequence[str] = ()
    """The lists of structured data it names (`Schemamap`), absolute, each once."""
    licenses: Sequence[str] = ()
    """The terms of use it names (`License`), absolute, each once."""
    crawl_delay: float | None = None
    """Seconds between requests that it asks of us."""
    urls: int = 0
    """Entries that were judged by it: a URL counts as often as it is listed."""
    agents: dict[str, int] = field(default_factory=dict)
    """Entries of these that it denies each crawler; crawlers that it denies nothing are left out."""
    follows: dict[str, str] = field(default_factory=dict)
    """Whose group each crawler follows, where it has none of its own: another one's, or `*`."""
    issues: Sequence[str] = ()
    """Ids of the rules that found something on the file."""
    error: str | None = None
    """Why there are no rules to go by, in one sentence."""


@dataclass(slots=True)
class ChangeRecord:
    """One difference from the baseline: a URL that was added, removed or changed, or a problem that is new or solved.
    Only with the argument `baseline`, and only of a crawl that came to its end."""

    type: str = field(default="change", init=False)
    """Always `change`."""
    url: str = ""
    """The listed URL; the URL of the file if the problem or the change is one of a file; empty if it is one of the
    site."""
    change: str = ""
    """added, removed, changed, new problem, solved problem, or robots.txt: what a robots.txt says has changed."""
    what: str | None = None
    """What changed, one record for each: status, indexability, content, or the name of another field of a url record or
    its reply. Of a robots.txt: rules, sitemaps, blocked or allowed (listed URLs). Null for all other kinds of
    change."""
    before: str | None = None
    """The old value in words; null if only more than the first ten items of a list differ. The crawler of a solved
    problem with what it gets."""
    after: str | None = None
    """The new value in words; the crawler of such a new problem."""
    rule: str | None = None
    """Id of the rule whose problem is new or solved."""
    severity: str | None = None
    """Severity of that problem: error or warning."""
    sitemap: str | None = None
    """The file that lists the URL; of a removed one, the file of the baseline."""
    line: int | None = None
    """Line of that file on which the entry begins."""
    segment: str | None = None
    """Segment of the URL; null for files, the site and pages that no sitemap lists, and without `segments`."""


@dataclass(slots=True)
class PageRecord:
    """One page of the site as links show it: a listed URL, or one that a page links to. Only with the argument
    `links`."""

    type: str = field(default="page", init=False)
    """Always `page`."""
    url: str = ""
    """URL of the page: as listed, or as the first link in alphabetical order has it."""
    listed: bool = False
    """Whether a sitemap of this crawl lists it."""
    sitemap: str | None = None
    """The file that lists it, of several the first by name."""
    depth: int | None = None
    """Clicks from the home page along links that may be followed; null if it cannot be reached by the pages read."""
    inlinks: int = 0
    """Pages read that link to it without `nofollow`, itself excluded. Links to URLs that redirect to it, and to pages
    that name it as canonical, count too."""
    nofollow_inlinks: int = 0
    """Pages read that link to it with `nofollow` alone."""
    linked_from: Sequence[str] = ()
    """Up to three of the pages that link to it, those nearest to the home page first."""
    outlinks: int | None = None
    """Pages of the site that it links to; null if its links were not read."""
    kind: str = "unchecked"
    """Result of requesting it, as in `reply.kind` of a url record."""
    reason: str | None = None
    """Why it was not requested, as in `reply.reason`; not-listed: found by a link and not requested; left-out: the same
    with `links=site`, by a filter or limit."""
    status: int | None = None
    """HTTP status of the first answer, as in `reply.status`."""
    final_status: int | None = None
    """HTTP status of the last answer, behind all redirects."""
    final_url: str | None = None
    """URL that redirects led to."""
    redirects: Sequence[Hop] = ()
    """The redirects on the way, in order, as in `reply.redirects`."""
    indexable: bool | None = None
    """As in a url record."""
    indexability: str | None = None
    """As in a url record."""
    modified: str | None = None
    """Date of change that an unlisted page states, as written."""


@dataclass(slots=True)
class AnswerRecord:
    """What a crawler gets for one page of a site, compared with what we get."""

    type: str = field(default="answer", init=False)
    """Always `answer`."""
    url: str = ""
    """URL of the page, as listed."""
    crawler: str = ""
    """Crawler in whose name it was requested."""
    verdict: str = ""
    """same, refused (an error, or the page of a firewall), payment (status 402), other-content (a redirect, noindex,
    another canonical or text), slow, no-answer, or not-asked."""
    note: str | None = None
    """The difference in some words; null for the same page."""
    status: int | None = None
    """HTTP status of the answer; null where none came, or the page was not requested."""
    firewall: str | None = None
    """Firewall whose page it is, such as Cloudflare; null where no mark says so."""
    price: str | None = None
    """`crawler-price` header, such as `USD 0.01`."""
    location: str | None = None
    """URL that a redirect leads to, which is not requested."""
    noindex: bool | None = None
    """Whether the page tells all crawlers not to index it; null without a page."""
    words: int | None = None
    """Words of the page's main content; null without a page."""
    our_words: int | None = None
    """The same of our own answer."""
    elapsed_ms: int | None = None
    """Response time in milliseconds."""
    user_agent: str = ""
    """User-Agent header of the request."""


@dataclass(slots=True)
class RenderedRecord:
    """One page as its server sends it, and as its scripts leave it. Fields that begin with `rendered_` are about the
    latter; they are null if it could not be read."""

    type: str = field(default="rendered", init=False)
    """Always `rendered`."""
    url: str = ""
    """URL of the page, as listed."""
    result: str = ""
    """rendered, timeout (its scripts did not finish), limit (too many requests, bytes or characters), crashed, or
    redirected (a script or refresh leads to another page, which is not requested)."""
    note: str | None = None
    """The reason for any other result than rendered."""
    changed: list[str] = field(default_factory=list)
    """What scripts have changed, of title, h1, canonical, noindex, hreflang, links (some were added) and text."""
    title: str | None = None
    """Title in the HTML that the server sends."""
    rendered_title: str | None = None
    """Title of the rendered page."""
    h1: str | None = None
    """First main heading."""
    rendered_h1: str | None = None
    """The same of the rendered page."""
    canonical: str | None = None
    """Canonical, absolute; in either case also from the headers."""
    rendered_canonical: str | None = None
    """The same of the rendered page."""
    noindex: bool | None = None
    """Whether it tells a crawler, or all, not to index it, in the page or its headers."""
    rendered_noindex: bool | None = None
    """The same of the rendered page."""
    hreflang: int | None = None
    """Language versions that it links to."""
    rendered_hreflang: int | None = None
    """The same of the rendered page."""
    links: int | None = None
    """Distinct URLs that its links lead to and that crawlers may follow."""
    rendered_links: int | None = None
    """The same of the rendered page."""
    words: int | None = None
    """Words of its main content; null if it was not read to its end."""
    rendered_words: int | None = None
    """The same of the rendered page."""
    added_links: int | None = None
    """Listed URLs to which only the rendered page links."""
    added: list[str] = field(default_factory=list)
    """The first 10 of these."""
    requests: int = 0
    """Requests for scripts and data, those included that an earlier page has made before."""
    failed: int = 0
    """Requests that got no answer, or an error, or that a limit refused."""
    blocked: list[str] = field(default_factory=list)
    """The first 10 URLs that robots.txt denied."""
    elapsed_ms: int = 0
    """Milliseconds that rendering took, with the waiting for delays."""
    crawler: str | None = None
    """Crawler whose robots.txt decided on requests, with the argument `render_as`."""


@dataclass(slots=True)
class ComparedList:
    """A list that the listed pages were compared with."""

    name: str = ""
    """Name of its file."""
    format: str = ""
    """What it was recognised as."""
    rows: int = 0
    """Its rows."""
    left_out: int = 0
    """Rows that are no page, or none to index by the word of the list."""
    unread: int = 0
    """Rows without a URL."""
    offsite: int = 0
    """Rows with a URL of another site."""
    urls: int = 0
    """Different pages of the site in it, without rows that are left out."""
    listed: int = 0
    """Those of them that a sitemap lists."""
    not_listed: int = 0
    """Those that no sitemap lists, without groups, and without those that were requested and cannot be indexed."""
    since: UtcTime | None = None
    """Time of the first request in an access log; null for other lists."""
    until: UtcTime | None = None
    """Time of the last one."""
    inspected: int = 0
    """Rows with an index status of Google."""

    @property
    def is_inspection(self) -> bool:
        """True if all rows are of URL Inspection: who inspects some URLs lists no pages."""
        return 0 < self.inspected == self.rows - self.unread


@dataclass(slots=True)
class ComparedFolder:
    """The pages of one folder, in sitemaps and in lists."""

    folder: str = ""
    """First folder of the path; `/` for pages that are in none."""
    listed: int = 0
    """Pages in both."""
    not_listed: int = 0
    """Pages in a list but in no sitemap."""
    listed_only: int = 0
    """Listed pages in no list."""
    by_list: dict[str, int] = field(default_factory=dict)
    """{name of a list: pages in it that no sitemap lists}."""


@dataclass(slots=True)
class ComparedGroup:
    """URLs that are counted together, since a sitemap need not list them."""

    group: str = ""
    """feed, file (such as a PDF or an image) or paginated page, by the spelling of the URL."""
    not_listed: int = 0
    """Those in a list that no sitemap lists."""
    listed_only: int = 0
    """Listed ones that are in no list."""


@dataclass(slots=True)
class Coverage:
    """How far sitemaps and lists have the same pages."""

    lists: Sequence[ComparedList] = ()
    """The lists, as they were named."""
    not_listed: int = 0
    """Pages in at least one list that no sitemap lists, without groups, and without those that cannot be indexed."""
    not_verified: int = 0
    """Those of them that were not requested, or whose page was not read."""
    not_indexable: int = 0
    """Pages in a list but in no sitemap, and that cannot be indexed."""
    listed_only: int = 0
    """Listed pages that are in none of the lists, without groups, and without those that cannot be indexed."""
    left_out: int = 0
    """Listed pages that the lists have only in rows that are left out: as an error, or as not indexable."""
    groups: Sequence[ComparedGroup] = ()
    """Feeds, files and paginated pages, which do not count as pages."""
    folders: Sequence[ComparedFolder] = ()
    """At most 100 folders, those with the most pages on one side only first."""
    partial: str | None = None
    """max_pages if not all pages were requested; null if they were, or nothing is verified."""

    @property
    def compares_pages(self) -> bool:
        """True if it says something about pages, not only about the index status of listed ones."""
        return self.not_listed > 0 or not all(one.is_inspection for one in self.lists)


@dataclass(slots=True)
class IndexCounts:
    """What Google says of the listed URLs, by URL Inspection."""

    urls: int = 0
    """Distinct listed URLs with a verdict or reason."""
    indexed: int = 0
    """Those that are indexed."""
    not_indexed: int = 0
    """Those that are not. Of the others it is not known: they have a reason without a verdict that is not in the table
    of reasons."""
    other_canonical: int = 0
    """Listed URLs in place of which Google has chosen another URL."""
    not_crawled_since: int = 0
    """Listed URLs whose last crawl by Google is before the day of their `lastmod`."""
    reasons: dict[str, int] = field(default_factory=dict)
    """{reason: listed URLs that are not indexed}, the 50 most frequent, most first; empty text: no reason is given."""
    not_asked: int = 0
    """Listed URLs of the property in the argument `gsc` without an answer of Search Console."""
    partial: str | None = None
    """Why these have none: quota, credentials, permission, no answer, stopped, or other property if no listed
    URL belongs to it; null if all were, and without `gsc`."""


@dataclass(slots=True)
class CrawlerFetches:
    """What a crawler requested, by access logs. Only `GET` and `HEAD` count."""

    verified: bool | None = None
    """True if its requests were told from others' by the address ranges of its operator; null if no ranges were given,
    so that all requests under its name count."""
    pretended: int = 0
    """Requests under its name from other addresses, which count nowhere else."""
    requests: int = 0
    """Its requests, for whatever URL of the site."""
    fetched: int = 0
    """Distinct listed URLs that it requested."""
    not_fetched: int = 0
    """Those that it did not request."""
    errors: int = 0
    """Listed URLs of which its last request was answered with status 400 or more."""
    denied: int = 0
    """Listed URLs that it requested although robots.txt, as it is now, denies them."""
    last: UtcTime | None = None
    """Its last request for a listed URL."""
    days: float | None = None
    """Median of the days from `lastmod` to the first request on that day or later, of pages that changed since the logs
    begin; null without such pages. Pages that it has not requested since are left out."""
    robots: int = 0
    """Its requests for robots.txt."""
    robots_last: UtcTime | None = None
    """The last of them."""
    sitemaps: int = 0
    """Its requests for the sitemaps of this crawl."""
    sitemaps_last: UtcTime | None = None
    """The last of them."""


@dataclass(slots=True)
class CrawlerAccess:
    """What is known of a crawler that robots.txt was checked for, or in whose name pages were requested."""

    crawler: str = ""
    """Its product token."""
    operator: str = ""
    """Who runs it; empty for a crawler that is not in the table of crawlers."""
    purpose: str = ""
    """search, training, user fetch, input, ads, research or unknown."""
    may_fetch: int | None = None
    """Distinct listed URLs that robots.txt lets it fetch; null without a database, and for a crawler that is
    not in `agents`."""
    may_not_fetch: int | None = None
    """Those that it denies."""
    gets: str | None = None
    """What it gets for pages, the worst `verdict` of its answer records; null without the argument `fetch_as`."""
    difference: str | None = None
    """The most frequent `note` of these records, such as `403, page of Cloudflare`; null for the same page."""
    pages: dict[str, int] = field(default_factory=dict)
    """Pages by `verdict` of its answer records."""
    fetches: CrawlerFetches | None = None
    """What it requested; null without access logs in `compare`, and if it is in none of them."""


@dataclass(slots=True)
class UsageCounts:
    """How many distinct listed URLs have a preference on one use."""

    allow: int = 0
    """It is allowed."""
    disallow: int = 0
    """It is disallowed."""
    unsaid: int = 0
    """Nothing is said."""


@dataclass(slots=True)
class LinkGraph:
    """How complete the link graph of a crawl is, and its totals."""

    pages: int = 0
    """Pages known: listed, or linked and on the sites of the crawl."""
    read: int = 0
    """Pages whose links were read."""
    unread: dict[str, int] = field(default_factory=dict)
    """The others, by reason: `reason` or `kind` of their page record, or no-html."""
    unlisted: int = 0
    """Pages that are linked and not listed, without groups, and without those that cannot be indexed."""
    groups: dict[str, int] = field(default_factory=dict)
    """{group: linked URLs that no sitemap lists} of feeds, files and paginated pages, as in `Coverage.groups`."""
    not_linked: int = 0
    """Listed pages that no page read links to, without home pages and those that cannot be indexed."""
    links: int = 0
    """Pairs of a page read and a page near it that it links to without `nofollow`."""
    nofollow: int = 0
    """Pairs with `nofollow` links alone."""
    offsite: int = 0
    """Links to other sites, each target once for a page."""
    max_depth: int | None = None
    """Clicks to the farthest page; null if no home page was read."""
    home_read: bool = False
    """Whether the links of a home page were read, without which depths are unknown."""
    cut: int = 0
    """Pages read in part, since they are too large, have too many links or broke off."""
    partial: str | None = None
    """What ended following links early: max_pages or depth; null if nothing did."""


@dataclass(slots=True)
class ChangedVerdict:
    """Listed URLs that a robots.txt newly blocks for some crawlers, or newly allows them, by one rule."""

    change: str = "blocked"
    """blocked or allowed."""
    urls: int = 0
    """Listed URLs of both crawls."""
    agents: list[str] = field(default_factory=list)
    """Crawlers; the number is that of each of them."""
    rule: str | None = None
    """The rule that blocks the URLs now; of allowed ones, the rule that blocked them before."""
    example: str = ""
    """One of the URLs."""


@dataclass(slots=True)
class RobotsChange:
    """What has changed in a robots.txt since the baseline. Comments, order and white space do not count."""

    robots: str = ""
    """URL of the robots.txt."""
    rules_added: int = 0
    """Rules that some crawlers have now and had not before."""
    rules_removed: int = 0
    """Rules that some crawlers had before and have no more."""
    added: list[str] = field(default_factory=list)
    """The first 100 added rules, each with its crawlers: `Disallow: /shop/ (Googlebot, bingbot)`."""
    removed: list[str] = field(default_factory=list)
    """The first 100 removed rules."""
    sitemaps_added: list[str] = field(default_factory=list)
    """The first 100 sitemaps that it names now and did not name before."""
    sitemaps_removed: list[str] = field(default_factory=list)
    """The first 100 sitemaps that it named before."""
    closed: list[str] = field(default_factory=list)
    """Crawlers that may fetch nothing on the site any more."""
    compared: int = 0
    """URLs that both crawls list and it applies to; 0 if its rules are the same, and with `agents=none`."""
    blocked: dict[str, int] = field(default_factory=dict)
    """Of these, newly blocked ones by crawler."""
    allowed: dict[str, int] = field(default_factory=dict)
    """Of these, newly allowed ones by crawler."""
    verdicts: list[ChangedVerdict] = field(default_factory=list)
    """The same by rule, crawlers alike together, those of most URLs first; up to 20."""
    not_compared: str | None = None
    """Why the rules could not be compared: robots.txt was unreachable in one of the crawls."""


@dataclass(slots=True)
class ChangeCounts:
    """How much has changed since the baseline, in distinct URLs and in problems, each of one URL and rule."""

    since: UtcTime | None = None
    """Start of the earlier crawl; null if the baseline does not say."""
    added: int = 0
    """URLs that the baseline did not list."""
    removed: int = 0
    """URLs that only the baseline listed."""
    changed: int = 0
    """URLs of which a compared field has changed."""
    unchanged: int = 0
    """All other listed URLs."""
    new_problems: dict[str, int] = field(default_factory=dict)
    """New problems by severity."""
    solved_problems: dict[str, int] = field(default_factory=dict)
    """Solved problems by severity."""
    not_compared: dict[str, list[str]] = field(default_factory=dict)
    """Rules of which one crawl could not know what the other one knew, by reason: `rules` (not applied), `content_hash`
    (of another version), or the argument that differs."""
    what_changed: dict[str, int] = field(default_factory=dict)
    """Changed URLs by `what_changed`."""
    robots: list[RobotsChange] = field(default_factory=list)
    """Each robots.txt that has changed, or could not be compared; up to 100."""


@dataclass(slots=True)
class SegmentCounts:
    """What is known of the URLs of a segment, in distinct URLs."""

    segment: str = ""
    """Its name; `other` for listed URLs that no pattern matches."""
    urls: int = 0
    """Listed URLs."""
    indexable: int = 0
    """Those that can be indexed."""
    not_indexable: int = 0
    """Those that cannot."""
    unknown: int = 0
    """Requested ones that may be indexable or not."""
    errors: int = 0
    """Those with errors."""
    warnings: int = 0
    """Those with warnings."""
    added: int = 0
    """Those that the baseline did not list; 0 without one."""
    removed: int = 0
    """URLs that only the baseline listed; 0 without one."""
    new_problems: int = 0
    """Problems of its URLs that the baseline had not, each of one URL and rule; 0 without one."""
    solved_problems: int = 0
    """Problems that only the baseline had."""
    remaining_problems: int | None = None
    """Problems that both have; null without a baseline, and if a finished job has counted other segments again."""
    dated: int = 0
    """Entries with a date."""
    trusted: float | None = None
    """Share of these dates that can be trusted at most, by `lastmod` of their files and by what the baseline proves;
    null if nothing is known of them."""

    @property
    def checked(self) -> int:
        """URLs that were requested, or that robots.txt blocks for search engines and us."""
        return self.indexable + self.not_indexable + self.unknown

    @property
    def share(self) -> float | None:
        """Share of these that can be indexed; None without any."""
        return self.indexable / self.checked if self.checked else None


@dataclass(slots=True)
class Breach:
    """A limit of the policy that is broken or could not be checked."""

    limit: str = ""
    """The limit, such as `shop.max-removed=5%`; empty if no limit could be checked."""
    message: str = ""
    """Why."""

    def __str__(self) -> str:
        return f"{self.limit}: {self.message}" if self.limit else self.message


@dataclass(slots=True)
class Verdict:
    """What a report says first."""

    level: str = "unknown"
    """ok, warning, error or unknown."""
    headline: str = ""
    """Such as `Healthy` or `Needs repair`."""
    sentences: list[str] = field(default_factory=list)
    """Why, and the answers to `compare`, `links` and `baseline`."""


@dataclass(slots=True)
class Basis:
    """What a crawl could find, by which a later one is compared with it."""

    rules: list[str] = field(default_factory=list)
    """Ids of the applied rules."""
    arguments: dict[str, str] = field(default_factory=dict)
    """Arguments that decide what is known of pages, where they differ from their defaults."""


@dataclass(slots=True)
class Share:
    """A share of URLs, by those that were asked."""

    population: int
    """Distinct URLs that may be asked; estimated where a share of them was drawn."""
    checked: int
    """URLs that were asked."""
    bad: int
    """How many of these are bad: they failed, redirect or are not indexable, depending on the share."""
    share: float
    """Share of bad ones, from 0 to 1."""
    low: float
    """Lower end of its 95 % interval; the share itself where all were asked."""
    high: float
    """Upper end."""
    unknown: int = 0
    """URLs that were asked and may be bad or not: of `not_indexable`, shells and pages that were not read."""


@dataclass(slots=True)
class Reach:
    """What a rule, or the rules of a severity, concern."""

    severity: str = ""
    """error, warning or info: the worst of its findings. Only what has such a finding counts, except in `milder`; if
    not all findings are records, all counts."""
    urls: int = 0
    """Distinct listed URLs, and pages that a finding names and no file lists; 0 for problems of files, robots.txt or
    the whole site."""
    entries: int | None = None
    """Entries that list these URLs; null in counts by severity, unless URLs were not counted."""
    files: int = 0
    """Files: sitemaps with such an entry, and sitemaps and robots.txt files with a problem of their own."""
    at_least: bool = False
    """True if `urls` is not counted: a crawl without a database that works, or without time to count at its end, counts
    entries and files of each severity alone."""
    milder: int = 0
    """Distinct URLs that the rule reports with a lower severity alone; 0 in counts by severity."""

    @property
    def subject(self) -> str:
        """What is concerned: `11,755 URLs`, or `12 entries` whose URLs are not counted; without them `2 files`, or `the
        site`. Empty if nothing was counted."""
        if self.urls:
            return f"{'at least ' * self.at_least}{counted(self.urls, 'URL')}"
        if self.entries:
            return counted(self.entries, "entry", "entries")
        return counted(self.files, "file") if self.files else "" if self.at_least else "the site"

    @property
    def place(self) -> str:
        """Where the problems are: `on 11,755 URLs in 3 files`, `on 2 URLs`, `in 2 files`, `on the site`."""
        files = f" in {counted(self.files, 'file')}" if self.urls and self.files > 1 else ""
        is_of_files = self.files and not self.urls and not self.entries
        return f"in {self.subject}" if is_of_files else f"on {self.subject}{files}"


@dataclass(slots=True)
class SummaryRecord:
    """The last record of a crawl."""

    type: str = field(default="summary", init=False)
    """Always `summary`."""
    domains: list[str] = field(default_factory=list)
    """The requested sites, as the argument named them."""
    started: UtcTime = ""
    """Start of the crawl, ISO 8601 in UTC."""
    elapsed_s: float = 0.0
    """Duration in seconds, before feeds and reports are written."""
    peak_mb: float = 0.0
    """Peak resident memory of the process in MiB."""
    sitemaps: int = 0
    """Number of sitemap records."""
    urls: int = 0
    """Number of url records, without those of URLs removed since the baseline."""
    rules: dict[str, int] = field(default_factory=dict)
    """Findings by rule, complete."""
    severities: dict[str, int] = field(default_factory=dict)
    """Findings by severity, complete."""
    reach: dict[str, Reach] = field(default_factory=dict)
    """What each rule with findings concerns: distinct listed URLs, entries and files, complete."""
    severity_reach: dict[str, Reach] = field(default_factory=dict)
    """The same for all findings of a severity together. A URL with errors and warnings counts for both."""
    agents: dict[str, int] = field(default_factory=dict)
    """Entries that robots.txt denies each crawler; crawlers denied nothing are left out. `crawlers` counts URLs."""
    crawlers: Sequence[CrawlerAccess] = ()
    """What is known of each crawler in the arguments `agents` and `fetch_as`, in their order."""
    rendered: dict[str, int] = field(default_factory=dict)
    """Rendered pages by `result` of their record; empty without the argument `render`."""
    usage: dict[str, UsageCounts] = field(default_factory=dict)
    """Listed URLs by `usage`, for `train`, `search` and `input`; empty if no URL has any, and without a database."""
    replies: dict[str, int] = field(default_factory=dict)
    """Url records by kind of reply, unchecked ones by their reason; empty where nothing was verified."""
    bad: Share | None = None
    """Share of URLs that do not answer with a page at once, of all that may be asked; null where none was asked."""
    not_indexable: Share | None = None
    """Share of URLs that no search engine can index, of those requested and those that robots.txt blocks for search
    engines and us; null if `verify` is off."""
    indexability: dict[str, int] = field(default_factory=dict)
    """Url records by `indexability`; empty if `verify` is off."""
    lastmod: Lastmods | None = None
    """How far the dates of all entries can be trusted; null where nothing was verified."""
    segments: Sequence[SegmentCounts] = ()
    """Each segment in the argument `segments`, in its order, and `other`; empty without it."""
    revisits: Revisits | None = None
    """How many dates proved true since the baseline; null without one, or if both crawls have read no dated page."""
    graph: LinkGraph | None = None
    """Totals of the links of pages; null without the argument `links`, or if the crawl ended early."""
    coverage: Coverage | None = None
    """What lists have that no sitemap lists, and the other way round; null without the argument `compare`, or if the
    crawl ended early."""
    google: IndexCounts | None = None
    """What Google says of the listed URLs; null without rows of URL Inspection, or if the crawl ended early."""
    changes: ChangeCounts | None = None
    """What has changed since the baseline; null without the argument `baseline`, or if the crawl ended early."""
    findings_left_out: dict[str, int] = field(default_factory=dict)
    """Rows that lists of findings lack, by rule: those beyond `SITEMAP_FINDINGS_PER_RULE` of a rule and file, and with
    `findings=all` those beyond 1,000,000 of a rule."""
    breaches: list[Breach] | None = None
    """Limits of the argument `policy` that are broken or could not be checked; empty if all are kept, null without a
    policy."""
    verdict: Verdict | None = None
    """What the report says first; null without a report."""
    basis: Basis = field(default_factory=Basis)
    """What the crawl could find."""
    skipped: dict[str, int] = field(default_factory=dict)
    """What was left out, by reason: entries by filter (include, exclude, since), sitemaps by limit, requests by
    address; and files that a rule could not judge, by rule."""
    only: str | None = None
    """`changes` where url records that have not changed since the baseline were left out; null otherwise."""
    limited_by: str | None = None
    """What a file of options or an allowlist leaves out, such as `pyproject.toml: select = none`; null if nothing."""
    partial: str | None = None
    """Why the crawl ended early; null when it reached its end."""


KEPT_WHEN_EMPTY = frozenset({"blocked_for", "breaches"})
"""Lists that are written even if they are empty: an empty one says more than a missing one."""

Record = (
    UrlRecord
    | ImageRecord
    | VideoRecord
    | NewsRecord
    | AlternateRecord
    | SitemapRecord
    | RobotsRecord
    | FindingRecord
    | PageRecord
    | AnswerRecord
    | RenderedRecord
    | ChangeRecord
    | SummaryRecord
)
"""What one row of a feed can be."""
RECORDS: tuple[type, ...] = get_args(Record)
"""The same as classes."""


class Envelope(ABC):
    """An item that stands for several rows of a feed."""

    __slots__ = ()

    @abstractmethod
    def unpack(self) -> Unpacked:
        """Return the records, each followed by its findings."""


@dataclass(slots=True)
class UrlBatch(Envelope):
    """Up to 1,000 url records of one sitemap, in document order: what travels through Scrapy."""

    sitemap: str
    """URL of the file all records stand in."""
    urls: list[UrlRecord]
    """The records."""

    def __len__(self) -> int:
        return len(self.urls)

    def unpack(self) -> Unpacked:
        return self.urls


def records(item: object) -> Unpacked:
    """The records an item stands for: those of a batch, or the item itself; each is followed by its findings. A batch
    whose records come again has their findings alone."""
    if isinstance(item, Envelope):
        return item.unpack()
    return [item.plain()] if isinstance(item, UrlEntry) else [item]


def with_lists(record: object) -> object:
    """Replace tuples in a record, such as the default of its list fields, with lists: validators of JSON Schema take
    no tuple for an array. Changes and returns the record."""
    for one in fields(record) if is_dataclass(record) else ():
        value = getattr(record, one.name)
        if isinstance(value, tuple):
            value = list(value)
            setattr(record, one.name, value)
        for part in value if isinstance(value, list) else (value,):
            with_lists(part)
    return record
