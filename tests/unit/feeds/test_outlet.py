"""Feeds where standard output is no file: a server has put its log there."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from twisted.python.log import StdioOnnaStick

from sitemapcrawler.feeds.exporters import JsonLinesExporter
from sitemapcrawler.feeds.storages import standard_output
from sitemapcrawler.items import UrlRecord

IN_ITS_PLACE = pytest.mark.parametrize("stream", [StdioOnnaStick(), None], ids=["a log", "closed"])


@IN_ITS_PLACE
def test_feed_of_a_file_is_finished(stream: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", stream)
    with (tmp_path / "rows.jsonl").open("wb") as file:
        exporter = JsonLinesExporter(file)
        exporter.export_item(UrlRecord(loc="https://e.com/"))
        exporter.finish_exporting()
    assert json.loads((tmp_path / "rows.jsonl").read_bytes())["loc"] == "https://e.com/"


@IN_ITS_PLACE
def test_feed_of_standard_output_is_refused(stream: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", stream)
    with pytest.raises(OSError, match=r"it is closed|it goes to a log"):
        standard_output()
