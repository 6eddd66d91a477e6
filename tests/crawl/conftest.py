"""Servers for one test each."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.crawl.downloaders import DOWNLOADERS, skip_without
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


@pytest.fixture(scope="module", params=DOWNLOADERS)
def downloader(request: pytest.FixtureRequest) -> str:
    """Each value of SITEMAP_DOWNLOADER."""
    skip_without(request.param)
    return str(request.param)
