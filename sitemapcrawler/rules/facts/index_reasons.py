"""Why Google does not index a page, in its own words, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from sitemapcrawler.items import IndexStatus

REASONS: Mapping[str, str] = {
    "crawled - currently not indexed": "Give the pages content that others lack, and link to them.",
    "discovered - currently not indexed": "Link to them from pages that are crawled often; drop unimportant ones.",
    "url is unknown to google": "Submit the sitemap in Search Console, and link to the pages.",
    "duplicate without user-selected canonical": "Name a canonical in the pages, and list that one alone.",
    "duplicate google chose different canonical than user": "List what Google chose, or make both differ.",
    "duplicate submitted url not selected as canonical": "List what Google chose, or make both differ.",
    "alternate page with proper canonical tag": "Remove the entries, and list the canonical pages instead.",
    "page with redirect": "List the targets of the redirects instead.",
    "redirect error": "Shorten the chains and end the loops of redirects, and list their targets.",
    "soft 404": "Remove the entries and answer with 404, or give the pages content.",
    "not found (404)": "Remove the entries, or restore the pages.",
    "blocked by robots.txt": "Allow the pages in robots.txt, or remove the entries.",
    "excluded by noindex tag": "Remove noindex from the pages, or remove the entries.",
    "server error (5xx)": "Look for the error in the server's log at the time of the last crawl.",
    "blocked due to unauthorized request (401)": "Let everyone read the pages, or remove the entries.",
    "blocked due to access forbidden (403)": "Let Googlebot pass the firewall, or remove the entries.",
    "blocked due to other 4xx issue": "Make the server answer with the pages, or remove the entries.",
    "blocked by page removal tool": "Cancel the removal in Search Console, or remove the entries.",
    "page removed because of legal complaint": "Read the notice in Search Console, and remove the entries.",
    "crawl anomaly": "Inspect one of the pages in Search Console, and test its live version.",
}  # fmt: skip
"""{reason, as `key_of` spells it: advice}.

Source: https://support.google.com/webmasters/answer/7440203
"""
OTHER = "Look the reason up in Search Console, and inspect one of the pages there."
"""Advice for all other reasons: Google adds some, and words them in the language of its user."""
SPELLINGS: Mapping[str, str] = {
    "url marked noindex": "excluded by noindex tag",
    "url blocked by robots.txt": "blocked by robots.txt",
    "url not found (404)": "not found (404)",
    "url seems to be a soft 404": "soft 404",
    "url has crawl issue": "crawl anomaly",
    "url returns unauthorized request (401)": "blocked due to unauthorized request (401)",
    "url returned 403": "blocked due to access forbidden (403)",
    "url blocked due to other 4xx issue": "blocked due to other 4xx issue",
}
"""Other words of Google for the same, without `submitted`: it used them until 2022, and some still in its API."""
_INDEXED = re.compile(r"(submitted and |page )?indexed\b")
"""Start of a reason of pages that are indexed."""
_MARKS = re.compile("[,'\"\u2018\u2019\u201c\u201d]")
_DASHES = re.compile("[\u2010-\u2015]")


@lru_cache(maxsize=256)
def key_of(reason: str) -> str:
    """Spell a reason as in `REASONS`: in lowercase, with hyphens for dashes, without quotes and commas."""
    plain = " - ".join(part.strip() for part in _DASHES.split(_MARKS.sub("", reason.lower()))).strip()
    return SPELLINGS.get(plain.removeprefix("submitted "), plain)


def advice_on(reason: str) -> str:
    """What to do about pages that are not indexed for a reason."""
    return REASONS.get(key_of(reason), OTHER)


def is_indexed(status: IndexStatus) -> bool | None:
    """Whether a page is indexed, by its verdict or else by a known reason; None if neither says so."""
    if status.verdict is not None:
        return status.verdict in ("PASS", "PARTIAL")
    key = key_of(status.reason or "")
    return True if _INDEXED.match(key) else False if key in REASONS else None
