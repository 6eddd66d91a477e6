"""A crawl opens no door: nobody can connect to it, nobody else reads what it has not finished, nothing stays behind."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.constants import constants
from tests.crawl.crawling import Crawl, Running, launch, start
from tests.crawl.documents import index, page, robots, urlset
from tests.crawl.site_server import Exchange, Reply, SiteServer
from tests.security.watching import Seen, working_in

LARGE = 2 * 1024 * 1024
"""Bytes of a sitemap that does not stay in memory."""
LONG = 1500
"""Characters of its URLs, so that these are few."""
PATIENCE_S = 60.0
"""Seconds that an answer waits for what is to be seen."""
PRIVATE_FILE, PRIVATE_FOLDER, PUBLIC_FILE = 0o600, 0o700, 0o666
OF_THE_DATABASE = "job/audit.duckdb."
"""What the names of files begin with that the database has beside itself for a moment, with its own mode."""


class Watched(SiteServer):
    """A site that looks at the crawl whenever it is asked for something."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = Seen()
        self.running: Running | None = None
        self.folders: list[Path] = []
        self.held = "/small.xml"
        """What is answered only when the large file has left the memory."""
        self.routes = {
            "/robots.txt": robots(self.url("/index.xml")),
            "/index.xml": index(self.url("/large.xml"), self.url("/small.xml")),
            "/large.xml": urlset(*(self.url(f"/page?{number:0{LONG}}") for number in range(LARGE // LONG))),
            "/small.xml": urlset(self.url("/page?0"), self.url("/moved")),
            "/page?0": page("<title>Page</title>"),
            "/moved": Reply(status=301, headers={"Location": "/page?0"}),
        }

    def answer(self, exchange: Exchange) -> None:
        while self.running is None:
            pass  # the process is being started
        until = time.monotonic() + PATIENCE_S
        while True:
            self.seen.look(self.running.process.pid, *self.folders)
            if exchange.path != self.held or self.seen.nameless or time.monotonic() > until:
                break
        super().answer(exchange)


@dataclass
class Ended:
    """A crawl that was watched, and what was there after its end."""

    crawl: Crawl
    seen: Seen
    left: dict[str, int]
    """Modes of what lies in the folders."""
    processes: set[str]
    """Command lines of those that still work in its folder."""


@contextmanager
def no_umask() -> Iterator[None]:
    before = os.umask(0)
    try:
        yield
    finally:
        os.umask(before)


@pytest.fixture(scope="module")
def ended(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """A crawl with feeds, a report and a job, under a umask that forbids nothing."""
    folder, temporary = tmp_path_factory.mktemp("crawl"), tmp_path_factory.mktemp("temporary")
    with Watched() as site, no_umask(), pytest.MonkeyPatch.context() as patch:
        patch.setenv("TMPDIR", str(temporary))
        site.folders = [folder, temporary]
        options = ("-O", "urls.csv", "-O", "out/records.jsonl.gz", "-O", "urls.parquet")
        settings = {"JOBDIR": "job", **constants({"crawl.walk.READ_AT_ONCE": 1})}
        arguments = {"domain": site.url(), "report": "report", "verify": "get", "sample": "5", "max_time": "60"}
        site.running = start(folder, *options, settings=settings, **arguments)
        crawl = site.running.finish()
        assert crawl.code == 0, crawl.log
        left = Seen()
        left.look(os.getpid(), folder, temporary)
        return Ended(crawl, site.seen, left.modes, working_in(folder))


def test_running_crawl_listens_nowhere(ended: Ended) -> None:
    assert ended.seen.looks > 5
    assert ended.seen.listening == set()


def test_crawl_starts_no_process_and_leaves_none(ended: Ended) -> None:
    assert ended.seen.children == set()
    assert ended.processes == set()


def test_what_is_not_finished_is_private_whatever_the_umask(ended: Ended) -> None:
    parts = {name: mode for name, mode in ended.seen.modes.items() if ".feed@" in name and name.endswith("/rows")}
    assert len(parts) >= 8, "feeds and the report"
    assert set(parts.values()) == {PRIVATE_FILE}
    assert ended.seen.modes["job/.spool"] == PRIVATE_FOLDER
    private = {name for name, mode in ended.seen.modes.items() if mode in (PRIVATE_FILE, PRIVATE_FOLDER)}
    temporary = {name for name in ended.seen.modes if name not in ended.left and not name.startswith(OF_THE_DATABASE)}
    assert {name for name in temporary if private.isdisjoint({name, *map(str, Path(name).parents)})} == set()
    assert ended.seen.nameless == {PRIVATE_FILE}, "bodies"


def test_what_is_finished_has_the_mode_that_the_umask_leaves(ended: Ended) -> None:
    cached = {name for name in ended.left if "/cache/" in name}
    assert {ended.left[name] for name in cached} == {PRIVATE_FILE}
    files = {name: mode for name, mode in ended.left.items() if "." in name and name not in cached}
    assert {"urls.csv", "out/records.jsonl.gz", "report/report.html", "report/urls.jsonl"} <= set(files)
    assert {name: oct(mode) for name, mode in files.items() if mode != PUBLIC_FILE and name != "log.txt"} == {}
    assert [name for name in ended.left if ".feed@" in name or name.endswith((".new", ".spool"))] == []


@pytest.mark.parametrize("command", ["inspect", "validate"])
def test_other_commands_listen_nowhere(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    with Watched() as site, no_umask():
        site.folders = [temporary]
        words = [sys.executable, "-m", "sitemapcrawler.cli", command, site.url("/index.xml")]
        site.running = launch(tmp_path, [*words, "-s", "AUTOTHROTTLE_ENABLED=0"])
        done = site.running.finish()
        assert done.code in (0, 1), done.log
    assert site.seen.looks > 1
    assert (site.seen.listening, site.seen.children) == (set(), set())
    assert {mode for name, mode in site.seen.modes.items() if "/" not in name} <= {PRIVATE_FILE, PRIVATE_FOLDER}
    assert list(temporary.iterdir()) == []


def test_project_in_a_strangers_folder_is_not_run(tmp_path: Path) -> None:
    evil = "import pathlib; pathlib.Path(__file__).with_name('ran').touch()\n"
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = evil\n")
    for name in ("evil", "lxml", "rich", "duckdb", "sitecustomize", "settings"):
        (tmp_path / f"{name}.py").write_text(evil)
    (tmp_path / "sitemap.xml").write_bytes(urlset("https://example.com/"))
    program = "from sitemapcrawler.cli import main; main(['sitemapcrawler', *sys.argv[1:]])"
    start = [
        sys.executable,
        "-P",
        "-c",
        f"import sys; {program}",
    ]  # the path of an installed script has no folder of work
    done = launch(tmp_path, [*start, "validate", "sitemap.xml", "-s", "SITEMAP_MAX_ROBOTS=0"]).finish()
    assert done.code in (0, 1), done.log
    assert not (tmp_path / "ran").exists()


def test_telnet_and_remote_control_are_off() -> None:
    from sitemapcrawler.cli import project_settings

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SCRAPY_SETTINGS_MODULE", "")
        settings = project_settings()
    assert not settings.getbool("TELNETCONSOLE_ENABLED") and not settings.getbool("REMOTE_CONTROL_ENABLED")
