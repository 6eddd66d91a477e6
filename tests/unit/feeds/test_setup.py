"""Feeds: completed and checked before a crawl begins."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings
from scrapy.utils.conf import feed_process_params_from_cli
from scrapy.utils.misc import load_object

from sitemapcrawler.feeds import exporters, uris
from sitemapcrawler.feeds import setup as feeds
from sitemapcrawler.items import UrlRecord


def written(*others: str) -> str:
    """The formats as messages list them, with those of `others`."""
    return ", ".join(sorted({*(load_object(path).suffix for path in feeds.OURS.values() if path), *others}))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("target", "named"),
    [
        ("out.csv", "out.csv:csv"),
        ("out.jsonl.gz", "out.jsonl.gz:jsonl"),
        ("out/URLS.CSV", "out/URLS.CSV:csv"),
        ("out:json", "out:json"),
        ("out.txt:jl", "out.txt:jl"),
        ("-:jsonlines", "-:jsonlines"),
        ("file:///tmp/out.csv", "file:///tmp/out.csv:csv"),
        ("file:///tmp/out:csv", "file:///tmp/out:csv"),
        ("s3://bucket/out.v2.json", "s3://bucket/out.v2.json:json"),
        ("12:30.csv", "12:30.csv:csv"),
        ("out.parquet", "out.parquet:parquet"),
    ],
)
def test_a_target_has_its_format_named(target: str, named: str) -> None:
    assert feeds.named_formats([target]) == [named]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("out.xml", "feed format xml is not supported"),
        ("out.csv:xml", "feed format xml is not supported"),
        ("-:pickle", "feed format pickle is not supported"),
        ("out.marshal.gz", "feed format marshal is not supported"),
        ("out", "feed out names no format"),
        ("-", "feed - names no format"),
        ("out.gz", "feed out.gz names no format"),
    ],
)
def test_a_target_of_another_format_is_refused(target: str, message: str) -> None:
    with pytest.raises(ValueError) as refusal:
        feeds.named_formats([target])
    assert str(refusal.value) == f"{message}; use {written()}"


def test_named_targets_are_understood_by_scrapy(folder: Path) -> None:
    targets = feeds.named_formats(["urls.csv.gz", "-:jsonl", f"file://{folder}/A.JSON"])
    from_cli = feed_process_params_from_cli(Settings(), [], overwrite_output=targets)
    assert feeds.prepared(from_cli) == {
        "urls.csv.gz": {"format": "csv", "overwrite": True, "postprocessing": [feeds.GZIP]},
        "stdout:": {"format": "jsonl"},
        f"file://{folder}/A.JSON": {"format": "json", "overwrite": True},
    }


def test_a_feed_has_the_format_of_its_suffix_in_a_copy() -> None:
    given: dict[Any, dict[str, Any]] = {"a.csv": {}, Path("b.jsonl.gz"): {}}
    assert feeds.prepared(given) == {
        "a.csv": {"format": "csv"},
        Path("b.jsonl.gz"): {"format": "jsonl", "postprocessing": [feeds.GZIP]},
    }
    assert given == {"a.csv": {}, Path("b.jsonl.gz"): {}}
    assert feeds.named_formats(None) == []


def test_what_a_feed_says_itself_stays() -> None:
    options = {
        "format": "csv",
        "postprocessing": ["scrapy.extensions.postprocessing.LZMAPlugin"],
        "item_classes": ["collections.Counter"],
        "item_filter": "scrapy.extensions.feedexport.ItemFilter",
        "item_export_kwargs": {"item_classes": ["sitemapcrawler.items.UrlRecord"]},
    }
    assert feeds.prepared({"a.gz": options}) == {"a.gz": options}


def test_item_classes_reach_into_batches() -> None:
    options = feeds.prepared({"a.csv": {"item_classes": ["sitemapcrawler.items.UrlRecord"]}})["a.csv"]
    assert load_object(options["item_filter"]) is exporters.RecordFilter


@pytest.mark.parametrize(
    ("uri", "is_local"),
    [
        *((uri, True) for uri in (r"C:\out\urls.csv", "C:/out/urls.csv", "out/urls.csv", "/out/urls.csv")),
        *((uri, False) for uri in ("s3://bucket/urls.csv", "stdout:", "x:out")),
    ],
)
def test_a_path_with_a_drive_is_local_and_a_scheme_is_no_drive(uri: str, is_local: bool) -> None:
    assert uris.local_path(uri) == (Path(uri) if is_local else None)


def test_formats_of_the_settings_are_known() -> None:
    yaml = {"yaml": "scrapy.exporters.XmlItemExporter"}
    feeds.check_feeds({"x:out": {"format": "yaml"}}, exporters=yaml, schemes={"x"})
    with pytest.raises(ValueError, match=r"^feed format csv is not supported; use yaml$"):
        feeds.check_feeds({"x:out": {"format": "csv"}}, exporters=yaml, schemes={"x"})
    with pytest.raises(ValueError, match=r"^yaml cannot be appended to; use -O"):
        feeds.check_feeds({"out.yaml": {}}, exporters=yaml)
    with pytest.raises(ValueError, match=r"^setting FEED_EXPORTERS: yaml: .*no_such_module"):
        feeds.check_feeds({"out.yaml": {}}, exporters={"yaml": "no_such_module.Yaml"})


class LocExporter(exporters.RecordExporter):
    """A format of somebody else."""

    suffix = "loc"
    record_types = (UrlRecord,)
    is_appendable = True
    selects_records = True
    requires = "toy"

    @classmethod
    def check_options(cls, options: Mapping[str, Any]) -> None:
        if options.get("missing"):
            raise ImportError
        if "colour" in options:
            raise ValueError("colour is not known")


TOY = {**feeds.OURS, "loc": LocExporter, "urls": LocExporter}


def test_what_an_exporter_declares_is_checked() -> None:
    kind = "sitemapcrawler.items.UrlRecord"
    completed = feeds.prepared({"out.loc": {"item_classes": [kind]}}, TOY)
    assert completed["out.loc"]["item_export_kwargs"] == {"item_classes": [kind]}
    assert feeds.named_formats(["out.urls"], TOY) == ["out.urls:urls"]
    with pytest.raises(ValueError, match=rf"^feed out names no format; use {written('loc')}$"):
        feeds.named_formats(["out"], TOY)
    with pytest.raises(ValueError, match=r"^feed format loc needs toy: pip install toy$"):
        feeds.check_feeds({"out.loc": {"item_export_kwargs": {"missing": True}}}, TOY)
    with pytest.raises(ValueError, match=r"^item_export_kwargs of out.loc cannot work: colour is not known$"):
        feeds.check_feeds({"out.loc": {"item_export_kwargs": {"colour": "red"}}}, TOY)
    settings = Settings({"FEEDS": {"out.loc": {"item_classes": ["sitemapcrawler.items.RobotsRecord"]}}})
    settings.set("FEED_EXPORTERS", TOY)
    with pytest.raises(
        ValueError, match=r"^out.loc cannot hold RobotsRecord: loc holds url records alone; use jsonl or"
    ):
        feeds.check_columns(settings)


@pytest.mark.parametrize("uri", ["out.csv", "out.jsonl", "out.jl", "stdout:", "s3://bucket/out.json", "/dev/null"])
def test_appending_is_for_rows(uri: str) -> None:
    feeds.check_feeds({uri: {"format": Path(uri).suffix[1:] or "json"}})


def test_parquet_of_findings_gets_its_type_of_record() -> None:
    classes = ["sitemapcrawler.items.FindingRecord"]
    feed = feeds.prepared({"out.parquet": {"overwrite": True, "item_classes": classes}})["out.parquet"]
    assert (feed["item_export_kwargs"], feed["item_filter"]) == ({"item_classes": classes}, feeds.FILTER)


WITHOUT_PYARROW = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Blocker())
from sitemapcrawler.cli import main
main(["sitemapcrawler", "crawl", "sitemap", "-a", "domain=127.0.0.1:1", *sys.argv[1:]])
"""


def test_without_pyarrow_parquet_is_refused_in_one_line(folder: Path) -> None:
    done = without_pyarrow("-O", "out.parquet")
    line = "sitemapcrawler: feed format parquet needs pyarrow: pip install pyarrow\n"
    assert (done.returncode, done.stderr, done.stdout) == (2, line, "")
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_without_pyarrow_other_feeds_are_written(folder: Path) -> None:
    done = without_pyarrow("-O", "out.csv", "-s", "RETRY_ENABLED=0", "-s", "AUTOTHROTTLE_ENABLED=0")
    assert done.returncode == 4, done.stderr
    assert "Traceback" not in done.stderr
    assert (folder / "out.csv").read_text().startswith("loc,status,")


def without_pyarrow(*options: str) -> subprocess.CompletedProcess[str]:
    """A crawl of a closed port, in a process that finds no pyarrow."""
    path = os.pathsep.join([str(Path(__file__).parents[3]), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_PYARROW, *options],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=60,
    )


TWICE = "cannot be gzip: parquet is already compressed; omit .gz"
REFUSED: list[tuple[str, Any, str]] = [
    *(("out", {"format": name}, f"feed format {name} is not supported; use {written()}")
      for name in ("xml", "pickle", "marshal", "yaml")),
    ("a.csv", "csv", "setting FEEDS: a.csv: accepted: a dictionary of options"),
    *(("a.csv", {name: ["no_such.Part"] if name == "postprocessing" else "no_such.Part"},
       f"{name} of a.csv: No module named 'no_such'") for name in ("item_filter", "uri_params", "postprocessing")),
    ("ftp://[bad/x.csv", {"format": "csv"}, "ftp://[bad/x.csv cannot be written: Invalid IPv6 URL"),
    ("htp://e.com/a.csv", {"format": "csv"}, "htp://e.com/a.csv cannot be written: no storage is known for htp:"),
    *(("out.csv", {"encoding": name}, f"character encoding {name} is not known; use utf-8")
      for name in ("utf-9", "base64")),
    *((uri, {"format": "json"}, "json cannot be appended to; use -O")
      for uri in ("out.json", "file://{folder}/out.json", "{folder}/out.json")),
    ("out.parquet", {"format": "parquet"}, "parquet cannot be appended to; use -O"),
    ("out.parquet.gz", {"overwrite": True}, f"out.parquet.gz {TWICE}"),
    ("out.gz", {"overwrite": True, "format": "parquet"}, f"out.gz {TWICE}"),
    ("out.parquet", {"overwrite": True, "postprocessing": [feeds.GZIP]}, f"out.parquet {TWICE}"),
    ("out.parquet", {"overwrite": True, "item_export_kwargs": {"compression": "rar"}},
     "item_export_kwargs of out.parquet cannot work: Unsupported compression: rar"),
    *((uri, {"format": "csv"}, f"{uri} is a folder; name a file in it")
      for uri in ("there", "there/", "new/", "file:{folder}/there")),
    *((uri, {"format": "csv"}, f"{uri} cannot be written: Not a directory")
      for uri in ("file/out.csv", "file/new/out.csv")),
    ("loop.csv", {"format": "csv"}, "loop.csv cannot be written: Too many levels of symbolic links"),
    (f"{'a' * 300}.csv", {"format": "csv"}, f"{'a' * 300}.csv cannot be written: File name too long"),
]  # fmt: skip
"""(URI, options, start of the message)."""


@pytest.mark.parametrize(("uri", "options", "message"), REFUSED)
def test_a_feed_that_cannot_work_is_refused(folder: Path, uri: str, options: Any, message: str) -> None:
    (folder / "there").mkdir()
    (folder / "file").touch()
    (folder / "loop.csv").symlink_to("loop.csv")
    with pytest.raises(ValueError) as refusal:
        feeds.prepared({uri.format(folder=folder): options})
    assert str(refusal.value).startswith(message.format(folder=folder))


@pytest.mark.parametrize(
    ("uri", "options"),
    [
        ("out.json", {"format": "json", "overwrite": True}),
        ("out.parquet", {"format": "parquet", "overwrite": True}),
        ("stdout:", {"format": "parquet"}),
        ("out.parquet", {"overwrite": True, "item_export_kwargs": {"compression": "gzip", "row_group_size": 10}}),
    ],
)
def test_a_feed_that_can_work_is_accepted(uri: str, options: dict[str, Any]) -> None:
    assert [*feeds.prepared({uri: options})] == [uri]


def test_the_encoding_of_all_feeds_is_checked() -> None:
    settings = Settings({"FEEDS": {"out.csv": {"format": "csv"}}, "FEED_EXPORT_ENCODING": "utf-9"})
    with pytest.raises(ValueError, match=r"^character encoding utf-9 is not known; use utf-8$"):
        feeds.prepare_feeds(settings)


def test_a_folder_without_permission_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ValueError, match=rf"^new/out.csv cannot be written: no permission to write in {folder}$"):
        feeds.check_feeds({"new/out.csv": {"format": "csv"}})


def test_checking_makes_nothing(folder: Path) -> None:
    feeds.check_feeds({"a/b/out-%(time)s.csv": {"format": "csv"}, "out.json": {"format": "json", "overwrite": True}})
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("path", "is_stream"),
    [
        *((path, True) for path in ("/dev/null", "/dev/stdout", "/dev/fd/1", "pipe")),
        *((path, False) for path in ("file", "missing", ".")),
    ],
)
def test_streams_are_told_from_files_and_folders(folder: Path, path: str, is_stream: bool) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "file").touch()
    assert uris.is_stream(Path(path)) is is_stream
