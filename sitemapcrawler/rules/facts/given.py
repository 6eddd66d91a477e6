"""Input of rules: an entry, a child of an index, a file, a robots.txt or a reply, with its context."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit

from sitemapcrawler.items import RobotsRecord, SitemapRecord, UrlRecord
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.reader.document import Document
from sitemapcrawler.reader.entries import ChildRecord
from sitemapcrawler.reader.formats import FILE_SUFFIXES, HTML, TEXT, InputFormat, format_named
from sitemapcrawler.reader.notes import Note, Notes
from sitemapcrawler.reader.repair import UNREADABLE
from sitemapcrawler.replies import ReplyRecord
from sitemapcrawler.replies.discovery import INDEX
from sitemapcrawler.replies.page import PageFacts
from sitemapcrawler.robots import Agent, Policy
from sitemapcrawler.robots.second_opinion import Disagreement
from sitemapcrawler.robots.usage import Preference
from sitemapcrawler.rules.facts.suspects import ALL_ODD, BITS, CLEAN_CHILD, Suspects
from sitemapcrawler.rules.facts.tally import Tally
from sitemapcrawler.rules.finding_tally import FindingTally
from sitemapcrawler.rules.registry import Message, Per, Rule, Severity
from sitemapcrawler.urls import Authority, authority, is_web, origin, site_of, visit_key
from sitemapcrawler.urls.display import quoted
from sitemapcrawler.urls.grammar import Form, Invalid, Standing, Uri, fault_of, folder_of, form_of, parse, standing

GONE = (404, 410)
"""Statuses of a file that does not exist. Source: RFC 9110, 15.5.5 and 15.5.11"""
MARKS = re.compile(
    r"(?:\{\{|%7B%7B|\$\{|(?:\$|%24)%7B|\{%|%7B%25|<%|%3C%25|(?:\[|%5B)(?-i:object)(?:%20|\+|\s)(?-i:[A-Z])\w{0,40}(?=\]|%5D)"
    r"|(?<=/)(?:\{|%7B)(?=[a-z_]{2,30}(?:\}|%7D)(?:[/?#]|\Z))|\{(?=(?:[a-z_][\w.]{1,39}(?:-[a-z_]{1,39}){0,3}|\d)\})"
    r"|(?<=[/=])%(?=[sd](?:[/?#&]|\Z))|(?<=/):(?=(?-i:[a-z])\w{1,30}(?:[/?#]|\Z))"
    r"|(?<=/)(?:\[|%5B){1,2}(?:\.\.\.)?(?=(?-i:[a-z])\w{1,30}(?:\]|%5D){1,2}(?:[/?#]|\Z)))[^/?#&]{0,40}",
    re.IGNORECASE,
)
"""A template placeholder, the parameter of a route (`[slug]`, `:slug`), or a JavaScript object converted to text.
Braces around a GUID do not count."""

EMPTY_VALUES = ("undefined", "null", "NULL", "None", "NaN", "(null)")
"""How programs print a missing value: JavaScript, PHP and SQL, Python, Objective-C."""
QUERY_PARAMETER = re.compile(r"(?:^|[?&;])([^=&;?]+)=([^&;]*)")
"""Name and value of a parameter of a query."""
MAX_CHILDREN = 100_000
"""Children of one index that are judged one by one and kept for a resume: twice the protocol limit."""


def lacks_site(url: str) -> bool:
    """True for a relative URL that has a missing value in place of scheme and host."""
    return url.partition("/")[0] in EMPTY_VALUES


@dataclass(frozen=True, slots=True)
class MissingFile:
    """A sitemap listed by a local index, without a file in the folder of the index or below."""

    line: int | None
    """Line in the index."""
    url: str
    """URL of the sitemap, as listed."""
    path: str
    """Expected path of the file, relative to the folder of the index."""
    hint: str = ""
    """What exists instead, such as a file whose name differs in case; empty for nothing."""
    certain: bool = True
    """False if it is unknown whether the index and its sitemaps share a folder."""


Value = tuple[int, str]
"""The odd fields of an entry with their texts (`Suspects.odd_entries`)."""


class Known(NamedTuple):
    """What rules find in each entry with the same values."""

    said: list[tuple[Rule, Message]]
    issues: list[str]
    """Ids of these rules, each once."""


@dataclass
class Counted:
    """A file whose findings are counted."""

    url: str
    entries: int = 0
    """Number of entries; 0 if unknown."""
    found: FindingTally = field(default_factory=FindingTally)
    """What the rules have found so far."""

    @property
    def site(self) -> str:
        """The site that the file is judged with."""
        return site_of(self.url)


@dataclass
class Drawn(Counted):
    """A file with entries in a sample that was drawn at the end of the crawl."""

    by_segment: Mapping[str | None, Counter[str]] = field(default_factory=dict)
    """Entries of each segment by kind of reply, unchecked ones by reason."""

    @property
    def replies(self) -> Counter[str]:
        """Entries by kind of reply, unchecked ones by reason."""
        return sum(self.by_segment.values(), Counter())


@dataclass
class FileFacts:
    """A sitemap file as input of rules. Complete when its record arrives."""

    url: str
    """Requested URL of the file."""
    record: SitemapRecord
    document: Document
    """The document as read: `root`, `faults`, `format` and so on."""
    content_type: str | None = None
    """Content-Type header as sent."""
    content_encoding: str | None = None
    """Content-Encoding header in lower case, empty without one; None if unknown."""
    fetched_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    """When the response began."""
    served_at: str | None = None
    """URL where a local file will be published; None if unknown, and for files on the web."""
    ancestors: tuple[str, ...] = ()
    """URLs of the indexes above the file, the topmost first."""
    listed_at: str | None = None
    """The file's `lastmod_at` in the index above."""
    prove: Callable[[str, Sequence[str]], bool] | None = None
    """Tells for `proven` whether one of these files may list the URL; None if no robots.txt is read."""
    site: str = ""
    """The site that led to the file (`urls.site_of`). Files of a site are judged together."""
    indexes: int = 0
    """Indexes of this site so far, this one included."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Listed files that were left out, by limit: max_depth, max_sitemaps."""
    listed: list[tuple[str, int | None]] = field(default_factory=list)
    """URL and line of all children, if their files are looked up on disk; at most `MAX_CHILDREN`."""
    missing: Sequence[MissingFile] = ()
    """Sitemaps listed by a local index whose files do not exist."""
    children: list[ChildRecord] = field(default_factory=list)
    """Children of an index; at most `MAX_CHILDREN`."""
    child_count: int = 0
    """Number of all children."""
    dated_children: int = 0
    """Number of children with a lastmod."""
    found: FindingTally = field(default_factory=FindingTally)
    """What the rules have found so far."""
    replies: Counter[str] = field(default_factory=Counter)
    """Entries by kind of reply, unchecked ones by reason; empty if nothing was verified."""
    values: dict[Value, Known] = field(default_factory=dict)
    """What rules find in an entry by the values of its odd fields, once it becomes no record any more."""

    def list_child(self, child: ChildRecord) -> None:
        self.child_count += 1
        self.dated_children += child.lastmod is not None
        self.child_tally.count_dates([child])
        if len(self.children) < MAX_CHILDREN:
            self.children.append(child)

    def odd_children(self) -> dict[int, tuple[bool, int]]:
        """By the identity of each of `children` that is not usual: whether its URL occurred earlier, and which fields
        are odd, as `Suspects.odd_entries` yields them."""
        suspects = Suspects(self._folders(), (*self.places, *self.ancestors), self.fetched_at, CLEAN_CHILD)
        found = suspects.odd_entries(self.children, Notes(), any_values=True)
        return {id(child): (repeated, odd) for child, repeated, odd, _ in found}

    def is_above(self, url: str) -> bool:
        """True for the URL of an index above this file."""
        return visit_key(url) in {visit_key(ancestor) for ancestor in self.ancestors}

    def is_itself(self, url: str) -> bool:
        """True for the URL of the file itself, before or after redirects."""
        return visit_key(url) in {visit_key(place) for place in self.places}

    @property
    def entries(self) -> int:
        """Number of entries: pages, or the children of an index."""
        return self.tally.entries + self.child_count

    @cached_property
    def tally(self) -> Tally:
        return Tally(self.fetched_at)

    @cached_property
    def child_tally(self) -> Tally:
        """Counts over the children of an index, dates only."""
        return Tally(self.fetched_at)

    @property
    def narrowed(self) -> bool:
        """True if a filter or limit of the crawl left out listed pages."""
        return self.entries < self.record.url_count

    @cached_property
    def suspects(self) -> Suspects:
        """Prefilter for entries that need a closer look."""
        return Suspects(self._folders(), self.places, self.fetched_at)

    def forget_urls(self) -> None:
        """Free the URLs that were remembered to find duplicates: some 4 MB for 50,000 entries. The objects of a file
        refer to each other, so without this they would stay until the garbage collector runs."""
        self.__dict__.pop("suspects", None)

    @property
    def has_any_values(self) -> bool:
        """True if entries without an XML element may hold any value, as in the format of a plug-in."""
        format = format_named(self.document.format)
        return format.read is not None and format is not TEXT

    @property
    def is_local(self) -> bool:
        """True for a local file, wherever it will be published."""
        return self.url.startswith("file:")

    @property
    def place(self) -> str:
        """URL the file is judged by: where it will be published if that is known, else the requested URL."""
        return self.served_at or self.url

    @cached_property
    def parts(self) -> SplitResult:
        return split(self.place)

    @cached_property
    def authority(self) -> Authority | None:
        """Host and port of `place`; None for a local file without another place."""
        return authority(self.place)

    @property
    def format(self) -> InputFormat:
        """Format of a file that has been read."""
        return format_named(self.record.format)

    @property
    def is_child(self) -> bool:
        return self.record.found_by == INDEX.name

    @property
    def is_missing_child(self) -> bool:
        """True for a file listed in an index that does not exist (`index-child-missing`)."""
        return self.is_child and self.record.status in GONE

    @property
    def is_page_child(self) -> bool:
        """True for a page that an index lists as a sitemap (`index-child-is-page`). A name such as `posts.xml` is meant
        to be a sitemap, whatever the server answers (`doc-is-html`)."""
        if not self.is_child or self.record.hops or self.parts.path.lower().endswith(FILE_SUFFIXES):
            return False
        return self.record.format == HTML.name and "doc-waf-blocked" not in self.document.faults

    @property
    def places(self) -> tuple[str, ...]:
        """URLs of the file: its place and, after redirects, the final URL."""
        return (self.place, self.record.final_url) if self.record.final_url else (self.place,)

    def proven(self, url: str) -> bool:
        """True if robots.txt on the host of `url` names the file or an index above it (cross-submission)."""
        return self.prove is not None and self.prove(url, (*self.places, *self.ancestors))

    def standing_of(self, url: str) -> Standing:
        """Classify a URL relative to the file, using the more permissive of its places.

        A redirect of the file is a separate finding and says nothing about the entries.
        """
        best = min(standing(url, place) for place in self.places)
        return Standing.INSIDE if best is not Standing.INSIDE and self.proven(url) else best

    def is_home(self, place: Authority | None) -> bool:
        """True for the host and port of the file itself."""
        return place is not None and any(authority(own) == place for own in self.places)

    def is_home_host(self, place: Authority) -> bool:
        """True for the host of the file itself, on any port."""
        return any(own is not None and own.host == place.host for own in map(authority, self.places))

    def _folders(self) -> list[str] | None:
        """URL prefixes the file may list; None if unknown."""
        folders = []
        for place in self.places:
            start = origin(place)
            if start is None:
                return None
            folders.append(f"{start}/" if self.proven(f"{start}/") else start + folder_of(place))
        return folders


@dataclass
class EntryFacts:
    """One entry of a file of any format."""

    record: UrlRecord | ChildRecord
    file: FileFacts

    @cached_property
    def parts(self) -> SplitResult:
        return split(self.record.loc)

    @cached_property
    def written(self) -> str:
        return self.record.loc_raw if self.record.loc_raw is not None else self.record.loc

    @cached_property
    def form(self) -> Form:
        """Whether the URL is absolute as written."""
        return form_of(self.written)

    @cached_property
    def usual(self) -> bool:
        """True for a URL that no rule on the URL alone reports."""
        return self.record.loc_raw is None and self.file.suspects.is_usual(self.record.loc)

    @cached_property
    def uri(self) -> Uri | None:
        """The parts of the URL for rules that check them; None for a usual or invalid URL."""
        if self.usual or authority(self.record.loc) is None:
            return None
        try:
            return parse(self.record.loc)
        except Invalid:
            return None

    @property
    def sound(self) -> bool:
        """True for a valid http or https URL, possibly after repairing its notation."""
        return self.usual or self.uri is not None

    @cached_property
    def placeholder(self) -> str | None:
        """The placeholder in the URL that was not filled in (`loc-placeholder`), up to the end of its segment; None
        without one."""
        found = None if self.usual or self.form is Form.OTHER_SCHEME else MARKS.search(self.record.loc)
        return None if found is None else found[0]

    @property
    def lacks_site(self) -> bool:
        """True for a missing value in place of scheme and host, as in `undefined/about`."""
        return self.form is Form.RELATIVE and lacks_site(self.written)

    @property
    def invalid(self) -> str | None:
        """Why the URL is invalid; None if it is valid, is not an absolute URL, or has a placeholder."""
        if self.form is Form.QUOTED:
            return f"there is other text around the URL in {quoted(self.written)}"
        if self.sound or (self.form is not Form.ABSOLUTE and authority(self.record.loc) is None):
            return None
        return None if self.placeholder else fault_of(self.decoded(self.record.loc))

    def decoded(self, url: str) -> str:
        """Return a URL of the entry with a letter for each of its bytes that do not fit the encoding of the file, which
        `doc-encoding-not-utf8` reports."""
        is_damaged = self.record.recovered and self.file.document.faults.undecodable
        return url.replace(UNREADABLE, "x") if is_damaged else url

    @cached_property
    def standing(self) -> Standing:
        if self.uri is None or self.form is not Form.ABSOLUTE:
            return Standing.INSIDE
        return self.file.standing_of(self.record.loc)

    def line_of(self, name: str) -> int | None:
        """Line of the first child with this local name if the XML is available, else of the entry."""
        return self.record.line


@dataclass
class UrlFacts(EntryFacts):
    """One entry of a urlset, a feed or a text file."""

    record: UrlRecord
    repeated: bool = False
    """True if the same URL occurred earlier in the file."""
    note: Note | Element | None = field(default=None, repr=False)
    """The note on the entry, or its element. See `element`."""
    brief: bool = False
    """True for a rule that reports once per file or site, and has found something in the file: further messages are
    only counted, and need no line."""
    is_only_elsewhere: bool = False
    """True for a usual URL that is not below the folder of the file, so that its place is all that can be wrong."""

    @cached_property
    def standing(self) -> Standing:
        return self.file.standing_of(self.record.loc) if self.is_only_elsewhere else super().standing

    @property
    def element(self) -> Element | None:
        """The XML element of the entry; None for plain entries, feeds and text. It may have to be parsed, so ask for
        it only where something is to be reported."""
        return self.note.element if isinstance(self.note, Note) else self.note

    def children(self, name: str) -> Iterator[Element]:
        """Yield the entry's elements with this local name, in any namespace."""
        if self.element is not None:
            yield from (child for child in self.element.children if child.name == name)

    def line_of(self, name: str) -> int | None:
        return next((child.line for child in self.children(name)), self.record.line)


@dataclass
class ChildFacts(EntryFacts):
    """One `<sitemap>` of an index."""

    record: ChildRecord
    repeated: bool = False
    """True if the same URL occurred earlier in the index."""
    odd: int = ALL_ODD
    """The fields that are not usual, as a sum of `suspects.BITS`."""

    @cached_property
    def usual(self) -> bool:
        return not self.odd & (BITS["loc"] | BITS["place"])


@dataclass
class VerdictFacts:
    """An entry that robots.txt disallows for at least one crawler."""

    record: UrlRecord
    """Its `blocked_for` is not empty."""
    file: FileFacts | Counted
    policy: Policy
    """The robots.txt of the entry's authority."""
    agents: Sequence[Agent]
    """The crawlers whose access was checked."""
    brief: bool = False
    """True if the file has enough findings of this kind, so the message is only counted."""


@dataclass
class ReplyFacts:
    """An entry whose URL was requested."""

    record: UrlRecord
    reply: ReplyRecord
    """Also that of the record."""
    asked_at: datetime
    """When the URL was requested, or slightly later."""
    page: PageFacts | None = None
    """Facts from the page of the last response; None if it was not read."""
    headers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Headers of the last response, in lower case, limited to `replies.chase.HEADERS`."""
    canonical: ReplyRecord | None = None
    """The reply to the page's canonical URL; None if that is the page itself, or was not requested."""
    targets: Mapping[str, ReplyRecord] = field(default_factory=dict)
    """Replies to the entry's language versions, by URL as listed. Contains those requested so far."""
    element: Element | None = None
    """The XML element of the entry; None for plain entries, feeds and text."""
    usage: Sequence[Preference] = ()
    """Usage preferences of robots.txt, which come first, and of the page; empty if the page states none."""


@dataclass
class AssetFacts:
    """An image or video file of an entry, with its reply."""

    record: UrlRecord
    url: str
    role: str
    """The element that names it: image, thumbnail_loc or content_loc."""
    reply: ReplyRecord
    blocked_for: Sequence[str] | None = None
    """Crawlers that robots.txt disallows it for; empty for none, or if already reported; None if not checked."""
    element: Element | None = None
    """The XML element of the entry; None for plain entries, feeds and text."""


def assets(one: UrlRecord) -> Iterable[tuple[str, str]]:
    """Return (element name, URL) of the images and video files of a record, web URLs only."""
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
    """The crawlers whose access to listed URLs was checked."""
    start: bool
    """True for a site of the crawl; False if only a sitemap names the host."""
    nobody: int = 0
    """Listed URLs that no crawler may fetch."""
    given_up: bool = False
    """True if the site was read over http because https did not answer."""
    sitemap_read: bool = False
    """True if a sitemap on this host could be read."""
    disagreements: Sequence[Disagreement] = ()
    """Rules that protego interprets differently from RFC 9309, with listed URLs as examples."""
    third_party: bool = False
    """True if the host is neither a site of the crawl nor a subdomain of one."""

    @property
    def has_sitemap(self) -> bool:
        """True if a sitemap on this host, or with URLs of this host, is known."""
        return self.sitemap_read or self.record.urls > 0


@dataclass(frozen=True, slots=True)
class Failure:
    """A rule that raised an exception."""

    rule: str
    error: Exception


@dataclass(frozen=True, slots=True)
class Unlisted:
    """A rule with findings that are counted only."""

    rule: str
    number: int
    """Of these findings, or of the entries that the list lacks."""
    rows: int | None = None
    """Maximum number of rows of the list, with `findings=all`; None without."""


@dataclass(frozen=True, slots=True)
class SkippedSite:
    """A site that exceeded its time budget without returning pages; its remaining sitemaps were skipped."""

    site: str
    """Its host."""
    left: int
    """Sitemaps that were not requested."""


def split(url: str) -> SplitResult:
    """`urlsplit` that never raises."""
    try:
        return urlsplit(url)
    except ValueError:
        return SplitResult("", "", url, "", "")


def loc_message(
    entry: EntryFacts,
    text: str,
    value: str | None = None,
    severity: Severity | None = None,
    per: Per | None = None,
) -> Message:
    """Make a message about the URL of an entry."""
    value = entry.record.loc if value is None else value
    return Message(text, entry.line_of("loc"), value=value, severity=severity, per=per)
