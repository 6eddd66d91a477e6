"""Storage: a feed is there whole or not at all; then storage, exporters and compression in real crawls."""

from __future__ import annotations

import errno
import ftplib
import gzip
import json
import logging
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sitemapcrawler.feeds.scratch import prefix_of
from sitemapcrawler.feeds.setup import GZIP
from sitemapcrawler.feeds.storages import AtomicFileStorage, FeedFile, FeedLost, shorten_lost_feeds


@pytest.fixture
def without_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system like Windows: no locks, and no open file is renamed or removed."""

    def only_closed(method: Callable[..., object]) -> Callable[..., object]:
        def checked(path: Path, *arguments: object, **options: object) -> object:
            if path.exists() and any(map(path.samefile, open_files())):
                raise PermissionError(errno.EACCES, "The process cannot access the file", str(path))
            return method(path, *arguments, **options)

        return checked

    monkeypatch.setitem(sys.modules, "fcntl", None)
    for name in ("replace", "unlink"):
        monkeypatch.setattr(Path, name, only_closed(getattr(Path, name)))


def open_files() -> list[Path]:
    """Links to this process's open files."""
    return [link for link in Path("/proc/self/fd").iterdir() if link.exists()]


def storage(path: Path | str, overwrite: bool = True) -> AtomicFileStorage:
    return AtomicFileStorage(str(path), feed_options={"overwrite": overwrite})


def opened(path: Path | str, overwrite: bool = True) -> tuple[AtomicFileStorage, FeedFile]:
    target = storage(path, overwrite)
    return target, target.open(None)  # type: ignore[arg-type]  # the spider is not used


def write(path: Path | str, data: bytes, overwrite: bool = True) -> None:
    target, file = opened(path, overwrite)
    file.write(data)
    target.store(file)


def fill_the_disk(file: FeedFile) -> None:
    """From now on writing fails as it does on a full disk."""
    with Path("/dev/full").open("wb") as full:
        os.dup2(full.fileno(), file.fileno())


@pytest.fixture
def feed(tmp_path: Path) -> Path:
    return tmp_path / "urls.csv"


class TestWhole:
    def test_a_feed_appears_when_it_is_whole(self, feed: Path) -> None:
        target, file = opened(feed)
        file.write(b"rows")
        file.flush()
        [folder] = feed.parent.iterdir()
        assert (folder.name.partition("@")[0], stat.S_IMODE(folder.stat().st_mode)) == (".feed", 0o700)
        assert file.part is not None
        assert (file.part.read_bytes(), stat.S_IMODE(file.part.stat().st_mode)) == (b"rows", 0o600)
        target.store(file)
        assert (list(feed.parent.iterdir()), feed.read_bytes()) == ([feed], b"rows")

    def test_an_earlier_feed_stays_until_then(self, feed: Path) -> None:
        feed.write_bytes(b"earlier")
        target, file = opened(feed)
        file.write(b"rows")
        assert feed.read_bytes() == b"earlier"
        target.store(file)
        assert feed.read_bytes() == b"rows"

    @pytest.mark.parametrize(
        ("named", "path"),
        [
            ("{}/a/b/urls.csv", "a/b/urls.csv"), ("file://{}/my%20urls.csv", "my urls.csv"), ("{}/" + "é" * 127, "é" * 127),
        ],
        ids=["new folders", "URI", "longest name"],
    )  # fmt: skip
    def test_a_place_may_be_named_in_any_way(self, tmp_path: Path, named: str, path: str) -> None:
        write(named.format(tmp_path), b"rows")
        assert (tmp_path / path).read_bytes() == b"rows"

    def test_a_new_feed_has_the_permissions_of_any_new_file(self, feed: Path) -> None:
        mask = os.umask(0o027)
        try:
            write(feed, b"rows")
        finally:
            os.umask(mask)
        assert stat.S_IMODE(feed.stat().st_mode) == 0o640

    def test_the_permissions_of_an_earlier_feed_stay(self, feed: Path) -> None:
        feed.touch()
        feed.chmod(0o604)
        write(feed, b"rows")
        assert stat.S_IMODE(feed.stat().st_mode) == 0o604

    def test_what_a_killed_crawl_left_of_any_feed_is_removed(self, feed: Path) -> None:
        target, file = opened(feed.with_name("of a crawl that runs.csv"))
        [running] = feed.parent.iterdir()
        left = feed.with_name(f"{prefix_of('.feed')}left")
        left.mkdir()
        write(feed, b"rows")
        assert sorted(feed.parent.iterdir()) == [running, feed]
        target.store(file)

    def test_a_link_is_followed(self, tmp_path: Path, feed: Path) -> None:
        (tmp_path / "real").mkdir()
        real = tmp_path / "real" / "rows.csv"
        feed.symlink_to(real)
        write(feed, b"rows")
        write(feed, b"rows again")
        assert (feed.is_symlink(), real.read_bytes(), list(real.parent.iterdir())) == (True, b"rows again", [real])

    def test_the_temporary_file_is_closed_before_it_is_renamed_without_locks(
        self, feed: Path, without_locks: None
    ) -> None:
        write(feed, b"rows")
        assert (feed.read_bytes(), list(feed.parent.iterdir())) == (b"rows", [feed])


class TestAppending:
    def test_an_append_begins_with_the_earlier_rows(self, feed: Path) -> None:
        feed.write_bytes(b"1\n")
        target, file = opened(feed, overwrite=False)
        assert (file.appending, file.tail) == (True, b"1\n")
        file.write(b"2\n")
        assert feed.read_bytes() == b"1\n"
        target.store(file)
        assert feed.read_bytes() == b"1\n2\n"

    @pytest.mark.parametrize("earlier", [None, b""])
    def test_nothing_to_append_to_is_a_new_feed(self, feed: Path, earlier: bytes | None) -> None:
        if earlier is not None:
            feed.write_bytes(earlier)
        target, file = opened(feed, overwrite=False)
        assert not file.appending
        target.store(file)

    def test_half_an_append_is_none(self, feed: Path) -> None:
        feed.write_bytes(b"1\n")
        target, file = opened(feed, overwrite=False)
        file.write(b"2\n")
        fill_the_disk(file)
        with pytest.raises(OSError, match="No space left on device"):
            target.store(file)
        assert (list(feed.parent.iterdir()), feed.read_bytes()) == ([feed], b"1\n")


class TestFailure:
    def test_a_full_disk_leaves_the_earlier_feed(self, feed: Path, caplog: pytest.LogCaptureFixture) -> None:
        feed.write_bytes(b"earlier")
        target, file = opened(feed)
        fill_the_disk(file)
        for _ in range(3):  # Scrapy goes on handing over items
            assert file.write(b"x" * 100_000) == 100_000
        with pytest.raises(OSError) as failure:
            target.store(file)
        assert str(failure.value) == f"{feed} was not written: No space left on device; the previous file is kept"
        assert caplog.messages == [f"{feed} cannot be written: No space left on device"]
        assert (list(feed.parent.iterdir()), feed.read_bytes()) == ([feed], b"earlier")

    def test_a_disk_that_fails_at_the_end_leaves_the_earlier_feed(
        self, feed: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fsync(number: int) -> None:
            raise OSError(5, "Input/output error")

        feed.write_bytes(b"earlier")
        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(OSError, match="was not written: Input/output error"):
            write(feed, b"rows")
        assert (list(feed.parent.iterdir()), feed.read_bytes()) == ([feed], b"earlier")

    def test_the_temporary_file_is_closed_before_it_is_removed_without_locks(
        self, feed: Path, without_locks: None
    ) -> None:
        target, file = opened(feed)
        file.fail(OSError(28, "No space left on device"))
        with pytest.raises(FeedLost, match="was not written: No space left on device"):
            target.store(file)
        assert list(feed.parent.iterdir()) == []

    @pytest.mark.parametrize("overwrite", [True, False])
    def test_a_folder_cannot_be_written(self, tmp_path: Path, overwrite: bool) -> None:
        with pytest.raises(OSError, match="was not written: Is a directory"):
            write(tmp_path, b"rows", overwrite)
        assert list(tmp_path.iterdir()) == []

    def test_a_place_that_cannot_be_made_is_told_once(self, feed: Path, caplog: pytest.LogCaptureFixture) -> None:
        feed.touch()
        with pytest.raises(OSError, match="was not written: Not a directory"):
            write(feed / "urls.csv", b"rows")
        assert caplog.messages == [f"{feed}/urls.csv cannot be written: Not a directory"]

    def test_an_earlier_feed_that_cannot_be_read_is_kept(self, feed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def begin_with(self: FeedFile, earlier: Path) -> None:
            raise PermissionError(13, "Permission denied")

        feed.write_bytes(b"earlier")
        monkeypatch.setattr(FeedFile, "begin_with", begin_with)
        with pytest.raises(OSError, match="was not written: Permission denied"):
            write(feed, b"rows", overwrite=False)
        assert (list(feed.parent.iterdir()), feed.read_bytes()) == ([feed], b"earlier")

    def test_rows_are_kept_where_the_target_cannot_be_replaced(self, feed: Path) -> None:
        target, file = opened(feed)
        file.write(b"rows")
        feed.mkdir()
        with pytest.raises(OSError, match=r"could not be replaced: Is a directory; the rows are in .*\.rows$") as lost:
            target.store(file)
        assert Path(str(lost.value).rpartition(" ")[2]).read_bytes() == b"rows"

    def test_a_feed_that_somebody_deletes_before_it_is_whole_is_told_so(self, feed: Path) -> None:
        target, file = opened(feed)
        assert file.part is not None
        file.part.unlink()
        with pytest.raises(OSError, match=r"could not be replaced: No such file .* has been deleted in the meantime$"):
            target.store(file)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (FeedLost("x.csv was not written: No space left on device"), "x.csv was not written: No space left on device"),
        (
            ConnectionRefusedError(111, "Refused"),
            "Error storing ftp://h/x.csv: ConnectionRefusedError: [Errno 111] Refused",
        ),
        (ftplib.error_perm("530 Login incorrect."), "Error storing ftp://h/x.csv: error_perm: 530 Login incorrect."),
        (ZeroDivisionError("division by zero"), None),
    ],
)
def test_place_that_is_to_blame_is_one_line_of_the_log(
    error: Exception, line: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    shorten_lost_feeds()
    logging.getLogger("scrapy.extensions.feedexport").error("Error storing %s", "ftp://h/x.csv", exc_info=error)
    [record] = caplog.records
    assert record.getMessage() == (line or "Error storing ftp://h/x.csv")
    assert (record.exc_info is None) == (line is not None)


class TestStreams:
    @pytest.mark.parametrize("overwrite", [True, False])
    def test_a_pipe_is_written_directly(self, tmp_path: Path, overwrite: bool) -> None:
        os.mkfifo(tmp_path / "pipe")
        with subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE) as reader:
            write(tmp_path / "pipe", b"rows", overwrite)
            assert reader.communicate()[0] == b"rows"
        assert [path.name for path in tmp_path.iterdir()] == ["pipe"]

    def test_a_pipe_whose_reader_has_gone_is_no_failure(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        os.mkfifo(tmp_path / "pipe")
        reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        target, file = opened(tmp_path / "pipe")
        os.close(reader)
        file.write(b"rows")
        target.store(file)
        assert isinstance(file.failure, BrokenPipeError)
        assert caplog.messages == []

    def test_nothing_is_a_place_too(self) -> None:
        write("/dev/null", b"rows")
        assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)

    def test_a_full_device_is_a_failure(self) -> None:
        with pytest.raises(OSError, match="/dev/full was not written: No space left on device"):
            write("/dev/full", b"rows")


JOB = """
import json, sys
from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from sitemapcrawler.items import SitemapRecord, UrlBatch, UrlRecord

class Job(Spider):
    name = "job"
    async def start(self):
        for number in range(BATCHES):
            yield UrlBatch("s", [UrlRecord(loc=f"https://e.com/{number}/{i}", sitemap="s") for i in range(1000)])
        yield SitemapRecord(sitemap="s")

BATCHES = int(sys.argv[1])
exporters = {name: f"sitemapcrawler.feeds.exporters.{cls}Exporter" for name, cls in
             {"csv": "Csv", "json": "Json", "jsonl": "JsonLines"}.items()}
storages = dict.fromkeys(("", "file"), "sitemapcrawler.feeds.storages.AtomicFileStorage")
storages["stdout"] = "sitemapcrawler.feeds.storages.StandardOutputStorage"
process = CrawlerProcess({
    "FEEDS": json.loads(sys.argv[2]), "FEED_EXPORTERS": exporters, "FEED_STORAGES": storages,
    "FEED_EXPORT_ENCODING": "utf-8", "LOG_LEVEL": "INFO", "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False, "CONCURRENT_ITEMS": 1,
})
process.crawl(Job)
process.start()
"""


def job(feeds: dict[str, dict[str, Any]], folder: Path, batches: int = 2) -> subprocess.Popen[bytes]:
    """A crawl in a process of its own that writes `batches` batches of 1,000 records and one sitemap record."""
    script = folder / "job.py"
    script.write_text(JOB)
    path = os.pathsep.join([str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, script, str(batches), json.dumps(feeds)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
    )


def log_of(process: subprocess.Popen[bytes]) -> str:
    """What the crawl logged, after its end."""
    _, log = process.communicate(timeout=60)
    assert process.returncode == 0, log.decode()
    assert b"Traceback" not in log, log.decode()
    return log.decode()


class TestCrawl:
    @pytest.mark.slow
    def test_append_writes_no_second_header(self, tmp_path: Path) -> None:
        feeds: dict[str, dict[str, Any]] = {
            "urls.csv": {"format": "csv"},
            "urls.csv.gz": {"format": "csv", "postprocessing": [GZIP]},
            "urls.jsonl": {"format": "jsonl"},
        }
        (tmp_path / "urls.jsonl").write_text('{"type":"mine"}')  # without an end of line
        for _ in range(2):
            log_of(job(feeds, tmp_path, batches=1))
        plain = (tmp_path / "urls.csv").read_bytes()
        assert (plain.count(b"\n"), plain.count(b"loc,status")) == (2001, 1)
        assert gzip.decompress((tmp_path / "urls.csv.gz").read_bytes()) == plain
        kinds = [json.loads(line)["type"] for line in (tmp_path / "urls.jsonl").read_text().splitlines()]
        assert kinds == ["mine", *["url"] * 1000, "sitemap", *["url"] * 1000, "sitemap"]

    @pytest.mark.slow
    def test_head_closes_standard_output_and_the_crawl_ends_in_peace(self, tmp_path: Path) -> None:
        process = job({"stdout:": {"format": "jsonl"}}, tmp_path, batches=20)
        assert process.stdout is not None
        process.stdout.close()
        process.stdout = None
        log = log_of(process)
        assert "Broken" not in log
        assert "Stored jsonl feed (21 items)" in log
