"""Servers for one test each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crawl.site_server import SiteServer


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
