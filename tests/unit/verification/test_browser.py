"""What the processes of the browser may take, and this one may."""

from __future__ import annotations

import subprocess
import sys

import pytest

from sitemapcrawler.verification import browser

ALLOCATE = "bytearray(4 * 2**30)"
"""More than any limit here."""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit data")
def test_memory_is_limited_for_what_is_started_and_not_for_what_this_process_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(browser, "MEMORY", 64 * 2**20)
    ours = [bytearray(128 * 2**20)]
    with browser._limited_memory():
        ours.append(bytearray(16 * 2**20))
        ended = subprocess.run([sys.executable, "-c", ALLOCATE], stderr=subprocess.PIPE, text=True, check=False)
    assert "MemoryError" in ended.stderr
    assert bytearray(256 * 2**20), "the limit is back"
