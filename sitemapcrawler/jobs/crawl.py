"""What a job needs from its crawl: protocols for classes of higher layers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from sitemapcrawler.download.crawl import Stop
from sitemapcrawler.download.policies import Policies
from sitemapcrawler.envelopes import FileTally, FinalBatch
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.replies.chase import Step
from sitemapcrawler.robots.agents import Agent
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.urls import Authority


class ListedFile(Protocol):
    """A sitemap to read."""

    @property
    def url(self) -> str: ...

    @property
    def parent(self) -> str | None:
        """URL of the index, robots.txt or page that lists it."""
        ...

    @property
    def listed_at(self) -> str | None:
        """Its lastmod in the index, ISO 8601 in UTC."""
        ...


class Arguments(Protocol):
    """Arguments of a crawl that a job uses."""

    @property
    def baseline(self) -> str | None:
        """Path of the earlier crawl to compare with."""
        ...

    @property
    def force(self) -> bool:
        """True to accept a baseline that would be refused."""
        ...

    @property
    def fresh(self) -> bool:
        """True to discard the job and start over."""
        ...

    @property
    def max_urls(self) -> int | None:
        """Number of pages after which the crawl stops."""
        ...

    @property
    def only(self) -> str | None:
        """`changes`: leave unchanged url records out of the feeds."""
        ...

    @property
    def findings(self) -> str | None:
        """`all` to list all findings."""

    @property
    def report(self) -> str | None:
        """Folder for the report."""
        ...

    @property
    def verify(self) -> str:
        """off, head or get."""
        ...

    @property
    def compare(self) -> Sequence[str]:
        """Paths of lists to compare with."""
        ...

    @property
    def links(self) -> str:
        """no, yes or site: whether links of pages are read."""
        ...

    @property
    def judged_agents(self) -> Sequence[Agent]:
        """Crawlers for which robots.txt is checked."""
        ...

    @property
    def named_authorities(self) -> AbstractSet[Authority]:
        """Hosts named in the arguments."""
        ...

    @property
    def of_files(self) -> AbstractSet[str]:
        """Names of the arguments that decide which files are read, but not how their entries are judged."""
        ...

    @property
    def of_comparison(self) -> AbstractSet[str]:
        """Names of the arguments that choose the baseline; they may differ once a job is finished."""
        ...

    def as_dict(self) -> dict[str, str]:
        """Arguments that differ from their defaults, as text."""
        ...

    def asks_for(self) -> dict[str, str]:
        """Arguments that must be the same in all runs of a job, as text."""
        ...


class VerdictCounts(Protocol):
    """Counts of listed URLs that robots.txt blocks."""

    agents: tuple[Agent, ...]

    def restore(self, origin: str, judged: int, skipped: int, nobody: int, blocked: Counter[str]) -> None:
        """Add an origin's URLs that an earlier run checked."""
        ...

    def compare_again(self, denied: Iterable[tuple[str, Sequence[str]]]) -> None:
        """Let the second robots.txt parser check URLs that are blocked for these crawlers."""
        ...


class ReplyCounts(Protocol):
    """Counts of replies to listed URLs."""

    counts: Counter[str]
    indexability: Counter[str]

    @property
    def holding(self) -> bool:
        """True if url records are held back until everything is read."""
        ...

    def hold_again(self, batch: FinalBatch) -> None:
        """Hold url records of an earlier run back again; the batch keeps those that need not wait."""
        ...

    def remember(self, method: str, key: str, step: Step) -> None:
        """Keep the result of a request, so that it is not repeated."""
        ...

    def count(self, url: str, bad: bool | None, indexable: bool | None) -> None:
        """Count a URL that an earlier run verified. `bad` is None for one that is blocked, or redirects to what is not
        requested."""
        ...


class Pipelines(Protocol):
    """The pipelines of a crawl, and the feeds behind them."""

    async def send(self, item: object) -> None:
        """Pass an item through them, and wait for it."""
        ...


class Crawl(Protocol):
    """A crawl as its job sees it."""

    stop: Stop
    policies: Policies
    judge: Judge

    @property
    def params(self) -> Arguments: ...

    @property
    def verdicts(self) -> VerdictCounts: ...

    @property
    def status(self) -> ReplyCounts | None:
        """The verification of listed URLs, if any."""
        ...

    @property
    def complete(self) -> bool:
        """False if the crawl ends with work left to do."""
        ...

    @property
    def partial(self) -> str | None:
        """Why the crawl is incomplete; None if it is complete."""
        ...

    @property
    def lost(self) -> set[str]:
        """Sites that could not be reached."""
        ...

    @property
    def narrowed(self) -> set[str]:
        """Sites of which a limit left sitemaps out."""
        ...

    @property
    def home_links(self) -> set[str]:
        """Sitemaps that the home pages link to, as far as these were read."""
        ...

    @property
    def left_out(self) -> Counter[str]:
        """What crawl-wide filters, limits and an early stop skipped, by reason."""
        ...

    def passes(self, record: UrlRecord) -> bool:
        """True for a record that the arguments' filters let pass."""
        ...

    def add_urls(self, count: int) -> None:
        """Add url records that earlier runs have stored."""
        ...

    def add_file(self, tally: FileTally) -> None:
        """Add the counts of a file that is not read again."""
        ...
