"""The report page as its readers open it: from disk, in a real Chromium, on a desk, on a phone, in the dark, on paper."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from sitemapcrawler.report.page import page
from tests.unit.report import reports
from tests.unit.report.hostile import HOSTILE, spoiled

pytestmark = pytest.mark.slow

CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("needs Debian's chromium: apt-get install chromium", allow_module_level=True)
sync_api = pytest.importorskip("playwright.sync_api")
axe = pytest.importorskip("axe_playwright_python.sync_playwright")

DESK, PHONE = {"width": 1280, "height": 900}, {"width": 320, "height": 640}
STANDARDS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
MAX_SORT = 30_000
"""Milliseconds to sort a thousand rows, on a slow machine; a few dozen elsewhere."""
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
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Pages on disk, by what they are of."""
    hostile = "".join(text for name, text in HOSTILE.items() if name != "enormous")
    made = {
        "typical": reports.typical(),
        "full": reports.full(),
        "small": reports.small(hosts=2),
        "empty": reports.empty(),
        "hostile": spoiled(reports.small(hosts=2), hostile, keep=True),
    }
    folder = tmp_path_factory.mktemp("pages")
    paths = {name: folder / f"{name}.html" for name in made}
    for name, report in made.items():
        paths[name].write_text(page(report), encoding="utf-8")
    return paths


@pytest.fixture
def open_page(browser: Any, files: dict[str, Path]) -> Iterator[Any]:
    """Opens a page by name, in a context of its own; a page that says anything, or asks for anything, has failed."""
    opened: list[Opened] = []

    def open_it(name: str, viewport: dict[str, int] = DESK, **options: Any) -> Opened:
        context = browser.new_context(viewport=viewport, **options)
        shown = Opened(context.new_page())
        shown.page.on("console", lambda message: shown.told.append(message.text))
        shown.page.on("pageerror", lambda error: shown.told.append(str(error)))
        shown.page.on("dialog", lambda dialog: (shown.told.append(dialog.message), dialog.dismiss()))
        shown.page.on("request", lambda request: shown.asked.append(request.url))
        shown.page.goto(files[name].as_uri())
        opened.append(shown)
        return shown

    yield open_it
    for shown in opened:
        assert not shown.told
        assert all(url.startswith(("file:", "data:", "blob:")) for url in shown.asked) and len(shown.asked) >= 1
        shown.page.context.close()


@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_charts_are_drawn(open_page: Any, viewport: dict[str, int]) -> None:
    charts = open_page("typical", viewport).page.locator("figure svg[role=img]:visible")
    assert charts.count() == 7
    for at in range(7):
        box = charts.nth(at).bounding_box()
        assert box["width"] > 200 and box["height"] > 60
        assert charts.nth(at).evaluate(SHAPES) >= 4


def test_table_sorts_by_mouse_and_keyboard(open_page: Any) -> None:
    opened = open_page("typical")
    table = opened.table("Sitemap files")
    head = table.locator("th", has_text="URLs")
    head.get_by_role("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    figures = [int(text.replace(",", "")) for text in opened.column("Sitemap files", 3)]
    assert figures == sorted(figures, reverse=True) and figures[0] > figures[-1]
    head.get_by_role("button").focus()
    opened.page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert opened.column("Sitemap files", 3)[0] == "0"
    table.locator("th", has_text="File").get_by_role("button").press("Space")
    assert table.locator("th[aria-sort]").count() == 1
    names = opened.column("Sitemap files", 1)
    assert names == sorted(names) and names[0].startswith("/sitemap.xml")


def test_table_filters_and_says_how_many_rows_it_shows(open_page: Any) -> None:
    opened = open_page("typical")
    table, more = opened.table("Sitemap files"), opened.page.get_by_role("button", name="Show all 42 rows")
    field_of = opened.page.get_by_label("Filter “Sitemap files”")
    status = opened.page.locator(".tools").filter(has=field_of).get_by_role("status")
    assert table.evaluate(SHOWN) == 10 and status.inner_text() == "10 of 42 rows"
    more.click()
    assert table.evaluate(SHOWN) == 42 and not more.is_visible()
    field_of.fill("PRODUCTS complete")
    names = opened.column("Sitemap files", 1)
    assert 1 < len(names) < 10 and all("products" in name for name in names)
    assert status.inner_text() == f"{len(names)} of 42 rows"
    field_of.fill("no such thing")
    assert table.evaluate(SHOWN) == 0
    field_of.fill("")
    assert table.evaluate(SHOWN) == 42


def test_table_is_saved_as_csv_and_copied_as_filtered(open_page: Any, tmp_path: Path) -> None:
    opened = open_page("typical", permissions=["clipboard-read", "clipboard-write"])
    opened.page.get_by_label("Filter “URLs that are not indexable”").fill("redirect")
    shown = opened.table("URLs that are not indexable").evaluate(SHOWN)
    tools = opened.page.locator(".tools").filter(has=opened.page.get_by_label("Filter “URLs that are not indexable”"))
    with opened.page.expect_download() as download:
        tools.get_by_role("button", name="Save as CSV").click()
    download.value.save_as(tmp_path / "saved.csv")
    assert download.value.suggested_filename == "URLs that are not indexable.csv"
    rows = list(csv.reader((tmp_path / "saved.csv").read_text("utf-8-sig").splitlines()))
    assert rows[0] == ["URL", "Why", "Status", "Details", "Listed in"]
    assert len(rows) - 1 == 15 > shown == 10
    assert rows[1][:3] == [
        f"{reports.SITE}/en/products/garden/lamps/harbour-lamp-2",
        "redirect",
        "301 Moved Permanently",
    ]
    assert rows[1][4] == f"{reports.SITE}/sitemaps/products-002.xml.gz:102"
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
    opened.page.get_by_role("button", name="Show all 1,000 rows").click()
    table = opened.table("Sitemap files")
    took = table.evaluate("""table => {
        const start = performance.now();
        table.tHead.querySelector('button').click();
        table.getBoundingClientRect();
        return performance.now() - start;
    }""")
    assert table.evaluate(SHOWN) == 1000
    assert took < MAX_SORT


def test_page_without_script_is_whole(open_page: Any) -> None:
    opened = open_page("typical", java_script_enabled=False)
    assert opened.table("Sitemap files").locator("tbody tr:visible").count() == 42
    assert opened.page.locator("input, button").count() == 0


def test_hostile_text_does_nothing(open_page: Any) -> None:
    opened = open_page("hostile")
    opened.page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    opened.page.evaluate("document.querySelectorAll('button').forEach(button => button.click())")
    assert opened.page.locator("th[aria-sort]").count() > 5
    opened.page.mouse.move(640, 400)
    assert opened.page.evaluate("window.pwned") is None
    assert opened.page.evaluate("document.querySelectorAll('iframe, img, base, form, object').length") == 0
    assert opened.page.evaluate("document.scripts.length") == 1
    assert opened.page.url.endswith("hostile.html")


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


@pytest.mark.parametrize("name", ["typical", "full", "empty", "hostile"])
def test_phone_scrolls_in_one_direction_only(open_page: Any, name: str) -> None:
    opened = open_page(name, PHONE)
    opened.page.evaluate("document.querySelectorAll('details').forEach(part => { part.open = true; })")
    assert opened.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
    scrolling = opened.page.locator(".scroll")
    if name != "empty":
        assert any(
            scrolling.nth(at).evaluate("box => box.scrollWidth > box.clientWidth") for at in range(scrolling.count())
        )


def test_dark_is_dark(open_page: Any) -> None:
    light, dark = (open_page("typical", color_scheme=scheme).page for scheme in ("light", "dark"))
    grounds = [[int(part) for part in each.evaluate(GROUND)[4:-1].split(",")] for each in (light, dark)]
    assert min(grounds[0]) > 200 and max(grounds[1]) < 50
    axis = "getComputedStyle(document.querySelector('svg .axis text')).fill"
    assert light.evaluate(axis) != dark.evaluate(axis)


def test_paper_shows_everything(open_page: Any) -> None:
    opened = open_page("typical")
    opened.page.emulate_media(media="print")
    assert opened.table("Sitemap files").evaluate(SHOWN) == 42
    assert not opened.page.locator("nav, .tools, .more").locator("visible=true").count()
    closed = opened.page.locator("details:not([open]) > :not(summary)")
    assert closed.count() > 5
    assert all(part.evaluate("part => part.checkVisibility()") for part in closed.all())
    assert len(opened.page.pdf()) > 50_000


@pytest.mark.parametrize(("name", "scheme"), [("small", "light"), ("small", "dark"), ("empty", "light")])
def test_page_is_accessible(open_page: Any, name: str, scheme: str) -> None:
    opened = open_page(name, color_scheme=scheme)
    found = axe.Axe().run(opened.page, options={"runOnly": STANDARDS}).response
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    assert len(found["passes"]) > 30
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.getAttribute('href')") == "#health"
    assert opened.page.get_by_role("main").count() == opened.page.get_by_role("navigation").count() == 1
