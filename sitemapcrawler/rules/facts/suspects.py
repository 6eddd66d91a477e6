"""Prefilter that finds the few entries that per-entry rules need to check.

Nearly all entries of large files are clean. One regular expression, compiled per file, matches clean URLs: same host,
inside the folder, nothing for a URL rule to report. A second search finds what rules declare with `UrlWith`, in a whole
batch of URLs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from datetime import datetime
from functools import lru_cache
from string import printable
from typing import TypeVar
from urllib.parse import quote

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces.element import BLANKS, Element, Unparsed
from sitemapcrawler.reader.dates import iso
from sitemapcrawler.reader.entries import FREQUENCIES, ChildRecord, Entry
from sitemapcrawler.reader.notes import Notes
from sitemapcrawler.rules.registry import RULES, UrlWith
from sitemapcrawler.urls import visit_key
from sitemapcrawler.urls.expressions import re2
from sitemapcrawler.urls.grammar import ESCAPE, unescaped

MAX_SEEN = 200_000
"""URLs remembered per file, in some 15 MB: four times the protocol limit."""


class Seen:
    """Set of URL hashes of one file."""

    def __init__(self) -> None:
        self.full = False
        """True if there were more than `MAX_SEEN` URLs; the rest was not remembered."""
        self._known: set[int] = set()

    def add(self, hashes: Set[int]) -> Set[int]:
        """Add hashes and return those already present."""
        known = self._known & hashes
        if len(self._known) + len(hashes) - len(known) <= MAX_SEEN:
            self._known |= hashes
        else:
            self.full = True
        return known


OLDEST = "2005-01-01T00:00:00Z"
"""Sitemaps were introduced in 2005; an earlier lastmod is usually the date of something else."""
MAX_LENGTH = 2047
"""Maximum length of a URL in characters: "less than 2,048". Source: https://www.sitemaps.org/protocol.html"""
MIN_LENGTH = 12
"""Minimum length of a URL in characters. Source: https://www.sitemaps.org/schemas/sitemap/0.9/sitemap.xsd, tLoc"""
MAX_CLOSELY = 5_000
"""Entries at the start of a file to compare by spelling as well. They stay in memory, so overlong URLs are excluded."""
SAFE = r"A-Za-z0-9\-_~!$'()*+,=:@/"
"""Harmless characters; `;` may start a parameter, `&` separates them."""
PATH = rf"[{SAFE}&]*+(?:(?:(?<!/)\.|(?:%(?!2[eE])[0-9A-Fa-f]{{2}})++)[{SAFE}&]*+)*+"
"""A path without segments that start with a dot, escaped or not."""
QUERY = rf"(?:\?[{SAFE}&.?]*+(?:%[0-9A-Fa-f]{{2}}[{SAFE}&.?]*+)*+)?+"
CLEAN_CHILD = PATH + QUERY
"""Path and query of a usual URL in an index: no dot segments, no fragment."""
CLEAN = rf"{PATH}(?<!\.xml)(?<!\.gz){QUERY}"
"""The same for a page: no sitemap file name."""
ANY_HOST = (
    r"https?://(?=[^/]{4,253}/)(?!xn--|[^/]*\.(?:xn--|localhost/|local/|test/|internal/|invalid/|localdomain/))"
    r"(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]/"
)
"""Scheme and a public host name in lower case, for a local file whose own host is unknown."""
USUAL_FOLDER = re.compile(rf"https?://[^/]+/{PATH}")
DATE = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?(?:Z|[+-][0-9]{2}:[0-9]{2}))?"
)
"""A lastmod that no rule reports for its form; the day itself is not checked."""
FIELDS = ("loc", "lastmod", "changefreq", "priority")
"""Elements of a plain entry, in this order."""


AnyEntry = TypeVar("AnyEntry", bound=Entry)


class Suspects:
    """Finds the entries of one file that per-entry rules need to check."""

    def __init__(
        self, folders: Sequence[str] | None, own: Sequence[str], fetched_at: datetime, usual: str = CLEAN
    ) -> None:
        """`folders`: URL prefixes the file may list; None if unknown. `own`: URLs of the file itself, and of
        the indexes above it. `usual`: expression for path and query."""
        self.first: dict[str, tuple[str, int | None]] = {}
        """The first `MAX_CLOSELY` URLs with their lines, by `shape_of`."""
        self.similar: dict[str, str] = {}
        """{URL: earlier URL} for URLs of the current batch that differ only in case, escapes or final slashes."""
        self._now = iso(fetched_at)
        self._clean = clean_pattern(folders, own, usual)
        self._clean_elsewhere = clean_pattern(folders, own, usual, anywhere=True)
        self._seen = Seen()
        self._telling = telling()

    @property
    def compared(self) -> bool:
        """False if the file has too many entries to find all duplicates."""
        return not self._seen.full

    def odd_entries(
        self, urls: Sequence[AnyEntry], notes: Notes, any_values: bool = False
    ) -> Iterator[tuple[AnyEntry, bool, int, str]]:
        """Yield the entries that need a closer look, each with whether it repeats an earlier entry, which of its fields
        are odd, as a sum of `BITS`, and its form: the odd texts, with 0 for each digit of a date.

        In entries of one form with the same odd fields, the rules on these fields find the same. The form is empty if
        more than the notation is odd: the URL, the day that a date names, or the XML.
        `any_values`: records without an XML element may hold unusual values, and objects of namespaces."""
        locs = [record.loc for record in urls]
        repeated = self._repeated(locs)
        self.similar = self._similar(urls) if len(self.first) < MAX_CLOSELY else {}
        odd = find_telling(self._telling, locs).union(repeated, self.similar)
        clean, clean_elsewhere, now, note_on = self._clean, self._clean_elsewhere, self._now, notes.get
        for record, loc in zip(urls, locs, strict=True):
            moment = record.lastmod_at
            odd_place = clean(loc) is None
            odd_loc = (
                (odd_place and clean_elsewhere(loc) is None)
                or not MIN_LENGTH <= len(loc) <= MAX_LENGTH
                or loc in odd
                or record.loc_raw is not None
            )
            odd_moment = record.lastmod is not None if moment is None else not OLDEST <= moment <= now
            note = note_on(id(record))
            entry = None if note is None else note.written
            fields, form = ALL_ODD if record.recovered else 0, ""
            if not fields and (entry is not None or any_values):
                fields, form = odd_fields(entry, record)
            if odd_loc or odd_place or odd_moment:
                fields |= odd_loc * BITS["loc"] | odd_place * BITS["place"] | odd_moment * BITS["lastmod"]
                form = ""
            if fields or ((entry is not None or any_values) and has_objects(record)):
                yield record, loc in repeated and self._again(loc, repeated), fields, form

    def is_usual(self, loc: str) -> bool:
        """True for a URL that no rule on the URL alone reports."""
        return (
            self._clean(loc) is not None
            and MIN_LENGTH <= len(loc) <= MAX_LENGTH
            and not find_telling(self._telling, (loc,))
        )

    def _repeated(self, locs: Sequence[str]) -> dict[str, bool]:
        """Duplicate URLs of a batch, with whether they occurred in an earlier batch. Empty for nearly all batches."""
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

    def _similar(self, urls: Sequence[Entry]) -> dict[str, str]:
        first = self.first
        before = len(first)
        shapes = [(shape_of(record.loc), record) for record in urls if len(record.loc) <= MAX_LENGTH]
        for shape, record in shapes:
            first.setdefault(shape, (record.loc, record.line))
        if len(first) - before == len(shapes):
            return {}
        return {record.loc: first[shape][0] for shape, record in shapes if record.loc != first[shape][0]}


def shape_of(url: str) -> str:
    """Normalise a URL to compare spellings: no case, needless escapes or final slashes."""
    if "%" in url:
        url = ESCAPE.sub(unescaped, url)
    url = url.lower().rstrip("/")
    return url if url.isascii() else quote(url, printable).lower()


BITS = {name: 1 << place for place, name in enumerate((*FIELDS, "place"))}
"""One bit for each field, and one for a URL that is not below the sitemap's folder, or not usual."""
ALL_ODD = sum(BITS.values())
NO_DIGITS = str.maketrans("123456789", "0" * 9)
PRIORITY = re.compile(r"0?\.[0-9]{1,4}|0|1(?:\.0{1,4})?")


def odd_fields(entry: Element | Unparsed | None, record: Entry) -> tuple[int, str]:
    """Which fields of an entry are not written as in a plain one, or hold values that no plain one has: a sum of
    `BITS`, and their texts (see `Suspects.odd_entries`). Whether a URL or date is usual is not checked."""
    if isinstance(record, ChildRecord):
        return _odd_texts(record.lastmod, None, None)
    if entry is None:
        odd = 0 if record.lastmod is None or DATE.fullmatch(record.lastmod) else BITS["lastmod"]
        odd |= 0 if record.changefreq is None or record.changefreq in FREQUENCIES else BITS["changefreq"]
        return odd | (0 if record.priority is None or 0 <= record.priority <= 1 else BITS["priority"]), ""
    if isinstance(entry, Unparsed):
        return _odd_texts(record.lastmod, record.changefreq, entry.priority)
    if entry.name != "url" or entry.attributes:
        return ALL_ODD, ""
    odd = seen = 0
    form, simple = "", True
    for part in entry.content:
        if isinstance(part, str) or part.name not in FIELDS:
            continue
        bit = BITS[part.name]
        content = part.content
        text = content[0] if len(content) == 1 and isinstance(content[0], str) else ""
        if seen & bit or part.uri != entry.uri or part.attributes or not text:
            odd |= bit
            simple = False
        elif not is_usual_value(part.name, text, record):
            odd |= bit
            form += f"{part.name}={text.translate(NO_DIGITS) if part.name == 'lastmod' else text}\n"
        seen |= bit
    if not seen & BITS["loc"]:
        return odd | BITS["loc"], ""
    return odd, form if simple and not odd & BITS["loc"] else ""


def _odd_texts(lastmod: str | None, changefreq: str | None, priority: str | None) -> tuple[int, str]:
    """The same as `odd_fields` for fields that occur once, without white space around their texts."""
    odd, form = 0, ""
    if lastmod is not None and not DATE.fullmatch(lastmod):
        odd |= BITS["lastmod"]
        form = f"lastmod={lastmod.translate(NO_DIGITS)}\n"
    if changefreq is not None and changefreq not in FREQUENCIES:
        odd |= BITS["changefreq"]
        form += f"changefreq={changefreq}\n"
    if priority is not None and not PRIORITY.fullmatch(priority):
        odd |= BITS["priority"]
        form += f"priority={priority}\n"
    return odd, form


def is_usual_value(field: str, text: str, record: UrlRecord) -> bool:
    """True for the text of a field that a plain entry may have."""
    if field == "loc":
        return text == record.loc
    if field == "changefreq":
        return text in FREQUENCIES
    text = text.strip(BLANKS)
    return (DATE if field == "lastmod" else PRIORITY).fullmatch(text) is not None


def has_objects(record: Entry) -> bool:
    """True for an entry with objects of a namespace."""
    return isinstance(record, UrlRecord) and bool(
        record.images or record.videos or record.alternates or record.news is not None or record.extra is not None
    )


def clean_pattern(
    folders: Sequence[str] | None, own: Sequence[str] = (), rest: str = CLEAN, anywhere: bool = False
) -> Callable[[str], re.Match[str] | None]:
    """Compile a test for clean URLs below any of `folders`, except `own` ones in any spelling. `anywhere`: also in
    other folders of their hosts, and on other public hosts."""
    if folders is None:
        start = ANY_HOST
    else:
        usual = [folder for folder in folders if USUAL_FOLDER.fullmatch(folder)]
        if anywhere:
            usual = sorted({"/".join(folder.split("/", 3)[:3]) + "/" for folder in usual})
        start = "|".join([*map(re.escape, usual), *[ANY_HOST] * anywhere])
        start = f"(?:{start})" if start else "(?!)"
    pattern = re.compile(start + rest)
    # Clean URLs with one key differ only in the case of escapes.
    own = [re.escape(url) for url in map(visit_key, own) if pattern.fullmatch(url)]
    return re.compile(rf"(?!(?i:{'|'.join(own)})\Z)" + pattern.pattern).fullmatch if own else pattern.fullmatch


NOTHING = r"[^\s\S]"
"""Expression that is found nowhere."""
Search = Callable[[bytes], Iterable[re.Match[bytes]]]


def telling() -> Search:
    """Return the search for what the registered rules declare with `UrlWith`, in URLs with one on each line."""
    declared = (one.expression for rule in RULES.values() for one in rule.of if isinstance(one, UrlWith))
    return _search_for(tuple(dict.fromkeys(declared)))


@lru_cache(maxsize=8)
def _search_for(expressions: tuple[str, ...]) -> Search:
    if re2 is None:
        patterns = [re.compile(one.encode(), re.MULTILINE) for one in expressions]
        return lambda text: sorted((match for one in patterns for match in one.finditer(text)), key=re.Match.start)
    expression = f"(?m){'|'.join(f'(?:{one})' for one in expressions) or NOTHING}".encode()
    options = re2.Options()
    options.encoding = options.Encoding.LATIN1
    compiled: re.Pattern[bytes] = re2.compile(expression, options)
    return compiled.finditer


def find_telling(search: Search, urls: Sequence[str]) -> set[str]:
    """Return the URLs in which something is found, perhaps with their neighbours. Empty for nearly all batches."""
    text = ("\n".join(urls) + "\n").encode("utf-8", "surrogatepass")
    found: set[str] = set()
    end = -1
    for match in search(text):
        if match.end() - 1 > end:  # else the line is already found; copying it for every match takes quadratic time
            start = max(end + 1, text.rfind(b"\n", 0, match.start()) + 1)
            end = text.find(b"\n", match.end() - 1)
            found.update(text[start:end].decode("utf-8", "surrogatepass").split("\n"))
    return found
