"""Charts as drawings."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from lxml import etree

from sitemapcrawler.items import Share, SitemapRecord, SummaryRecord
from sitemapcrawler.report import charts
from sitemapcrawler.report.charts import MAX_DRAWN, MAX_PERIODS, ChartBar, Tile, history, legend, tiles, treemap
from sitemapcrawler.report.model import FileProblems, Report
from sitemapcrawler.report.page import page
from tests.unit.report import reports


def drawn(*blocks: Tile) -> list[tuple[str | None, str | None]]:
    """(tooltip, label) of each rectangle of a treemap on a screen."""
    screen = etree.fromstring(f"<div>{treemap(blocks, 'Files')}</div>")[0]
    groups = [group for group in screen.iter("{*}g") if group.get("class") == "rect"]
    return [(group.findtext("{*}title"), group.findtext("{*}text")) for group in groups]


def test_files_with_one_tooltip_keep_their_own_labels() -> None:
    cut = "https://example.com/very/long...: 10 URLs"
    blocks = [Tile("ok", 10, "one", cut), Tile("error", 5, "three", "3"), Tile("ok", 10, "two", cut)]
    assert sorted(str(label) for _, label in drawn(*blocks)) == ["one", "three", "two"]


def test_label_stands_on_the_rectangle_of_its_file() -> None:
    blocks = [Tile(("ok", "error")[at % 2], 3 + at * 7 % 5, f"file {at}", f"tip {at}") for at in range(12)]
    assert dict(drawn(*blocks)) == {f"tip {at}": f"file {at}" for at in range(12)}


def test_treemap_sums_up_what_it_cannot_draw() -> None:
    drawn = tiles(reports.full())
    assert MAX_DRAWN < len(drawn) <= MAX_DRAWN + 5
    whole = sum(file.record.url_count for file in reports.full().files if file.record.format != "xml-index")
    assert sum(block.weight for block in drawn) == pytest.approx(whole, rel=0.1)
    assert len({block.label for block in drawn if "other file" in block.label}) >= 3


def test_treemap_shows_files_that_list_nothing_and_no_index() -> None:
    files = [
        FileProblems(SitemapRecord(sitemap="https://example.com/index.xml", format="xml-index", url_count=2)),
        FileProblems(SitemapRecord(sitemap="https://example.com/a.xml.gz", outcome="failed"), errors=1),
        FileProblems(SitemapRecord(sitemap="https://example.com/b.xml", url_count=4000)),
    ]
    report = Report(SummaryRecord(sitemaps=3, urls=4000), files=files)
    assert [(block.state, block.label, block.weight) for block in tiles(report)] == [
        ("unread", "? a", 10),
        ("ok", "b", 4000),
    ]
    assert [(part.state, part.files) for part in legend(report)] == [("unread", 1), ("ok", 1)]


@pytest.mark.parametrize(
    ("bad", "checked", "state", "label"),
    [
        (4, 4, "most", "100 % a"),
        (500, 1000, "most", "50 % a"),
        (1, 10, "some", "10 % a"),
        (1, 11, "few", "9.1 % a"),
        (0, 4, "ok", "a"),
        (0, 0, "unknown", "a"),
    ],
)
def test_treemap_is_coloured_by_the_share_of_urls_that_are_not_indexable(
    bad: int, checked: int, state: str, label: str
) -> None:
    record = SitemapRecord(sitemap="https://example.com/a.xml", url_count=1000)
    file = FileProblems(record, errors=900, checked=checked, not_indexable=bad)
    [tile] = tiles(Report(SummaryRecord(sitemaps=1, not_indexable=Share(1, 1, 0, 0.0, 0.0, 0.0)), files=[file]))
    assert (tile.state, tile.label) == (state, label)


@pytest.mark.parametrize(("urls", "state"), [(0, "ok"), (9, "few"), (100, "some"), (900, "most"), (1000, "most")])
def test_treemap_is_coloured_by_urls_with_errors_if_no_page_was_checked(urls: int, state: str) -> None:
    record = SitemapRecord(sitemap="https://example.com/a.xml", url_count=1000)
    file = FileProblems(record, errors=urls + 1, warnings=50, error_urls=urls)  # the file itself has an error too
    [tile] = tiles(Report(SummaryRecord(sitemaps=1), files=[file]))
    assert tile.state == state


def test_treemap_sums_up_files_beyond_the_table() -> None:
    files = [FileProblems(SitemapRecord(sitemap="https://example.com/b.xml", url_count=4000))]
    drawn = tiles(Report(SummaryRecord(sitemaps=12, urls=5000), files=files, undated=5000))
    assert [(block.state, block.weight) for block in drawn] == [("ok", 4000), ("rest", 1000)]
    assert drawn[-1].label.startswith("11 other files")


@pytest.mark.parametrize(
    ("months", "unit", "first", "last", "bars"),
    [
        ({"2026-11": 5}, "month", "Nov 2026", "Nov 2026", 1),
        ({"2026-01": 5, "2026-11": 5}, "month", "Jan 2026", "Nov 2026", 11),
        ({"2024-01": 5, "2026-11": 5}, "month", "Jan 2024", "Nov 2026", 35),
        ({"2019-05": 5, "2026-11": 5}, "quarter", "Q2 2019", "Q4 2026", 31),
        ({"2000-05": 5, "2026-11": 5}, "year", "2000", "2026", 27),
        ({"1970-01": 1, "2026-10": 50, "2026-11": 50}, "month", "earlier", "Nov 2026", MAX_PERIODS + 1),
        ({"2026-11": 5, "2031-01": 5, "9999-12": 1}, "month", "Nov 2026", "future", 2),
        ({"2031-01": 5}, "month", "Nov 2026", "future", 2),
    ],
)
def test_dates_are_drawn_by_few_periods(months: dict[str, int], unit: str, first: str, last: str, bars: int) -> None:
    made = history(months, "2026-11-20T21:04:11Z")
    assert made is not None
    assert (made.unit, made.periods[0].label, made.periods[-1].label, len(made.periods)) == (unit, first, last, bars)
    assert sum(period.entries for period in made.periods) == sum(months.values())
    assert [month for period in made.periods for month in period.months] == sorted(months)


@pytest.mark.parametrize("months", [{}, {"junk": 5}, {"2026-13": 5}, {"2026-00": 1}])
def test_dates_that_are_none_draw_nothing(months: dict[str, int]) -> None:
    assert history(months, "2026-11-20T21:04:11Z") is None


def test_dates_are_drawn_without_the_time_of_the_crawl() -> None:
    made = history({"2025-01": 1, "2026-02": 3}, "")
    assert made is not None and made.periods[-1].label == "Feb 2026"


def test_only_bars_have_titles() -> None:
    bars = [ChartBar("ok", 7, "ok"), ChartBar("gone", 1, "error")]
    for chart in (charts.rows(bars, "Entries"), charts.columns(bars, "Entries")):
        for drawing in etree.fromstring(f"<div>{chart}</div>").iter("{*}svg"):
            assert sorted(title.text for title in drawing.iter("{*}title")) == ["gone: 1", "ok: 7"]


@pytest.mark.parametrize(("files", "drawn"), [(3, False), (4, True)])
def test_few_files_get_no_treemap(files: int, drawn: bool) -> None:
    made = [SitemapRecord(sitemap=f"https://example.com/{at}.xml", format="xml-urlset") for at in range(files)]
    html = page(Report(SummaryRecord(sitemaps=files), files=[FileProblems(one) for one in made]))
    assert ("Each rectangle is a sitemap file" in html) is drawn


@pytest.mark.parametrize("draw", [charts.rows, charts.columns])
def test_chart_of_one_bar_is_a_sentence(draw: Callable[[Sequence[ChartBar], str], str]) -> None:
    bars = [ChartBar("<ok>", 300, "ok", chosen="#urls?a"), ChartBar("other", 0, "rest")]
    assert "<p>All 300: <strong>&lt;ok&gt;</strong>. " in (made := draw(bars, "Entries"))
    assert 'href="#urls?a"' in made
    assert draw([ChartBar("ok", 1, "ok")], "Entries") == "<p>One: <strong>ok</strong>. </p>"
    assert "<svg" in draw([*bars, ChartBar("more", 1, "rest")], "Entries")
