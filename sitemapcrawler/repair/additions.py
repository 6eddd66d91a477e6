"""Adds the pages to a set that an audit has found and no sitemap lists: each to the file with most pages of its folder.

A file is read entry by entry, so the pages to add are known first: what is counted of the listed pages is what
decides on them. Start reading in `Additions.place`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import parse_qsl

from sitemapcrawler import urls
from sitemapcrawler.repair.change_list import OFFSITE, Action, Change
from sitemapcrawler.repair.streaming import COMPARED, LINKED, Kept, Rules
from sitemapcrawler.repair.writing import SetWriter, Spooled

UNVERIFIED, PARAMETERS, NO_FILE = "add-not-verified", "add-parameters", "add-no-file"
"""In place of a rule, for a page that is not added: it was not requested; no sitemap lists a URL with the same path
and parameters; no file takes pages."""
BEHIND = "status-redirect"
"""The rule on a listed URL that stays and redirects to the page."""
REASONS = {
    UNVERIFIED: "not verified",
    PARAMETERS: "no sitemap lists a URL with this path and these parameters",
    BEHIND: "a listed URL that stays redirects to it",
    NO_FILE: "no sitemap that can take it",
}
OF_PLACE = frozenset((OFFSITE, "loc-outside-sitemap-dir", "loc-protocol-mismatch", "loc-www-mismatch"))
"""Rules on an entry that may find nothing in another file."""
MAX_TRIED = 5
"""Files that are tried for a page."""
RULES = (LINKED, COMPARED)
"""Rules that find pages to add."""


class FoundPage(NamedTuple):
    """A page that no sitemap lists."""

    url: str
    rule: str
    """The rule that reports it, one of `RULES`."""
    is_indexable: bool
    """False if that is not known."""
    modified: str | None = None
    """Date of change that it states, as written."""
    is_behind: bool = False
    """True if a listed URL that stays redirects to it, as after a temporary redirect."""


Shape = tuple[str, frozenset[str]]
"""A URL without its query, and the names of its parameters."""


class Additions:
    """The pages to add, and what the files of the set list in their folders."""

    def __init__(self, pages: Iterable[FoundPage], rules: Rules) -> None:
        found = {urls.request_key(page.url): page for page in pages if page.rule in rules}
        self._pages = [page._replace(url=url) for url, page in found.items()]
        self._folders = {folder: Counter[int]() for page in self._pages for folder in _folders(page.url)}
        """{folder of a page to add: pages below it by the number of their file}."""
        self._wanted = {_shape(page.url) for page in self._pages if "?" in page.url}
        self._listed: set[Shape] = set()
        """Those of the wanted shapes that a sitemap lists."""

    def count(self, file: int, loc: str) -> None:
        """Count a listed page. `file`: number of its file."""
        for folder in _folders(loc):
            if folder in self._folders:
                self._folders[folder][file] += 1
        if self._wanted and "?" in loc and (shape := _shape(loc)) in self._wanted:
            self._listed.add(shape)

    def place(self, writer: SetWriter) -> Iterator[Change]:
        """Add each page that can be listed to its file; yield a change for every page. Call it when all files have been
        spooled."""
        files = {spooled.number: spooled for spooled in writer.files if _takes_pages(spooled)}
        waiting: list[tuple[FoundPage, list[int], str]] = []
        for page in self._pages:
            if not page.is_indexable:
                yield _refused(page, UNVERIFIED)
            elif page.is_behind:
                yield _refused(page, BEHIND)
            elif "?" in page.url and _shape(page.url) not in self._listed:
                yield _refused(page, PARAMETERS)
            elif not writer.lists(page.url):
                waiting.append((page, self._ranked(page.url, files), NO_FILE))
        while waiting:
            groups = defaultdict(list)
            for page, numbers, rule in waiting:
                if numbers:
                    groups[numbers[0]].append((page, numbers[1:]))
                else:
                    yield _refused(page, rule)
            waiting = []
            for number, group in groups.items():
                repair = files[number].repair
                entries = repair.new_entries([(page.url, page.modified) for page, _ in group])
                for (page, others), entry in zip(group, entries, strict=True):
                    if isinstance(entry, Kept):
                        writer.append(files[number], entry)
                        yield Change(Action.ADDED, page.rule, page.url, "", entry.text, repair.url)
                    else:
                        waiting.append((page, others if entry in OF_PLACE else [], entry))

    def _ranked(self, url: str, files: dict[int, Spooled]) -> list[int]:
        """Numbers of the files that may take a page, the best one first: with most pages of its folder, then of the
        folder above, up to the root. Files of videos come last, and those of images last in their folder."""
        levels = [self._folders[folder] for folder in _folders(url)]
        levels.append(Counter(dict.fromkeys(files, 0)))  # none lists a page of the host
        found = [
            number
            for counts in levels
            for number, _ in sorted(counts.items(), key=lambda one: (_has_images(files.get(one[0])), -one[1], one[0]))
            if number in files
        ]
        return sorted(dict.fromkeys(found), key=lambda number: _has_videos(files[number]))[:MAX_TRIED]


def _refused(page: FoundPage, rule: str) -> Change:
    return Change(Action.UNADDED, rule, page.url, REASONS.get(rule, ""))


def _folders(url: str) -> Iterator[str]:
    """Yield the folders above a page, the longest first, down to the root of its host."""
    start = urls.origin(url) or ""
    path = urls.request_key(url).removeprefix(start).partition("?")[0]
    while "/" in path:
        path = path[: path.rindex("/")]
        yield f"{start}{path}/"


def _shape(url: str) -> Shape:
    path, _, query = urls.request_key(url).partition("?")
    return path, frozenset(name for name, _ in parse_qsl(query, keep_blank_values=True))


def _takes_pages(spooled: Spooled) -> bool:
    """True for a file in which most entries have no news."""
    record = spooled.repair.record
    return 2 * record.counts.news <= record.url_count


def _has_images(spooled: Spooled | None) -> bool:
    """True if each entry may have an image."""
    record = spooled.repair.record if spooled is not None else None
    return record is not None and 0 < record.url_count <= record.counts.images


def _has_videos(spooled: Spooled) -> bool:
    """True if each entry may have a video."""
    record = spooled.repair.record
    return 0 < record.url_count <= record.counts.videos
