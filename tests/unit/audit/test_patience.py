"""The time that a site has while it lists nothing."""

from __future__ import annotations

from sitemapcrawler.audit.frontier import EARNED_S, Frontier, Patience, Visit


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_time_runs_once_for_requests_at_the_same_time_and_not_between_them() -> None:
    clock = Clock()
    patience = Patience(100, clock)
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
    patience = Patience(100, clock)
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
    clock = Clock()
    patience = Patience(0, clock)
    patience.begin("a")
    clock.now = 1e9
    assert not patience.is_over("a")


def test_what_other_hosts_take_counts_for_the_site_that_led_to_them() -> None:
    clock = Clock()
    frontier = Frontier(100, 10, 8, 4, Patience(100, clock))
    top = Visit("https://site.example/index.xml", "robots", "https://site.example/robots.txt")
    first, second = (top.child(f"https://{name}.other.example/s.xml", None) for name in "ab")
    assert first.site == second.site == top.site == "site.example"
    frontier.add(first)
    frontier.add(second)
    [taken, _] = frontier.take()
    clock.now = 101
    assert not frontier.add(top.child("https://c.other.example/s.xml", None))
    assert frontier.given_up == {"site.example": 1}
    assert frontier.add(Visit("https://new.example/s.xml", "argument"))
    frontier.done(taken)
