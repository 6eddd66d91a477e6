"""The end of a test run."""

from __future__ import annotations

import os

import pytest


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Let pytest's summary be the last line: behind it, DuckDB's binding lists objects on standard error that caches of
    the test tools still hold when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
