"""Settings as a crawl needs them: parts of Scrapy that are switched off are not even imported."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings
from scrapy.settings.default_settings import DOWNLOADER_MIDDLEWARES_BASE, EXTENSIONS_BASE

from sitemapcrawler.audit.configuring import SWITCHED, leave_out, write_anew

COOKIES = "scrapy.downloadermiddlewares.cookies.CookiesMiddleware"
BASES = {"DOWNLOADER_MIDDLEWARES_BASE": DOWNLOADER_MIDDLEWARES_BASE, "EXTENSIONS_BASE": EXTENSIONS_BASE}


def parts(**chosen: object) -> dict[str, int]:
    """Scrapy's own parts, with settings of ours and those that are chosen, after our own are left out."""
    settings = Settings()
    settings.setmodule("sitemapcrawler.settings")
    settings.setdict(chosen, "cmdline")
    process = settings.copy()
    leave_out(settings)
    settings.update(process)  # as Scrapy does with the settings of the process when the crawl begins
    return {part: order for base in BASES for part, order in settings.getdict(base).items()}


def test_what_is_switched_off_is_left_out() -> None:
    everything = {part: order for base in BASES.values() for part, order in base.items()}
    assert parts() == {part: order for part, order in everything.items() if part not in SWITCHED}
    assert COOKIES in everything


@pytest.mark.parametrize("value", [True, "1", "True"])
def test_what_is_switched_on_stays(value: object) -> None:
    assert COOKIES in parts(COOKIES_ENABLED=value)


def test_feed_that_has_the_name_of_the_job_is_written_anew() -> None:
    """Scrapyd names it so, and says nothing of what is to come of an earlier one."""
    feeds: dict[str, dict[str, object]] = {
        "file:///srv/items/audits/sitemap/monday.jl": {"format": "jsonlines"},
        "/srv/monday.csv": {"format": "csv", "overwrite": False},
        "/srv/urls.csv": {"format": "csv"},
        "s3://bucket/monday.jl": {"format": "jsonlines"},
    }
    settings = Settings({"FEEDS": feeds}, "cmdline")
    write_anew(settings, "monday")
    anew = {uri: options.get("overwrite") for uri, options in settings.getdict("FEEDS").items()}
    assert list(anew.values()) == [True, False, None, None]
    assert list(anew) == list(feeds)
    assert settings.getpriority("FEEDS") == Settings({"FEEDS": {}}, "cmdline").getpriority("FEEDS")
