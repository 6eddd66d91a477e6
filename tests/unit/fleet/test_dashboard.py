"""The progress of a fleet in words and rows."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from scrapy.settings import Settings

from sitemapcrawler.fleet import dashboard
from sitemapcrawler.fleet.dashboard import FleetDisplay, FleetProgress
from sitemapcrawler.fleet.domains import DomainRecord
from sitemapcrawler.fleet.driver import FleetCounts
from sitemapcrawler.terminal.progress_rows import line

SHOWN = (("shop.example", 3723.4), ("http://blog.example:8080", 7.0))
FAILED = DomainRecord(domain="dead.example", state="failed")
STATES = {"finished": 850, "partial": 40, "unread": 7}
MIDDLE = FleetProgress(
    FleetCounts(10_000, 300, STATES, 12_345_678, 8901, [FAILED] * 7), 3723, 12, SHOWN, 32.4, 5670.4, 16_200.0
)
BEGUN = FleetProgress(FleetCounts(1), 0.2, 1)
OVER = FleetProgress(FleetCounts(3, 0, {"finished": 2}, 1, 1, [FAILED]), 62, seconds_left=0.0)
HOSTILE = ("\x1b]8;;http://evil\x07[bold]\u202e" + "sub." * 60 + "example", 90_000)


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (
            MIDDLE,
            "fleet: 1,204 of 10,000 domains, about 4 h 30 min left, 32/min, 1:02:03; "
            "read: 12,345,678 URLs, 5,670/s, 8,901 sitemaps; "
            "done: 850 finished, 40 partial, 7 unread, 7 failed, 300 earlier; running: 12 domains, 8,784 waiting; "
            "shop.example, 1:02:03; http://blog.example:8080, 0:07",
        ),
        (
            FleetProgress(FleetCounts(20_000, hosts=19_000, looked_up=4000), 7.0),
            "fleet: 4,000 of 19,000 names looked up, 0:07",
        ),
        (BEGUN, "fleet: 0 of 1 domain, 0:00; read: 0 URLs, 0 sitemaps; done: none so far; running: 1 domain"),
        (
            OVER,
            "fleet: 3 of 3 domains, 1:02; read: 1 URL, 1 sitemap; done: 2 finished, 1 failed; running: 0 domains",
        ),
    ],
)
def test_rows(progress: FleetProgress, text: str) -> None:
    assert line(progress.rows(80)) == text


def test_bar_is_as_full_as_the_share_of_domains_that_ended() -> None:
    assert [progress.rows(80)[0].share for progress in (MIDDLE, BEGUN, OVER)] == [0.1204, 0, 1]
    assert FleetProgress(FleetCounts(0), 1).rows(80)[0].share is None


def test_figures_of_a_running_domain_fit_into_80_columns() -> None:
    *_, row = MIDDLE._replace(longest=[HOSTILE]).rows(80)
    assert line([row]).endswith("example, 25:00:00")
    assert len("  ".join(text for text, _ in row.cells)) <= 80 - 1 - 9 - 2
    assert all(text.isprintable() and text.isascii() for text, _ in row.cells)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The clock of the display, at the second `now`."""
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr(dashboard.time, "monotonic", lambda: clock.now)
    return clock


def test_line_at_intervals_has_the_speed_of_urls_and_of_domains(
    clock: SimpleNamespace, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    fleet: Any = SimpleNamespace(counts=FleetCounts(20), running={})
    display = FleetDisplay(Settings({"SITEMAP_PROGRESS": False, "LOGSTATS_INTERVAL": 10}))
    for now, ended in ((10, 5), (15, 7), (20, 10)):
        clock.now = now
        fleet.counts.states["finished"], fleet.counts.urls = ended, 1000 * ended
        display.update(fleet)
    assert [record.getMessage() for record in caplog.records] == [
        "fleet: 5 of 20 domains, 0:10; read: 5,000 URLs, 0 sitemaps; done: 5 finished; running: 0 domains, 15 waiting",
        "fleet: 10 of 20 domains, about 20 s left, 30/min, 0:20; read: 10,000 URLs, 500/s, 0 sitemaps; "
        "done: 10 finished; running: 0 domains, 10 waiting",
    ]
