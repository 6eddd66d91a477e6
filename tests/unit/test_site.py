"""The documentation as a site (`make docs`): it builds without a warning, and is read and searched without a network."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.browsers import STANDARDS, chromium

pytest.importorskip("mkdocs", reason="make docs installs it")
pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
ELSEWHERE = re.compile(r"""<(?:script|link|img)\b[^>]*?(?:src|href)=["']?(?:https?:)?//""")
"""An element for which a browser asks another host."""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {line.split()[0] for line in done.stderr.splitlines()} <= {"INFO"}, done.stderr
    return folder


def pages(site: Path) -> Iterator[tuple[str, str]]:
    """(name, HTML) of each page."""
    for path in sorted(site.rglob("*.html")):
        yield path.relative_to(site).as_posix(), path.read_text(encoding="utf-8")


def test_every_page_of_the_repository_is_there(site: Path) -> None:
    names = {name for name, _ in pages(site)}
    assert {f"{path.stem}.html" for path in (ROOT / "docs").glob("*.md")} <= names
    assert {"index.html", "changelog.html", "contributing.html", "bench/speed.html", "bench/readers.html"} <= names
    assert not list(site.glob("*.py"))


def test_nothing_is_asked_of_another_host(site: Path) -> None:
    assert [(name, found[0]) for name, page in pages(site) if (found := ELSEWHERE.search(page))] == []


def test_links_between_pages_of_different_folders_lead_there(site: Path) -> None:
    found = dict(pages(site))
    assert 'href="bench/speed.html"' in found["index.html"]
    assert 'href="readers.html"' in found["bench/speed.html"]
    assert 'href="settings.html#politeness"' in found["index.html"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


def test_search_finds_a_setting_from_disk(site: Path, browser: Any) -> None:
    told: list[str] = []
    page = browser.new_page()
    page.on("request", lambda request: None if request.url.startswith("file:") else told.append(request.url))
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    page.goto((site / "bench" / "speed.html").as_uri())
    box = page.get_by_role("textbox", name="Search")
    box.focus()
    page.get_by_text("Type to start searching").wait_for(state="attached")
    box.press_sequentially("SITEMAP_ALLOW_NETWORKS")  # it listens to keys
    page.locator(".md-search-result__link[href*='/settings.html']").first.wait_for()
    page.close()
    assert told == []


@pytest.mark.parametrize(("name", "scheme", "width"), [("index", "light", 1280), ("records", "dark", 390)])
def test_page_is_accessible(site: Path, browser: Any, name: str, scheme: str, width: int) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page.goto((site / f"{name}.html").as_uri())
    page.locator(".md-code__nav[aria-label]").first.wait_for(state="attached")
    found = axe.Axe().run(page, options={"runOnly": STANDARDS}).response
    assert [(each["id"], each["nodes"][0]["html"]) for each in found["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.close()
