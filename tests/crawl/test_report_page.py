"""The report page as its readers open it: from disk, in a real Chromium, on a desk, on a phone, in the dark, on paper."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sitemapcrawler.items import Reach, ReplyRecord, SegmentCounts, SummaryRecord
from sitemapcrawler.jobs.report import gather
from sitemapcrawler.jobs.url_table import COLUMNS, Value
from sitemapcrawler.report.model import MAX_ENTRIES, Report
from sitemapcrawler.report.page import page
from sitemapcrawler.report.wording import ON_PAPER
from tests.crawl.browsers import STANDARDS, chromium
from tests.unit.report import reports
from tests.unit.report.hostile import HOSTILE, spoiled
from tests.unit.rules.sites import B, Site
from tests.unit.rules.sites import page as crawled

pytestmark = pytest.mark.slow

axe = pytest.importorskip("axe_playwright_python.sync_playwright")

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 320, "height": 640}
MAX_BYTES = 15_000_000
"""Size of a page with all it can hold."""
MAX_FILTER = 10_000
"""Milliseconds to filter 200,000 rows, on a slow machine; 300 elsewhere."""
MAX_PAPER = 4
"""Pages A4 of a printed report."""
MAX_DRAWN = 100
"""Rows of the table of all URLs that are in the document at once."""
MAX_SORT = 30_000
"""Milliseconds to sort a thousand rows, on a slow machine; a few dozen elsewhere."""
PATIENCE_MS = 120_000
"""Milliseconds for each step of the browser, on a busy machine."""
SHAPES = "svg => [...svg.querySelectorAll('rect, circle')].filter(each => each.getBBox().width > 0 && each.getBBox().height > 0).length"
GROUND = "getComputedStyle(document.body).backgroundColor"
SHOWN = "table => [...table.tBodies[0].rows].filter(row => row.getClientRects().length).length"


@dataclass
class Opened:
    """A page that a browser shows, and what it had to say and ask for meanwhile."""

    page: Any
    told: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def table(self, caption: str) -> Any:
        return self.page.locator("table").filter(has=self.page.locator("caption", has_text=caption))

    def column(self, caption: str, number: int) -> list[str]:
        """What is shown in a column, counted from 1."""
        cells = self.table(caption).locator(f"tbody tr:not([hidden]) > :nth-child({number})")
        return list(cells.all_inner_texts())


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


def hostile_row(text: str) -> list[Value]:
    """An entry with a text in all of its columns."""
    others: dict[str, Value] = {"problem": [text], "denied": [text], "line": 1}
    return [others.get(name, text) for name in COLUMNS]


def with_segments(report: Report) -> Report:
    """A report whose pages belong to two segments in turn."""
    at = list(COLUMNS).index("segment")
    rows = [[*row[:at], ("shop", "other")[n % 2], *row[at + 1 :]] for n, row in enumerate(reports.rows(20))]
    report.summary.segments = [SegmentCounts("shop"), SegmentCounts("other")]
    return replace(report, entries=reports.entries(rows))


def with_many_rules(report: Report) -> Report:
    """A report with four times as many rules, in their order."""
    rules = [replace(rule, rule=f"{rule.rule}-{number}") for rule in report.rules for number in range(4)]
    return replace(report, rules=rules)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages on disk, by what they are of."""
    hostile = "".join(text for name, text in HOSTILE.items() if name != "enormous")
    texts = [text for text in HOSTILE.values() if text]
    made = {
        "hostile URLs": reports.empty(entries=reports.entries([hostile_row(text) for text in texts])),
        "huge": reports.empty(entries=reports.entries(reports.rows(MAX_ENTRIES))),
        "sample": reports.empty(entries=reports.entries(reports.rows(20), 1_000_000), feeds=["urls.parquet"]),
        "segments": with_segments(reports.empty()),
        "typical": reports.typical(),
        "full": reports.full(),
        "many rules": with_many_rules(reports.full()),
        "small": reports.small(hosts=2),
        "empty": reports.empty(),
        "hostile": spoiled(reports.small(hosts=2), hostile, keep=True),
    }
    folder = tmp_path_factory.mktemp("pages")
    paths = {name: folder / f"{name}.html" for name in made}
    for name, report in made.items():
        paths[name].write_text(page(report), encoding="utf-8")
    return paths


@contextmanager
def opening(browser: Any, files: dict[str, Path]) -> Iterator[Any]:
    """Opens a page by name, in a context of its own; a page that says anything, or asks for anything, has failed."""
    opened: list[Opened] = []

    def open_it(name: str, viewport: dict[str, int] = DESK, fragment: str = "", **options: Any) -> Opened:
        context = browser.new_context(viewport=viewport, **options)
        context.set_default_timeout(PATIENCE_MS)
        shown = Opened(context.new_page())
        shown.page.on("console", lambda message: shown.told.append(message.text))
        shown.page.on("pageerror", lambda error: shown.told.append(str(error)))
        shown.page.on("dialog", lambda dialog: (shown.told.append(dialog.message), dialog.dismiss()))
        shown.page.on("request", lambda request: shown.asked.append(request.url))
        shown.page.goto(files[name].as_uri() + fragment)
        opened.append(shown)
        if options.get("java_script_enabled", True) and shown.page.locator("#entries-missing").count():
            shown.page.locator("#explorer").wait_for()
        return shown

    yield open_it
    for shown in opened:
        assert not shown.told
        assert all(url.startswith(("file:", "data:", "blob:")) for url in shown.asked) and len(shown.asked) >= 1
        shown.page.context.close()


@pytest.fixture
def open_page(browser: Any, files: dict[str, Path]) -> Iterator[Any]:
    with opening(browser, files) as open_it:
        yield open_it


@pytest.fixture(scope="module")
def shared(browser: Any, files: dict[str, Path]) -> Iterator[Opened]:
    """A page that several tests use: opening it takes longer than most of them."""
    with opening(browser, files) as open_it:
        yield open_it("typical")


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_charts_are_drawn(open_page: Any, viewport: dict[str, int]) -> None:
    charts = open_page("typical", viewport).page.locator("figure svg:not([aria-hidden]):visible")
    assert charts.count() == 7
    for at in range(7):
        box = charts.nth(at).bounding_box()
        assert box["width"] > 200 and box["height"] > 60
        assert charts.nth(at).evaluate(SHAPES) >= 4


def test_table_sorts_by_mouse_and_keyboard(shared: Opened) -> None:
    table = shared.table("Sitemap files")
    head = table.locator("th", has_text="Entries")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    figures = [int(text.replace(",", "")) for text in shared.column("Sitemap files", 3)]
    assert figures == sorted(figures, reverse=True) and figures[0] > figures[-1]
    head.get_by_role("button").focus()
    shared.page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert shared.column("Sitemap files", 3)[0] == "0"
    table.locator("th", has_text="File").get_by_role("button").press("Space")
    assert table.locator("th[aria-sort]").count() == 1
    names = shared.column("Sitemap files", 1)
    assert names == sorted(names) and names[0].startswith("/sitemap.xml")


def test_table_filters_and_says_how_many_rows_it_shows(shared: Opened) -> None:
    table, more = shared.table("Sitemap files"), shared.page.get_by_role("button", name="Show all 42 rows")
    field_of = shared.page.get_by_label("Filter “Sitemap files”")
    status = shared.page.locator(".tools").filter(has=field_of).get_by_role("status")
    assert table.evaluate(SHOWN) == 10 and status.inner_text() == "10 of 42 rows"
    more.click()
    assert table.evaluate(SHOWN) == 42 and not more.is_visible()
    field_of.fill("PRODUCTS complete")
    names = shared.column("Sitemap files", 1)
    assert 1 < len(names) < 10 and all("products" in name for name in names)
    assert status.inner_text() == f"{len(names)} of 42 rows"
    field_of.fill("no such thing")
    assert table.evaluate(SHOWN) == 0
    field_of.fill("")
    assert table.evaluate(SHOWN) == 42


def test_table_is_saved_as_csv_and_copied_as_filtered(open_page: Any, tmp_path: Path) -> None:
    opened = open_page("typical", permissions=["clipboard-read", "clipboard-write"])
    filtering = opened.page.get_by_label("Filter “Findings of status-not-found”")
    filtering.fill("lamp-1")
    shown = opened.table("Findings of status-not-found").evaluate(SHOWN)
    tools = opened.page.locator(".tools").filter(has=filtering)
    with opened.page.expect_download() as download:
        tools.get_by_role("button", name="Save as CSV").click()
    download.value.save_as(tmp_path / "saved.csv")
    assert download.value.suggested_filename == "Findings of status-not-found.csv"
    rows = list(csv.reader((tmp_path / "saved.csv").read_text("utf-8-sig").splitlines()))
    assert rows[0] == ["What", "URL", "Where"]
    assert len(rows) - 1 == 111 > shown == 10
    assert rows[1] == [
        "the page answered 404 instead of 200, and is listed 3 times",
        f"{reports.SITE}/en/products/garden/lamps/harbour-lamp-1",
        f"{reports.SITE}/sitemaps/products-003.xml.gz:1211:7",
    ]
    tools.get_by_role("button", name="Copy").click()
    tools.get_by_role("button", name="Copied").wait_for()
    copied = opened.page.evaluate("navigator.clipboard.readText()")
    assert list(csv.reader(copied.splitlines(), delimiter="\t")) == rows


def test_saved_table_runs_no_formula(open_page: Any, tmp_path: Path) -> None:
    opened = open_page("hostile")
    saving = opened.page.locator("#fix .tools").get_by_role("button", name="Save as CSV").first
    with opened.page.expect_download() as download:
        saving.click()
    download.value.save_as(tmp_path / "saved.csv")
    rows = list(csv.reader((tmp_path / "saved.csv").read_text("utf-8-sig").splitlines()))
    assert len(rows) > 1
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r"))]


def test_a_thousand_rows_stay_quick(open_page: Any) -> None:
    opened = open_page("full")
    opened.page.locator("#where").get_by_role("button", name="Show all 1,000 rows").click()
    table = opened.table("Sitemap files")
    took = table.evaluate("""table => {
        const start = performance.now();
        table.tHead.querySelector('button').click();
        table.getBoundingClientRect();
        return performance.now() - start;
    }""")
    assert table.evaluate(SHOWN) == 1000
    assert took < MAX_SORT


class Explorer:
    """The table of all URLs."""

    def __init__(self, opened: Opened) -> None:
        self.page = opened.page
        self.root = opened.page.locator("#explorer")
        self.status = self.root.get_by_role("status")
        self.grid = self.root.get_by_role("grid", name="All URLs")
        self.text = self.page.get_by_label("Filter all URLs")
        self.rows = self.grid.locator("tbody tr[id]")

    def facet(self, title: str) -> Any:
        return self.root.locator(".facets details").filter(has_text=title)

    def choices(self, title: str) -> dict[str, int]:
        """Values of a facet and their rows."""
        texts = [each.inner_text().split("\n") for each in self.facet(title).locator("li label").all()]
        return {label: int(count.replace(",", "")) for label, count in texts}

    def column(self, name: str) -> list[str]:
        return list(self.grid.locator(f"tbody td.c-{name}").all_inner_texts())

    @property
    def fragment(self) -> str:
        return str(self.page.evaluate("location.hash"))


@pytest.fixture
def explorer(shared: Opened) -> Explorer:
    """The table of the shared page, nothing chosen."""
    shared.page.evaluate("location.hash = '#urls'")
    return Explorer(shared)


def test_all_urls_are_chosen_by_facets_and_text(explorer: Explorer) -> None:
    whole = explorer.choices("Indexability")
    assert whole == Counter({url: indexability for url, indexability, *_ in reports.rows(900)}.values())
    assert [*explorer.choices("Problem")] == [
        "A listed page does not exist", "A page is listed more than once", "A listed page redirects",
        "The last modification lies in the future", "none",
    ]  # fmt: skip
    assert explorer.status.inner_text() == "772 of 772 URLs, in 900 entries"
    explorer.facet("Indexability").get_by_label("redirect").check()
    assert explorer.status.inner_text() == "129 of 772 URLs, in 150 entries"
    assert set(explorer.column("indexability")) == {"redirect"}
    assert explorer.choices("Indexability") == whole
    assert explorer.choices("First status") == {"301 Moved Permanently": 129}
    assert explorer.choices("Problem") == {"A page is listed more than once": 129, "A listed page redirects": 129}
    explorer.facet("Indexability").get_by_label("not found").check()
    explorer.text.fill("LAMPS products-004")
    assert explorer.status.inner_text() == "22 of 772 URLs"
    assert {text.partition(":")[0] for text in explorer.column("sitemap")} == {"/sitemaps/products-004.xml.gz"}
    explorer.page.get_by_role("button", name="Remove filter Indexability: redirect").click()
    assert set(explorer.column("indexability")) == {"not found"}
    explorer.page.get_by_role("button", name="Remove filter All filters").click()
    assert explorer.status.inner_text() == "772 of 772 URLs, in 900 entries"
    explorer.text.fill("moved permanently more than once")
    assert explorer.status.inner_text() == "129 of 772 URLs, in 150 entries"


FOUND: dict[tuple[str, str], set[str]] = {
    ("changed", "change"): {"changed"},
    ("unch", "change"): {"unchanged"},
    ("found", "indexability"): {"not found"},
    ("ound", "indexability"): set(),
    ("bot", "denied"): set(),
    ("gptbot", "denied"): {"GPTBot", "CCBot, GPTBot"},
    ("03-03", "lastmod"): {"2026-03-03"},
    ("amp-00003", "indexability"): {"ok", "not found", "unreachable"},
}
"""Values of a column in the rows that a text finds."""


def test_segment_is_a_facet_to_which_the_table_of_segments_leads(open_page: Any, explorer: Explorer) -> None:
    assert explorer.facet("Segment").count() == 0  # without segments
    opened = open_page("segments")
    shown = Explorer(opened)
    shown.root.wait_for()
    assert shown.choices("Segment") == {"shop": 10, "other": 10}
    opened.page.get_by_role("row", name="shop").get_by_role("link", name="Show its URLs").click()
    assert set(shown.column("segment")) == {"shop"}
    assert shown.fragment == "#urls?segment=shop"


def test_text_is_found_at_the_start_of_words_and_anywhere_in_urls(explorer: Explorer) -> None:
    def found(text: str, column: str) -> set[str]:
        explorer.text.fill(text)
        return set(explorer.column(column))

    assert {(text, column): found(text, column) for text, column in FOUND} == FOUND


def test_facets_count_urls_and_removed_ones_are_shown_on_request(browser: Any, tmp_path: Path) -> None:
    twice = [crawled("/twice", issues=["odd"]), crawled("/twice", sitemap=B, issues=["odd", "other"])]
    site = Site(
        *twice, crawled("/1", issues=["odd"]), crawled("https://shop.example/2"), crawled("/was"), crawled("/gone")
    )
    site.change("unchanged", "/twice", "/1", "https://shop.example/2")
    site.change("removed", "/was", "/gone")
    (tmp_path / "report.html").write_text(
        page(gather(site.connection, SummaryRecord(reach={"other": Reach("error", 1)})))
    )
    opened = Opened(browser.new_page(viewport=DESK))
    opened.page.goto((tmp_path / "report.html").as_uri())
    explorer = Explorer(opened)
    explorer.root.wait_for()
    assert explorer.status.inner_text() == "3 of 3 URLs, in 4 entries"
    assert [*explorer.choices("Problem").items()] == [("other", 1), ("odd", 2), ("none", 1)]
    assert explorer.choices("Host") == {"example.com": 2, "shop.example": 1}
    assert explorer.choices("Change") == {"unchanged": 3, "removed": 2}
    explorer.facet("Change").get_by_label("removed").check()
    assert explorer.status.inner_text() == "0 of 3 URLs, and 2 removed"
    explorer.facet("Change").get_by_label("unchanged").check()
    assert explorer.status.inner_text() == "3 of 3 URLs, and 2 removed, in 6 entries"
    opened.page.close()


def test_chosen_urls_have_a_link_of_their_own(open_page: Any) -> None:
    first = Explorer(open_page("typical", permissions=["clipboard-read", "clipboard-write"]))
    first.facet("Problem").get_by_label("none").check()
    first.facet("Folder").get_by_label("/de/").check()
    first.text.fill("a&b=ü")
    first.text.fill("lamp 2026-0")
    first.grid.get_by_role("button", name="Last modified").click()
    first.grid.get_by_role("button", name="Last modified").click()
    assert first.fragment == "#urls?problem=&folder=%2Fde%2F&text=lamp+2026-0&sort=-lastmod"
    first.page.get_by_role("button", name="Copy link").click()
    first.page.get_by_role("button", name="Copied").wait_for()
    copied = first.page.evaluate("navigator.clipboard.readText()")
    second = Explorer(open_page("typical", fragment=copied[copied.index("#") :]))
    assert second.status.inner_text() == first.status.inner_text() != "772 of 772 URLs, in 900 entries"
    assert second.column("loc") == first.column("loc")
    dates = second.column("lastmod")
    assert dates == sorted(dates, reverse=True) and dates[0] > dates[-1]
    assert second.text.input_value() == "lamp 2026-0"
    assert second.page.evaluate("scrollY") > 500


def test_charts_and_sections_choose_urls(explorer: Explorer) -> None:
    page = explorer.page
    page.locator("#status svg:visible a[href='#urls?status=404']").click()
    explorer.page.get_by_role("button", name="Remove filter First status: 404 Not Found").wait_for()
    assert set(explorer.column("status")) == {"404 Not Found"}
    page.locator("#indexability svg:visible a[href='#urls?indexability=redirect']").press("Enter")
    explorer.page.get_by_role("button", name="Remove filter Indexability: redirect").wait_for()
    assert set(explorer.column("indexability")) == {"redirect"}
    page.locator("#lastmod svg:visible a[aria-label^='Show Q1 2026']").click()
    explorer.page.get_by_role("button", name="Remove filter Last modified: 2026-03").wait_for()
    assert {text[:7] for text in explorer.column("lastmod")} == {"2026-01", "2026-02", "2026-03"}
    assert page.locator("#lastmod svg:visible a").count() == 4
    assert page.locator("#fix a[href='#urls?problem=url-other-host']").is_hidden()
    page.locator("#fix").get_by_role("link", name="Show these URLs in the table of all URLs").first.click()
    explorer.page.get_by_role("button", name="Remove filter Problem: A listed page does not exist").wait_for()
    page.locator("#indexability").get_by_role("link", name="Show all of them in the table of all URLs").click()
    explorer.page.get_by_role("button", name="Remove filter Indexability: unreachable").wait_for()
    bad = [row for row in reports.rows(900) if row[1] != "ok"]
    assert explorer.status.inner_text() == f"{len({row[0] for row in bad})} of 772 URLs, in {len(bad)} entries"


def test_table_of_all_urls_replaces_cut_ones(open_page: Any) -> None:
    cut, whole = open_page("typical"), open_page("typical", java_script_enabled=False)
    for opened, is_shown in ((cut, False), (whole, True)):
        for caption in ("URLs that are not indexable", "URLs added"):
            assert opened.table(caption).is_visible() is is_shown
        assert opened.page.locator("#explorer").is_visible() is not is_shown
    assert "60 of 1,104 URLs that are not indexable" in whole.page.locator("#indexability").inner_text()
    assert "needs JavaScript" in whole.page.locator("#urls").inner_text()
    assert cut.page.get_by_text("needs JavaScript").count() == 0
    cut.page.emulate_media(media="print")
    assert not cut.page.locator("#explorer").is_visible()


def test_chosen_urls_are_printed(open_page: Any) -> None:
    explorer = Explorer(open_page("typical", fragment="#urls?indexability=redirect"))
    explorer.page.emulate_media(media="print")
    explorer.page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert explorer.rows.count() == 100
    assert explorer.rows.last.is_visible() and not explorer.root.locator(".facets").is_visible()
    told = "129 of 772 URLs, in 150 entries: Indexability: redirect. The first 100 rows:"
    assert explorer.root.get_by_text(told).is_visible()


def test_table_of_all_urls_works_by_keyboard(explorer: Explorer) -> None:
    explorer.grid.focus()
    active = "table => document.getElementById(table.getAttribute('aria-activedescendant'))?.ariaRowIndex"
    assert explorer.grid.evaluate("table => table.ariaRowCount") == "901"
    for key, index in (("ArrowDown", "3"), ("ArrowUp", "2"), ("End", "901"), ("ArrowUp", "900"), ("Home", "2")):
        explorer.page.keyboard.press(key)
        assert explorer.grid.evaluate(active) == index
        assert explorer.rows.count() < MAX_DRAWN
    explorer.page.keyboard.press("PageDown")
    assert int(explorer.grid.evaluate(active)) > 5
    explorer.page.keyboard.press("Home")
    for _ in range(3):
        explorer.page.keyboard.press("ArrowDown")
    explorer.page.keyboard.press("Enter")
    dialog = explorer.page.get_by_role("dialog", name="Details of a URL")
    assert "A listed page does not exist (status-not-found)" in dialog.inner_text()
    assert dialog.get_by_role("link").first.get_attribute("href") == f"{reports.SITE}/de/lamps/lamp-000003"
    explorer.page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert explorer.grid.evaluate("table => table === document.activeElement")


def test_chosen_urls_are_saved_and_copied(open_page: Any, tmp_path: Path) -> None:
    explorer = Explorer(
        open_page("typical", fragment="#urls?status=404", permissions=["clipboard-read", "clipboard-write"])
    )
    with explorer.page.expect_download() as download:
        explorer.root.get_by_role("button", name="Save as CSV").click()
    download.value.save_as(tmp_path / "saved.csv")
    rows = list(csv.DictReader((tmp_path / "saved.csv").read_text("utf-8-sig").splitlines()))
    assert [row["URL"] for row in rows] == [row[0] for row in reports.rows(900) if row[2] == "404"]
    assert rows[0] == {
        "URL": f"{reports.SITE}/de/lamps/lamp-000003", "Indexability": "not found", "First status": "404",
        "Problems": "status-not-found", "Leads to": "", "Listed in": f"{reports.SITE}/sitemaps/products-004.xml.gz",
        "Line": "3", "Last modified": "2026-04-04", "Blocked crawlers": "CCBot GPTBot", "At Google": "", "Change": "unchanged",
    }  # fmt: skip
    explorer.root.get_by_role("button", name="Copy", exact=True).click()
    explorer.root.get_by_role("button", name="Copied").wait_for()
    copied = explorer.page.evaluate("navigator.clipboard.readText()")
    assert list(csv.DictReader(copied.splitlines(), delimiter="\t")) == rows


def test_sample_of_all_urls_says_so(open_page: Any) -> None:
    explorer = Explorer(open_page("sample", fragment="#urls?problem=&indexability=ok"))
    section = explorer.page.locator("#urls")
    assert "A sample of 20 of 1,000,000 entries" in section.inner_text()
    assert section.get_by_role("link", name="urls.parquet").get_attribute("href") == "urls.parquet"
    assert explorer.status.inner_text().endswith("of 18 URLs of the sample, in 7 entries")
    assert explorer.root.get_by_text("SELECT loc, sitemap, line FROM 'urls.parquet'").is_visible()


def test_query_finds_the_chosen_urls_in_the_feed(browser: Any, tmp_path: Path) -> None:
    reply = ReplyRecord("http-error", status=404)
    entries = [
        crawled(f"/it's/{at}", reply=reply, indexability="not found", issues=["odd"] * (at % 2)) for at in (1, 2)
    ]
    entries += [crawled("/fine", blocked_for=["GPTBot"], indexability="ok"), crawled("/was", indexability="not found")]
    entries.append(crawled("/other"))
    site = Site(*entries)
    site.change("removed", "/was")
    site.connection.execute(f"COPY urls TO '{tmp_path}/urls.parquet'")
    report = gather(site.connection, SummaryRecord(), feeds=["urls.parquet"])
    (tmp_path / "report.html").write_text(page(report))
    fragments = {
        "#urls": 4,
        "#urls?text=ptbot": 0,
        "#urls?change=&change=removed": 5,
        "#urls?text=(": 0,
        "#urls?indexability=not+found": 2,
        "#urls?status=404&problem=odd": 1,
        "#urls?problem=&text=IT's": 1,
        "#urls?folder=/it's/&problem=&problem=odd": 2,
        "#urls?text=gptbot": 1,
        "#urls?text=404+found": 2,
        "#urls?change=removed": 1,
    }
    opened = browser.new_page()
    opened.goto((tmp_path / "report.html").as_uri())
    opened.locator("#explorer").wait_for()
    for fragment, number in fragments.items():
        opened.evaluate("fragment => { location.hash = fragment; }", fragment)
        removed = fragment.count("removed")
        told = f"{number - removed} of 4 URLs{f', and {removed} removed' * removed}"
        opened.locator("#explorer output").get_by_text(told, exact=True).wait_for()
        query = opened.locator("#explorer pre").text_content().replace("'urls.parquet'", f"'{tmp_path}/urls.parquet'")
        assert len(duckdb.sql(query).fetchall()) == number, fragment
    opened.close()


def test_two_hundred_thousand_urls_stay_quick(open_page: Any, files: dict[str, Path]) -> None:
    assert files["huge"].stat().st_size < MAX_BYTES
    explorer = Explorer(open_page("huge"))
    took = explorer.text.evaluate("""field => {
        const start = performance.now();
        field.value = 'LAMP-0001 de 2026-03';
        field.dispatchEvent(new Event('input'));
        field.getBoundingClientRect();
        return performance.now() - start;
    }""")
    assert took < MAX_FILTER
    assert explorer.status.inner_text() == "8 of 171,429 URLs, in 9 entries"
    explorer.text.fill("")
    assert explorer.rows.count() < MAX_DRAWN
    explorer.grid.focus()
    explorer.page.keyboard.press("End")
    assert explorer.column("loc")[-1] == f"{reports.SITE}/en/lamps/lamp-199999"
    assert explorer.rows.count() < MAX_DRAWN


def test_hostile_urls_do_nothing(open_page: Any) -> None:
    opened = open_page("hostile URLs")
    explorer, page = Explorer(opened), opened.page
    assert explorer.rows.count() == len([text for text in HOSTILE.values() if text])
    page.evaluate("document.querySelectorAll('#explorer tbody td, #explorer button').forEach(each => each.click())")
    for _ in range(2):  # chosen, and no more
        page.evaluate("document.querySelectorAll('#explorer .facets li:first-child input').forEach(box => box.click())")
    check_harmless(opened)
    links = page.evaluate("[...document.querySelectorAll('#explorer a')].map(link => link.getAttribute('href'))")
    assert links and all(link.startswith(("http://", "https://")) and "\\" not in link for link in links)


def test_page_without_script_is_whole(open_page: Any) -> None:
    opened = open_page("typical", java_script_enabled=False)
    assert opened.table("Sitemap files").locator("tbody tr:visible").count() == 42
    assert opened.page.locator("input, button").count() == 0


def check_harmless(opened: Opened) -> None:
    assert opened.page.evaluate("window.pwned") is None
    assert opened.page.locator("iframe, img, base, form, object").count() == 0
    assert opened.page.evaluate("document.scripts.length") == 1


def test_policy_stops_what_should_ever_get_through(browser: Any, files: dict[str, Path], tmp_path: Path) -> None:
    broken = tmp_path / "broken.html"
    made = files["empty"].read_text(encoding="utf-8")
    broken.write_text(
        made.replace(
            "</main>",
            "<img src=x onerror='window.pwned=1'><script>window.pwned=2</script><p id=p style='color:red'></main>",
        )
    )
    shown = browser.new_page()
    shown.goto(broken.as_uri())
    assert shown.evaluate("window.pwned") is None
    assert shown.evaluate("getComputedStyle(document.getElementById('p')).color") != "rgb(255, 0, 0)"
    shown.close()


@pytest.mark.parametrize("name", ["full", "hostile URLs"])
def test_phone_scrolls_in_one_direction_only(open_page: Any, name: str) -> None:
    opened = open_page(name, PHONE)
    opened.page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert opened.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    scrolling = opened.page.locator(".scroll")
    if name != "hostile URLs":
        assert any(
            scrolling.nth(at).evaluate("box => box.scrollWidth > box.clientWidth") for at in range(scrolling.count())
        )


def test_dark_is_dark(open_page: Any) -> None:
    light, dark = (open_page("typical", color_scheme=scheme).page for scheme in ("light", "dark"))
    grounds = [[int(part) for part in each.evaluate(GROUND)[4:-1].split(",")] for each in (light, dark)]
    assert min(grounds[0]) > 200 and max(grounds[1]) < 50
    axis = "getComputedStyle(document.querySelector('svg .axis text')).fill"
    assert light.evaluate(axis) != dark.evaluate(axis)


@pytest.mark.parametrize(("name", "scripts"), [("many rules", True), ("small", False)])
def test_paper_has_a_summary_of_at_most_four_pages(open_page: Any, name: str, scripts: bool) -> None:
    opened = open_page(name, java_script_enabled=scripts)
    assert 2 <= len(re.findall(rb"/Type /Page\b", opened.page.pdf(format="A4"))) <= MAX_PAPER
    opened.page.emulate_media(media="print")
    assert opened.table("Sitemap files").evaluate(SHOWN) == 5
    assert not opened.page.locator("nav, .tools, .more").locator("visible=true").count()
    advice = opened.page.locator("#fix .rules:not(.notes *) .advice")
    visible = [each.evaluate("part => part.checkVisibility()") for each in advice.all()]
    assert sum(visible) == min(len(visible), ON_PAPER) >= 7


def test_screen_readers_are_told_names_counts_and_states(explorer: Explorer) -> None:
    explorer.facet("Indexability").get_by_label("redirect").check()
    assert explorer.grid.evaluate("table => table.ariaRowCount") == "151"
    assert explorer.status.evaluate("output => output.textContent") == "129 of 772 URLs, in 150 entries"
    explorer.grid.get_by_role("button", name="Last modified", exact=True).click()
    head = explorer.grid.get_by_role("columnheader", name="Last modified", exact=True)
    assert head.get_attribute("aria-sort") == "ascending"
    session = explorer.page.context.new_cdp_session(explorer.page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    named = ("grid", "searchbox", "checkbox", "button", "columnheader", "dialog", "link")
    controls = [each for each in nodes if not each["ignored"] and each["role"]["value"] in named]
    assert len(controls) > 100
    assert [each for each in controls if not each["name"]["value"]] == []
    assert explorer.root.get_by_role("group", name="Filters").get_by_role("list", name="Problem").count() == 1


@pytest.mark.parametrize(("name", "scheme"), [("sample", "light"), ("small", "dark")])
def test_page_is_accessible(open_page: Any, name: str, scheme: str) -> None:
    opened = open_page(name, color_scheme=scheme)
    found = axe.Axe().run(opened.page, options={"runOnly": STANDARDS, "resultTypes": ["violations"]}).response
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    assert len(found["passes"]) > 30
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.getAttribute('href')") == "#health"
    assert opened.page.get_by_role("main").count() == opened.page.get_by_role("navigation").count() == 1
