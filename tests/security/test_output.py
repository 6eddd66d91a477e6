"""What strangers wrote, in feeds and logs: inert in each, and true in JSON and Parquet."""

from __future__ import annotations

import csv
import io
import json
import logging
import re
from collections.abc import Iterator
from typing import Any
from unittest import mock
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.extensions.logs import MAX_LINE, MAX_LINES, inert_traceback, make_inert
from sitemapcrawler.feeds.columns import Cells
from sitemapcrawler.feeds.storages import Outlet
from sitemapcrawler.urls.display import inert
from tests.crawl.crawling import Crawl
from tests.security.hostile_site import ALL, COMMAND, ESCAPES, FAKE_LINE, FORMULAS, TERMINAL, unseen

RUN = tuple("=+-@\uff1d\uff0b\uff0d\uff20")
BLANK = "\"' \ufeff\u200b\u00a0"
BEGINNING = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[[\w.]+\] [A-Z]+: ")

TABLES = ("out.csv", "cells.csv")
"""With flat columns, and with JSON in cells."""


def records(crawl: Crawl, name: str = "out.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (crawl.folder / name).read_text("utf-8").split("\n") if line]


@pytest.fixture(scope="module", autouse=True)
def long_cells() -> Iterator[None]:
    """Cells of any length can be read."""
    before = csv.field_size_limit(10_000_000)
    yield
    csv.field_size_limit(before)


@pytest.fixture(scope="module")
def text(written: Crawl) -> dict[str, str]:
    """What was written, by name of the file."""
    return {path.name: path.read_text("utf-8") for path in written.folder.iterdir() if path.suffix[1:] in
            ("csv", "json", "jsonl", "sarif", "junit", "log")}  # fmt: skip


# ---- feeds


def test_json_and_parquet_keep_the_true_text(written: Crawl, text: dict[str, str]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    urls = [record for record in records(written) if record["type"] == "url"]
    assert json.loads(text["out.json"]) == records(written)
    found = {url.get("lastmod") for url in urls}
    assert found > {formula.strip() for formula in FORMULAS if formula[0] != "\ufeff"}
    assert {ALL.strip(), "t" * 100_000} <= found
    rows = parquet.read_table(written.folder / "out.parquet").to_pylist()
    assert [row["loc"] for row in rows] == [url["loc"] for url in urls]
    assert [row["lastmod"] for row in rows] == [url.get("lastmod") for url in urls]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_no_cell_of_a_table_is_run_however_a_spreadsheet_splits_it(
    text: dict[str, str], delimiter: str, name: str
) -> None:
    rows = list(csv.reader(io.StringIO(text[name]), delimiter=delimiter, quoting=csv.QUOTE_MINIMAL))
    seen = [cell.lstrip(BLANK) for row in rows for cell in row if not cell.startswith("'")]
    assert len(seen) > 10
    assert [cell for cell in seen if cell.startswith(RUN) and not re.fullmatch(r"-[0-9.]+", cell)] == []
    assert "'=1+1" in [cell for row in rows for cell in row] or delimiter != ","


def test_a_table_comes_back_but_for_the_apostrophes(written: Crawl, text: dict[str, str]) -> None:
    urls = [record for record in records(written) if record["type"] == "url"]
    for name in TABLES:
        header, *rows = csv.reader(io.StringIO(text[name]))
        lastmods = [Cells().armed(row[header.index("lastmod")]) for row in rows]
        assert lastmods == [url.get("lastmod", "") for url in urls]


def test_findings_for_code_hosts_are_short_and_show_everything(text: dict[str, str]) -> None:
    assert unseen(text["out.sarif"]) == unseen(text["out.junit"]) == []
    (run,) = json.loads(text["out.sarif"])["runs"]
    messages = [result["message"]["text"] for result in run["results"]]
    assert max(map(len, messages)) <= 1001
    assert "](" not in "".join(messages) and COMMAND[:6] not in text["out.sarif"]
    assert [line for line in text["out.junit"].split("\n") if len(line) > 10_000] == []
    cases = ElementTree.fromstring(text["out.junit"]).findall(".//testcase")
    assert {"loc-invalid-uri", "robots-field-unknown"} <= {case.get("name") for case in cases}


# ---- logs


def test_log_has_a_line_for_each_record_and_nothing_that_a_terminal_runs(written: Crawl, text: dict[str, str]) -> None:
    log = text["file.log"]
    assert unseen(log) == []
    assert r"no\x1b]0;title\x07" in log
    assert "Retrying" in log
    assert [line for line in log.split("\n") if len(line) > MAX_LINE + 100] == []
    assert COMMAND[:6] not in log
    assert [line for line in log.split("\n") if FAKE_LINE in line and not BEGINNING.match(line)] == []
    assert not any(line.startswith(FAKE_LINE[:30]) for line in log.split("\n"))
    assert written.log == ""


def test_status_that_is_no_number_of_three_digits_is_no_answer(written: Crawl, text: dict[str, str]) -> None:
    (reply,) = [record["reply"] for record in records(written) if record.get("loc", "").endswith("/number")]
    assert (reply["kind"], reply.get("status")) == ("reset", None)
    assert "internal error" not in text["out.jsonl"]
    assert "9" * 21 not in text["file.log"]


@pytest.mark.slow
@given(st.text(st.characters(exclude_categories=())) | st.sampled_from([ALL, ESCAPES, "x" * 5_000_000]))
def test_any_message_becomes_one_line(message: str) -> None:
    record = logging.makeLogRecord({"name": "scrapy.core.engine", "msg": "%s: %s", "args": ("x", message)})
    assert make_inert(record)
    shown = record.getMessage()
    assert shown.isprintable() and len(shown) <= MAX_LINE and COMMAND[:6] not in shown
    if message.isprintable() and "##" not in message and len(message) < 4000:
        assert record.args == ("x", message)


def test_password_of_a_feed_is_in_no_record() -> None:
    record = logging.makeLogRecord({"msg": "wrote %s", "args": ("ftp://user:secret@files.example/out.jsonl",)})
    make_inert(record)
    assert record.getMessage() == "wrote ftp://***@files.example/out.jsonl"


def test_traceback_cannot_be_taken_for_other_records() -> None:
    try:
        raise ValueError(f"\n{FAKE_LINE}{ESCAPES}\r" + "\n" * 1000)
    except ValueError as error:
        record = logging.makeLogRecord({"msg": "failed", "exc_info": (type(error), error, error.__traceback__)})
        made = inert_traceback(error)
    make_inert(record)
    first, *lines = logging.Formatter().format(record).split("\n")
    assert first == "failed"
    assert all(line.startswith("  ") and line.isprintable() for line in lines)
    assert len(lines) <= MAX_LINES
    first, *same = made.split("\n")
    assert first.startswith("ValueError: ") and first.isprintable()
    assert same == lines


def test_tables_of_scrapy_keep_their_lines() -> None:
    record = logging.makeLogRecord(
        {"name": "scrapy.middleware", "msg": "Enabled:\n%s", "args": (f"['a',\n '{TERMINAL}']",)}
    )
    make_inert(record)
    assert record.getMessage().split("\n")[:2] == ["Enabled:", "['a',"]
    assert unseen(record.getMessage()) == []


@pytest.mark.parametrize("text", [FAKE_LINE, ESCAPES])
def test_item_of_a_project_is_on_indented_lines(text: str) -> None:
    values = {"src": "<200 a>", "item": f"{{'a': 1,\n{text}"}
    record = logging.makeLogRecord({"msg": "Scraped from %(src)s\n%(item)s", "args": values})
    make_inert(record)
    first, *lines = record.getMessage().split("\n")
    assert (first, lines[0]) == ("Scraped from <200 a>", "  {'a': 1,")
    assert all(line.startswith("  ") and line.isprintable() for line in lines)


# ---- text


@given(st.text(st.characters(exclude_categories=())), st.integers(3, 50))
def test_inert_text_is_seen_whole_and_bounded(message: str, limit: int) -> None:
    shown = inert(message, limit)
    assert shown.isprintable()
    assert len(shown) <= limit
    assert not re.search(r"##\w*\[", shown)


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_json_on_a_terminal_means_the_same_and_can_be_seen(message: str) -> None:
    file = io.BytesIO()
    with mock.patch("sitemapcrawler.feeds.storages.is_terminal", return_value=True):
        Outlet(file, "utf-8", "strict").write_utf8(json.dumps(message, ensure_ascii=False).encode() + b"\n")
    shown = file.getvalue().decode()
    assert unseen(shown, "\n") == []
    assert json.loads(shown) == message
