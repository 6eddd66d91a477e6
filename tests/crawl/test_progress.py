"""How far a crawl is, as a person sees it on a terminal, and as a log tells it."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.crawl.crawling import AT_HOME, NO_DELAYS, command, crawl, options, program
from tests.crawl.documents import index, urlset
from tests.crawl.site_server import Exchange, SiteServer
from tests.crawl.terminal import CTRL_C, Terminal

PAGES = 30
"""URLs of each of the two files."""
DELAY = {"DOWNLOAD_DELAY": "0.02"}
LOG_LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[")
ESCAPE = b"\x1b"
COLOUR = re.compile(rb"\x1b\[(?:\d+;)*(?:3[0-7]|9[0-7]|38)(?:;\d+)*m")
ROWS = re.compile(
    r"""^verifying  ━{30} \d of 3 files  60 URLs  .*\d:\d\d
checked    ━+[╸╺]?━+ 1\d of 60  about \d+ s left  [\d.]+/s
replies    \d\d ok  [1-9] http-error
found      .*(errors|warnings|notes) (on|in) \d+ (entry|entries|files?)
fetching   127\.0\.0\.1   \d in flight    \d waiting  every 0\.02 s$""",
    re.MULTILINE,
)
OF_DISPLAY = ("checked  ", "replies  ", "found  ", "fetching  ")
SEVERAL = """
import logging, sys
import scrapy
from scrapy.crawler import CrawlerProcess
from sitemapcrawler.cli import project_settings
from sitemapcrawler.spiders.sitemap import AuditSpider

class Printing:
    def process_item(self, item):
        print("printed", type(item).__name__)
        return item

class Other(scrapy.Spider):
    name = "other"
    custom_settings = {"ITEM_PIPELINES": {Printing: 1}}
    def parse(self, response):
        yield {"page": response.url}

settings = project_settings()
settings.setdict({"LOGSTATS_INTERVAL": 0.1, "AUTOTHROTTLE_ENABLED": False, "SITEMAP_ITEMS": "records"})
settings.set("SITEMAP_ALLOW_NETWORKS", "127.0.0.0/8")
settings.setdict({"ITEM_PIPELINES": settings.getdict("ITEM_PIPELINES") | {Printing: 950}})
before = sys.stdout, sys.stderr
process = CrawlerProcess(settings)
process.crawl(AuditSpider, sitemap=sys.argv[1])
process.crawl(AuditSpider, sitemap=sys.argv[1])
process.crawl(Other, start_urls=[sys.argv[2]])
streams = [handler.stream for handler in logging.root.handlers]
process.start()
left = [getattr(handler, "stream", None) for handler in logging.root.handlers]
print("as before:", (sys.stdout, sys.stderr) == before, left[0] is sys.stderr)
"""


class Gate:
    """Answers requests while it is open, every tenth with 404, and lets the others wait."""

    def __init__(self, free: int = 0) -> None:
        """`free`: requests that pass in any case."""
        self.holds = threading.Event()
        """Set once a request waits."""
        self._open = threading.Event()
        self._free = threading.Semaphore(free)

    def open(self) -> None:
        self._open.set()

    def __call__(self, exchange: Exchange) -> None:
        if not self._free.acquire(blocking=False):
            self.holds.set()
            self._open.wait()
        exchange.head(404 if exchange.path.endswith("7") else 200, Content_Length=0)


@contextmanager
def museum(free: int) -> Iterator[tuple[SiteServer, Gate]]:
    """A site of two files, whose pages wait behind a gate."""
    gate = Gate(free)
    with SiteServer() as site:
        files = ["/a.xml", "/b.xml"]
        site.routes["/robots.txt"] = f"User-agent: *\nAllow: /\nSitemap: {site.url('/index.xml')}\n"
        site.routes["/index.xml"] = index(*map(site.url, files))
        for path in files:
            site.routes[path] = urlset(*(site.url(f"{path}/{number}") for number in range(PAGES)))
        site.otherwise = gate
        try:
            yield site, gate
        finally:
            gate.open()


@pytest.mark.slow
def test_terminal_of_80_columns_until_ctrl_c(tmp_path: Path) -> None:
    with museum(free=20) as (site, gate):
        words = command("-O", "urls.jsonl", settings=DELAY, domain=site.url(), verify="head")
        with Terminal(words, tmp_path) as terminal:
            terminal.read_until(lambda: gate.holds.is_set() and ROWS.search(terminal.text) is not None)
            assert not terminal.cursor_is_visible
            terminal.press(CTRL_C)
            terminal.read_until(lambda: "\nstopping  " in terminal.text)
            gate.open()
            code = terminal.finish()
    assert code == 3
    assert terminal.cursor_is_visible
    assert b"/a.xml: ok, 30 entries\r\n" in terminal.written, "a log line is one line, however long"
    assert_clean(terminal)
    # The last line may be wrapped at any of its blanks, which the screen then leaves out.
    assert "stoppedbeforetheend:shutdown" in "".join(terminal.everything[-2:]).replace(" ", "")
    assert COLOUR.search(terminal.written)


@pytest.mark.slow
def test_terminal_of_200_columns_without_colours(tmp_path: Path) -> None:
    with museum(free=20) as (site, gate):
        arguments = {"domain": site.url(), "verify": "get", "sample": "25"}
        settings = DELAY | {"LOG_FILE": "log.txt", "LOGSTATS_INTERVAL": "0.1"}
        words = command("-O", "urls.jsonl", settings=settings, **arguments)
        with Terminal(words, tmp_path, columns=200, variables={"NO_COLOR": "1"}) as terminal:
            asked = re.compile(rf"of 25  .*\nreplies  .*\n.*\n.*every 0\.02 s +{re.escape(site.url())}/")
            terminal.read_until(lambda: asked.search(terminal.text) is not None)
            gate.open()
            assert terminal.finish() == 0
    assert not COLOUR.search(terminal.written)
    assert terminal.everything == [""], "all of the log is in its file"
    log = (tmp_path / "log.txt").read_text()
    told = [line.partition("progress] INFO: ")[2] for line in log.splitlines() if "progress]" in line]
    assert any(re.match(r"verifying: 3 of 3 files, 60 URLs.*; checked: \d+ of 25", line) for line in told)
    assert ESCAPE.decode() not in log


@pytest.mark.slow
def test_no_progress_on_a_terminal(tmp_path: Path) -> None:
    with museum(free=0) as (site, gate):
        settings = DELAY | {"LOGSTATS_INTERVAL": "0.1"}
        words = command("-O", "urls.jsonl", "--no-progress", settings=settings, domain=site.url(), verify="head")
        with Terminal(words, tmp_path, columns=200) as terminal:
            terminal.read_until(lambda: "progress] INFO: verifying: " in terminal.text)
            gate.open()
            assert terminal.finish() == 0
    assert ESCAPE not in terminal.written
    assert_clean(terminal)


@pytest.mark.slow
def test_fix_shows_how_far_its_crawl_is(tmp_path: Path) -> None:
    with museum(free=20) as (site, gate):
        words = program("fix", site.url(), *options({**NO_DELAYS, **AT_HOME, **DELAY}))
        with Terminal(words, tmp_path) as terminal:
            terminal.read_until(lambda: gate.holds.is_set() and ROWS.search(terminal.text) is not None)
            terminal.press(CTRL_C)
            gate.open()
            assert terminal.finish() == 5
    assert terminal.cursor_is_visible
    assert terminal.everything[0].startswith("sitemapcrawler: stopped")


def test_feed_on_the_terminal_is_left_alone(tmp_path: Path) -> None:
    with museum(free=0) as (site, _):
        words = command("-O", "-:jsonl", settings=DELAY, sitemap=site.url("/a.xml"))
        with Terminal(words, tmp_path) as terminal:
            assert terminal.finish() == 0
    assert b'{"type":"summary"' in terminal.written
    assert ESCAPE not in terminal.written


def test_pipe_gets_lines_and_no_escape_sequences(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    with museum(free=3 * PAGES) as (site, _):  # a 404 to HEAD is asked again by GET
        settings = {"DOWNLOAD_DELAY": "0.01", "LOGSTATS_INTERVAL": "0.1"}
        done = crawl(tmp_path, settings=settings, domain=site.url(), verify="head")
    assert done.code == 0
    assert "progress] INFO: verifying: " in done.log
    assert "Crawled" not in done.log
    assert ESCAPE.decode() not in done.log + done.output


@pytest.mark.slow
def test_several_crawls_in_one_process_share_the_terminal(tmp_path: Path) -> None:
    with museum(free=1) as (site, _):
        script = tmp_path / "several.py"
        script.write_text(SEVERAL)
        words = [sys.executable, str(script), site.url("/index.xml"), site.url("/page")]
        with Terminal(words, tmp_path, columns=200, lines=60) as terminal:
            assert terminal.finish() == 0
    rows = terminal.everything
    assert "as before: True True" in rows
    assert {"printed UrlRecord", "printed SummaryRecord", "printed dict"} <= set(rows)
    assert b"Traceback" not in terminal.written
    assert b"\x1b[?25l" in terminal.written, "the display was there"
    assert terminal.cursor_is_visible
    assert not any(row.startswith(OF_DISPLAY) for row in rows)


def assert_clean(terminal: Terminal) -> None:
    """Nothing of the display is left, and each line of the log has its own rows."""
    rows = terminal.everything
    assert not any(row.startswith(OF_DISPLAY) for row in rows)
    logged = 0
    for before, row in zip(["", *rows], rows, strict=False):
        if LOG_LINE.match(row):
            logged += 1
        else:
            assert len(before) >= terminal.screen.columns - 1 or before.startswith("^C"), (before, row)
    assert logged > 5
