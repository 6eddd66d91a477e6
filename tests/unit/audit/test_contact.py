"""The contact in the User-Agent header."""

from __future__ import annotations

import pytest
from scrapy.settings import Settings

from sitemapcrawler import __version__
from sitemapcrawler.audit.contact import MAX_CONTACT, add_contact, contact_of
from sitemapcrawler.middlewares.robots import own_agent
from sitemapcrawler.settings import USER_AGENT


def settings(contact: object, agent: str = USER_AGENT) -> Settings:
    return Settings({"SITEMAP_CONTACT_URL": contact, "USER_AGENT": agent})


@pytest.mark.parametrize(
    "contact", ["https://example.com/bot", "http://[::1]:8000/", "mailto:audit@example.com", "mailto:a@e.com?subject=x"]
)
def test_contact_stands_in_the_user_agent(contact: str) -> None:
    chosen = settings(contact)
    add_contact(chosen)
    assert chosen["USER_AGENT"] == f"sitemapcrawler/{__version__} (+{contact})"
    assert own_agent(chosen) == own_agent(settings(""))


@pytest.mark.parametrize("contact", ["", None])
def test_without_a_contact_the_user_agent_stays(contact: str | None) -> None:
    chosen = settings(contact)
    add_contact(chosen)
    assert chosen["USER_AGENT"] == USER_AGENT


def test_agent_of_the_user_stays() -> None:
    chosen = settings("https://example.com/bot", "shop-audit/1.0")
    add_contact(chosen)
    assert chosen["USER_AGENT"] == "shop-audit/1.0"


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
