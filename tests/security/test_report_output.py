"""The report on a crawl of a hostile site, in a real browser: nothing of it runs, nothing is asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from sitemapcrawler.report.wording import MAX_SHOWN
from tests.crawl.browsers import chromium
from tests.crawl.crawling import Crawl
from tests.security.hostile_site import unseen
from tests.unit.report.hostile import check_inert

pytestmark = pytest.mark.slow

MAX_PAGE = 2_000_000
"""Bytes of a page on a site with texts of any length."""
RUN = "document.querySelectorAll('summary, th button, .more, #explorer td').forEach(each => each.click())"


@dataclass
class Seen:
    """What a browser made of the page."""

    asked: list[str]
    told: list[str]
    pwned: Any
    links: list[str]
    text: str
    """What a reader sees."""
    width: int
    """Pixels that the page is too wide."""


@pytest.fixture(scope="module")
def seen(written: Crawl) -> Iterator[Seen]:
    asked: list[str] = []
    told: list[str] = []
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.on("request", lambda request: asked.append(request.url))
        page.on("dialog", lambda dialog: (told.append(dialog.message), dialog.dismiss()))
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.goto((written.folder / "r" / "report.html").as_uri())
        page.locator("#explorer").wait_for()
        page.evaluate(RUN)
        yield Seen(
            asked,
            told,
            page.evaluate("window.__pwned ?? null"),
            page.evaluate("[...document.querySelectorAll('[href]')].map(each => each.getAttribute('href'))"),
            page.inner_text("body"),
            page.evaluate("document.documentElement.scrollWidth - innerWidth"),
        )


def test_page_is_text_alone_and_bounded(written: Crawl) -> None:
    text = (written.folder / "r" / "report.html").read_text("utf-8")
    assert len(text) < MAX_PAGE
    assert not re.search("[lt]{1001}", text)
    check_inert(text)


def test_nothing_runs_and_nothing_is_asked_for(seen: Seen) -> None:
    assert seen.pwned is None
    assert seen.told == []
    assert [url for url in seen.asked if not url.startswith(("file:", "data:,"))] == []
    assert [link for link in seen.links if re.match(r"\s*(javascript|data:(?!,$)|vbscript|file)", link, re.I)] == []


def test_reader_sees_what_was_written(seen: Seen) -> None:
    assert r"\x9b31mRED" in seen.text
    assert "javascript:window.__pwned=1" in seen.text
    assert unseen(seen.text, "\n\t") == []
    assert max(map(len, re.findall("l{20,}", seen.text))) <= MAX_SHOWN
    assert seen.width <= 0
