"""README.txt of a set: what to upload where, and what to change in robots.txt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from sitemapcrawler.repair.change_list import NAME as CHANGES
from sitemapcrawler.urls.display import MAX_URL, counted, inert, masked_url

NAME = "README.txt"
FOLDER = "upload"
"""Folder with the set."""
MOST = 100
"""Lines of a list; the list of changes has all."""
PROGRAMS = (".php", ".asp", ".aspx", ".jsp", ".cgi", ".pl")
"""Suffixes of files that a web server runs."""


@dataclass(slots=True)
class Advice:
    """What a user has to know to publish a set."""

    uploads: list[tuple[str, str]] = field(default_factory=list)
    """(folder in the set, URL of the folder on the site; empty if unknown)."""
    moved: list[tuple[str, str]] = field(default_factory=list)
    """(URL, its new one) of files that do not keep their URL."""
    emptied: list[str] = field(default_factory=list)
    """URLs of files without any entry left."""
    replaced: list[str] = field(default_factory=list)
    """URLs of files whose pages other files of the set list."""
    added: list[str] = field(default_factory=list)
    """URLs of new files that no index lists."""
    gone: list[str] = field(default_factory=list)
    """URLs of files that are named, by no index, and do not exist."""
    grown: Counter[str] = field(default_factory=Counter)
    """{URL of a file: pages that were added to it}."""
    offsite: Counter[tuple[str, str]] = field(default_factory=Counter)
    """{(origin, URL of a file): its entries of that host}."""
    unread: list[tuple[str, str]] = field(default_factory=list)
    """(URL, reason) of files that could not be read, or not to their end."""


UPLOADS = "Upload these folders with what is in them. Each file replaces the one with its URL:"
MOVED = """\
These files have a new URL. The indexes of the set list the new one. Replace the old one in robots.txt and Search
Console:"""
EMPTIED = """\
No entry is left of these files, and they are not part of the set. Remove them from robots.txt, Search Console and the
server:"""
REPLACED = "The set takes the place of these files. Remove them from robots.txt, Search Console and the server:"
ADDED = "No index lists these new files. Add them to robots.txt:"
GROWN = "Pages that no sitemap listed were added to these files:"
GONE = "These files do not exist. Remove them from robots.txt and Search Console, or restore them:"
OFFSITE = """\
Search engines ignore pages and sitemaps of these hosts in a file of another host. If a host is yours, add the line to
its robots.txt, and audit and fix again if the set lacks its pages; if not, remove files that list nothing else:"""
UNREAD = """\
These files could not be read completely, and the set lacks their pages. Those that are not part of it stay on the
server as they are:"""
RUN = "Servers run files with these names as programs. Remove the program, and serve the file as XML:"


def lines_of(advice: Advice, paths: Sequence[str]) -> Iterator[str]:
    """Yield the lines of README.txt. `paths`: the files of the set."""
    yield f"Sitemaps corrected by `sitemapcrawler fix`. {CHANGES} lists all changes."
    roots = [f"{path}/ -> {url or 'the folder that the files come from'}" for path, url in advice.uploads]
    yield from _section(UPLOADS, roots)
    yield from _section(MOVED, [f"{_shown(old)} -> {_shown(new)}" for old, new in advice.moved])
    yield from _section(EMPTIED, [*map(_shown, advice.emptied)])
    yield from _section(REPLACED, [*map(_shown, advice.replaced)])
    yield from _section(ADDED, [f"Sitemap: {_shown(url)}" for url in advice.added])
    yield from _section(GROWN, [f"{_shown(url)}: {counted(many, 'page')}" for url, many in advice.grown.items()])
    yield from _section(GONE, [*map(_shown, advice.gone)])
    offsite = [
        f"{_shown(host)}: {counted(many, 'entry', 'entries')}; Sitemap: {_shown(sitemap)}"
        for (host, sitemap), many in advice.offsite.most_common()
    ]
    yield from _section(OFFSITE, offsite)
    yield from _section(UNREAD, [f"{_shown(url)}: {inert(why)}" for url, why in advice.unread])
    yield from _section(RUN, [inert(path) for path in paths if PurePosixPath(path).suffix.lower() in PROGRAMS])


def _section(title: str, items: Sequence[str]) -> Iterator[str]:
    if not items:
        return
    yield from ("", title)
    yield from (f"  {item}" for item in items[:MOST])
    if len(items) > MOST:
        yield f"  and {len(items) - MOST:,} more, in {CHANGES}"


def _shown(url: str) -> str:
    return inert(masked_url(url), MAX_URL)
