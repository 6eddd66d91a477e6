"""What a look at a crawl tells."""

from __future__ import annotations

import time
from collections import Counter
from types import SimpleNamespace
from typing import Any, cast

import pytest
from scrapy import Request
from scrapy.core.downloader import Slot
from scrapy.crawler import Crawler
from twisted.internet.defer import Deferred

from sitemapcrawler.download.shared import Stop
from sitemapcrawler.extensions import progress
from sitemapcrawler.extensions.progress import RECENT_S, SHOWN_HOSTS, WAIT_S, Gauge, expected, rounded
from sitemapcrawler.items import Reach
from sitemapcrawler.middlewares.politeness import HostPace
from sitemapcrawler.terminal.progress_rows import ProgressRow, line


class Stats(dict[str, Any]):
    def get_value(self, name: str) -> Any:
        return self.get(name)


def slot(in_flight: int = 0, waiting: int = 0, delay: float = 0.5, age: float = 1000.0) -> Slot:
    made = Slot(4, delay, 0.0)
    sent = [Request(f"https://e.com/{number}") for number in range(in_flight)]
    queued = [Request("https://e.com/queued") for _ in range(waiting)]
    made.transferring.update(sent)
    made.queue.extend((request, Deferred()) for request in queued)
    made.active.update(sent, queued)
    made.lastseen = time.monotonic() - (0 if in_flight else age)
    return made


def status(checked: dict[str, int], waiting: dict[str, int], offered: int = 0, held: int = 0) -> Any:
    by_host = (Counter(checked), Counter(waiting))
    replies = Counter(ok=sum(checked.values()))
    return SimpleNamespace(by_host=by_host, replies=replies, offered=offered, candidates=held, draws=held > 0)


def stop(reason: str | None) -> Stop:
    made = Stop(cast("Crawler", None))
    made.reason = reason
    return made


def audit(**parts: Any) -> Any:
    usual = {
        "stop": stop(None),
        "phase": None,
        "status": None,
        "job": None,
        "selection": SimpleNamespace(count=0, earlier=0),
        "frontier": SimpleNamespace(queued_count=0),
        "reading": SimpleNamespace(records=0, begun=0.0),
        "judge": SimpleNamespace(reach={}),
    }
    return SimpleNamespace(**usual | parts)


def crawler(stats: dict[str, Any] | None = None, slots: dict[str, Slot] | None = None) -> Any:
    engine = SimpleNamespace(downloader=SimpleNamespace(slots=slots or {}))
    return SimpleNamespace(stats=Stats(stats or {}), engine=engine)


def gauge(of: Any, stats: dict[str, Any] | None = None, slots: dict[str, Slot] | None = None, **more: Any) -> Gauge:
    return Gauge(crawler(stats, slots), of, 10.0, **more)


def shown(gauge: Gauge, width: int = 80) -> dict[str, str]:
    """The rows by label, in words; that of a host by its name."""
    rows = gauge.rows(width)
    return {row.label or row.cells[0][0].strip(): line([ProgressRow("", row.cells)]) for row in rows}


def waiting_for(*ages: float, timeout: float | None = 60.0) -> str | None:
    """What is said of requests to hosts, one each, that were sent so many seconds ago."""
    slots = {f"{number}.com": slot(1, waiting=number) for number in range(len(ages))}
    made = gauge(audit(), slots=slots)
    for age, held in zip(ages, slots.values(), strict=True):
        [request] = held.transferring
        request.meta["download_timeout"] = timeout
        held.lastseen = time.monotonic() - age
    return shown(made).get("waiting")


def test_host_with_the_oldest_request_keeps_the_crawl_waiting() -> None:
    assert waiting_for(WAIT_S + 1, WAIT_S + 20, timeout=600) in {
        f"for 1.com, 2 pages, timeout in {seconds:.0f} s" for seconds in (580 - WAIT_S, 579 - WAIT_S)
    }
    assert waiting_for(WAIT_S + 70) == "for 0.com, 1 page, timeout in 0 s"
    assert waiting_for(WAIT_S + 1, timeout=None) == "for 0.com, 1 page"


def test_name_of_a_host_that_keeps_the_crawl_waiting_is_inert_and_short() -> None:
    made = gauge(audit(), slots={"\x1b[2J" + "sub." * 40 + "example": (held := slot(1))})
    held.lastseen = time.monotonic() - WAIT_S
    text = shown(made)["waiting"]
    assert text.endswith(".example, 1 page")
    assert len(text) < 50
    assert "\x1b" not in text


def test_crawl_does_not_wait_for_a_host_while_others_answer() -> None:
    assert waiting_for(WAIT_S + 20, 0.1) is None
    assert waiting_for() is None
    assert "waiting" not in shown(gauge(audit(), slots={"e.com": slot(1)}))


# ---- phases


READ = {"frontier": SimpleNamespace(queued_count=2), "selection": SimpleNamespace(count=60, earlier=0)}


@pytest.mark.parametrize(
    ("parts", "phase"),
    [
        ({}, "discovering"),
        (READ, "reading"),
        (READ | {"status": status({}, {})}, "reading"),
        (READ | {"status": status({}, {"e.com": 1})}, "verifying"),
        (READ | {"phase": "checking the site"}, "checking the site"),
        (READ | {"phase": "checking the site", "stop": stop(None)}, "checking the site"),
        (READ | {"phase": "writing feeds", "stop": stop("max_urls")}, "writing feeds"),
        (READ | {"phase": "writing feeds", "stop": stop("shutdown")}, "stopping"),
    ],
)
def test_phase(parts: dict[str, Any], phase: str) -> None:
    rows = gauge(audit(**parts), slots={"e.com": slot(1)}).rows(80)
    assert rows[0].label == phase
    assert any(row.label == "fetching" for row in rows) is (parts.get("phase") is None)


# ---- counts


def test_nothing_is_known_at_first() -> None:
    assert line(gauge(audit()).rows(80)) == (
        "discovering: 0:00; found: no problems so far; fetching: no host right now"
    )


def test_files_of_a_crawl_that_reads() -> None:
    reading = audit(
        frontier=SimpleNamespace(queued_count=10),
        reading=SimpleNamespace(records=0, begun=4.5),
        selection=SimpleNamespace(count=900, earlier=0),
        judge=SimpleNamespace(reach={"error": Reach("error", 0, 3, 1), "info": Reach("info", 0, 45, 1)}),
    )
    told = gauge(reading, {"sitemap/files": 4, "sitemap/urls": 800})
    assert told.rows(80)[0].share == 0.45
    assert shown(told) == {
        "reading": "4 of 10 files, 900 URLs, 0:00",
        "found": "errors on 3 entries, notes on 45 entries",
        "fetching": "no host right now",
    }


def test_files_of_earlier_runs_count_as_read() -> None:
    done = {"a": SimpleNamespace(hit=True), "b": SimpleNamespace(hit=False), "c": SimpleNamespace(hit=True)}
    going_on = audit(frontier=SimpleNamespace(queued_count=5), job=SimpleNamespace(done=done))
    made = gauge(going_on, {"sitemap/files": 1})
    assert shown(made)["reading"].startswith("3 of 5 files")
    going_on.frontier.queued_count = 2
    assert shown(made)["reading"].startswith("2 of 2 files"), "no more than there are"


def test_finished_job_that_is_written_again() -> None:
    job = SimpleNamespace(done={"a": SimpleNamespace(hit=True)})
    told = gauge(audit(job=job, phase="writing feeds"), {"sitemap/files": 7, "sitemap/urls": 70})
    assert shown(told) == {"writing feeds": "7 files, 70 URLs, 0:00", "found": "no problems so far"}


def test_other_spider_is_told_of_by_items() -> None:
    other = Gauge(crawler({"response_received_count": 3, "item_scraped_count": 8}), None, 10.0)
    assert shown(other) == {"crawling": "3 answers, 8 items, 0:00", "fetching": "no host right now"}


def test_speed_is_that_of_the_last_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.0, 2.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    crawl = crawler({"sitemap/urls": 100})
    made = Gauge(crawl, audit(**READ), 10.0)
    made.rows(80)
    crawl.stats["sitemap/urls"] = 11_440
    assert shown(made)["reading"] == "0 of 2 files, 11,440 URLs, 5,670/s, 0:02"


@pytest.mark.parametrize(
    ("listed", "begun", "files", "urls"),
    [
        (500, 2, 2, 500),
        (0, 0, 0, 0),
        (0, 0, 3, None),
        (0, 1, 3, None),
        (500, 2, 10, 2500),
        (1000, 0.02, 1, 50_000),
        (500, 11, 10, 500),
    ],
)
def test_urls_that_a_crawl_will_come_to(listed: int, begun: float, files: int, urls: float | None) -> None:
    assert expected(listed, begun, files) == urls


def test_estimate_has_two_digits() -> None:
    assert [rounded(one) for one in (0.4, 7.2, 45.6, 519_800)] == [0, 7, 46, 520_000]


# ---- verifying


def verifying(**parts: Any) -> Any:
    usual = {
        "frontier": SimpleNamespace(queued_count=11),
        "reading": SimpleNamespace(records=0, begun=6.0),
        "selection": SimpleNamespace(count=500, earlier=0),
        "status": status({"e.com": 30}, {"e.com": 370}, offered=400),
    }
    return audit(**usual | parts)


def test_rest_of_the_files_is_estimated() -> None:
    """5 of 10 files list 500 URLs, 400 of which were handed over: 600 more will come."""
    made = gauge(verifying(), {"sitemap/files": 6, "sitemap/format/xml-index": 1})
    rows = made.rows(80)
    assert shown(made)["checked"] == "30 of about 1,000"
    assert shown(made)["replies"] == "30 ok"
    assert [row.share for row in rows[:2]] == [6 / 11, 0.03]


@pytest.mark.parametrize(
    ("parts", "stats", "text"),
    [
        (  # half of what was listed is to be asked
            {"status": status({"e.com": 100}, {"e.com": 100}, offered=400)},
            {"sitemap/format/xml-index": 1},
            "100 of about 500",
        ),
        (  # URLs of earlier runs are not asked again
            {"selection": SimpleNamespace(count=500, earlier=100), "reading": SimpleNamespace(records=0, begun=11.0)},
            {},
            "30 of 400",
        ),
        ({"status": status({}, {}, held=25)}, {}, "0 of 25"),  # a sample that waits is known
        ({"status": status({}, {}), "reading": SimpleNamespace(records=0, begun=0.0)}, {}, "0"),
    ],
)
def test_urls_to_check(parts: dict[str, Any], stats: dict[str, Any], text: str) -> None:
    assert shown(gauge(verifying(**parts), stats))["checked"] == text


def test_slowest_host_decides_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 0.0, 10.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    state = status({"slow.com": 0, "quick.com": 0}, {"slow.com": 31, "quick.com": 119}, offered=150)
    made = Gauge(crawler(), verifying(status=state, reading=SimpleNamespace(records=0, begun=11.0)), 10.0)
    made.rows(80)
    state.by_host = (Counter({"slow.com": 1, "quick.com": 99}), Counter({"slow.com": 30, "quick.com": 20}))
    assert shown(made)["checked"] == "100 of about 500, about 5 min left, 10/s"


def test_replies_have_the_order_and_the_colours_of_what_matters() -> None:
    state = status({"e.com": 1}, {})
    state.replies = Counter({"http-error": 8, "blocked": 2, "ok": 2300})
    row = gauge(verifying(status=state)).rows(80)[2]
    assert line([row]) == "replies: 2,300 ok, 8 http-error, 2 blocked"
    assert [style for _, style in row.cells] == ["green", "red", "bright_black"]


# ---- hosts


def test_busiest_hosts_come_by_name() -> None:
    slots = {
        f"{name}.com": slot(waiting=count) for name, count in zip("abcdefgh", (1, 9, 8, 7, 6, 5, 4, 3), strict=True)
    }
    wide = [line([ProgressRow("", row.cells[:1])]) for row in gauge(audit(), slots=slots).rows(200)[2:]]
    assert wide == [*(f"{name}.com" for name in "bcdefg"), "and 2 more"]
    assert len(gauge(audit(), slots=slots).rows(80)[2:]) == SHOWN_HOSTS // 2 + 1


def test_host_stays_while_it_is_busy() -> None:
    names = [f"{name}.com" for name in "abcd"]
    slots = {name: slot(1) for name in names}
    made = gauge(audit(), slots=slots)

    def hosts() -> list[str]:
        return [name for name in names if any(name in row.cells[0][0] for row in made.rows(80))]

    assert hosts() == names[1:]
    slots["a.com"] = slot(4)
    assert hosts() == names[1:]
    slots["b.com"] = slot(age=2 * RECENT_S)
    assert hosts() == ["a.com", "c.com", "d.com"]


def test_host_that_was_asked_a_moment_ago_is_told_of() -> None:
    slots = {name: slot(age=RECENT_S / 2, delay=2.0) for name in ("a.com", "b.com")}
    slots |= {"idle.com": slot(), "file": slot(1, 2, delay=0.0)}
    paces = {"a.com": HostPace(slowdown=2, resumes=time.monotonic() + 40.2), "b.com": HostPace(slowdown=2)}
    rows = gauge(audit(), slots=slots, paces=lambda name: paces.get(name, HostPace())).rows(80)[2:]
    assert [line([ProgressRow("", row.cells)]) for row in rows] == [
        "a.com, 0 in flight, 0 waiting, rests 40 s",
        "b.com, 0 in flight, 0 waiting, slowed: 2 s",
        "local files, 1 in flight, 2 waiting, no delay",
    ]


def test_wide_terminal_shows_one_of_the_requests_in_flight() -> None:
    made = gauge(audit(), slots={"e.com": slot(1, 2)})
    assert shown(made, 120)["fetching"] == "e.com, 1 in flight, 2 waiting, every 0.5 s, https://e.com/0"
    assert shown(made, 119)["fetching"] == "e.com, 1 in flight, 2 waiting, every 0.5 s"


def test_counts_of_a_host_of_any_name_fit_into_80_columns() -> None:
    hostile = "\x1b]8;;http://evil\x07[bold]\u202e" + "sub." * 40 + "example"
    asking = gauge(audit(), slots={hostile: slot(4, 2, delay=1.25)}).rows(80)[-1]
    assert line([asking]).endswith(".example, 4 in flight, 2 waiting, every 1.2 s")
    assert len("  ".join(text for text, _ in asking.cells).rstrip()) <= 80 - 1 - 9 - 2
    assert all(text.isprintable() for text, _ in asking.cells)
