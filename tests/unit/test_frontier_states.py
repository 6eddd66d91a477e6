"""The queue against a plain model of it, in any order of calls."""

from __future__ import annotations

from collections import Counter

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sitemapcrawler.crawl.frontier import Frontier, Visit

MAX_SITEMAPS, MAX_DEPTH, AT_ONCE, PER_HOST = 6, 2, 4, 2
urls = st.builds("https://{}.example/{}".format, st.sampled_from("ab"), st.integers(0, 8))


class Queue(RuleBasedStateMachine):
    """Each sitemap once and never more at a time than allowed, whatever is added, taken and given back."""

    def __init__(self) -> None:
        super().__init__()
        self.frontier = Frontier(MAX_SITEMAPS, MAX_DEPTH, AT_ONCE, PER_HOST)
        self.seen: set[str] = set()
        self.waiting: dict[str, list[str]] = {}
        self.running: list[Visit] = []
        self.counted = 0

    @rule(url=urls, depth=st.integers(0, MAX_DEPTH + 1), probe=st.booleans())
    def add(self, url: str, depth: int, probe: bool) -> None:
        full = self.counted >= MAX_SITEMAPS and not probe
        expected = depth <= MAX_DEPTH and url not in self.seen and not full
        assert self.frontier.add(Visit(url, "index", None, depth, probe)) is expected
        if expected:
            self.seen.add(url)
            self.counted += not probe
            self.waiting.setdefault(host(url), []).append(url)

    @rule(url=urls)
    def mark(self, url: str) -> None:
        assert self.frontier.mark(url) is (url not in self.seen)
        self.seen.add(url)

    @rule()
    def take(self) -> None:
        for visit in self.frontier.next_visits():
            assert self.waiting[host(visit.url)].pop(0) == visit.url, "the order of finding"
            self.running.append(visit)
        free = [name for name, line in self.waiting.items() if line and self.hosts[name] < PER_HOST]
        assert not free or len(self.running) == AT_ONCE, "somebody waits without need"

    @rule(data=st.data())
    def done(self, data: st.DataObject) -> None:
        if self.running:
            self.frontier.done(self.running.pop(data.draw(st.integers(0, len(self.running) - 1))))

    @property
    def hosts(self) -> Counter[str]:
        return Counter(host(visit.url) for visit in self.running)

    @invariant()
    def limits_hold(self) -> None:
        assert len(self.running) <= AT_ONCE
        assert max(self.hosts.values(), default=0) <= PER_HOST
        assert self.frontier.queued_count == self.counted <= MAX_SITEMAPS
        assert len(self.frontier) == sum(map(len, self.waiting.values()))


def host(url: str) -> str:
    return url.split("/")[2]


TestQueue = Queue.TestCase
TestQueue.settings = settings(max_examples=60, stateful_step_count=40, derandomize=True, database=None)
