"""The same command goes on after any end, and its feeds are those of a job that nobody disturbed."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitemapcrawler.feeds.folder import OF_EXTENSIONS
from tests.crawl.crawling import FEED, Crawl, crawl, read_feed
from tests.crawl.job_feeds import rows
from tests.crawl.job_kinds import Shop, asked_again
from tests.crawl.job_site import SITEMAPS, JobSite
from tests.crawl.jobs import DATABASE, FEEDS, KEPT, VERIFIED, Job, Moment
from tests.crawl.reports import nested, without_returns

pytestmark = pytest.mark.slow

ENDS_WITHIN_S = 15
"""DESIGN, Jobs: seconds from the signal to the feeds in place."""
PART_OF_THE_TIME = 0.6
SHORTEST_S = 0.1
MAX_STARTS = 30
"""Starts that a job with a budget needs at most, on the slowest of machines."""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with JobSite() as site:
        yield Shop(site, tmp_path_factory, "verified")


def test_job_finds_what_a_crawl_without_one_does(shop: Shop, tmp_path: Path) -> None:
    crawl(tmp_path, domain=shop.site.url(), **VERIFIED)
    expected = shop.undisturbed()
    assert rows(tmp_path / FEED) == expected.rows[FEED]
    assert set(SITEMAPS) < set(expected.asked)
    assert len(expected.asked) > 100


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sample of 20", "records", "only changes"])
def test_feeds_of_objects_have_what_url_records_nest(shop: Shop, kind: str) -> None:
    job = shop.job(kind)
    options = [part for name in (FEED, *(f"{feed}.jsonl" for feed in OF_EXTENSIONS)) for part in ("-O", name)]
    found = set()
    for settings in ({"CLOSESPIDER_ITEMCOUNT": 3}, {}, {}):  # stopped, resumed, and finished
        done = job.run(*options, settings=settings)
        for feed in OF_EXTENSIONS:
            written = read_feed(job.folder / f"{feed}.jsonl")
            assert [without_returns(row) for row in written] == nested(done.of_type("url"), feed)
            found.update(row.get("returns") for row in written)
    assert found == (set() if kind == "only changes" else {"yes", "not listed", None})


# ---- killed once


def test_killed_job_goes_on(shop: Shop) -> None:
    """Killed half way from the last request to the end; others below are killed while they read."""
    expected, job = shop.undisturbed(), shop.job()
    job.kill(expected.after_the_last_request(0.5))
    job.complete(expected)


def test_killed_while_the_database_is_made(shop: Shop) -> None:
    expected, job = shop.undisturbed(), shop.job()
    assert job.kill_when(lambda: job.database.exists())
    job.complete(expected)


def test_killed_when_the_first_feed_is_in_place(shop: Shop) -> None:
    expected, job = shop.undisturbed(), shop.job()
    job.kill_when(lambda: any((job.folder / feed).exists() for feed in FEEDS))
    job.complete(expected)


def test_what_is_known_is_not_asked_again(shop: Shop) -> None:
    kind = "links"  # which requests all that others do, and more
    expected, job = shop.undisturbed(kind), shop.job(kind)
    assert job.kill_settled(expected.moment(0.8))
    [kill] = job.kills
    assert len(kill.known) > len(expected.asked) * 0.6
    job.complete(expected)
    asked = Counter(exchange.path for exchange in shop.site.exchanges if exchange.at > kill.at)
    assert asked_again(job, expected.asked) == []
    assert len(kill.known.intersection(SITEMAPS)) > 2
    assert set(asked.values()) == {1}


def test_commit_that_a_crash_cut_is_made_again(shop: Shop) -> None:
    expected, job = shop.undisturbed(), shop.job()
    assert job.kill_settled(expected.moment(0.5))
    log = job.database.with_name(f"{DATABASE}.wal")
    log.write_bytes(log.read_bytes()[:-100])
    job.complete(expected)


# ---- killed more than once


def test_killed_as_soon_as_it_goes_on(shop: Shop) -> None:
    expected, job = shop.undisturbed(), shop.job()
    assert job.kill(expected.moment(0.6))
    before = set(job.parts)
    assert len(before) == len(FEEDS)
    assert job.kill_when(lambda: any(part not in before for part in job.parts))
    assert job.kill(Moment(1))
    others = job.folder / ".feed@mine"
    others.mkdir()
    job.complete(expected)
    assert job.parts == [others]


# ---- stopped


def test_stopped_job_keeps_what_it_has_and_goes_on(shop: Shop) -> None:
    expected, job = shop.undisturbed(), shop.job()
    stopped = signalled(job, expected.moment(0.6))
    assert stopped.summary["partial"] == "shutdown"
    assert stopped.summary["urls"] == len(stopped.of_type("url"))
    assert all((job.folder / feed).exists() for feed in FEEDS)
    assert "same command" in stopped.log
    assert job.parts == []
    check_part_of(stopped, expected.crawl)
    before = {exchange.path for exchange in shop.site.forget() if exchange.sent}
    job.complete(expected)
    after = {exchange.path for exchange in shop.site.exchanges}
    assert len(before) > len(expected.asked) * 0.48
    assert {path for path in before & after if path not in SITEMAPS and shop.site.has(path)} == set()


def signalled(job: Job, moment: Moment) -> Crawl:
    """A run that gets SIGTERM at a moment."""
    with job.start() as running:
        job.wait(running, moment)
        before = running.seconds
        running.process.send_signal(signal.SIGTERM)
        done = running.finish()
    assert done.code == 3
    assert done.seconds - before < ENDS_WITHIN_S
    return done


def check_part_of(stopped: Crawl, whole: Crawl) -> None:
    """Files that were read have all their records, there are no others, and every reply that came is there."""
    read = [record for record in stopped.of_type("sitemap") if record["outcome"] in ("ok", "recovered")]
    assert read
    for record in read:
        assert record["format"] == "xml-index" or len(stopped.locs(record["sitemap"])) == record["url_count"]
    listed, found = (
        Counter((one["sitemap"], one["loc"]) for one in crawl.of_type("url")) for crawl in (whole, stopped)
    )
    assert found <= listed
    replies = {(one["sitemap"], one["loc"]): one["reply"]["kind"] for one in whole.of_type("url")}
    for one in stopped.of_type("url"):
        assert one["reply"].get("reason") == "stopped" or one["reply"]["kind"] == replies[one["sitemap"], one["loc"]]


def test_killed_after_a_signal(shop: Shop) -> None:
    expected, job = shop.undisturbed(), shop.job()
    with job.start() as running:
        job.wait(running, expected.moment(0.5))
        running.process.send_signal(signal.SIGTERM)
        running.wait_until(lambda: "SIGTERM" in running.log)
        job.end(running)
    job.complete(expected)


def test_second_signal_leaves_the_earlier_feed(shop: Shop) -> None:
    expected, job = shop.undisturbed(), shop.job()
    (job.folder / FEED).write_text("earlier\n")
    with job.start(settings={"SITEMAP_STOP_GRACE": 60}) as running:
        job.wait(running, expected.moment(0.3))
        shop.site.gate.clear()
        try:
            running.process.send_signal(signal.SIGTERM)
            running.wait_until(lambda: "SIGTERM" in running.log)
            running.process.send_signal(signal.SIGTERM)
            assert running.process.wait(ENDS_WITHIN_S) == 3
        finally:
            shop.site.gate.set()
        assert "Traceback" not in running.log
    assert (job.folder / FEED).read_text() == "earlier\n"
    job.complete(expected)


# ---- limits and budgets


def test_limits_of_scrapy_stop_a_job_that_goes_on(shop: Shop) -> None:
    expected, job = shop.undisturbed(), shop.job()
    for limit in ({"CLOSESPIDER_ITEMCOUNT": 5}, {"CLOSESPIDER_TIMEOUT": 0.2}):
        stopped = job.run(settings=limit)
        assert stopped.code == 3
        assert stopped.summary["partial"] in map(str.lower, limit)
    job.complete(expected)


def test_job_with_a_budget_is_done_after_some_starts(shop: Shop) -> None:
    expected = shop.undisturbed()
    budget, codes = expected.crawl.summary["elapsed_s"], [0]
    while codes == [0] and budget > SHORTEST_S:  # the machine may have more time for this run than for that
        budget *= PART_OF_THE_TIME
        job = shop.job()
        codes = [job.run(max_time=round(budget, 2)).code]
    while codes[-1] == 3 and len(codes) < MAX_STARTS:
        codes.append(job.run(max_time=round(budget, 2)).code)
    assert codes[0] == 3
    assert codes[-1] == 0
    assert not (told := job.differences(expected.rows)), told
    assert job.left == KEPT


def test_job_that_reached_max_urls_is_finished(shop: Shop) -> None:
    expected, job = shop.undisturbed("60 urls"), shop.job("60 urls")
    job.complete(expected)
    shop.site.forget()
    again = job.complete(expected)
    assert again.summary["partial"] == "max_urls"
    assert shop.site.forget() == []
