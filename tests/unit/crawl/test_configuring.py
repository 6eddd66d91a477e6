"""Settings as a crawl needs them: parts of Scrapy that are switched off are not even imported."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings
from scrapy.settings.default_settings import DOWNLOADER_MIDDLEWARES_BASE, EXTENSIONS_BASE

from sitemapcrawler import __version__
from sitemapcrawler.crawl.configuring import MAX_CONTACT, SWITCHED, add_contact, contact_of, leave_out
from sitemapcrawler.download.policies import own_agent
from sitemapcrawler.feeds.setup import overwrite
from sitemapcrawler.settings import USER_AGENT

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
    overwrite(settings, "monday")
    anew = {uri: options.get("overwrite") for uri, options in settings.getdict("FEEDS").items()}
    assert list(anew.values()) == [True, False, None, None]
    assert list(anew) == list(feeds)
    assert settings.getpriority("FEEDS") == Settings({"FEEDS": {}}, "cmdline").getpriority("FEEDS")


def settings(contact: object, agent: str = USER_AGENT) -> Settings:
    return Settings({"SITEMAP_CONTACT_URL": contact, "USER_AGENT": agent})


@pytest.mark.parametrize(
    ("contact", "agent", "told"),
    [
        *(
            (contact, USER_AGENT, f"sitemapcrawler/{__version__} (+{contact})")
            for contact in (
                "https://example.com/bot", "http://[::1]:8000/", "mailto:audit@example.com", "mailto:a@e.com?subject=x"
            )
        ),
        ("", USER_AGENT, USER_AGENT),
        (None, USER_AGENT, USER_AGENT),
        ("https://example.com/bot", "shop-audit/1.0", "shop-audit/1.0"),
    ],
)  # fmt: skip
def test_contact_stands_in_the_user_agent_of_this_project(contact: str | None, agent: str, told: str) -> None:
    chosen = settings(contact, agent)
    add_contact(chosen)
    assert chosen["USER_AGENT"] == told
    assert own_agent(chosen) == own_agent(settings("", agent))


@pytest.mark.parametrize(
    "contact",
    [
        "audit@example.com",
        "example.com/bot",
        "ftp://example.com/",
        "https://",
        "mailto:",
        "mailto:audit@",
        "mailto:a@e.com\r\nX-More: b",
        "https://example.com/\nX-More: b",
        "https://example.com/\x1b[0m",
        "https://example.com/a b",
        "https://example.com/(bot)",
        "https://straße.example/",
        f"https://example.com/{'x' * MAX_CONTACT}",
        5,
    ],
)
def test_anything_else_is_refused_in_one_line(contact: object) -> None:
    with pytest.raises(ValueError, match=r"SITEMAP_CONTACT_URL.*; accepted: ") as refused:
        contact_of(settings(contact))
    assert str(refused.value).isprintable()


def test_password_is_refused_and_not_shown() -> None:
    with pytest.raises(ValueError, match="SITEMAP_CONTACT_URL") as refused:
        contact_of(settings("https://me:secret@example.com/"))
    assert "secret" not in str(refused.value)
