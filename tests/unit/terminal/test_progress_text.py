"""Progress in words and rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sitemapcrawler.items import Reach
from sitemapcrawler.replies import Reason, ReplyKind
from sitemapcrawler.terminal.progress import (
    Checks,
    HostProgress,
    Progress,
    Row,
    Wait,
    bar,
    clock,
    fitted,
    line,
    max_hosts,
    rounded,
    rows,
    speed,
)

HOSTS = (
    HostProgress("shop.example", 0, 3, 0.5, rests=40.2),
    HostProgress("www.example", 2, 14, 0.5, url="https://www.example/a"),
)
READING = Progress(
    "reading",
    62,
    340_221,
    5670.4,
    12,
    80,
    0.15,
    found={"error": Reach("error", 0, 0, 1), "warning": Reach("warning", 0, 1200, 3), "info": Reach("info", 0, 45, 1)},
    in_flight=2,
    waiting=17,
    hosts=HOSTS,
)
VERIFYING = replace(READING, phase="verifying", checks=Checks(2310, 5000, 519_800.0, 9.62, 54_000.0))
OTHER = Progress("crawling", 5, 30, None, answers=1, in_flight=1)
HOSTILE = HostProgress(
    "\x1b]8;;http://evil\x07[bold]\u202e" + "sub." * 40 + "example", 4, 2, 1.25, url="http://e/\x1b[2J"
)
HUGE = replace(
    VERIFYING,
    urls=10**10,
    files=99_999,
    known_files=100_000,
    hosts=(HOSTILE,) * 6,
    other_hosts=12_345,
    checks=Checks(10**9, 10**10, 1.1e10, 123_456.7, 9e8, dict.fromkeys((*ReplyKind, *Reason), 10**9)),
)


def texts(found: list[Row]) -> list[str]:
    return ["".join(text for text, _ in row) for row in found]


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        (
            READING,
            "reading: 12 of 80 files, 340,221 URLs (5,670/s), errors in 1 file, warnings on 1,200 entries, notes on 45 entries, 2 requests in flight, "
            "shop.example rests 40 s, www.example every 0.5 s",
        ),
        (
            replace(VERIFYING, found={}, hosts=(), in_flight=1, per_second=None),
            "verifying: 12 of 80 files, 340,221 URLs, no problems so far, checked 2,310 of about 520,000 (9.6/s), "
            "about 15 h left, 1 request in flight",
        ),
        (
            replace(READING, phase="judging the site", per_second=0.0, hosts=()),
            "judging the site: 12 files, 340,221 URLs, errors in 1 file, warnings on 1,200 entries, notes on 45 entries",
        ),
        (Progress("discovering", 60, 0, files=0), "discovering: no problems so far, 0 requests in flight"),
        (
            Progress("writing feeds", 9, 99_000, 11_000.0, files=0),
            "writing feeds: 99,000 URLs (11,000/s), no problems so far",
        ),
        (OTHER, "crawling: 1 answer, 30 items, 1 request in flight"),
    ],
)
def test_line(progress: Progress, text: str) -> None:
    assert line(progress) == text


@pytest.mark.parametrize(
    ("checks", "text"),
    [
        (Checks(3, 10, 10.0, None, None), "checked 3 of 10"),
        (Checks(3, 10, None, 0.0, None), "checked 3"),
        (Checks(10, 10, 10.0, 1.0, 0.0), "checked 10 of 10 (1/s)"),
        (
            Checks(9, 10, 10.0, 2.0, None, {"timeout": 1, "http-error": 5, "ok": 3}),
            "checked 9 of 10 (2/s), 3 ok, 5 http-error, 1 timeout",
        ),
        (Checks(3, 10, 1234.5, 0.25, 4926.0), "checked 3 of about 1,200 (0.25/s), about 1 h 22 min left"),
    ],
)
def test_checks(checks: Checks, text: str) -> None:
    assert f", {text}, 2 requests" in line(replace(VERIFYING, checks=checks))


def test_rows_of_80_columns() -> None:
    assert texts(rows(VERIFYING, 80)) == [
        "verifying  12 of 80 files  340,221 URLs  5,670/s  1:02",
        "checked  2,310 of about 520,000  9.6/s  about 15 h left  " + "─" * 22,
        "found    errors in 1 file  warnings on 1,200 entries  notes on 45 entries",
        "asking   shop.example   0 in flight    3 waiting  rests 40 s   ",
        "         www.example    2 in flight   14 waiting  every 0.5 s  ",
    ]


def test_replies_have_a_row_as_soon_as_there_are_any() -> None:
    checks = replace(VERIFYING.checks, replies={"http-error": 8, "blocked": 2, "ok": 2300})  # type: ignore[type-var]  # Checks | None
    row = rows(replace(VERIFYING, checks=checks), 80)[2]
    assert texts([row]) == ["replies  2,300 ok  8 http-error  2 blocked"]
    assert [style for _, style in row[1:]] == ["green", "red", "bright_black"]


def test_rows_of_200_columns_say_what_is_asked_for() -> None:
    assert texts(rows(READING, 200))[-1].endswith("every 0.5 s    https://www.example/a")
    assert max_hosts(200) > max_hosts(80)


def test_rows_without_anything_to_tell() -> None:
    begun = Progress("discovering", 0.2, 0, files=0)
    assert texts(rows(begun, 80)) == [
        "discovering  0:00",
        "found    no problems so far",
        "asking   no host at the moment",
    ]
    assert len(rows(replace(READING, phase="writing feeds"), 80)) == 2


@pytest.mark.parametrize("width", [1, 2, 20, 40, 79, 80, 119, 120, 200, 500])
@pytest.mark.parametrize("progress", [READING, VERIFYING, OTHER, HUGE])
def test_rows_fit_and_are_inert(progress: Progress, width: int) -> None:
    found = texts(rows(progress, width))
    assert all(0 < len(text) <= max(1, width - 1) for text in found)
    assert all(text.isprintable() for text in found)
    assert all(text.isascii() for text in texts(rows(progress, width, unicode=False)))


def test_most_important_counts_of_a_host_stay_at_80_columns() -> None:
    row = texts(rows(replace(READING, hosts=(HOSTILE,)), 80))[-1]
    assert "..." in row
    assert row.rstrip().endswith("example   4 in flight    2 waiting  every 1.2 s")


def test_clock() -> None:
    assert [clock(seconds) for seconds in (0, 7.9, 62, 3723)] == ["0:00", "0:07", "1:02", "1:02:03"]


def test_speed() -> None:
    assert [speed(one) for one in (None, 0.0, 0.004, 0.25, 3.21, 9.99, 12.6, 5670.4)] == [
        *("", "", "", "0.25/s", "3.2/s", "10/s", "13/s", "5,670/s")
    ]


def test_estimate_has_two_digits() -> None:
    assert [rounded(one) for one in (0.4, 7.2, 45.6, 519_800)] == [0, 7, 46, 520_000]


def test_bar_is_as_full_as_its_share() -> None:
    assert texts([bar(share, 8) for share in (-1, 0, 0.5, 1, 7)]) == [
        *("  ────────", "  ────────", "  ━━━━────", "  ━━━━━━━━", "  ━━━━━━━━")
    ]
    assert texts([bar(0.25, 8, unicode=False)]) == ["  ##------"]


def test_first_part_of_a_row_is_cut_where_nothing_fits() -> None:
    assert fitted([("reading", "bold"), ("  1 file", "")], 4) == [("read", "bold")]


@pytest.mark.parametrize(
    ("wait", "text"),
    [
        (Wait("example.com", 1, 40.2), "for example.com, 1 page, timeout in 40 s"),
        (Wait("example.com", 1200, None), "for example.com, 1,200 pages"),
        (Wait("\x1b[2J" + "sub." * 40 + "example", 2, 0.0), ", 2 pages, timeout in 0 s"),
    ],
)
def test_host_that_keeps_the_crawl_waiting_is_named(wait: Wait, text: str) -> None:
    waiting = replace(VERIFYING, wait=wait)
    *_, row = texts(rows(waiting, 80))
    assert row.startswith("waiting  for ")
    assert row.endswith(text)
    assert "\x1b" not in row
    assert line(waiting).endswith(text)
    assert "waiting for" in line(waiting)
    assert not any(row.startswith("waiting") for row in texts(rows(replace(waiting, phase="writing feeds"), 80)))
