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
    LEFT_AFTER,
    LEFT_BEFORE,
    MEASURES,
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
_WORDS = "|".join(map(re.escape, sorted(filter(str.isalpha, CURRENCIES))))
_AMOUNT = re.compile(rf"\d\s?(?:(?:{_WORDS})\b|[\u5186\u5143\uc6d0])|\b(?:{_WORDS})\s?\d|\uffe5", re.IGNORECASE).search
"""Finds an amount in a currency with a name."""
_DIGITS = re.compile(r"\d+")
_NO_WORD = {code: " " for code in range(128) if re.match(r"\W", chr(code))} | {ord("$"): " $ "}
"""What stands between words in ASCII."""
_ZEROS = str.maketrans("123456789", "000000000")
MANY = 100
"""Characters for each number up to which signs such as `❶` are numbers too."""
PUNCTUATION = ".,;:!?()[]\"'\u2018\u2019\u201c\u201d\u201e\u00ab\u00bb\u2026\u2013\u2014"
"""Marks before and after most words, which are no part of a token."""
_YEAR = re.compile(r"(?:19|20)\d\d(?:\D(?:19|20)?\d\d)?\Z")
_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d[t ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:\s?z|\s?[+-]\d\d:?\d\d)?|\d{1,2}:\d\d:\d\d(?:\s?[ap]\.?m)?"
)
"""Time stamps of ISO 8601, and clocks with seconds."""
_LONG = re.compile(
    r"(?=\D*\d)(?=[^a-z]*[a-z])[a-z0-9_+=-]{20,}|[0-9a-f]{16,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
)
_GROUPS = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")
"""Matches the blank between groups of digits, as in `1 234 567`."""
_CENTS = re.compile(r"\d[\d.,']*[.,]\d\d")
LONG = 16
"""Characters of a token of a session or a request, with letters and digits."""
MIN_PHONE = 9
"""Digits of a number of a telephone. Counts have fewer."""
EARLIER, LATER = 4, 6  # words before and after a number that tell its meaning
SIGNS_AROUND = 14  # characters, in scripts without blanks
PRICE = 2  # words: a number and a currency or a measure
COUNTABLE = UNITS | COUNTED
RIGHTS = frozenset(("©", "c", "copyright", "℗"))
IL_Y_A, A_JOUR, SOLD_OUT = ["il", "y", "a"], frozenset(("à", "jour")), ["sold", "out"]
NO_MORE_THAN = (["plus", "que"], ["nur", "noch"], ["nog", "maar"])
HINTS = (
    AGO_AFTER
    | AGO_BEFORE
    | COUNTED
    | LEFT_AFTER
    | LEFT_BEFORE
    | WATCHED
    | VIEWED
    | SINCE
    | RIGHTS
    | frozenset(("rights", "alle", "il", "que", "noch", "maar", "todos", "tous", "tutti"))
)
"""One of these is near any number in ASCII text that is left out."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens of a text, in their order. Currencies are words."""

    all: Sequence[str]
    words: Sequence[str]
    numbers: Sequence[str] = ()
    prices: Sequence[str] = ()


def stable_tokens(text: str, are_labels: bool = False) -> Tokens:
    """Return the tokens of a folded text, without numbers and tokens of sessions that differ between two answers.
    Counters and ages are numbers of labels; in a sentence, numbers are content."""
    if are_labels:
        text = _GROUPS.sub("", text)
    is_ascii = text.isascii()
    text = _STAMP.sub(" ", text) if ":" in text else text
    tokens: list[str] = []
    places: list[int] = []
    own: set[int] = set()
    """Prices on lines of their own, which no other line makes a counter."""
    measured: set[int] = set()
    """The same of sizes: `18 cm` below `panier`, which is a basket, and the cart of a shop."""
    for line in text.split("\0") if are_labels else (text.replace("\0", " "),):
        found, numbered = _tokens(line)
        now = [len(tokens) + at for at in numbered]
        if are_labels and len(found) == PRICE and now:
            if not CURRENCIES.isdisjoint(found):
                own.update(now)
            elif found[1] in MEASURES:
                measured.update(now)
        tokens += found
        places += now
    if not places:
        return Tokens(tokens, tokens)
    counters: list[int] = []
    numbers: list[int] = []
    prices: list[int] = []
    around = ["", *tokens, ""]
    may_count = not (is_ascii and HINTS.isdisjoint(tokens))
    for at in places:
        if at in own:
            prices.append(at)
            continue
        has_currency = around[at + 2] in CURRENCIES or (around[at] in CURRENCIES and not _is_behind_price(tokens, at))
        has_cents = _CENTS.fullmatch(tokens[at]) is not None
        if may_count and (
            _is_of_rights(tokens, at)
            or (
                are_labels
                and at not in measured
                and not (has_currency and has_cents)
                and _is_counter(tokens, at, is_ascii)
            )
        ):
            counters.append(at)
        else:
            is_price = has_currency or has_cents
            (prices if is_price else numbers).append(at)
    split = [[tokens[at] for at in places] for places in (numbers, prices)]
    for at in counters:
        tokens[at] = ""
        for beside in (at - 1, at + 1):  # an hour becomes days, a comment comments
            if 0 <= beside < len(tokens) and tokens[beside] in COUNTABLE:
                tokens[beside] = ""
    kept = list(filter(None, tokens))
    for at in numbers + prices:
        tokens[at] = ""
    return Tokens(kept, list(filter(None, tokens)), *split)


def _tokens(text: str) -> tuple[list[str], list[int]]:
    """Return the tokens of a text, and the places of those that begin with a digit."""
    tokens, places = list[str](), list[int]()
    if text.isascii():
        zeros, end = text.translate(_ZEROS), 0
        while (digit := zeros.find("0", end)) >= 0:  # faster than an expression
            start = text.rfind(" ", end, digit) + 1 or end
            tokens += text[end:start].translate(_NO_WORD).split()
            end = text.find(" ", digit)
            end = len(text) if end < 0 else end
            for token in () if is_of_session(text[start:end]) else _SIMPLE_TOKEN.findall(text, start, end):
                if token[0].isdigit():
                    places.append(len(tokens))
                tokens.append(token)
        return tokens + text[end:].translate(_NO_WORD).split(), places
    words = text.split(" ")
    if max(map(len, words)) >= LONG:
        words = [word for word in words if not is_of_session(word)]
        text = " ".join(words)
    if BLANKLESS_SIGN.search(text):
        tokens = _TOKEN.findall(text)
        return tokens, [at for at, token in enumerate(tokens) if token[0].isdigit()]
    has_many = len(_DIGITS.findall(text)) * MANY > len(text)
    for word in words:
        if word.isalpha() or (word := word.strip(PUNCTUATION)).isalpha():
            tokens.append(word)
            continue
        for token in _SIMPLE_TOKEN.findall(word):
            if token[0].isdigit() and (has_many or _DIGITS.search(word)):
                places.append(len(tokens))
            tokens.append(token)
    return tokens, places


def is_of_session(word: str) -> bool:
    """True for a token of a session or a request."""
    return len(word) >= LONG and _LONG.fullmatch(word) is not None


def has_price(text: str) -> bool:
    """True for a text with a currency: its symbol, or its name beside a number."""
    return not SYMBOLS.isdisjoint(text) or _AMOUNT(text) is not None


def folded(text: str) -> str:
    """Return a text with single blanks, folded case and composed characters, without invisible ones."""
    if not text.isascii():
        text = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return " ".join(text.casefold().split())


def _is_counter(tokens: list[str], at: int, is_ascii: bool) -> bool:
    """True for a count of visits, the age of something and the like."""
    if len(tokens[at]) >= MIN_PHONE and tokens[at].isdigit():
        return False
    earlier, later = tokens[max(0, at - SIGNS_AROUND) : at], tokens[at + 1 : at + 1 + SIGNS_AROUND]
    if not is_ascii and ("".join(earlier).endswith(BEFORE) or "".join(later).startswith(AFTER)):
        return True
    earlier, later = earlier[-EARLIER:], later[:LATER]
    if is_ascii and HINTS.isdisjoint(earlier) and HINTS.isdisjoint(later):
        return False
    if are_left(earlier, later):
        return True
    if later:
        unit = later[0]
        if unit in AGO_AFTER and tokens[at][-1].isalpha():
            return True
        around = {*earlier, *later}
        if (unit in COUNTED and later[:2] != SOLD_OUT) or (unit in PEOPLE and not WATCHED.isdisjoint(around)):
            return True
        if unit in TIMES and not VIEWED.isdisjoint(around):
            return True
        if unit in UNITS and (
            not AGO_AFTER.isdisjoint(later[1:3]) or not AGO_BEFORE.isdisjoint(earlier[-2:]) or earlier[-3:] == IL_Y_A
        ):
            return True
    if earlier and earlier[-1] in NUMBERED:
        earlier = earlier[:-1]
    return bool(earlier) and (earlier[-1] in COUNTED or not SINCE.isdisjoint(earlier) or A_JOUR.issubset(earlier))


def are_left(earlier: list[str], later: list[str]) -> bool:
    """True for words before and after a number that say that so many are left."""
    return (
        not LEFT_BEFORE.isdisjoint(earlier[-2:]) or not LEFT_AFTER.isdisjoint(later[:3]) or earlier[-2:] in NO_MORE_THAN
    )


def _is_behind_price(tokens: list[str], at: int) -> bool:
    """True if the currency before a number is that of the number before it, as in `12 € 3 sold`."""
    return at > 1 and tokens[at - 2][0].isdigit() and (at == 2 or tokens[at - 3] not in CURRENCIES)


def _is_of_rights(tokens: list[str], at: int) -> bool:
    """True for the year of a copyright."""
    if _YEAR.match(tokens[at]) is None:
        return False
    earlier, later = tokens[max(0, at - EARLIER) : at], "".join(tokens[at + 1 : at + 1 + SIGNS_AROUND])
    return (
        not RIGHTS.isdisjoint(earlier)
        or later.startswith(RESERVED)
        or any(map("".join(earlier).__contains__, RESERVED))
    )
