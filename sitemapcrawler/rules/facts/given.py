"""Input of rules: an entry, a child of an index, a file, a robots.txt or a reply, with its context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from urllib.parse import SplitResult, urlsplit

from sitemapcrawler.items import RobotsRecord, SitemapRecord, UrlRecord
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.reader.document import Document
from sitemapcrawler.reader.entries import ChildRecord
from sitemapcrawler.replies import Reply
from sitemapcrawler.replies.page import PageFacts
from sitemapcrawler.robots import Agent, Policy
from sitemapcrawler.robots.second_opinion import Disagreement
from sitemapcrawler.rules.facts.suspects import Suspects
from sitemapcrawler.rules.facts.tally import Tally
from sitemapcrawler.rules.registry import Message, Severity
from sitemapcrawler.urls import Authority, authority, is_web, origin, visit_key
from sitemapcrawler.urls.grammar import Form, Invalid, Standing, Uri, fault_of, folder_of, form_of, parse, standing

GONE = (404, 410)
"""Statuses that say: there is no such file. Source: RFC 9110, 15.5.5 and 15.5.11"""
MAX_CHILDREN = 100_000
"""Children of one index that are judged one by one, and kept for a resume: twice what the protocol allows."""


@dataclass(frozen=True, slots=True)
class MissingFile:
    """A sitemap that an index on this machine lists, and that has no file in the index's folder or below."""

    line: int | None
    """Line of the index."""
    url: str
    """The sitemap, as listed."""
    path: str
    """Where its file would be, relative to the folder of the index."""
    hint: str = ""
    """What is there instead, such as a file whose name differs in case; empty for nothing."""
    certain: bool = True
    """False where nothing says that the index and its sitemaps share a folder."""


@dataclass
class Counted:
    """A file whose findings are counted."""

    url: str
    findings: Counter[str] = field(default_factory=Counter)
    """Findings of each rule in this file so far."""
    severities: Counter[str] = field(default_factory=Counter)
    """The same by severity."""


@dataclass
class Drawn(Counted):
    """A file of whose entries some are in a sample that was drawn at the end."""

    replies: Counter[str] = field(default_factory=Counter)
    """Entries by kind of reply, unchecked ones by their reason."""


@dataclass
class FileFacts:
    """A sitemap file while it is judged. Complete when its record comes."""

    url: str
    """URL the file was asked for under."""
    record: SitemapRecord
    document: Document
    """The document as it was read: `root`, `faults`, `format`, and so on."""
    content_type: str | None = None
    """Content-Type header as sent."""
    content_encoding: str | None = None
    """Content-Encoding header in lower case, empty without one; None where it is not known."""
    fetched_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    """When its answer began."""
    served_at: str | None = None
    """URL at which a file of this machine will live; None where that is not known, and for what is on the web."""
    ancestors: tuple[str, ...] = ()
    """URLs of the indexes above the file, the topmost first."""
    listed_at: str | None = None
    """`lastmod_at` that the index above gives the file."""
    prove: Callable[[str, Sequence[str]], bool] | None = None
    """Called by `proven`: may one of these files list the URL? None if no robots.txt is read."""
    site: str = ""
    """The site that led to it, whose files are judged together (`urls.site_of`)."""
    indexes: int = 0
    """Indexes of this site so far, this one included."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Files it lists that a limit left out, by limit: max_depth, max_sitemaps."""
    listed: list[tuple[str, int | None]] = field(default_factory=list)
    """URL and line of all that an index lists, where its files are looked for beside it; `MAX_CHILDREN` at most."""
    missing: Sequence[MissingFile] = ()
    """Sitemaps that an index on this machine lists, and that have no file beside it."""
    children: list[ChildRecord] = field(default_factory=list)
    """What an index lists, but for clean entries; `MAX_CHILDREN` at most."""
    child_count: int = 0
    """How many it lists, clean ones included."""
    dated_children: int = 0
    """How many of these have a lastmod."""
    findings: Counter[str] = field(default_factory=Counter)
    """Findings of each rule in this file so far."""
    severities: Counter[str] = field(default_factory=Counter)
    """The same by severity."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Rules that could not judge this file."""
    replies: Counter[str] = field(default_factory=Counter)
    """Entries by kind of reply, unchecked ones by their reason; empty where nothing was verified."""
    _listed: set[str] = field(default_factory=set, repr=False)
    _repeated: set[int] = field(default_factory=set, repr=False)

    def list_child(self, child: ChildRecord) -> None:
        """Note what an index lists."""
        self.child_count += 1
        self.dated_children += child.lastmod is not None
        self.child_tally.count_dates([child])
        repeated = child.loc in self._listed
        if len(self._listed) < MAX_CHILDREN:
            self._listed.add(child.loc)
        suspect = repeated or child.loc in self._circle or not self.suspects.is_clean_child(child)
        if suspect and len(self.children) < MAX_CHILDREN:
            self.children.append(child)
            self._repeated.update([id(child)] if repeated else [])

    @cached_property
    def _circle(self) -> frozenset[str]:
        """URLs that make a circle where the file lists them."""
        urls = (*self.places, *self.ancestors)
        return frozenset((*urls, *map(visit_key, urls)))

    def lists_again(self, child: ChildRecord) -> bool:
        """True for one of `children` whose URL stood earlier in the index."""
        return id(child) in self._repeated

    def is_above(self, url: str) -> bool:
        """True for the URL of an index above this file."""
        return visit_key(url) in {visit_key(ancestor) for ancestor in self.ancestors}

    def is_itself(self, url: str) -> bool:
        """True for the file's own URL, also the one that redirects led to."""
        return visit_key(url) in {visit_key(place) for place in self.places}

    @cached_property
    def tally(self) -> Tally:
        """Counts over the entries."""
        return Tally(self.fetched_at)

    @cached_property
    def child_tally(self) -> Tally:
        """Counts over what an index lists; of its dates only."""
        return Tally(self.fetched_at)

    @property
    def narrowed(self) -> bool:
        """True where a filter or a limit of the crawl left out pages that the file lists."""
        return self.tally.entries + self.child_count < self.record.url_count

    @cached_property
    def suspects(self) -> Suspects:
        """Finds the entries that need a closer look."""
        return Suspects(self._folders(), self.places, self.fetched_at)

    @property
    def is_local(self) -> bool:
        """True for a file of this machine, wherever it will live."""
        return self.url.startswith("file:")

    @property
    def place(self) -> str:
        """URL by which the file is judged: that it was asked for under, unless it will live elsewhere."""
        return self.served_at or self.url

    @cached_property
    def parts(self) -> SplitResult:
        """The parts of the file's place."""
        return split(self.place)

    @cached_property
    def authority(self) -> Authority | None:
        """Host and port of the file's place; None for a file of this machine that has no other."""
        return authority(self.place)

    @property
    def is_missing_child(self) -> bool:
        """True for a file that an index lists and that is not there (`index-child-missing`)."""
        return self.record.found_by == "index" and self.record.status in GONE

    @property
    def is_page_child(self) -> bool:
        """True for a page that an index lists as a sitemap (`index-child-is-page`)."""
        if self.record.found_by != "index" or self.record.hops:
            return False
        return self.record.format == "html" and "doc-waf-blocked" not in self.document.faults

    @property
    def places(self) -> tuple[str, ...]:
        """URLs that the file has: its place, and the one that redirects led to."""
        return (self.place, self.record.final_url) if self.record.final_url else (self.place,)

    def proven(self, url: str) -> bool:
        """True where the host of `url` is known to let this file list its URLs (cross-submission): its robots.txt
        names the file, or an index above it."""
        return self.prove is not None and self.prove(url, (*self.places, *self.ancestors))

    def standing_of(self, url: str) -> Standing:
        """Where a URL stands as seen from the file, judged from the place that allows more.

        A redirect of the file is a fault of its own, which says nothing about the entries.
        """
        best = min(standing(url, place) for place in self.places)
        return Standing.INSIDE if best is not Standing.INSIDE and self.proven(url) else best

    def is_home(self, place: Authority | None) -> bool:
        """True for the host and port that the file itself is on."""
        return place is not None and any(authority(own) == place for own in self.places)

    def _folders(self) -> list[str] | None:
        """URLs below which the file may list; None where nothing can be said of it."""
        folders = []
        for place in self.places:
            start = origin(place)
            if start is None:
                return None
            folders.append(f"{start}/" if self.proven(f"{start}/") else start + folder_of(place))
        return folders


@dataclass
class EntryFacts:
    """One entry of a file, whatever it stands for."""

    record: UrlRecord | ChildRecord
    file: FileFacts

    @cached_property
    def parts(self) -> SplitResult:
        """The parts of the entry's URL."""
        return split(self.record.loc)

    @cached_property
    def written(self) -> str:
        """The URL as written."""
        return self.record.loc_raw if self.record.loc_raw is not None else self.record.loc

    @cached_property
    def form(self) -> Form:
        """Whether the URL is absolute as written."""
        return form_of(self.written)

    @cached_property
    def usual(self) -> bool:
        """True for a URL that no rule about the URL alone can name."""
        return self.record.loc_raw is None and self.file.suspects.is_usual(self.record.loc)

    @cached_property
    def uri(self) -> Uri | None:
        """The parts of the URL, for rules on them: None for a usual one, and for one that is not valid."""
        if self.usual or authority(self.record.loc) is None:
            return None
        try:
            return parse(self.record.loc)
        except Invalid:
            return None

    @property
    def sound(self) -> bool:
        """True for a valid http or https URL, also one that was not written as such."""
        return self.usual or self.uri is not None

    @property
    def invalid(self) -> str | None:
        """Why the URL is not valid; None where it is, and where there is none that could be."""
        if self.sound or (self.form is not Form.ABSOLUTE and authority(self.record.loc) is None):
            return None
        return fault_of(self.record.loc)

    @cached_property
    def standing(self) -> Standing:
        """Where the URL stands as seen from the file."""
        if self.uri is None or self.form is not Form.ABSOLUTE:
            return Standing.INSIDE
        return self.file.standing_of(self.record.loc)

    def line_of(self, name: str) -> int | None:
        """Line of the first child of this local name, or of the entry."""
        return self.record.line


@dataclass
class UrlFacts(EntryFacts):
    """One entry of a urlset, a feed or a text file."""

    record: UrlRecord
    repeated: bool = False
    """True where the same URL stood earlier in the file."""

    @property
    def element(self) -> Element | None:
        """The entry as it stands in the XML; None for plain entries, feeds and text."""
        return getattr(self.record, "element", None)

    def children(self, name: str) -> Iterator[Element]:
        """The elements of the entry with this local name, in any namespace."""
        if self.element is not None:
            yield from (child for child in self.element.children if child.name == name)

    def line_of(self, name: str) -> int | None:
        """Line of the first child of this local name, or of the entry."""
        return next((child.line for child in self.children(name)), self.record.line)


@dataclass
class ChildFacts(EntryFacts):
    """One `<sitemap>` of an index."""

    record: ChildRecord


@dataclass
class VerdictFacts:
    """An entry that robots.txt denies to somebody."""

    record: UrlRecord
    """With `blocked_for`, which is not empty."""
    file: FileFacts | Counted
    policy: Policy
    """The robots.txt of its authority."""
    agents: Sequence[Agent]
    """The crawlers it was judged for."""
    brief: bool = False
    """True where the file has enough findings of this kind: the message will not be written, only counted."""


@dataclass
class ReplyFacts:
    """An entry whose URL was asked."""

    record: UrlRecord
    """With `reply`, the same as a record."""
    reply: Reply
    asked_at: datetime
    """When it was asked, or a little later."""
    page: PageFacts | None = None
    """What the page of the last answer says of itself; None where nothing was read of it."""
    headers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Of the last answer, in lower case, those of `reply.step.HEADERS`."""
    soft_404: str | None = None
    """Why the page is none although its status is 200."""
    canonical: Reply | None = None
    """The reply to the page's canonical; None where that is the page itself, or was not asked."""
    targets: Mapping[str, Reply] = field(default_factory=dict)
    """Replies to the language versions that the entry lists, by URL as listed; those that were asked by now."""


@dataclass
class AssetFacts:
    """An image or a video file of an entry that was asked for."""

    record: UrlRecord
    url: str
    role: str
    """The element that names it: image, thumbnail_loc or content_loc."""
    reply: Reply
    blocked_for: Sequence[str] | None = None
    """Crawlers that robots.txt denies it; empty where none is denied it, or that was reported before; None where it was
    not judged for them."""


def assets(one: UrlRecord) -> Iterable[tuple[str, str]]:
    """(the element that names it, its URL) of the images and video files of a record, where that is a web URL."""
    named = [("image", image.loc) for image in one.images]
    for video in one.videos:
        named += [("thumbnail_loc", video.thumbnail_loc), ("content_loc", video.content_loc)]
    return [(role, url) for role, url in named if url and is_web(url)]


@dataclass
class RobotsFacts:
    """A robots.txt at the end of a crawl."""

    record: RobotsRecord
    policy: Policy
    agents: Sequence[Agent]
    """The crawlers that listed URLs were judged for."""
    start: bool
    """True for a site that the crawl was to visit; False where only a sitemap names the host."""
    nobody: int = 0
    """Listed URLs that none of the crawlers is allowed."""
    given_up: bool = False
    """True where the site was read over http, since https gave no answer."""
    sitemap_read: bool = False
    """True where a sitemap on this host could be read."""
    disagreements: Sequence[Disagreement] = ()
    """Rules that protego reads otherwise than RFC 9309, with listed URLs that show it."""

    @property
    def has_sitemap(self) -> bool:
        """True where a sitemap is known, on this host or with URLs of it."""
        return self.sitemap_read or self.record.urls > 0


@dataclass(frozen=True, slots=True)
class Failure:
    """A rule that raised."""

    rule: str
    """Its id."""
    error: Exception


@dataclass(frozen=True, slots=True)
class SkippedSite:
    """A site whose sitemaps were left alone, since it gave no pages for too long."""

    site: str
    """Its host."""
    left: int
    """Sitemaps that were not asked for."""


def split(url: str) -> SplitResult:
    """`urlsplit` that takes any text."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")


def loc_message(entry: EntryFacts, text: str, value: str | None = None, severity: Severity | None = None) -> Message:
    """A message on the URL of an entry."""
    value = entry.record.loc if value is None else value
    return Message(text, entry.line_of("loc"), value=value, severity=severity)
