"""Recognises that a page says that it does not exist, that it lists nothing, or that its program failed, by the phrases
in `phrases.toml`."""

# ruff: noqa: RUF001 - punctuation of other scripts

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import combining, normalize

from sitemapcrawler.words import read_words

PARTS = re.compile(r"[|·•»›–—｜!！.。…]|::|\s-")
"""Separators of the parts of a title: `Page not found | Shop`."""
_TABLES = read_words("sitemapcrawler.replies", "phrases")
_TABLE = _TABLES["phrases"]
_WORD = re.compile(r"\w+")
UNSPACED = "\u2e80"
"""Letters of Chinese and Japanese, which have no blanks between words, are from here on."""


def _words(text: str) -> list[str]:
    """The words in lower case, without the accents, vowels and forms of letters that writers leave out."""
    text = text.casefold()
    if not text.isascii():
        text = "".join(sign for sign in normalize("NFKD", text) if not combining(sign))
    return _WORD.findall(text)


ERROR_WORDS = frozenset(_words(_TABLE["error_words"]))
FILLERS = ERROR_WORDS.union(_words(_TABLE["fillers"]))
"""Words around a phrase that add nothing to it."""
IDLE_WORDS = frozenset(_words(_TABLE["idle_words"]))
_MATCHED = [
    f"{verb} {of}" for verb in _TABLES["matched"]["verbs"].split(";") for of in _TABLES["matched"]["objects"].split(";")
]
_ASIDES = {" ".join(_words(phrase)) for phrase in (*_TABLE["wanted"].split(";"), *_MATCHED)}
_ASIDE = re.compile(rf"\b(?:{'|'.join(sorted(_ASIDES, key=len, reverse=True))})\b")
"""What a visitor looks for, which stands between a phrase's noun and verb or at its end."""


def _trimmed(text: str) -> tuple[str, ...]:
    found = [word for word in _ASIDE.sub("", " ".join(_words(text))).split() if word not in IDLE_WORDS]
    while found and found[0] in FILLERS:
        del found[0]
    while found and found[-1] in FILLERS:
        del found[-1]
    if found and min(found) >= UNSPACED:
        return ("".join(found),)  # some writers put a comma after the topic
    return tuple(found)


def _sentences(subjects: str, predicates: str) -> Iterator[tuple[str, ...]]:
    """The phrases of two tables: each subject of a language with each predicate, in its place `{}` or before it."""
    for language, things in _TABLES[subjects].items():
        for thing in things.split(";"):
            for end in _TABLES[predicates][language].split(";"):
                yield _trimmed(end.replace("{}", thing.strip()) if "{}" in end else f"{thing} {end}")


GONE = frozenset((*_sentences("things", "ends"), *(_trimmed(phrase) for phrase in _TABLE["gone"].split(";"))))
"""Phrases by which an advertisement, a job, a video, an article or a product says that it is gone."""
SENTENCE = 3  # words of a noun with a verb
PHRASES = GONE.union(_trimmed(phrase) for phrase in _TABLE["not_found"].split(";"))
"""Phrases that mean "not found" if they stand alone between separators. "Sold out" is not one: such a page exists."""


def says_not_found(text: str | None) -> bool:
    """Return whether a whole part of a title or heading says "not found"; `How to fix page not found` does not."""
    return any(_says_not_found(part) for part in PARTS.split(text or ""))


def _says_not_found(part: str) -> bool:
    found = set(_words(part))
    if "404" in found and found <= FILLERS and found & ERROR_WORDS:
        return True
    return _trimmed(part) in PHRASES


def says_gone(text: str | None) -> bool:
    """Return whether a whole part of a text says in a sentence that an advertisement, a job, a video or an article is
    gone. `Film expired` may be a name."""
    parts = map(_trimmed, PARTS.split(text or ""))
    return any(found in GONE and (len(found) >= SENTENCE or found[0] >= UNSPACED) for found in parts)


EMPTY_LISTS = frozenset(
    (*_sentences("listed", "none"), *(_trimmed(phrase) for phrase in _TABLE["empty_lists"].split(";")))
)
"""Phrases of archives and categories without entries, if they stand alone between separators."""


QUESTION = ("?", "\u061f", "\uff1f")
_QUOTED = re.compile(r"[\"“”„«»‘][^\"“”„«»‘’]*[\"“”«»’]")
"""What a visitor has searched for: `No results for "boots"`."""


def says_empty(text: str) -> bool:
    """Return whether a whole part of a text says that a list has no entries; `No posts about politics` and
    `Can't find products?` do not."""
    parts = PARTS.split(_QUOTED.sub("", text))
    return any(not part.rstrip().endswith(QUESTION) and _trimmed(part) in EMPTY_LISTS for part in parts)


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
