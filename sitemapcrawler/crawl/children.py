"""Queues the sitemaps that indexes and robots.txt files list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from sitemapcrawler.crawl.frontier import Frontier, Visit
from sitemapcrawler.crawl.local_files import Published, file_beside, missing_files
from sitemapcrawler.rules.facts.given import FileFacts
from sitemapcrawler.urls.expressions import Expression


@dataclass(slots=True)
class Children:
    """Queues listed sitemaps, or the local files that stand for them, beside the file that lists them."""

    frontier: Frontier
    follow: Expression | None = None
    """What URLs in indexes must match; None follows all."""
    offline: bool = False
    """True if only local files are read."""
    published: Published | None = None
    """The folder that is published as a whole; None: local indexes and their sitemaps are in the same folder."""
    files: set[str] = field(default_factory=set)
    """`file:` URLs that may be read: each listed sitemap that is beside its index is added."""
    indexes: Counter[str] = field(default_factory=Counter)
    """Indexes read so far, by site."""

    def follows(self, url: str) -> bool:
        """True for a URL in an index that the argument `follow` lets pass; others are counted as skipped."""
        if self.follow is None or self.follow.matches(url):
            return True
        self.frontier.skip("follow")
        return False

    def queue(self, index: Visit, url: str, listed_at: str | None) -> bool:
        """Queue a sitemap that an index lists, or the local file beside the index; returns False if it is skipped."""
        return self._queue(index, url, lambda found, place: index.child(found, listed_at, place))

    def queue_named(self, robots: Visit, url: str) -> bool:
        """Queue a sitemap that a robots.txt names, in the same way as `queue`."""
        return self._queue(robots, url, robots.named)

    def _queue(self, parent: Visit, url: str, visit_of: Callable[[str, str | None], Visit]) -> bool:
        beside = file_beside(parent.url, parent.place, url, self.published)
        if beside is None and self.offline:
            self.frontier.skip("offline")
            return False
        if beside is None:
            return self.frontier.add(visit_of(url, None))
        self.files.add(beside)
        return self.frontier.add(visit_of(beside, None if parent.place is None else url))

    def count_index(self, visit: Visit, number: int = 1) -> None:
        """Count indexes of the site of a file that was read, now or in an earlier run."""
        self.indexes[visit.judged_with] += number

    def describe(self, index: Visit, facts: FileFacts) -> None:
        """Add to the facts about an index what is known of its site and of the files it lists."""
        facts.indexes = self.indexes[index.judged_with]
        if self.offline:
            facts.missing = missing_files(index.url, index.place, facts.listed, self.published)
