"""The contact of whoever runs the crawl, in the User-Agent header: `sitemapcrawler/0.1.0 (+https://example.com/bot)`.

A site whose operator knows whom to ask blocks a crawler later, or not at all.
"""

from __future__ import annotations

import re

from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings

from sitemapcrawler import __version__, urls
from sitemapcrawler import settings as ours

CONTACT = "SITEMAP_CONTACT_URL"
ACCEPTED = "a URL such as https://example.com/bot or mailto:audit@example.com"
MAX_CONTACT = 256
"""Characters; servers limit a header, and logs cut it."""
IN_A_COMMENT = re.compile(r"[!#-'*-;=?-\[\]-~]+")
"""What a comment of a header takes unescaped, of what a URL may have. Source: RFC 9110, 5.6.5; RFC 3986, 2"""
MAILBOX = re.compile(r"mailto:[^@/?]+@[^@/?.]+(?:\.[^@/?.]+)*(?:\?.*)?", re.IGNORECASE)
"""One address. Source: RFC 6068, 2"""


def contact_of(settings: BaseSettings) -> str:
    """The URL in SITEMAP_CONTACT_URL; empty for none. ValueError, one line, for anything else."""
    given = settings.get(CONTACT) or ""
    if not given:
        return ""
    if not isinstance(given, str) or len(given) > MAX_CONTACT or not IN_A_COMMENT.fullmatch(given):
        raise ValueError(_refusal(given, "is not a URL of at most 256 ASCII characters without blanks or parentheses"))
    if urls.has_user(given):
        raise ValueError(f"setting {CONTACT}: has a user name or a password; accepted: {ACCEPTED}")
    if not urls.is_web(given) and not MAILBOX.fullmatch(given):
        raise ValueError(_refusal(given, "is neither a web URL nor a mail address"))
    return given


def add_contact(settings: BaseSettings) -> None:
    """Put the contact into the USER_AGENT of this project; one that the user has chosen stays. ValueError for a contact
    that cannot be used. The product token, which robots.txt is read for, is the same."""
    contact = contact_of(settings)
    if contact and settings["USER_AGENT"] == ours.USER_AGENT:
        # Above its own priority: Scrapy's commands set all that they know again, after the spider did.
        priority = max((settings.getpriority("USER_AGENT") or 0) + 1, SETTINGS_PRIORITIES["spider"])
        settings.set("USER_AGENT", f"{ours.BOT_NAME}/{__version__} (+{contact})", priority)


def _refusal(given: object, what: str) -> str:
    return f"setting {CONTACT}={str(given)[:MAX_CONTACT]!r}: {what}; accepted: {ACCEPTED}"
