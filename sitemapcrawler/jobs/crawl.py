"""What a job needs from its crawl: protocols for classes of upper layers, and the result of reading a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any, Protocol

from sitemapcrawler.replies.chase import Step
from sitemapcrawler.urls import Authority


class ListedFile(Protocol):
    """A sitemap to be read."""

    @property
    def url(self) -> str:
        """Its URL."""
        ...

    @property
    def parent(self) -> str | None:
        """URL of the index, robots.txt or page that names it."""
        ...

    @property
    def listed_at(self) -> str | None:
        """Its lastmod in the index, as ISO 8601 in UTC."""
        ...


class Arguments(Protocol):
    """Arguments of a crawl."""

    @property
    def baseline(self) -> str | None:
        """Path of the earlier crawl to compare with."""
        ...

    @property
    def force(self) -> bool:
        """True for a baseline that would be refused otherwise."""
        ...

    @property
    def fresh(self) -> bool:
        """True to discard the job and start over."""
        ...

    @property
    def max_urls(self) -> int | None:
        """Pages after which the crawl stops."""
        ...

    @property
    def only(self) -> str | None:
        """`changes`: feeds leave out unchanged url records."""
        ...

    @property
    def report(self) -> str | None:
        """Folder of the report."""
        ...

    @property
    def verify(self) -> str:
        """off, head or get."""
        ...

    @property
    def judged_agents(self) -> Sequence[Any]:
        """Crawlers that robots.txt is judged for."""
        ...

    @property
    def named_authorities(self) -> AbstractSet[Authority]:
        """Hosts that the arguments name."""
        ...

    def asks_for(self) -> dict[str, str]:
        """Arguments that must be the same in all runs of a job, as text."""
        ...


class VerdictCounts(Protocol):
    """Counts of listed URLs that robots.txt blocks."""

    agents: tuple[Any, ...]

    def restore(self, origin: str, judged: int, skipped: int, nobody: int, blocked: Counter[str]) -> None:
        """Add URLs of an origin that an earlier run has judged."""
        ...

    def compare_again(self, denied: Iterable[tuple[str, Sequence[str]]]) -> None:
        """Have a second parser judge URLs again that are blocked for these crawlers."""
        ...


class ReplyCounts(Protocol):
    """Counts of replies to listed URLs."""

    counts: Counter[str]

    def remember(self, method: str, key: str, step: Step) -> None:
        """Keep the result of a request, so that it is not sent again."""
        ...

    def count_again(self, url: str, bad: bool) -> None:
        """Count a URL that an earlier run has verified."""
        ...


@dataclass(slots=True)
class FileResult:
    """What reading a file adds to the crawl besides records; a resumed job does not read the file again."""

    digest: str = ""
    """Of the body as it was fetched, in hexadecimal."""
    children: list[tuple[str, str | None]] = field(default_factory=list)
    """(URL, `lastmod_at`) of what an index lists, as far as it is followed, in its order; `Reading.max_children`."""
    skipped: Counter[str] = field(default_factory=Counter)
    """Entries that arguments leave out, by argument."""
    alias: bool = False
    """True if its redirects led to a file that was read already."""
    taken: bool = False
    """True if it has not changed since the baseline, whose entries are copied."""
    tally: dict[str, Any] = field(default_factory=dict)
    """What a copied file adds to the counts of the crawl, according to the baseline."""
    trust: dict[str, Any] | None = None
    """Evidence on its dates (`trust.Trust.state`); None if nothing was verified."""
