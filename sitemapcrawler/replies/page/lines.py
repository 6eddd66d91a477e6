"""Lines of a text: sentences and labels, and what in them differs between two answers."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import compress, filterfalse

from sitemapcrawler.replies.page.boilerplate import (
    AGO_AFTER,
    AGO_BEFORE,
    COUNTED,
    CURRENCIES,
    DAYS,
    DELIVERED,
    DELIVERIES,
    GREETINGS,
    LATEST,
    MEASURES,
    MOMENTS,
    MONTHS,
    NAMED,
    NOW,
    OPENED,
    PEOPLE,
    SINCE,
    STREET_ENDS,
    STREETS,
    UNITS,
    VIEWED,
    WATCHED,
)
from sitemapcrawler.replies.page.nodes import ENDS, FIRST_SIGN, SPACE, is_long
from sitemapcrawler.replies.page.tokens import COUNTABLE, SYMBOLS, are_left, folded, has_price, is_of_session

STATED = ("stand: ", "as of ", "stand vom ")
"""What a label of the last change begins with."""
COLONS = (":", "\uff1a")
MIN_BLANKS, MIN_LAST = 3, 5
"""Blanks in a sentence, and characters from the last one on: abbreviations are shorter, such as `5 Min.`"""
MAX_PASSING = 100
"""Characters of a line that may be of the moment, such as the day of a delivery."""
MAX_LEFT = 6  # words of what is left in stock
MAX_DATE = 20
"""Characters of a date, or a part of it, on a line of its own."""
_WORDS = re.compile(r"\w+").findall
_IS_NUMBER = re.compile(r"\(?\d{1,3}(?:[.,'\u2019]?\d{3})*\)?").fullmatch
"""Matches a whole number on a line of its own: likes, votes, comments."""
_NUMBER = re.compile(r"(?<!\w)\d[\d.,']*+(?:[km]\b)?+(?!\w)|(?<![\d.,'])\d[\d.,']*(?=[^\W\d])")
"""A number in a label, with or without what is counted."""
_AGE = re.compile(rf"(?:{_NUMBER.pattern})(?:\s?(?:{'|'.join(sorted(UNITS, key=len, reverse=True))})(?!\w))?")
"""The same, with its unit of time, which changes with it."""
_IS_WEATHER = re.compile(r"[^:]*(?<!\d)\d\d?\s?[°\u2103\u2109]").match
"""Matches a temperature of the air, without a name."""
_IS_QUOTE = re.compile(
    r"(?:(?<![^\s(])-|[+\u2212\u00b1\u25b2\u25bc\u2191\u2193]\s?)\d+[.,]\d+(?!\d)(?!(?:[.,]\d+){2})"
).search
"""Finds the change of a rate or a share, but no range such as `2.5 - 3.5` and no number of a telephone."""
_MONTHS = "|".join(sorted(MONTHS))
_IS_DATE = re.compile(
    rf"\d\.?\s(?:de\s)?(?:{_MONTHS})\b|\b(?:{_MONTHS})\.?\s\d|\d\s?[ap]\.?m\b|\d{{1,4}}([./-])\d{{1,2}}\1\d{{1,4}}|(?<![\d.,])\d{{1,2}}[:.h]\d\d(?!\d)|\b(?:19|20)\d\d\b|\d\s?[\u5e74\u6708\u65e5\ub144\uc6d4\uc77c]"
).search
_IS_TODAY = re.compile(r"\bi (?:dag|morgen|morgon|går|aften|kveld|kväll)\b").search
"""Finds words of days that Danes, Norwegians and Swedes also write as two."""
_HAS_YEAR = re.compile(r"\b20\d\d\b").search
_TELEPHONE = (
    r"(?<!\S)(?:(?=(?:\D*\d){9})|(?=[+(]*0(?:\D*\d){5}))[+(\d][\d ()/-]*\Z|(?:tel|phone|fon|fax)\w*[.:]?\s?[+(\d]|\+\d"
)
_IS_MEASURED = re.compile(
    rf"{_TELEPHONE}|(?<!\w)[a-z]{{1,4}}-\d|\d\s?h?\s(?:to|bis|à|a|às|al|do|tot|til|till|до)\s\d|(?<!\w)(?:{'|'.join(sorted(NAMED))})\.?\s?\d|\d\s?[x\u00d7\u2013-]\s?\d|[:\uff1a]\s?\d[\d.,/]*(?:\s\w+)?\Z|\d\s?(?:{'|'.join(sorted(MEASURES))})(?!\w)"
).search
"""Finds a number of a telephone or an article, a size, a range, a number behind a name, or one before a measure."""
_COUNTING = COUNTED | VIEWED | SINCE
_COUNTED_NOW = WATCHED | COUNTED
_AGO = AGO_AFTER | AGO_BEFORE
_PASSING = _COUNTING | _COUNTED_NOW | _AGO
_MARKS = re.compile(r"[.,;|·\uff0c\u3002]").split
_JOINT = " · "
_JOINED = re.compile(r" [|·•\u2223] ").split
_PIECES = re.compile(r"[|·•]|[.] | [-\u2013\u2014/] ").split
_FIELD = re.compile(r"\u3000(?=[^\s:\uff1a]{1,12}[:\uff1a])")
"""Matches the blank before a name with a colon, as in Chinese lines of several fields."""
_REACTION = re.compile(
    r"[\u2665\u2764\u25b2\u25bc\U0001f44d\U0001f44e\U0001f441]\ufe0f?\s?\d[\d.,']*+(?:k\b)?+"
    rf"(?!\s?[{re.escape(''.join(sorted(SYMBOLS)))}])"
)
"""Matches a count of votes, likes or views behind its sign, but no price."""
COUNT = re.compile(r"\([\d.,'+km]+\)|\b\d+[.,]\d+ (?=\d)")
"""Matches a count behind the text of a link, and a rating before it."""
_PRICES = re.compile(r"\d(?:[\d.,' ]*\d)?").findall


_GREETINGS = "|".join(sorted(map(re.escape, GREETINGS), key=len, reverse=True))
_IS_GREETING = re.compile(rf"(?:{_GREETINGS})(?:[\s,\u3001]+[^\W\d]+){{0,3}}\s?[!.\u3002]*").fullmatch
MAX_GREETING = 40  # characters
_SIGNS = tuple(phrase for phrase in MOMENTS if max(phrase) >= FIRST_SIGN)
_STARTS = frozenset(_WORDS(phrase)[0] for phrase in MOMENTS)
"""Phrases of the moment without blanks, and first words of all. A line without any of them has none."""
_HAS_MOMENT = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, MOMENTS))})\w{{0,2}}(?!\w)").search
"""Finds other phrases, with their endings."""


def lines_of(text: str) -> list[str]:
    """Return the folded text of each node: line breaks in the markup are blanks."""
    text = folded(_FIELD.sub(SPACE, text))
    if not text.isascii():
        text = _REACTION.sub("", text)
    return list(filter(None, map(str.strip, text.split(SPACE))))


def stable_lines(lines: list[str], prices: Collection[str]) -> list[str]:
    """Leave out lines and numbers that differ between two answers."""
    return list(map(_stable, _without_passing(_without_counts(list(_pieces(lines)), prices))))


def _pieces(lines: Iterable[str]) -> Iterator[str]:
    """Part counts and ages from labels that are joined by points or bars. The others tell each other's meaning."""
    for line in lines:
        pieces = _JOINED(line)
        if len(pieces) == 1 or len(line) > MAX_PASSING or is_prose(line):
            yield line
            continue
        parted = [not _PASSING.isdisjoint(_WORDS(piece)) or _is_of_moment(piece) for piece in pieces]
        yield _JOINT.join(piece for piece, is_parted in zip(pieces, parted, strict=True) if not is_parted)
        yield from compress(pieces, parted)


def _without_counts(lines: list[str], prices: Collection[str]) -> list[str]:
    """Leave out whole numbers that stand alone, such as likes and votes. Others are prices, or stand behind a name with
    a colon, beside a currency, or, as in tables, beside another number."""
    found = {at for at, line in enumerate(lines) if _IS_NUMBER(line)}
    if not found:
        return lines
    known = set(_PRICES(folded(SPACE.join(prices))))
    alone = [at for at in found if lines[at] not in known]
    counts = {at for at in alone if not _has_meaning(lines[max(0, at - 1) : at], lines[at + 1 : at + 2])}
    counts |= {at + 1 for at in counts if at + 1 < len(lines) and COUNTABLE.issuperset(_WORDS(lines[at + 1]))}
    return [line for at, line in enumerate(lines) if at not in counts] if counts else lines


def _has_meaning(before: Sequence[str], after: Sequence[str]) -> bool:
    """True for a number behind a name with a colon, or beside a currency that has no other number."""
    has_name = any(line.endswith(COLONS) for line in before)
    return has_name or any(
        not CURRENCIES.isdisjoint(line.rstrip(".").split(" ")) and not any(map(str.isdigit, line))
        for line in (*before, *after)
    )


def _without_passing(lines: Iterable[str]) -> Iterator[str]:
    """Leave out lines of the weather, of a delivery, or of opening hours today. The date of a delivery may stand on
    short lines below."""
    is_below = False
    for line in filterfalse(_is_of_moment, lines):
        if line.startswith(GREETINGS) and len(line) <= MAX_GREETING and _IS_GREETING(line):
            continue
        if len(line) > MAX_PASSING or has_price(line):
            is_below = False
            yield line
            continue
        listed = _WORDS(line)
        words = {*listed, "idag"} if _IS_TODAY(line) else set(listed)
        has_digit = any(map(str.isdigit, line))
        is_delivery = _is_of_delivery(line, words)
        is_below = (is_delivery and not has_digit) or (is_below and len(line) <= MAX_DATE)
        is_open = not OPENED.isdisjoint(words)
        is_sentence = line.endswith(ENDS) and line.count(" ") >= MIN_BLANKS
        is_dated = has_digit and (is_sentence or _HAS_YEAR(line) is not None)  # is true on other days, too
        if (
            (is_open and not is_dated and not NOW.isdisjoint(words))
            or (has_digit and not PEOPLE.isdisjoint(words) and not words.isdisjoint(_COUNTED_NOW))
            or (has_digit and len(listed) <= MAX_LEFT and _says_what_is_left(listed))
        ):
            continue
        if is_prose(line) or not (
            (has_digit and (is_delivery or is_below))
            or _IS_WEATHER(line) is not None
            or ((has_digit or len(line) <= MAX_DATE) and not DAYS.isdisjoint(words))
        ):
            yield line
        elif is_delivery:
            yield from _before_delivery(line)


def _is_of_moment(line: str) -> bool:
    """True for the time of the last change, and for how long reading or waiting takes, without a price."""
    if len(line) > MAX_PASSING:
        return False
    words = _WORDS(line)
    has_moment = (not _STARTS.isdisjoint(words) and _HAS_MOMENT(line)) or (
        not line.isascii() and any(map(line.__contains__, _SIGNS))
    )
    is_moment = has_moment and not is_prose(line)
    if not is_moment and not SINCE.isdisjoint(words) and any(map(str.isdigit, line)) and _IS_DATE(line):
        is_moment = (words[0] in LATEST and not SINCE.isdisjoint(words[1:4])) or (
            words[0] in SINCE and not is_prose(line)
        )
    return bool(is_moment) and not has_price(line)


def _is_of_delivery(line: str, words: Collection[str]) -> bool:
    return not DELIVERED.isdisjoint(words) or any(map(line.__contains__, DELIVERIES))


def _says_what_is_left(words: list[str]) -> bool:
    """True for words such as `only 3 left`."""
    at = next((at for at, word in enumerate(words) if word[0].isdigit()), 0)
    return words[at][0].isdigit() and are_left(words[:at], words[at + 1 :])


def _is_of_place(words: list[str]) -> bool:
    """True for words of an address."""
    return not STREETS.isdisjoint(words) or any(word.endswith(STREET_ENDS) for word in words)


def _before_delivery(line: str) -> Iterator[str]:
    """Return what stands before the first piece of a line that is about a delivery, such as the availability."""
    for piece in _MARKS(line):
        words = _WORDS(piece)
        if any(map(str.isdigit, piece)) or _is_of_delivery(piece, words):
            return
        yield piece


def _stable(line: str) -> str:
    """Leave out the numbers of a label, but for prices, dates and measures: they count something."""
    if not any(map(str.isdigit, line)) or len(line) > MAX_PASSING:
        return line
    line = " ".join(word for word in line.split(" ") if not is_of_session(word))
    words = _WORDS(line)
    is_price = has_price(line) or not CURRENCIES.isdisjoint(words)
    is_count = not is_price and (line.startswith(STATED) or not _COUNTING.isdisjoint(words))
    is_kept = (
        is_price or _IS_DATE(line) or _IS_MEASURED(line) or _IS_NUMBER(line) or is_prose(line) or _is_of_place(words)
    )
    is_age = not _AGO.isdisjoint(words) or "il y a" in line
    if is_kept and not is_count and not _IS_QUOTE(line):
        return line
    line = (_AGE if is_age else _NUMBER).sub("", line)
    return " ".join(word for word in _WORDS(line) if word not in COUNTED) if is_count else line


def divided(lines: Iterable[str], title: Sequence[str] = ()) -> tuple[str, str]:
    """Divide the lines of a title and a text into prose and labels. Those of the title all count."""
    prose = list(filter(is_prose, title))
    labels = list(filterfalse(is_prose, title))
    for line in filterfalse(_is_of_moment, lines):
        if is_prose(line):
            prose.append(line)
        elif len(line) > MAX_PASSING or not (_IS_DATE(line) and _is_of_delivery(line, _WORDS(line))) or has_price(line):
            labels.append(line)
    return SPACE.join(prose), SPACE.join(labels)


def is_prose(line: str) -> bool:
    """True for a sentence, or a text as long as one."""
    if line.endswith(ENDS) and line.count(" ") >= MIN_BLANKS and len(line) - line.rfind(" ") > MIN_LAST:
        return not line[-2].isdigit() or is_long(line)
    return is_long(line) and any(map(is_long, _PIECES(line)))
