"""Words by which parts, numbers and headings are recognised that are not the content of a page: `boilerplate.toml`."""

from __future__ import annotations

from unicodedata import normalize

from sitemapcrawler.words import read_words

_TABLE = read_words("sitemapcrawler.replies.page", "boilerplate")


def _folded(text: str) -> str:
    """Return a text in the form of those it is compared with: case folding turns a final `\u03c2` into `\u03c3`."""
    return normalize("NFKC", text).casefold()


def _words(name: str) -> frozenset[str]:
    return frozenset(_folded(_TABLE["words"][name]).split())


def _phrases(name: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in _folded(_TABLE["phrases"][name]).split(";"))


NOISE = _words("noise")
UNITS = _words("units")
AGO_AFTER = _words("ago_after")
AGO_BEFORE = _words("ago_before")
LEFT_AFTER = _words("left_after")
LEFT_BEFORE = _words("left_before")
COUNTED = _words("counted")
OF_READERS = _words("of_readers")
PEOPLE = _words("people")
WATCHED = _words("watched")
TIMES = _words("times")
VIEWED = _words("viewed")
NUMBERED = _words("numbered")
SINCE = _words("since")
CURRENCIES = _words("currencies")
DELIVERED = _words("delivered")
OPENED = _words("opened")
NOW = _words("now")
MEASURES = _words("measures")
DAYS = _words("days")
LATEST = _words("latest")
NAMED = _words("named")
MONTHS = _words("months")
STREETS = _words("streets")
STREET_ENDS = tuple(_words("street_ends"))
DELIVERIES = _phrases("deliveries")
MOMENTS = _phrases("moments")
GREETINGS = _phrases("greetings")
PHRASES = _phrases("phrases")
HEADINGS = _phrases("headings")
DISCUSSIONS = _phrases("discussions")
WHOLE_HEADINGS = frozenset(_phrases("whole_headings"))
NEWSLETTERS = _phrases("newsletters")
ADVERTISEMENTS = frozenset(_phrases("advertisements"))
BEFORE = _phrases("before")
AFTER = _phrases("after")
RESERVED = _phrases("reserved")
REVIEWS = ("reviews", "tab-review", "review-list", "reviews-list", "kundenbewertungen")
"""Ends of names of the reviews of customers, which come by themselves, like comments."""
