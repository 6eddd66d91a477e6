"""Reads entries of usual shapes with regular expressions.

A plain entry has no more than a URL, a date and hints as expected, and is read by one match. A rich one has images,
videos, news or language versions, or odd dates and hints: one match checks its shape, others extract its values. Both
accept nothing that an XML parser would read differently; it reads all other entries. The XML element of a rich entry is
parsed only if a rule asks for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces.element import Element, Unparsed
from sitemapcrawler.namespaces.extensions import HREFLANG, IMAGE, NEWS, VIDEO, Alternate, Image, News, Video
from sitemapcrawler.reader.dates import utc, utc_of_plain
from sitemapcrawler.reader.entries import DECIMAL, FREQUENCIES, Entry, EntryBuilder
from sitemapcrawler.reader.notes import Notes

PLAIN_URL = r"https?://[!$%'-.0-;=A-~]++(?:[/?#][!#-%'-;=?-~]*+(?:&amp;[!#-%'-;=?-~]*+)*+)?+"
"""Printable ASCII except `"`, `<` and `>`; `&` only as `&amp;`; before the path no `@`, which may follow a password."""
PATTERN = (
    r"<url>[ \t\n]*+"
    r"<loc>%s</loc>[ \t\n]*+"
    r"(?:<lastmod>([0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:Z|[+-][0-9]{2}:[0-9]{2}))?)</lastmod>"
    r"[ \t\n]*+)?"
    r"(?:<changefreq>(always|hourly|daily|weekly|monthly|yearly|never)</changefreq>[ \t\n]*+)?"
    r"(?:<priority>(0(?:\.[0-9]{1,4})?|1(?:\.0{1,4})?)</priority>[ \t\n]*+)?"
    r"</url>[ \t\n]*+"
)
"""One entry and the white space after it."""
ENTRY = re.compile(PATTERN % f"({PLAIN_URL})")
PADDED_ENTRY = re.compile(PATTERN % rf"(?=[ \t\n]|[^<]*+(?<=[ \t\n]))[ \t\n]*+({PLAIN_URL})[ \t\n]*+")
"""The same with white space around the URL."""

BLANKS = " \t\n"
BLANK = re.compile(r"[ \t\n]*+")


def read_plain(
    text: str,
    position: int,
    line: int,
    sitemap: str,
    records: list[Entry],
    padded: list[tuple[UrlRecord, int]],
    notes: Notes | None = None,
) -> tuple[int, int]:
    """Append consecutive plain entries from `position` on to `records`; return the position and line where they end.

    White space around entries is skipped, even if there are none. Entries with white space around their URL also go to
    `padded`, with the line of their `<loc>`. `notes`: where to keep the text of each entry; None not to.
    """
    match = ENTRY.match
    append = records.append
    start = BLANK.match(text, position).end()  # type: ignore[union-attr]  # it also matches nothing
    entry = match(text, start)
    line += text.count("\n", position, start)
    position = start
    while True:
        while entry is not None:
            loc, lastmod, changefreq, priority = entry.groups()
            if "&" in loc:
                loc = loc.replace("&amp;", "&")
            record = UrlRecord(loc, None, sitemap, line, lastmod, None, changefreq)
            if lastmod is not None:
                record.lastmod_at = utc_of_plain(lastmod)
            if priority is not None:
                record.priority = float(priority)
            append(record)
            if notes is not None:
                notes.on(record).source = entry[0]
            end = entry.end()
            line += text.count("\n", position, end)
            position = end
            entry = match(text, position)
        entry = PADDED_ENTRY.match(text, position)
        if entry is None:
            return position, line
        record = _record(sitemap, line, *entry.groups())
        append(record)
        if notes is not None:
            notes.on(record).source = entry[0]
        padded.append((record, line + text.count("\n", position, text.index("<loc>", position))))
        end = entry.end()
        line += text.count("\n", position, end)
        position = end
        entry = match(text, position)


def _record(
    sitemap: str, line: int, loc: str, lastmod: str | None, changefreq: str | None, priority: str | None
) -> UrlRecord:
    record = UrlRecord(loc.strip(BLANKS).replace("&amp;", "&"), None, sitemap, line, lastmod, None, changefreq)
    record.lastmod_at = utc_of_plain(lastmod) if lastmod else None
    record.priority = None if priority is None else float(priority)
    return record


ILLEGAL = "\r\x00-\x08\x0b\x0c\x0e-\x1f\ufffd-\uffff"
"""Characters that need a parser: what XML forbids, what it changes, and U+FFFD for bytes that do not fit."""
REFERENCE = "&(?:amp|lt|gt|quot|apos);"
TEXT = rf"[^<>&{ILLEGAL}]*+(?:{REFERENCE}[^<>&{ILLEGAL}]*+)*+"
ATTRIBUTE = rf'[^<>&"\t\n{ILLEGAL}]*+(?:{REFERENCE}[^<>&"\t\n{ILLEGAL}]*+)*+'
WORDS = r"[!-%'-;=?-~]++(?: [!-%'-;=?-~]++)*+"
"""Printable ASCII without blanks at its ends."""
URL = r"https?://[A-Za-z0-9][!$%'-.0-;=A-~]*+(?:[/?#][!#-%'-;=?A-~]*+(?:&amp;[!#-%'-;=?A-~]*+)*+)?+"
"""As `PLAIN_URL`, without `@`."""
LONGEST = 64 * 1024
"""Characters of an entry."""
S = r"[ \t\n]*+"
NUMBER = r"[+-]?[0-9]{0,9}\.?[0-9]{0,9}"
FIELD = rf"<(?:lastmod>{WORDS}</lastmod|changefreq>{WORDS}</changefreq|priority>{NUMBER}</priority)>"
CODE, HREF = f'hreflang="{ATTRIBUTE}"', f'href="{ATTRIBUTE}"'
LINK = rf'<xhtml:link rel="alternate" (?:{CODE} {HREF}|{HREF} {CODE}) ?+(?:/>|></xhtml:link>)'
IMAGE_PARTS = ("loc", "title", "caption", "geo_location")
VIDEO_PARTS = (
    "thumbnail_loc", "title", "description", "content_loc", "player_loc", "duration", "expiration_date", "rating",
    "view_count", "publication_date", "family_friendly", "requires_subscription", "live", "tag", "category",
)  # fmt: skip
NEWS_PARTS = ("publication_date", "title", "access", "genres", "keywords", "stock_tickers", "geo_locations")
PUBLICATION = ("name", "language")
"""Parts that have text only, and that the schema allows with any text."""


def _parts(prefix: str, names: tuple[str, ...]) -> str:
    """Pattern of the elements `names`; an end tag is that of its start tag."""
    return "(?:" + "|".join(f"<{prefix}:{name}>{TEXT}</{prefix}:{name}>" for name in names) + ")"


EXTENSIONS = {
    "image": (IMAGE, rf"<image:image>{S}(?:{_parts('image', IMAGE_PARTS)}{S})++</image:image>"),
    "xhtml": (HREFLANG, LINK),
    "video": (VIDEO, rf"<video:video>{S}(?:{_parts('video', VIDEO_PARTS)}{S})++</video:video>"),
    "news": (
        NEWS,
        rf"<news:news>{S}(?:(?:<news:publication>{S}(?:{_parts('news', PUBLICATION)}{S})++</news:publication>"
        rf"|{_parts('news', NEWS_PARTS)}){S})++</news:news>",
    ),
}
"""Prefix -> (namespace, pattern of its usual element)."""


@lru_cache(maxsize=1 << len(EXTENSIONS))
def pattern(prefixes: tuple[str, ...]) -> re.Pattern[str]:
    """Compile the pattern of an entry in a document that binds these prefixes to their usual namespaces.

    Its groups: the URL, date and hints in the order of the schema, further ones, the objects, and fields behind these.
    """
    objects = "|".join(EXTENSIONS[prefix][1] for prefix in prefixes) or "(?!)"
    values = {"lastmod": WORDS, "changefreq": WORDS, "priority": NUMBER}
    # What a match may leave out is not there, so that a search that fails tries nothing twice.
    ordered = "".join(rf"(?:<{name}>({text})</{name}>{S})?(?!<{name}>)" for name, text in values.items())
    fields = rf"((?:{FIELD}{S})*+)"
    return re.compile(rf"<url>{S}<loc>({URL})</loc>{S}{ordered}{fields}((?:(?:{objects}){S})*+){fields}</url>{S}")


FIELDS = re.compile(r"<(lastmod|changefreq|priority)>([^<]*)<")
LINKS = re.compile(r'<xhtml:link rel="alternate" hreflang="([^"]*)" href="([^"]*)"')
LINKS_REVERSED = re.compile(r'<xhtml:link rel="alternate" href="([^"]*)" hreflang="([^"]*)"')
IMAGES = re.compile(rf"<image:image>{S}<image:loc>([^<]*)</image:loc>{S}</image:image>")
"""Images with a URL only, as most have."""
OBJECTS = {prefix: re.compile(rf"<{prefix}:{prefix}>(.*?)</{prefix}:{prefix}>", re.DOTALL) for prefix in EXTENSIONS}
PARTS = re.compile(r"<[a-z]+:([a-z_]+)>([^<]*)</")
"""Parts of an object that have text."""
SECRET = re.compile(r"(?:[\\/]{2}|[hH][tT][tT][pP][sS]?:[\\/]?)[^/?#<]*@")
"""Matches wherever a value may hold a password (`urls.display.masked_url`)."""


class RichReader:
    """Reads consecutive entries of usual shapes from the text of one document."""

    def __init__(
        self,
        prefixes: tuple[str, ...],
        longest: int,
        entries: EntryBuilder,
        parse: Callable[[str, int], Element],
        keeps: bool,
    ) -> None:
        """`prefixes`: those of `EXTENSIONS` that the root binds to their namespaces. `longest`: characters of an entry.
        `parse`: parses the text of an entry that begins on a line. `keeps`: whether entries keep their XML."""
        self._match = pattern(prefixes).match
        self._longest = longest
        self._entries = entries
        self._parse = parse
        self._keeps = keeps

    def read(self, text: str, position: int, line: int, records: list[Entry]) -> tuple[int, int]:
        """Append the entries from `position` on to `records`; return the position and line where they end: before an
        entry that is plain, or that has another shape."""
        match, longest = self._match, self._longest
        while (entry := match(text, position, position + longest)) is not None:
            end = entry.end()
            if text.find("@", position, end) >= 0 and SECRET.search(text, position, end):
                break
            if not entry[6] and ENTRY.match(text, position):
                break
            record = self._record(entry, line)
            if record is None:
                break
            records.append(record)
            line += text.count("\n", position, end)
            position = end
        return position, line

    def is_next(self, text: str, position: int) -> bool:
        """Return whether an entry of a usual shape begins at `position`. Its values may still need the parser."""
        return self._match(text, position, position + self._longest) is not None

    def _record(self, entry: re.Match[str], line: int) -> UrlRecord | None:
        """Return the record of an entry; None if some value needs a parser."""
        loc, lastmod, changefreq, priority, more, objects, behind = entry.groups()
        others: tuple[str, ...] = ()
        if more or behind:
            found = FIELDS.findall(more + behind)
            others = tuple([name for name, _ in found])
            values = {"lastmod": lastmod, "changefreq": changefreq, "priority": priority}
            if len({*others}) < len(others) or any(values[name] is not None for name in others):
                return None
            lastmod, changefreq, priority = {**values, **dict(found)}.values()
        if not _is_readable(changefreq, priority):
            return None
        record = UrlRecord(
            loc.replace("&amp;", "&") if "&" in loc else loc, None, self._entries.sitemap, line,
            lastmod, lastmod and utc(lastmod), changefreq, None if priority is None else float(priority),
        )  # fmt: skip
        parts: tuple[object, ...] | None = ()
        if objects:
            parts = _extend(record, objects)
            if parts is None:
                return None
            self._entries.extended = True
        if self._entries.keep_source:
            self._entries.notes.on(record).source = entry[0]
        if self._keeps:
            shape = (lastmod is None, changefreq is None, priority is None, others, bool(objects and behind), parts)
            self._entries.notes.on(record).written = Unparsed(self._parse, entry[0], line, shape, priority)
        return record


def _is_readable(changefreq: str | None, priority: str | None) -> bool:
    """False for what the reader keeps in `extra`, or reads in another case."""
    if changefreq is not None and changefreq not in FREQUENCIES and changefreq.lower() in FREQUENCIES:
        return False
    return priority is None or DECIMAL.fullmatch(priority) is not None


MARKUP = re.compile("&(?!amp;)")
"""References to characters that separate values."""


def unescaped(text: str) -> str:
    """Resolve XML's predefined entities."""
    text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&apos;", "'")
    return text.replace("&amp;", "&")


JUST_LOC = ("loc",)


def _extend(record: UrlRecord, text: str) -> tuple[object, ...] | None:
    """Set the objects of extensions, and return what the schema's verdict on them depends on: which parts they have.

    None if a part is empty, or occurs twice although it may occur once.
    """
    images: Shapes | None = None
    refers = False
    if "&" in text:
        refers = MARKUP.search(text) is not None
        text = text if refers else text.replace("&amp;", "&")  # separates nothing, so the values can still be found
    number = text.count("<xhtml:link ")
    if number:
        links = _links(text, number, refers)
        if links is None:
            return None
        record.alternates = links
    number = text.count("<image:image>")
    if number:
        locs = IMAGES.findall(text)
        if len(locs) == number:
            locs = [loc.strip() for loc in (map(unescaped, locs) if refers else locs)]
            if not all(locs):
                return None
            record.images = [Image(loc, None, None, None, None, []) for loc in locs]
            images = frozenset((JUST_LOC,))
        else:
            record.images, images = _objects(text, "image", Image, refers)
            if images is None:
                return None
    videos = news = None
    if "<video:video>" in text:
        record.videos, videos = _objects(text, "video", Video, refers)
        if videos is None:
            return None
    if "<news:news>" in text:
        articles, news = _objects(text, "news", News, refers)
        if news is None or len(articles) > 1:
            return None
        record.news = articles[0]
    return images, videos, news


def _links(text: str, number: int, refers: bool) -> list[Alternate] | None:
    """Return the language versions; None if the order of their attributes varies."""
    found = LINKS.findall(text)
    if len(found) < number:
        if found:
            return None
        found = [(code, href) for href, code in LINKS_REVERSED.findall(text)]
    if refers:
        found = [(unescaped(code), unescaped(href)) for code, href in found]
    return [Alternate(code, href.strip(), None, {}) for code, href in found]


Kind = TypeVar("Kind", Image, Video, News)
Shapes = frozenset[tuple[str, ...]]


def _objects(text: str, prefix: str, kind: type[Kind], refers: bool) -> tuple[list[Kind], Shapes | None]:
    """Return the objects of an extension, and the names of the parts that each has, sorted.

    None instead of these if one has an empty part, or a single part twice.
    """
    made: list[Kind] = []
    shapes = set()
    for inside in OBJECTS[prefix].findall(text):
        target = kind()
        publication: dict[str, str] = {}
        names = set()
        for name, written in PARTS.findall(inside):
            value = (unescaped(written) if refers else written).strip()
            if not value or (name in names and name != REPEATABLE):
                return [], None
            names.add(name)
            if name in PUBLICATION:
                publication[name] = value
            elif name == REPEATABLE:
                target.tag.append(value)  # type: ignore[attr-defined]  # only videos have this part
            else:
                setattr(target, name, value)
        if publication:
            if inside.count("<news:publication>") > 1:
                return [], None
            target.publication = publication  # type: ignore[attr-defined]  # only articles have this part
        made.append(target)
        shapes.add(tuple(sorted(names)))
    return made, frozenset(shapes)


REPEATABLE = "tag"
