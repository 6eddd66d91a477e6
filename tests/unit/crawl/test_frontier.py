"""The queue: each sitemap once, in the order found, a bounded number at a time, and no host before its turn."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sitemapcrawler.crawl.frontier import EARNED_S, Frontier, Patience, Selection, Visit
from sitemapcrawler.crawl.params import Params
from sitemapcrawler.items import UrlRecord


def frontier(max_sitemaps: int = 1000, max_depth: int = 10, at_once: int = 100, per_host: int = 100) -> Frontier:
    return Frontier(max_sitemaps, max_depth, at_once, per_host)


def visit(name: str, host: str = "a.example", depth: int = 0, probe: bool = False) -> Visit:
    return Visit(f"https://{host}/{name}", "common-path" if probe else "index", None, depth, probe)


def names(visits: list[Visit]) -> list[str]:
    return [visit.url.removeprefix("https://") for visit in visits]


@pytest.mark.parametrize(
    "again",
    [
        "https://a.example/x",
        "HTTPS://A.Example/x",
        "https://a.example:443/x",
        "https://a.example/x#fragment",
        "https://a.example./x",
        "https://me@a.example/x",
    ],
)
def test_other_spelling_of_a_known_url_is_left_out(again: str) -> None:
    queue = frontier()
    queue.add(visit("x"))
    assert not queue.add(Visit(again, "index"))
    assert queue.has_seen(again)
    assert len(queue) == 1


@pytest.mark.parametrize(
    "other", ["http://a.example/x", "https://a.example/X", "https://a.example/x?", "https://a.example/x/"]
)
def test_other_url_is_not_left_out(other: str) -> None:
    queue = frontier()
    queue.add(visit("x"))
    assert not queue.has_seen(other)
    assert queue.add(Visit(other, "index"))


def test_hosts_take_turns() -> None:
    queue = frontier(at_once=2)
    for host in ("a.example", "a.example", "b.example"):
        queue.add(visit(f"{len(queue)}", host))
    assert names(list(queue.next_visits())) == ["a.example/0", "b.example/2"]


def test_site_is_open_until_all_its_sitemaps_are_read() -> None:
    queue = frontier()
    top = Visit("https://a.example/index.xml", "robots", "https://a.example/robots.txt")
    assert queue.add(top)
    [running] = queue.next_visits()
    assert queue.add(running.child("https://cdn.example/1.xml", None))
    queue.done(running)
    assert queue.is_open("a.example")
    assert not queue.is_open("cdn.example"), "it is judged with the site that led to it"
    [child] = queue.next_visits()
    queue.close(child)  # reading it failed
    assert not queue.is_open("a.example")
    queue.done(child)
    assert not queue.is_open("a.example")


def test_what_limits_leave_out_is_counted() -> None:
    queue = frontier(max_sitemaps=2, max_depth=2)
    assert not queue.add(visit("deeper", depth=3))
    assert [queue.add(visit(name, depth=2)) for name in "12342"] == [True, True, False, False, False]
    assert queue.skipped == {"max_depth": 1, "max_sitemaps": 2}


def test_guess_that_was_right_counts_and_is_known() -> None:
    queue = frontier(max_sitemaps=2)
    queue.add(visit("guess", probe=True))
    assert queue.queued_count == 0
    queue.count_guess()
    assert [queue.add(visit(name)) for name in "12"] == [True, False]
    assert queue.queued_count == 2


@pytest.mark.parametrize("url", ["", "javascript:alert(1)", "http://[/x", "file:///x.xml", "\ud800"])
def test_url_without_a_host_passes_too(url: str) -> None:
    queue = frontier()
    assert queue.add(Visit(url, "index"))
    [taken] = queue.next_visits()
    queue.done(taken)
    assert not queue.add(Visit(url, "index"))


MAX_SITEMAPS, MAX_DEPTH, AT_ONCE, PER_HOST = 6, 2, 4, 2
URLS = st.builds("https://{}.example/{}".format, st.sampled_from("ab"), st.integers(0, 8))


class Queue(RuleBasedStateMachine):
    """The queue against a plain model of it: each sitemap once and never more at a time than allowed, whatever is added, taken and given back."""

    def __init__(self) -> None:
        super().__init__()
        self.frontier = Frontier(MAX_SITEMAPS, MAX_DEPTH, AT_ONCE, PER_HOST)
        self.seen: set[str] = set()
        self.waiting: dict[str, list[str]] = {}
        self.running: list[Visit] = []
        self.counted = 0

    @rule(url=URLS, depth=st.integers(0, MAX_DEPTH + 1), probe=st.booleans())
    def add(self, url: str, depth: int, probe: bool) -> None:
        full = self.counted >= MAX_SITEMAPS and not probe
        expected = depth <= MAX_DEPTH and url not in self.seen and not full
        assert self.frontier.add(Visit(url, "index", None, depth, probe)) is expected
        if expected:
            self.seen.add(url)
            self.counted += not probe
            self.waiting.setdefault(host(url), []).append(url)

    @rule(url=URLS)
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
TestQueue.settings = settings(max_examples=60, stateful_step_count=40)


def test_children_of_a_file_share_what_is_above_them() -> None:
    parent = Visit("https://a.example/index.xml", "robots", ancestors=("https://a.example/top.xml",))
    first, second = parent.child("https://a.example/1.xml", None), parent.child("https://a.example/2.xml", None)
    assert first.ancestors == ("https://a.example/top.xml", "https://a.example/index.xml")
    assert first.ancestors is second.ancestors


def selection(**arguments: object) -> Selection:
    return Selection(Params.parse({"domain": "e.com", **arguments}))


def record(loc: str, lastmod_at: str | None = None) -> UrlRecord:
    return UrlRecord(loc, lastmod_at=lastmod_at)


def locs(records: list[UrlRecord]) -> list[str]:
    return [record.loc for record in records]


SHOP, BLOG, PAGED = "https://e.com/shop/1", "https://e.com/blog", "https://shop.e.com/?page=12"


@pytest.mark.parametrize(
    ("arguments", "listed", "kept", "skipped"),
    [
        ({}, ["b", "a", "a"], ["b", "a", "a"], {}),
        ({"include": "shop", "exclude": r"\?page=[0-9]+$"}, [SHOP, BLOG, PAGED], [SHOP], {"include": 1, "exclude": 1}),
        ({"include": "[135]"}, ["5", "4", "3", "2", "1"], ["5", "3", "1"], {"include": 2}),
        ({"max_urls": 2, "exclude": "no"}, ["no", "1", "no", "2", "3"], ["1", "2"], {"exclude": 2, "max_urls": 1}),
        ({"max_urls": 1, "include": "a"}, [], [], {}),
    ],
    ids=["everything", "expressions anywhere", "in order", "what passed the others counts", "empty"],
)
def test_entries_that_are_kept(
    arguments: dict[str, object], listed: list[str], kept: list[str], skipped: dict[str, int]
) -> None:
    chosen = selection(**arguments)
    assert locs(chosen.keep([record(loc) for loc in listed])) == kept
    assert {name: count for name, count in chosen.skipped.items() if count} == skipped
    assert (chosen.count, chosen.full) == (len(kept), len(kept) == arguments.get("max_urls"))


@pytest.mark.parametrize(
    ("moment", "kept"),
    [
        ("2024-05-01T00:00:00Z", True),
        ("2024-05-01T00:00:00.000001Z", True),
        ("2024-04-30T23:59:59.999Z", False),
        ("2030-01-01T00:00:00Z", True),
        (None, False),
    ],
)
def test_since_is_inclusive_and_leaves_out_the_undated(moment: str | None, kept: bool) -> None:
    chosen = selection(since="2024-05-01")
    assert len(chosen.keep([record("a", moment)])) == kept
    assert chosen.skipped["since"] == (not kept)


def test_max_urls_holds_over_several_lists() -> None:
    chosen = selection(max_urls=3)
    assert locs(chosen.keep([record("1"), record("2")])) == ["1", "2"]
    assert not chosen.full
    assert locs(chosen.keep([record("3"), record("4")])) == ["3"]
    assert chosen.full
    assert chosen.keep([record("5")]) == []
    assert chosen.count == 3


class Clock:
    """A clock that a test sets, and the patience of 100 seconds that it measures."""

    def __init__(self, limit: float = 100) -> None:
        self.now = 0.0
        self.patience = Patience(limit, lambda: self.now)


def test_time_runs_once_for_requests_at_the_same_time_and_not_between_them() -> None:
    clock = Clock()
    patience = clock.patience
    patience.begin("a")
    patience.begin("a")
    clock.now = 60
    patience.end("a")
    patience.end("a")
    clock.now = 1000
    assert not patience.is_over("a")
    patience.begin("a")
    clock.now = 1040
    assert patience.is_over("a")
    assert not patience.is_over("b")


def test_pages_give_time_back_and_never_more_than_there_was() -> None:
    clock = Clock()
    patience = clock.patience
    patience.begin("a")
    clock.now = 95
    patience.earn("a", 1_000_000)
    clock.now = 194
    assert not patience.is_over("a")
    patience.earn("a", 1)
    clock.now = 194 + EARNED_S
    assert not patience.is_over("a")
    clock.now += 2
    assert patience.is_over("a")


def test_no_limit() -> None:
    clock = Clock(limit=0)
    clock.patience.begin("a")
    clock.now = 1e9
    assert not clock.patience.is_over("a")


def test_what_other_hosts_take_counts_for_the_site_that_led_to_them() -> None:
    clock = Clock()
    frontier = Frontier(100, 10, 8, 4, clock.patience)
    top = Visit("https://site.example/index.xml", "robots", "https://site.example/robots.txt")
    first, second = (top.child(f"https://{name}.other.example/s.xml", None) for name in "ab")
    assert first.site == second.site == top.site == "site.example"
    frontier.add(first)
    frontier.add(second)
    [taken, _] = frontier.next_visits()
    clock.now = 101
    assert not frontier.add(top.child("https://c.other.example/s.xml", None))
    assert frontier.given_up == {"site.example": 1}
    assert frontier.add(Visit("https://new.example/s.xml", "argument"))
    frontier.done(taken)
