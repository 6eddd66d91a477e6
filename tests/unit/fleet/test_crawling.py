"""The settings of one crawl of a fleet, and where its files go."""

from __future__ import annotations

from pathlib import Path

import pytest
from scrapy.extensions.feedexport import FileFeedStorage, apply_uri_params

from sitemapcrawler.fleet.crawling import SUMMARY, CrawlJob, settings_of
from sitemapcrawler.fleet.domains import TABLES


@pytest.mark.parametrize("name", ["plain", "a b", "100%", "a%20b", "%(time)s", "%d", "a#b", "it's", "\u00fc"])
def test_its_files_go_to_its_folder_whatever_that_is_called(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    settings = settings_of(CrawlJob("example.com", {}, {}, str(folder)))
    places = [FileFeedStorage(apply_uri_params(uri, {"time": "now"})).path for uri in settings["FEEDS"]]
    assert sorted(places) == sorted(str(folder / file) for file in (SUMMARY, *(f"{table}.parquet" for table in TABLES)))
