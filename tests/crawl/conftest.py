"""Servers for one test each, and commands that end at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sitemapcrawler import cli
from tests.crawl import forks
from tests.crawl.site_server import SiteServer


@pytest.fixture(scope="module", autouse=True)
def children() -> Iterator[None]:
    """Fork the programs that the package starts in this process."""
    with forks.children():
        yield


@pytest.fixture
def site() -> Iterator[SiteServer]:
    """A site without pages."""
    with SiteServer() as server:
        yield server


@pytest.fixture
def other() -> Iterator[SiteServer]:
    """A second site without pages."""
    with SiteServer() as server:
        yield server


@pytest.fixture
def refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a command in `tmp_path` and in this process, and returns the one line with which it must end before it
    requests or writes anything."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "set.by.nobody")  # the commands set it

    def run(*words: str) -> str:
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(SystemExit) as stop:
            cli.main(["sitemapcrawler", *words])
        output, log = capsys.readouterr()
        assert (stop.value.code, output, len(log.splitlines())) == (2, "", 1), log
        assert log.startswith("sitemapcrawler: ")
        assert sorted(tmp_path.rglob("*")) == before
        return log.rstrip("\n")

    return run
