"""Which entries need a closer look: the others are clean, told in one test.

Nearly all entries of large files are clean. One expression, compiled for each file, tells such a URL in one test: same
host, inside the directory, nothing that any rule about URLs could name. Only the others meet the rules one by one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.dates import iso
from sitemapcrawler.urls import origin

OLDEST = "2005-06-01T00:00:00Z"
"""When sitemaps began (Google announced them on 2005-06-02); an older lastmod is unlikely."""
MAX_LENGTH = 2047
"""Characters of a URL: "less than 2,048". Source: https://www.sitemaps.org/protocol.html"""
MAX_TRACKED = 1_000_000
"""Entries of one file that are compared for repetition: twenty times what the protocol allows."""
UNUSUAL = r"(?:sid|session|token|password|passwd|pwd|email|e-mail|auth|key|secret|phpsessid|jsessionid|utm_\w+)"
"""Parameter names that rules look at."""
CLEAN = (
    r"(?!(?:[^?]*/\.{1,2}(?:[/?]|\Z))|[^?]*//|.*[?&;]%s=)"
    r"(?:[A-Za-z0-9\-._~!$'()*+,;=:@/]|%%(?!0[0-9A-F])[0-9A-F]{2})*+"
    r"(?:\?(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/]|%%(?!0[0-9A-F])[0-9A-F]{2})*+)?"
)
"""Path and query of a URL that no rule can name: no dot segments, empty segments, escapes in lower case, fragments."""
NEVER = re.compile(r"(?!)")


class Suspects:
    """Finds the entries of one file that rules about single entries must see."""

    def __init__(self, url: str, fetched_at: datetime) -> None:
        self.compared = True
        """False where there were more than `MAX_TRACKED` entries."""
        self._now = iso(fetched_at)
        self._clean = clean_pattern(url)
        self._seen: set[int] = set()

    def take(self, urls: Sequence[UrlRecord]) -> Iterator[tuple[UrlRecord, bool]]:
        """The entries that need a closer look, and whether each repeats an earlier one of the file."""
        repeated = self._repeated(urls)
        for record in urls:
            again = record.loc in repeated and self._again(record.loc, repeated)
            if again or not self._is_clean(record):
                yield record, again

    def _is_clean(self, record: UrlRecord) -> bool:
        moment = record.lastmod_at
        return (
            self._clean(record.loc) is not None
            and len(record.loc) <= MAX_LENGTH
            and (OLDEST <= moment <= self._now if moment is not None else record.lastmod is None)
            and not record.recovered
            and getattr(record, "element", None) is None
        )

    def _repeated(self, urls: Sequence[UrlRecord]) -> dict[str, bool]:
        """{URL: whether it stood in an earlier batch} for those that may be repeated; empty for nearly all batches."""
        hashes = {hash(record.loc) for record in urls}
        if len(hashes) == len(urls) and self._seen.isdisjoint(hashes):
            repeated = {}
        else:
            times = Counter(record.loc for record in urls)
            repeated = {url: hash(url) in self._seen for url in times if times[url] > 1 or hash(url) in self._seen}
        if len(self._seen) < MAX_TRACKED:
            self._seen |= hashes
        else:
            self.compared = False
        return repeated

    @staticmethod
    def _again(url: str, repeated: dict[str, bool]) -> bool:
        earlier, repeated[url] = repeated[url], True
        return earlier


def clean_pattern(url: str) -> Callable[[str], re.Match[str] | None]:
    """The test for clean URLs that a file at `url` may list."""
    place = origin(url)
    if place is None:
        return NEVER.fullmatch
    directory = re.sub(r"[?#].*", "", url[len(place) :]).rpartition("/")[0] + "/"
    return re.compile(re.escape(place + directory) + CLEAN % UNUSUAL).fullmatch
