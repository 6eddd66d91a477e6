"""Recognises that a page says that it does not exist, that it lists nothing, or that its program failed, by the phrases
in `phrases.toml`."""

# ruff: noqa: RUF001 - punctuation of other scripts

from __future__ import annotations

import re

from sitemapcrawler.words import read_words

PARTS = re.compile(r"[|·•»›–—｜!！.。…]|::|\s-")
"""Separators of the parts of a title: `Page not found | Shop`."""
_TABLES = read_words("sitemapcrawler.replies", "phrases")
_TABLE = _TABLES["phrases"]
ERROR_WORDS = frozenset(_TABLE["error_words"].split())
FILLERS = ERROR_WORDS.union(_TABLE["fillers"].split())
"""Words around a phrase that add nothing to it."""
REGRETS = frozenset(_TABLE["regrets"].split())
_WORD = re.compile(r"\w+")


def _spaced(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


_WANTED = re.compile(rf"\b(?:{'|'.join(map(_spaced, _TABLE['wanted'].split(';')))})\b")
"""What a visitor looks for, between a phrase's noun and verb."""


def _trimmed(text: str) -> tuple[str, ...]:
    found = [word for word in _WANTED.sub("", _spaced(text)).split() if word not in REGRETS]
    while found and found[0] in FILLERS:
        del found[0]
    while found and found[-1] in FILLERS:
        del found[-1]
    return tuple(found)


GONE = frozenset(
    _trimmed(f"{thing} {end}")
    for language, things in _TABLES["things"].items()
    for thing in things.split(";")
    for end in _TABLES["ends"][language].split(";")
)
"""Phrases by which an advertisement, a job or a video says that it has ended."""
SENTENCE = 3  # words of a noun with a verb
PHRASES = GONE.union(_trimmed(phrase) for phrase in _TABLE["not_found"].split(";"))
"""Phrases that mean "not found" if they stand alone between separators. "Sold out" is not one: such a page exists."""


def says_not_found(text: str | None) -> bool:
    """Return whether a whole part of a title or heading says "not found"; `How to fix page not found` does not."""
    return any(_says_not_found(part) for part in PARTS.split(text or ""))


def _says_not_found(part: str) -> bool:
    found = set(_WORD.findall(part.casefold()))
    if "404" in found and found <= FILLERS and found & ERROR_WORDS:
        return True
    return _trimmed(part) in PHRASES


def says_gone(text: str | None) -> bool:
    """Return whether a whole part of a title or heading says in a sentence that an advertisement, a job or a video has
    ended. `Film expired` may be a name."""
    return any(len(found) >= SENTENCE and found in GONE for found in map(_trimmed, PARTS.split(text or "")))


EMPTY_LISTS = frozenset(_trimmed(phrase) for phrase in _TABLE["empty_lists"].split(";"))
"""Phrases of archives and categories without entries, if they stand alone between separators."""


def says_empty(text: str) -> bool:
    """Return whether a whole part of a text says that a list has no entries; `No posts about politics` does not."""
    return any(_trimmed(part) in EMPTY_LISTS for part in PARTS.split(text))


_FAILURE = re.compile(
    r"(?:(?:http|status|code|error|php|oops|whoops|sorry|5\d\d)[\s:!.,-]+)*"
    rf"(?:{'|'.join(re.escape(' '.join(phrase.split())) for phrase in _TABLE['failures'].split(';'))})"
    r"\s*(?:[.:!?;,|(\[·–—-]|\Z)",
    re.IGNORECASE,
)
"""Beginning of a text that a failed program puts in place of a page. Details follow, or nothing; an article has more:
`Fatal error handling in PHP`."""
_STATUS = re.compile(r"(?:(?:http|status|error|code)[\s:-]+)+5\d\d|5\d\d[\s:-]+error", re.IGNORECASE)
_TRACE = re.compile(
    r"(?:php )?(?:(?:recoverable |catchable )?fatal|parse) error ?: .*\bon line \d"
    r"|(?:php )?(?:recoverable |catchable )?fatal error ?: uncaught \w|uncaught (?:\w+\\)*\w*(?:exception|error)\b"
    r"|traceback \(most recent call last\)|sqlstate\[\w+\]|ora-\d{5}\b|server error in '[^']*' application",
    re.IGNORECASE,
)


def says_trace(text: str) -> bool:
    """Return whether a text begins like a message of PHP, Python, .NET or a database with its details."""
    return _TRACE.match(text) is not None


def says_failure(text: str) -> bool:
    """Return whether a text is, or begins with, the message of a failed program."""
    return (
        any(known.match(text.replace("’", "'")) for known in (_FAILURE, _TRACE)) or _STATUS.fullmatch(text) is not None
    )
