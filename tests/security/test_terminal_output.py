"""What strangers wrote, on a terminal: it is seen there, and steers nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawl.crawling import AT_HOME, command
from tests.crawl.site_server import SiteServer
from tests.crawl.terminal import Terminal
from tests.security.commands import program
from tests.security.hostile_site import COMMAND, fill, unseen

OURS = re.compile(r"\x1b\[(?:\?25[lh]|[0-9;]*m|1A|2K)")
"""What rich writes: the cursor hidden and shown, colours, a line up, a line cleared."""
SETTINGS = {**AT_HOME, "RETRY_TIMES": 0}
WIDE = 140


@pytest.fixture(scope="module")
def hostile() -> Iterator[SiteServer]:
    with SiteServer() as site:
        fill(site)
        yield site


def shown(argv: list[str], folder: Path) -> tuple[int, str]:
    """The exit code of a command, and what it wrote to its terminal: nothing but our own escape sequences."""
    with Terminal(argv, folder, columns=WIDE, lines=60) as terminal:
        code = terminal.finish()
        assert (terminal.screen.title, terminal.cursor_is_visible) == ("", True)
        text = OURS.sub("", terminal.written.decode("utf-8"))
    assert unseen(text, "\r\n\t") == []
    return code, text


def test_crawl_with_its_display_and_its_log(hostile: SiteServer, tmp_path: Path) -> None:
    argv = command("-O", "out.jsonl", settings={"RETRY_TIMES": 0}, domain=hostile.url(), verify="get")
    code, text = shown(argv, tmp_path)
    assert code == 0
    assert r"no\x1b]0;title\x07" in text
    assert COMMAND[:6] not in text


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_feed_that_goes_to_the_terminal(hostile: SiteServer, tmp_path: Path, format: str) -> None:
    _, text = shown(command("-O", f"-:{format}", sitemap=hostile.url("/sitemap.xml"), max_urls=10), tmp_path)
    rows = ('{"type":"url"', hostile.url(), f'"{hostile.url()}')
    lines = [line for line in text.replace("\r", "").split("\n") if line.startswith(rows)]
    assert len(lines) == 10
    if format == "jsonl":
        assert "\x9b31mRED" in json.loads(lines[9])["loc"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "code"),
    [(["--discover"], 0), (["--urls"], 0), (["--json"], 0), (["--expand"], 0), ([], 4)],
    ids=lambda value: "".join(value) if isinstance(value, list) else None,
)
def test_inspection(hostile: SiteServer, tmp_path: Path, words: list[str], code: int) -> None:
    path = "" if words == ["--discover"] else "/index.xml" if words == ["--expand"] else "/sitemap.xml"
    ended, text = shown(
        program("inspect", hostile.url(path if words else "/garbage"), *words, settings=SETTINGS), tmp_path
    )
    assert ended == code
    assert COMMAND[:6] not in text
    assert "--urls" in words or max(map(len, text.split("\n"))) < 3000


@pytest.mark.parametrize("format", ["text", "json"])
def test_validation(hostile: SiteServer, tmp_path: Path, format: str) -> None:
    path = "/sitemap.xml" if format == "text" else "/index.xml"  # of which the terminal has to draw less
    code, text = shown(program("validate", hostile.url(path), "--format", format, settings=SETTINGS), tmp_path)
    assert code == 1
    assert "loc-invalid-uri" in text
    if format == "text":
        assert COMMAND[:6] not in text
        assert max(map(len, text.split("\n"))) < 4000
