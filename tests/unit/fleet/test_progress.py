"""The progress of a fleet in words and rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitemapcrawler.fleet.leases import Running
from sitemapcrawler.fleet.progress import FleetPace, FleetProgress, line, rows
from sitemapcrawler.terminal.progress import Row

SHOWN = (Running("shop.example", 120_331, 9, 3723.4), Running("http://blog.example:8080", 1, 1, 7.0))
MIDDLE = FleetProgress(
    10_000,
    3723,
    earlier=300,
    done={"finished": 850, "failed": 7, "partial": 40, "unread": 7},
    running=12,
    waiting=8784,
    urls=12_345_678,
    sitemaps=8901,
    urls_per_second=5670.4,
    domains_per_minute=32.4,
    eta_s=16_200.0,
    shown=SHOWN,
)
BEGUN = FleetProgress(1, 0.2, running=1)
OVER = FleetProgress(3, 62, done={"finished": 2, "failed": 1}, urls=1, sitemaps=1, eta_s=0.0)
HOSTILE = Running("\x1b]8;;http://evil\x07[bold]\u202e" + "sub." * 60 + "example", 10**11, 10**6, 10**7)
HUGE = replace(MIDDLE, total=10**9, waiting=10**9, urls=10**12, urls_per_second=1e7, eta_s=9e8, shown=(HOSTILE,) * 6)


def texts(found: list[Row]) -> list[str]:
    return ["".join(text for text, _ in row) for row in found]


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (
            MIDDLE,
            "fleet: 1,204 of 10,000 domains (32/min), 300 of them earlier, 850 finished, 40 partial, 7 unread, 7 failed, "
            "12 running, 8,784 waiting, 8,901 sitemaps, 12,345,678 URLs (5,670/s), about 4 h 30 min left",
        ),
        (BEGUN, "fleet: 0 of 1 domain, 1 running, 0 sitemaps, 0 URLs"),
        (OVER, "fleet: 3 of 3 domains, 2 finished, 1 failed, 0 running, 1 sitemap, 1 URL"),
    ],
)
def test_line(progress: FleetProgress, text: str) -> None:
    assert line(progress) == text


def test_rows_of_80_columns() -> None:
    assert texts(rows(MIDDLE, 80)) == [
        "fleet    1,204 of 10,000 domains  about 4 h 30 min left  32/min  1:02:03",
        "read     12,345,678 URLs  5,670/s  8,901 sitemaps",
        "done     850 finished  40 partial  7 unread  7 failed  300 earlier",
        "running  12 domains  8,784 waiting",
        "         shop.example                  120,331 URLs    1:02:03",
        "         http://blog.example:8080            1 URL        0:07",
    ]


def test_rows_of_a_wide_terminal_have_a_bar() -> None:
    assert texts(rows(MIDDLE, 120))[0].endswith("1:02:03  ━━━━" + "─" * 26)
    assert texts(rows(MIDDLE, 120, unicode=False))[0].endswith("####" + "-" * 26)


def test_rows_without_anything_to_tell() -> None:
    assert texts(rows(BEGUN, 60)) == [
        "fleet    0 of 1 domain  0:00  " + "─" * 29,
        "read     0 URLs  0 sitemaps",
        "done     none so far",
        "running  1 domain",
    ]
    assert texts(rows(FleetProgress(0, 1), 60))[0] == "fleet    0 of 0 domains  0:01"


@pytest.mark.parametrize("width", [1, 2, 20, 40, 79, 80, 119, 120, 200, 500])
@pytest.mark.parametrize("progress", [MIDDLE, BEGUN, OVER, HUGE])
def test_rows_fit_and_are_inert(progress: FleetProgress, width: int) -> None:
    found = texts(rows(progress, width))
    assert all(0 < len(text) <= max(1, width - 1) for text in found)
    assert all(text.isprintable() for text in found)
    assert all(text.isascii() for text in texts(rows(progress, width, unicode=False)))


def test_figures_of_a_running_domain_stay_at_80_columns() -> None:
    row = texts(rows(replace(MIDDLE, shown=(HOSTILE._replace(urls=99_999_999, seconds=90_000),)), 80))[-1]
    assert "..." in row
    assert row.endswith("example   99,999,999 URLs   25:00:00")


def pace(*moments: tuple[float, int, int]) -> FleetPace:
    """A pace that knows (second, URLs, domains)."""
    known = FleetPace(urls_s=10.0, domains_s=100.0)
    for moment in moments:
        known.add(*moment)
    return known


def test_urls_of_the_last_seconds_and_domains_of_the_last_minutes() -> None:
    known = pace((0, 0, 0), (50, 10_000, 10), (90, 30_000, 10), (100, 31_000, 20))
    assert known.urls_per_second == 100
    assert known.domains_per_minute == pytest.approx(12)
    assert known.seconds_left(30) == pytest.approx(150)


def test_nothing_is_said_too_early_or_where_no_domain_ended_lately() -> None:
    assert pace().urls_per_second is pace((0, 0, 0)).domains_per_minute is None
    known = pace((0, 0, 5), (50, 700, 5))
    assert (known.domains_per_minute, known.seconds_left(9)) == (0, None)


def test_nothing_is_left_of_nothing() -> None:
    assert pace((0, 0, 0), (5, 1, 1)).seconds_left(0) == 0


def test_domain_that_is_begun_again_takes_no_speed_below_nothing() -> None:
    assert pace((0, 9000, 0), (5, 100, 0)).urls_per_second == 0
