"""Which entries need a closer look: the others are clean, told in one test.

Nearly all entries of large files are clean. One expression, compiled for each file, tells such a URL in one test: same
host, inside the folder, nothing that any rule about URLs could name. Only the others meet the rules one by one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from datetime import datetime

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.reader.dates import iso
from sitemapcrawler.reader.entries import FREQUENCIES, ChildRecord
from sitemapcrawler.rules.telltales import find_telling
from sitemapcrawler.urls.grammar import ESCAPE, unescaped

MAX_LEGAL = 50_000
"""URLs of one file by the protocol; up to here a plain set is fastest. Source: https://www.sitemaps.org/protocol.html"""
MAX_SEEN = 1_000_000
"""URLs that are remembered: twenty times as many."""
BUCKET_BITS = 16
REST_BYTES = 6
"""Bytes of a hash beside the bits that name its bucket."""
MASK = (1 << 64) - 1


class Seen:
    """The hashes of URLs. Two URLs of a file with the same hash are as likely as 1 in 10^7 with a million of them."""

    def __init__(self) -> None:
        self.full = False
        """True where there were more than `MAX_SEEN`: the further ones were not remembered."""
        self._recent: set[int] = set()
        self._count = 0
        self._buckets: list[bytes] = []

    def add(self, hashes: Set[int]) -> Set[int]:
        """Remember hashes; those that were known."""
        if self._buckets:
            return self._add_to_buckets(hashes)
        known = self._recent & hashes
        self._recent |= hashes
        if len(self._recent) > MAX_LEGAL:
            self._buckets = [b""] * (1 << BUCKET_BITS)
            self._add_to_buckets(self._recent)
            self._recent = set()
        return known

    def _add_to_buckets(self, hashes: Set[int]) -> Set[int]:
        buckets, known = self._buckets, set()
        for number in hashes:
            bits = number & MASK
            at, rest = bits >> (8 * REST_BYTES), (bits & (1 << 8 * REST_BYTES) - 1).to_bytes(REST_BYTES, "big")
            if _holds(buckets[at], rest):
                known.add(number)
            elif self._count < MAX_SEEN:
                buckets[at] += rest
                self._count += 1
            else:
                self.full = True
        return known


def _holds(bucket: bytes, rest: bytes) -> bool:
    found = bucket.find(rest)
    while found > 0 and found % REST_BYTES:  # across two entries
        found = bucket.find(rest, found + 1)
    return found >= 0


OLDEST = "2005-01-01T00:00:00Z"
"""The year in which sitemaps began; an older lastmod is rare, and often the date of something else."""
MAX_LENGTH = 2047
"""Characters of a URL: "less than 2,048". Source: https://www.sitemaps.org/protocol.html"""
MIN_LENGTH = 12
"""Characters of a URL by the schema. Source: https://www.sitemaps.org/schemas/sitemap/0.9/sitemap.xsd, tLoc"""
MAX_CLOSELY = 5_000
"""Entries at the start of a file that are compared for spelling too, but for URLs longer than one may be: each of them
stays in memory."""
TELLING = r"(?i:sess|sid|token|pass|pwd|mail|auth|secret|key|cfid|zenid)"
"""What occurs in every name of a parameter that a rule looks at."""
SAFE = r"A-Za-z0-9\-_~!$'()*+,=:@/"
"""Characters that say nothing; `;` may begin a parameter, `&` part them."""
PATH = rf"[{SAFE}&]*+(?:(?:(?<!/)\.|(?:%(?!2[eE])[0-9A-Fa-f]{{2}})++)[{SAFE}&]*+)*+"
"""Without segments that begin with a dot, also an escaped one."""
PARAMETER = rf"(?![^=&]*{TELLING})[{SAFE}.?]*+(?:%[0-9A-Fa-f]{{2}}[{SAFE}.?]*+)*+"
QUERY = rf"(?:\?{PARAMETER}(?:&{PARAMETER})*+)?+"
CLEAN_CHILD = PATH + QUERY
CLEAN = rf"{PATH}(?<!\.xml)(?<!\.gz){QUERY}"
"""Path and query of a URL that no rule can name: no dot segments, no fragment, no name of a sitemap."""
ANY_HOST = (
    r"https?://(?=[^/]{4,253}/)(?!xn--|[^/]*\.(?:xn--|localhost/|local/|test/|internal/|invalid/|localdomain/))"
    r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]/"
)
"""Scheme and host in a file of this machine, whose own host is not known: a public name in lower case."""
USUAL_FOLDER = re.compile(rf"https?://[^/]+/{PATH}")
DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2}))?"
)
"""A lastmod as every rule wants it, but for the day itself."""
BLANKS = " \t\r\n"
"""White space of XML. By the schema it is a part of a changefreq, and none of a date or number."""
FIELDS = ("loc", "lastmod", "changefreq", "priority")
"""What a plain entry holds, in this order."""


class Suspects:
    """Finds the entries of one file that rules about single entries must see."""

    def __init__(self, folders: Sequence[str] | None, own: Sequence[str], fetched_at: datetime) -> None:
        """`folders`: URLs below which the file may list; None where nothing is known of it. `own`: its own URLs."""
        self.first: dict[str, str] = {}
        """The first `MAX_CLOSELY` URLs by what is left of them without case, escapes and final slashes."""
        self.similar: dict[str, str] = {}
        """URLs of the batch at hand that differ from an earlier one in nothing else: {URL: earlier one}."""
        self._now = iso(fetched_at)
        self._clean = clean_pattern(folders, CLEAN, own)
        self._clean_child = clean_pattern(folders, CLEAN_CHILD)
        self._seen = Seen()

    @property
    def compared(self) -> bool:
        """False where there were too many entries to find all that are repeated."""
        return not self._seen.full

    def take(self, urls: Sequence[UrlRecord]) -> Iterator[tuple[UrlRecord, bool]]:
        """The entries that need a closer look, and whether each repeats an earlier one of the file."""
        locs = [record.loc for record in urls]
        repeated = self._repeated(locs)
        self.similar = self._similar(locs) if len(self.first) < MAX_CLOSELY else {}
        odd = find_telling(locs).union(repeated, self.similar)
        clean, now = self._clean, self._now
        for record, loc in zip(urls, locs, strict=True):
            moment = record.lastmod_at
            if (
                clean(loc) is None
                or not MIN_LENGTH <= len(loc) <= MAX_LENGTH
                or (record.lastmod is not None if moment is None else not OLDEST <= moment <= now)
                or record.recovered
                or ((element := getattr(record, "element", None)) is not None and not is_plain(element, record))
                or loc in odd
                or record.loc_raw is not None
            ):
                yield record, loc in repeated and self._again(loc, repeated)

    def is_usual(self, loc: str) -> bool:
        """True for a URL that no rule about the URL alone can name."""
        return self._clean(loc) is not None and MIN_LENGTH <= len(loc) <= MAX_LENGTH and not find_telling((loc,))

    def is_clean_child(self, child: ChildRecord) -> bool:
        """True for an entry of an index that no rule can name."""
        moment = child.lastmod_at
        return (
            self._clean_child(child.loc) is not None
            and MIN_LENGTH <= len(child.loc) <= MAX_LENGTH
            and (child.lastmod is None if moment is None else OLDEST <= moment <= self._now)
            and (child.lastmod is None or DATE.fullmatch(child.lastmod) is not None)
            and child.loc_raw is None
            and not child.recovered
            and not find_telling((child.loc,))
        )

    def _repeated(self, locs: Sequence[str]) -> dict[str, bool]:
        """{URL: whether it stood in an earlier batch} for those that are repeated; empty for nearly all batches."""
        hashes = set(map(hash, locs))
        known = self._seen.add(hashes)
        if not known and len(hashes) == len(locs):
            return {}
        times = Counter(locs)
        return {url: hash(url) in known for url in times if times[url] > 1 or hash(url) in known}

    @staticmethod
    def _again(url: str, repeated: dict[str, bool]) -> bool:
        earlier, repeated[url] = repeated[url], True
        return earlier

    def _similar(self, locs: Sequence[str]) -> dict[str, str]:
        first = self.first
        before = len(first)
        locs = [loc for loc in locs if len(loc) <= MAX_LENGTH]
        shapes = list(map(shape_of, locs))
        for shape, loc in zip(shapes, locs, strict=True):
            first.setdefault(shape, loc)
        if len(first) - before == len(locs):
            return {}
        return {loc: first[shape] for shape, loc in zip(shapes, locs, strict=True) if loc != first[shape]}


def shape_of(url: str) -> str:
    """What is left of a URL without case, needless escapes and final slashes."""
    if "%" in url:
        url = ESCAPE.sub(unescaped, url)
    return url.lower().rstrip("/")


def is_plain(entry: Element, record: UrlRecord) -> bool:
    """True for an entry that was not written like a plain one, but says no more: comments, CDATA, fractions."""
    if entry.name != "url" or entry.attributes or record.extra is not None or not has_plain_values(record):
        return False
    position = -1
    for part in entry.content:
        if isinstance(part, str):
            if part.strip():
                return False
            continue
        after = FIELDS.index(part.name) if part.name in FIELDS else -1
        if after <= position or part.attributes or part.uri != entry.uri or part.has_children:
            return False
        text = "".join(map(str, part.content))
        if after == 0 and text != record.loc:
            return False
        if after > 0 and (text if part.name == "changefreq" else text.strip(BLANKS)) != part.text:
            return False
        position = after
    return True


def has_plain_values(record: UrlRecord) -> bool:
    """True where the fields of the protocol hold what a plain entry could hold."""
    return (
        record.loc_raw is None
        and (record.lastmod is None or DATE.fullmatch(record.lastmod) is not None)
        and (record.changefreq is None or record.changefreq in FREQUENCIES)
        and (record.priority is None or 0 <= record.priority <= 1)
    )


def clean_pattern(
    folders: Sequence[str] | None, rest: str, own: Sequence[str] = ()
) -> Callable[[str], re.Match[str] | None]:
    """The test for clean URLs below any of `folders`, but for the file's `own`."""
    if folders is None:
        start = ANY_HOST
    else:
        usual = [folder for folder in folders if USUAL_FOLDER.fullmatch(folder)]
        start = f"(?:{'|'.join(map(re.escape, usual))})" if usual else "(?!)"
    pattern = re.compile(start + rest)
    own = [re.escape(url) for url in own if pattern.fullmatch(url)]
    return re.compile(rf"(?!(?:{'|'.join(own)})\Z)" + pattern.pattern).fullmatch if own else pattern.fullmatch
