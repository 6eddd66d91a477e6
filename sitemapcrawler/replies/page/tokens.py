"""Words and numbers of a text, without those that differ between two answers."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from sitemapcrawler.replies.page.boilerplate import (
    AFTER,
    AGO_AFTER,
    AGO_BEFORE,
    BEFORE,
    COUNTED,
    CURRENCIES,
    NUMBERED,
    PEOPLE,
    RESERVED,
    SINCE,
    TIMES,
    UNITS,
    VIEWED,
    WATCHED,
)

SIGNS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
BLANKLESS = SIGNS + "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
"""Scripts written without blanks: Thai, Lao, Burmese, Khmer, kana and Chinese characters."""
SYMBOLS = frozenset("©€$£¥₩₽₹฿₺₴₫")
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe00-\ufe0f\ufeff\ud800-\udfff]+"
)
_NUMBER = r"\d++(?:[.,:/'\u2019\u2013-]\d++)*+[km]?+(?![^\W\uac00-\ud7a3])"
"""A unit in Korean follows without a blank."""
MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
"""Marks on letters, which `\\w` of Python leaves out: Hebrew, Arabic and Indian vowels."""
_TOKEN = re.compile(rf"{_NUMBER}|[{BLANKLESS}]|(?:(?![{BLANKLESS}])[\w{MARKS}])+|[{''.join(sorted(SYMBOLS))}]")
"""A number with its separators, a character of a script without blanks, a word, or a currency; no punctuation."""
BLANKLESS_SIGN = re.compile(f"[{BLANKLESS}]")
_SIMPLE_TOKEN = re.compile(rf"{_NUMBER}|[\w{MARKS}]+|[{''.join(sorted(SYMBOLS))}]")
"""The same without scripts that have no blanks."""
_IS_MARK = re.compile(f"[{MARKS}]").match
_DIGITS = re.compile(r"\d+")
MANY = 100
"""Characters for each number from which on words are faster to split than to find."""
HOLE = "\0"
"""Stands for a word with digits."""
_YEAR = re.compile(r"(?:19|20)\d\d(?:\D(?:19|20)?\d\d)?\Z")
_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d[t ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:\s?z|\s?[+-]\d\d:?\d\d)?|\d{1,2}:\d\d:\d\d(?:\s?[ap]\.?m)?"
)
"""Time stamps of ISO 8601, and clocks with seconds."""
_LONG = re.compile(
    r"(?=\D*\d)(?=[^a-z]*[a-z])[a-z0-9_+=-]{20,}|[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
_CENTS = re.compile(r"\d[\d.,']*[.,]\d\d")
LONG = 16
"""Characters of a token of a session or a request, with letters and digits."""
EARLIER, LATER = 4, 6  # words before and after a number that tell its meaning
SIGNS_AROUND = 14  # characters, in scripts without blanks
RIGHTS = frozenset(("©", "c", "copyright", "℗"))
IL_Y_A, A_JOUR = ["il", "y", "a"], frozenset(("à", "jour"))
HINTS = (
    AGO_AFTER
    | AGO_BEFORE
    | COUNTED
    | WATCHED
    | VIEWED
    | SINCE
    | RIGHTS
    | frozenset(("rights", "alle", "il", "todos", "tous", "tutti"))
)
"""One of these is near any number in ASCII text that is left out."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of a text, in their order. Currencies are words."""

    all: Sequence[str]
    words: Sequence[str]
    numbers: Sequence[str] = ()
    prices: Sequence[str] = ()


def stable_tokens(text: str) -> Tokens:
    """Return the tokens of a folded text, without numbers and tokens of sessions that differ between two answers."""
    words = text.replace(HOLE, " ").split(" ")
    if max(map(len, words)) >= LONG:
        words = [word for word in words if len(word) < LONG or not _LONG.fullmatch(word)]
    text = " ".join(words)
    is_ascii = text.isascii()
    tokens, places = _tokens(_STAMP.sub(" ", text) if ":" in text else text)
    if not places:
        return Tokens(tokens, tokens)
    counters: list[int] = []
    numbers: list[int] = []
    prices: list[int] = []
    around = ["", *tokens, ""]
    for at in places:
        earlier, later = tokens[max(0, at - SIGNS_AROUND) : at], tokens[at + 1 : at + 1 + SIGNS_AROUND]
        is_counter = not is_ascii and ("".join(earlier).endswith(BEFORE) or "".join(later).startswith(AFTER))
        if is_counter or _is_counter(tokens[at], earlier[-EARLIER:], later[:LATER], is_ascii):
            counters.append(at)
        else:
            is_price = around[at] in CURRENCIES or around[at + 2] in CURRENCIES or _CENTS.fullmatch(tokens[at])
            (prices if is_price else numbers).append(at)
    split = [[tokens[at] for at in places] for places in (numbers, prices)]
    for at in counters:
        tokens[at] = ""
    kept = list(filter(None, tokens))
    for at in numbers + prices:
        tokens[at] = ""
    return Tokens(kept, list(filter(None, tokens)), *split)


def _tokens(text: str) -> tuple[list[str], list[int]]:
    """Return the tokens of a text, and the places of those that begin with a digit."""
    is_blankless = BLANKLESS_SIGN.search(text)
    if is_blankless or len(_DIGITS.findall(text)) * MANY > len(text):
        tokens = (_TOKEN if is_blankless else _SIMPLE_TOKEN).findall(text)
        return tokens, [at for at, token in enumerate(tokens) if token[0].isdigit()]
    tokens, places, start = [], list[int](), 0
    between, with_digits = _parted(text)
    words = _words(f" {HOLE} ".join(between))
    for word in with_digits:
        end = words.index(HOLE, start)
        tokens += words[start:end]
        found = _SIMPLE_TOKEN.findall(word)
        places += (len(tokens) + at for at, token in enumerate(found) if token[0].isdigit())
        tokens += found
        start = end + 1
    return tokens + words[start:], places


def _parted(text: str) -> tuple[list[str], list[str]]:
    """Return the text between words with digits, and these."""
    between: list[str] = []
    with_digits: list[str] = []
    end = 0
    for digits in _DIGITS.finditer(text):
        if digits.end() <= end:
            continue
        start = text.rfind(" ", end, digits.start()) + 1 or end
        between.append(text[end:start])
        end = text.find(" ", digits.end())
        if end < 0:
            end = len(text)
        with_digits.append(text[start:end])
    between.append(text[end:])
    return between, with_digits


def _words(text: str) -> list[str]:
    """Return the tokens of a text without digits, three times as fast as the expression."""
    for sign in set(text):
        if not (sign.isalnum() or sign in f" _{HOLE}" or _IS_MARK(sign)):
            text = text.replace(sign, f" {sign} " if sign in SYMBOLS else " ")
    return text.split()


def folded(text: str) -> str:
    """Return a text with single blanks, folded case and composed characters, without invisible ones."""
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return " ".join(text.casefold().split())


def _is_counter(number: str, earlier: list[str], later: list[str], is_ascii: bool) -> bool:
    """True for a count of visits, the age of something, the year of a copyright and the like."""
    if is_ascii and HINTS.isdisjoint(earlier) and HINTS.isdisjoint(later):
        return False
    if later:
        unit = later[0]
        around = {*earlier, *later}
        if unit in COUNTED or (unit in PEOPLE and not WATCHED.isdisjoint(around)):
            return True
        if unit in TIMES and not VIEWED.isdisjoint(around):
            return True
        if unit in UNITS and (
            not AGO_AFTER.isdisjoint(later[1:3]) or not AGO_BEFORE.isdisjoint(earlier[-2:]) or earlier[-3:] == IL_Y_A
        ):
            return True
    if earlier and earlier[-1] in NUMBERED:
        earlier = earlier[:-1]
    if earlier and (earlier[-1] in COUNTED or not SINCE.isdisjoint(earlier) or A_JOUR.issubset(earlier)):
        return True
    return _YEAR.match(number) is not None and (
        not RIGHTS.isdisjoint(earlier) or "".join(later).startswith(RESERVED) or "".join(earlier).endswith(RESERVED)
    )
