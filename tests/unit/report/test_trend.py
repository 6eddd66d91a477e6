"""The trend over the runs of a job: which values are drawn, which are gaps, and what is said."""

from __future__ import annotations

import re
from typing import Any

import pytest
from lxml import html

from sitemapcrawler.items import Reach, SummaryRecord
from sitemapcrawler.report.charts import MAX_DOTS, line
from sitemapcrawler.report.model import Report, Run
from sitemapcrawler.report.page import page
from sitemapcrawler.report.trend import Trend, trend
from tests.unit.report.hostile import check_inert

ARGUMENTS = {"domain": "example.com", "verify": "get"}
LABELS = [f"2026-11-{day:02}" for day in range(1, 31)]


def run(day: int, errors: int = 5, indexable: int | None = 90, files: int = 1, **fields: Any) -> Run:
    given = {"found": found(errors, files), "urls": 100, "checkable": 100, "arguments": ARGUMENTS, **fields}
    return Run(f"2026-11-{day:02}T03:00:00Z", indexable=indexable, **given)


def found(errors: int, files: int = 1) -> dict[str, Reach]:
    return {"error": Reach("error", errors, None, files)} if errors or files else {}


def made(*runs: Run) -> Trend:
    found = trend(Report(SummaryRecord(), runs=runs))
    assert found is not None
    return found


def drawn(chart: str) -> list[str]:
    """Pieces of a chart's line for desktops: numbers of joined values, such as ['2', '1']."""
    path = html.fromstring(f"<div>{chart}</div>").xpath("//div[contains(@class, 'wide')]//path[@class='trend']/@d")[0]
    return [str(piece.count("L") + 1) for piece in path.split("M")[1:]]


def text(markup: str) -> str:
    return str(html.fromstring(f"<p>{markup}</p>").text_content())


@pytest.mark.parametrize("runs", [(), (run(1),)])
def test_one_run_is_no_trend(runs: tuple[Run, ...]) -> None:
    assert trend(Report(SummaryRecord(), runs=runs)) is None
    assert "<h3>Trend</h3>" not in page(Report(SummaryRecord(), runs=runs))


def test_runs_of_another_site_are_left_out() -> None:
    other = run(1, arguments={**ARGUMENTS, "domain": "example.net"})
    assert trend(Report(SummaryRecord(), runs=[other, run(2)])) is None
    assert len(made(other, run(2), run(3)).rows) == 2


@pytest.mark.parametrize(
    ("before", "now", "sentence"),
    [
        ((5, 90), (7, 89), "2 more URLs with errors, 1 fewer indexable URL."),
        ((5, 90), (5, 90), "the same number of URLs with errors, the same number of indexable URLs."),
        ((1200, None), (0, None), "1,200 fewer URLs with errors."),
        ((5, None), (4, 90), "1 fewer URL with errors."),
    ],
)
def test_sentence(before: tuple[int, int | None], now: tuple[int, int | None], sentence: str) -> None:
    assert text(made(run(1, *before), run(2, *now)).sentence) == f"Since the run of 1 Nov 2026, 03:00 UTC: {sentence}"


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        (
            {"arguments": {"domain": "example.com"}, "indexable": None, "checkable": None},
            "other arguments: without verify",
        ),
        ({"arguments": {**ARGUMENTS, "select": "loc"}}, "other arguments: select=loc"),
        ({"partial": "max_time"}, "ended early: it reached max_time"),
    ],
)
def test_what_cannot_be_compared_is_a_gap_and_the_table_says_why(fields: dict[str, Any], note: str) -> None:
    found = made(run(1), run(2), run(3, **fields), run(4), run(5))
    assert drawn(found.errors) == drawn(found.indexable) == ["2", "2"]
    assert [row.note for row in found.rows] == ["", "", note, "", ""]
    assert found.rows[2].run.found == run(3).found, "the table has all values"
    assert text(found.sentence).startswith("Since the run of 4 Nov")


def test_files_with_errors_are_named_if_their_number_differs() -> None:
    sentence = text(made(run(1, 0, 90, files=0), run(2, 0, 90, files=2)).sentence)
    assert sentence.endswith(
        ": the same number of URLs with errors, 2 more files with errors, the same number of indexable URLs."
    )


def test_runs_that_counted_findings_are_gaps_of_errors_alone() -> None:
    shown = made(run(1, found=None), run(2), run(3))
    assert drawn(shown.errors) == ["2"] and drawn(shown.indexable) == ["3"]
    assert [row.note for row in shown.rows] == ["", "", "an earlier version, which counted findings"]
    assert "run of 2 Nov" in text(shown.sentence)
    tree = html.fromstring(page(Report(SummaryRecord(), runs=[run(1, found=None), run(2)])))
    cells = tree.xpath("//section[@id='health']//table//tbody/tr")[1].xpath("./td")
    assert [str(cell.text_content()).strip() for cell in cells[1:4]] == ["", "", "100"]


def test_sentence_is_about_the_last_run_that_can_be_compared() -> None:
    assert "run of 1 Nov" in text(made(run(1), run(2, partial="shutdown"), run(3)).sentence)
    assert "No earlier run" in made(run(1, partial="shutdown"), run(2)).sentence


def test_limits_that_cut_each_run_alike_leave_no_gap() -> None:
    assert drawn(made(*(run(day, partial="max_urls") for day in (1, 2, 3))).errors) == ["3"]


def test_unverified_runs_have_no_chart_of_indexable_urls() -> None:
    plain = {"arguments": {"domain": "example.com"}, "indexable": None, "checkable": None}
    found = made(run(1, **plain), run(2, **plain))
    assert not found.indexable and found.errors
    shown = page(Report(SummaryRecord(), runs=[run(1, **plain), run(2, **plain)]))
    assert "not checked" in shown and "Indexable URLs</figcaption>" not in shown


def test_unknown_urls_are_told_apart_from_indexable_ones() -> None:
    before, now = run(1, 5, 90), run(2, 5, 60, unknown=30)
    assert text(made(before, now).sentence).endswith(
        ": the same number of URLs with errors, 30 fewer indexable URLs, 30 more unknown URLs."
    )
    tree = html.fromstring(page(Report(SummaryRecord(), runs=[before, now])))
    table = tree.xpath("//table[.//th[contains(., 'Unknown')]]")[0]
    cells = [[str(cell.text_content()).strip() for cell in row.xpath("./td")] for row in table.xpath(".//tbody/tr")]
    assert [row[4:7] for row in cells] == [["60 (60 %)", "10", "30"], ["90 (90 %)", "10", "0"]]


def test_estimates_are_marked() -> None:
    assert made(run(1), run(2, sampled=True)).rows[0].note == "indexable URLs estimated from a sample"


def test_runs_of_one_day_are_told_apart_by_time() -> None:
    early, late = Run("2026-11-01T03:00:00Z", found(1)), Run("2026-11-01T15:30:00Z", found(2))
    assert "03:00" in made(early, late).errors and "15:30" in made(early, late).errors


def test_page_shows_charts_with_their_values_for_readers_without_eyes() -> None:
    tree = html.fromstring(page(Report(SummaryRecord(), runs=[run(1, 5, 90), run(2, 7, 95)])))
    [health] = tree.xpath("//section[@id='health']")
    labels = {str(label) for label in health.xpath(".//*[@role='img']/@aria-label")}
    assert labels == {
        "URLs with errors by run: 2026-11-01 5, 2026-11-02 7",
        "Indexable URLs by run: 2026-11-01 90, 2026-11-02 95",
    }
    cells = [" ".join(cell.text_content().split()) for cell in health.xpath(".//table//tbody/tr[1]/td")]
    assert cells == ["2 Nov 2026, 03:00 UTC", "7 URLs", "0", "100", "95 (95 %)", "5", "0", ""]


def test_line_needs_two_values() -> None:
    assert not line([1, None], LABELS[:2], "x") and not line([], [], "x")


@pytest.mark.parametrize(
    ("values", "dots"),
    [([1, 2], 2), ([3, 3], 2), ([0, 0, None, 0], 3), ([1] * (MAX_DOTS + 1), 1), ([None, 1, None, 2, None], 2)],
)
def test_line_stays_in_its_picture(values: list[int | None], dots: int) -> None:
    tree = html.fromstring(f"<div>{line(values, ['l'] * len(values), 'x')}</div>")
    for chart in tree.xpath("//svg"):
        _, _, width, height = map(float, chart.get("viewbox", chart.get("viewBox")).split())
        circles = chart.xpath(".//circle")
        assert len(circles) == dots
        assert all(0 < float(dot.get("cx")) < width and 0 < float(dot.get("cy")) < height for dot in circles)
    assert not re.search(r"nan|inf|style=|<script", line(values, ["l"] * len(values), "x"))


def test_value_alone_between_gaps_has_a_dot_however_many_there_are() -> None:
    values = [*([1] * MAX_DOTS), None, 2, None, *([1] * 3)]
    tree = html.fromstring(f"<div>{line(values, ['l'] * len(values), 'x')}</div>")
    assert len(tree.xpath("//svg")[0].xpath(".//circle")) == 2


@pytest.mark.parametrize("text", ["\ud800", "\x00", "<script>", "", "9" * 5000, "\u202e"])
def test_damaged_history_does_not_break_the_page(text: str) -> None:
    runs = [
        Run(text, None, partial=text, arguments={text: text}),
        Run(text + "x", found(-1), indexable=-5),
        run(3, arguments={}),
    ]
    alike = [Run(text, found(1), indexable=1), Run(text + "x", {text: Reach(text, 2)}, indexable=2)]
    for each in (runs, alike):
        made = page(Report(SummaryRecord(), runs=each))
        check_inert(made)
        made.encode()
