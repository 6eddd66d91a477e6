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

from sitemapcrawler.download.crawl import Stop
from sitemapcrawler.extensions.progress import RECENT_S, SHOWN_HOSTS, WAIT_S, Gauge
from sitemapcrawler.items import Reach


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
    made.lastseen = time.monotonic() - age
    return made


def status(checked: dict[str, int], waiting: dict[str, int], offered: int = 0, held: int = 0) -> Any:
    by_host = (Counter(checked), Counter(waiting))
    replies = Counter(ok=sum(checked.values()))
    return SimpleNamespace(by_host=by_host, replies=replies, offered=offered, candidates=held, holding=held > 0)


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


def waiting_for(*ages: float, timeout: float | None = 60.0) -> Any:
    """Requests to hosts, one each, that were sent so many seconds ago."""
    slots = {f"{number}.com": slot(1, waiting=number) for number in range(len(ages))}
    made = gauge(audit(), slots=slots)
    for age, held in zip(ages, slots.values(), strict=True):
        [request] = held.transferring
        request.meta["download_timeout"] = timeout
        made.sends(request)
        made._sent[request] -= age
    return made.measure().wait


def test_host_with_the_oldest_request_keeps_the_crawl_waiting() -> None:
    wait = waiting_for(WAIT_S + 1, WAIT_S + 20)
    assert (wait.name, wait.pages) == ("1.com", 2)
    assert 60 - WAIT_S - 21 < wait.timeout <= 60 - WAIT_S - 20
    assert waiting_for(WAIT_S + 70).timeout == 0
    assert waiting_for(WAIT_S + 1, timeout=None).timeout is None


def test_crawl_does_not_wait_for_a_host_while_others_answer() -> None:
    assert waiting_for(WAIT_S + 20, 0.1) is None
    assert waiting_for() is None
    assert gauge(audit(), slots={"e.com": slot(1)}).measure().wait is None


# ---- phases


READ = {"frontier": SimpleNamespace(queued_count=2), "selection": SimpleNamespace(count=60, earlier=0)}


@pytest.mark.parametrize(
    ("parts", "phase"),
    [
        ({}, "discovering"),
        (READ, "reading"),
        (READ | {"status": status({}, {})}, "reading"),
        (READ | {"status": status({}, {"e.com": 1})}, "verifying"),
        (READ | {"phase": "judging the site"}, "judging the site"),
        (READ | {"phase": "judging the site", "stop": stop(None)}, "judging the site"),
        (READ | {"phase": "writing feeds", "stop": stop("max_urls")}, "writing feeds"),
        (READ | {"phase": "writing feeds", "stop": stop("shutdown")}, "stopping"),
    ],
)
def test_phase(parts: dict[str, Any], phase: str) -> None:
    assert gauge(audit(**parts)).measure().phase == phase


# ---- counts


def test_files_of_a_crawl_that_reads() -> None:
    reading = audit(
        frontier=SimpleNamespace(queued_count=10),
        reading=SimpleNamespace(records=0, begun=4.5),
        selection=SimpleNamespace(count=900, earlier=0),
        judge=SimpleNamespace(reach={"error": Reach("error", 0, 3, 1)}),
    )
    told = gauge(reading, {"sitemap/files": 4, "sitemap/urls": 800}).measure()
    assert (told.files, told.known_files, told.share, told.urls) == (4, 10, 0.45, 900)
    assert told.found == {"error": Reach("error", 0, 3, 1)}
    assert told.checks is None


def test_files_of_earlier_runs_count_as_read() -> None:
    done = {"a": SimpleNamespace(hit=True), "b": SimpleNamespace(hit=False), "c": SimpleNamespace(hit=True)}
    going_on = audit(frontier=SimpleNamespace(queued_count=5), job=SimpleNamespace(done=done))
    look = gauge(going_on, {"sitemap/files": 1}).measure
    assert look().files == 3
    going_on.frontier.queued_count = 2
    assert look().files == 2, "no more than there are"


def test_finished_job_that_is_written_again() -> None:
    job = SimpleNamespace(done={"a": SimpleNamespace(hit=True)})
    told = gauge(audit(job=job, phase="writing feeds"), {"sitemap/files": 7, "sitemap/urls": 70}).measure()
    assert (told.files, told.known_files, told.urls) == (7, 7, 70)


def test_other_spider_is_told_of_by_items() -> None:
    other = Gauge(crawler({"response_received_count": 3, "item_scraped_count": 8}), None, 10.0)
    told = other.measure()
    assert (told.phase, told.files, told.answers, told.urls) == ("crawling", None, 3, 8)


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
    checks = gauge(verifying(), {"sitemap/files": 6, "sitemap/format/xml-index": 1}).measure().checks
    assert checks is not None
    assert (checks.done, checks.known, checks.in_all, checks.exact) == (30, 400, 1000.0, False)
    assert checks.replies == {"ok": 30}


def test_half_of_what_was_listed_is_to_be_asked() -> None:
    told = gauge(verifying(status=status({"e.com": 100}, {"e.com": 100}, offered=400)), {"sitemap/format/xml-index": 1})
    checks = told.measure().checks
    assert checks is not None
    assert (checks.known, checks.in_all) == (200, 500.0)


def test_urls_of_earlier_runs_are_not_asked_again() -> None:
    known = verifying(selection=SimpleNamespace(count=500, earlier=100), reading=SimpleNamespace(records=0, begun=11.0))
    checks = gauge(known).measure().checks
    assert checks is not None
    assert checks.exact
    assert checks.known == 400


def test_sample_that_waits_is_known() -> None:
    known = verifying(status=status({}, {}, held=25))
    checks = gauge(known).measure().checks
    assert checks is not None
    assert (checks.done, checks.known, checks.exact) == (0, 25, True)


def test_nothing_is_estimated_before_anything_is_known() -> None:
    checks = gauge(verifying(status=status({}, {}), reading=SimpleNamespace(records=0, begun=0.0))).measure().checks
    assert checks is not None
    assert checks.in_all is None


# ---- hosts


def test_busiest_hosts_come_by_name() -> None:
    slots = {
        f"{name}.com": slot(waiting=count) for name, count in zip("abcdefgh", (1, 9, 8, 7, 6, 5, 4, 3), strict=True)
    }
    told = gauge(audit(), slots=slots).measure()
    assert [host.name for host in told.hosts] == [f"{name}.com" for name in "bcdefg"]
    assert (told.other_hosts, told.waiting) == (8 - SHOWN_HOSTS, 43)
    assert len(gauge(audit(), slots=slots).measure(3).hosts) == 3


def test_host_stays_while_it_is_busy() -> None:
    slots = {"a.com": slot(1), "b.com": slot(1)}
    look = gauge(audit(), slots=slots).measure
    assert [host.name for host in look(1).hosts] == ["b.com"]
    slots["a.com"] = slot(4)
    assert [host.name for host in look(1).hosts] == ["b.com"]
    slots["b.com"] = slot(age=2 * RECENT_S)
    assert [host.name for host in look(1).hosts] == ["a.com"]


def test_host_that_was_asked_a_moment_ago_is_told_of() -> None:
    slots = {"a.com": slot(age=RECENT_S / 2, delay=2.0), "idle.com": slot()}
    told = gauge(audit(), slots=slots, rests=lambda name: 40.0 * (name == "a.com")).measure()
    [host] = told.hosts
    assert (host.name, host.in_flight, host.waiting, host.delay, host.rests, host.url) == (
        "a.com",
        0,
        0,
        2.0,
        40.0,
        None,
    )
    assert told.other_hosts == 0


def test_one_of_the_requests_in_flight_is_named() -> None:
    [host] = gauge(audit(), slots={"e.com": slot(1, 2)}).measure().hosts
    assert (host.in_flight, host.waiting, host.url) == (1, 2, "https://e.com/0")
