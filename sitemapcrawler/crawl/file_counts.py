"""Counts what files add to a crawl that it does not read itself."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sitemapcrawler.crawl.frontier import Frontier, Selection
from sitemapcrawler.envelopes import FileTally
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.verification.url_status import Status


@dataclass(frozen=True, slots=True)
class FileCounts:
    """Adds the tallies of files that an earlier run has read."""

    frontier: Frontier
    selection: Selection
    judge: Judge
    status: Status | None

    def add(self, tally: FileTally) -> None:
        """Add the counts of a file."""
        skipped = Counter(tally.skipped)
        self.frontier.skip("follow", skipped.pop("follow", 0))
        self.selection.skip(skipped)
        self.judge.add(tally.found)
        if self.status is not None and tally.trust is not None:
            self.status.trusts.restore(tally.trust)
