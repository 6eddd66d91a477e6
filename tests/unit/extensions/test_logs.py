"""The log of a crawl whose disk is full."""

from __future__ import annotations

import logging
from contextlib import suppress
from pathlib import Path

import pytest

from sitemapcrawler.extensions.logs import guard_log


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_a_full_disk_is_one_line_and_ends_the_log(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    handler = logging.FileHandler("/dev/full")
    monkeypatch.setattr(logging.root, "handlers", [handler])
    guard_log()
    for _ in range(3):
        logging.getLogger("sitemapcrawler").error("a record")
    err = capsys.readouterr().err
    with suppress(OSError):  # what is left cannot be written either
        handler.close()
    assert err == "sitemapcrawler: the log ends here: No space left on device\n"


def test_a_handler_of_no_file_keeps_its_own_way_with_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    handler = logging.Handler()
    monkeypatch.setattr(logging.root, "handlers", [handler])
    guard_log()
    assert handler.handleError == logging.Handler.handleError.__get__(handler)
