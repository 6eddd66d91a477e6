"""What holds for all tests: how long an example of hypothesis takes says nothing, and how a run ends."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

settings.register_profile("busy machine", deadline=None)
settings.load_profile("busy machine")


@pytest.hookimpl(trylast=True)
def pytest_unconfigure() -> None:
    """Let pytest's summary be the last line: behind it, DuckDB's binding lists objects on standard error that caches of
    the test tools still hold when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
