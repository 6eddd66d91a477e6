"""Fingerprint of a page's main content, which a change of its frame, counters or advertisements leaves as it is.

Main content is the main heading with the text of its article, else of `<main>` or the body, without navigation, header,
footer, forms, controls, links that stand alone, hidden parts, comments, reviews of customers, teasers of other pages
and their labels, short texts above the part with the main heading, what stands behind the footer, advertisements and
lists of links to pages, and without what differs between two answers: numbers of labels that are no price, date,
address or measure, ages, greetings, the weather, days of delivery, what is open now, the time of the last change, the
order of links and slides, time stamps, session ids, years of a copyright. Prices, availability, lists and tables, what
a tab or a question shows, numbers in sentences, bare dates and opening hours are content. Punctuation, case,
alternative texts and images are not: a new picture is no new text. What is content must not depend on the size of what
stands beside it, which differs from day to day; only behind a footer, what is longer than all before it stays.

Names and words cannot tell all of it, in all languages. So the hash has a place for each kind of text, and whoever
compares two crawls can leave out those that have changed on most pages of a template (`rules/facts/contents.py`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from struct import pack
from zlib import crc32

from selectolax.lexbor import LexborHTMLParser

from sitemapcrawler.replies.page.lines import COUNT, divided, lines_of, stable_lines
from sitemapcrawler.replies.page.main_text import HALF, main_text
from sitemapcrawler.replies.page.nodes import SPACE
from sitemapcrawler.replies.page.tokens import BLANKLESS_SIGN, SIGNS, SYMBOLS, stable_tokens

CONTENT_VERSION = 15
"""Version of the extraction. Raise it with every change of the rules in this package: hashes of two versions differ."""
PARTS = ("template", "prose", "numbers in prose", "other texts", "labels", "prices", "other numbers", "links")
"""What the parts of a hash are of. The template is not compared."""
PART_SIZE = 2  # bytes
SHINGLE = 3  # words; single ones would make all pages of one language alike
MAX_TOKENS = 2_000
"""Tokens that the simhash is made of, the first and the last ones of a longer text."""
LETTERS_A_WORD = 2  # of Chinese and Japanese
SIGNS_A_WORD = 4  # of Thai, Lao, Burmese and Khmer, vowel signs and tones included
_SIGNS = re.compile(f"[{SIGNS}]")


@dataclass(frozen=True, slots=True)
class Content:
    """Fingerprint of the main text of a page."""

    words: int
    """Words. Two Chinese or Japanese characters count as one, and four of Thai, Lao, Burmese and Khmer."""
    content_hash: str
    """Version of the extraction, a hyphen, and 32 hex digits, four for each of `PARTS`: equal for equal texts, whatever
    their blanks and case."""
    simhash: str
    """16 hex digits: the fewer bits differ (`distance`), the more sequences of three words two texts have in common."""


def content_of(tree: LexborHTMLParser) -> Content:
    """Return the fingerprint of a page's main text. Removes parts of the tree."""
    found = main_text(tree)
    rest = stable_lines(lines_of(found.rest), found.prices)
    prose, notes = divided(lines_of(found.paragraphs), title=lines_of(found.title))
    (other, labelled), (table, cells) = map(divided, (rest, lines_of(found.tables)))
    if len(other) > len(prose):  # in elements that are no paragraphs
        prose, other = other, prose
    first, second = stable_tokens(f"{prose}{SPACE}{table}"), stable_tokens(other)
    short, labels = (stable_tokens(text, are_labels=True) for text in (f"{notes}{SPACE}{cells}", labelled))
    heads = stable_tokens(SPACE.join(lines_of(found.headings)), are_labels=True)
    links = stable_tokens(SPACE.join(sorted(COUNT.sub("", line) for line in lines_of(found.links))), are_labels=True)
    parts = (
        found.template.split(), (*first.words, *short.words), (*first.numbers, *short.numbers), second.words,
        (*heads.words, *labels.words), (*first.prices, *short.prices, *second.prices, *labels.prices),
        (*second.numbers, *heads.numbers, *heads.prices, *labels.numbers), links.all,
    )  # fmt: skip
    tokens = [*first.all, *short.all, *second.all, *heads.all, *labels.all, *links.all]
    words, letters = _count(tokens)
    digests = "".join(map(_digest, parts))
    return Content(words, f"{CONTENT_VERSION}-{digests}", f"{simhash(tokens, SHINGLE * letters):016x}")


def _digest(tokens: Iterable[str]) -> str:
    """Hash of tokens; zero for none."""
    text = "".join(tokens).encode("utf-8", "replace")
    return (blake2b(text, digest_size=PART_SIZE).digest() if text else bytes(PART_SIZE)).hex()


def _count(tokens: Sequence[str]) -> tuple[int, int]:
    """Return the number of words, and of tokens a word: more than 1 if most of the text has no blanks."""
    whole = "".join(tokens)
    words = len(tokens) - sum(map(whole.count, SYMBOLS))
    if whole.isascii() or not (letters := len(BLANKLESS_SIGN.findall(whole))):
        return words, 1
    signs = len(_SIGNS.findall(whole))
    words += -(-(letters - signs) // LETTERS_A_WORD) - (-signs // SIGNS_A_WORD) - letters
    if letters <= HALF * len(tokens):
        return words, 1
    return words, SIGNS_A_WORD if signs > HALF * letters else LETTERS_A_WORD


def distance(one: str, other: str) -> int:
    """Return in how many of 64 bits two values of `simhash` differ. Unrelated texts differ in some 32."""
    return (int(one, 16) ^ int(other, 16)).bit_count()


def simhash(tokens: list[str], size: int) -> int:
    """Return the simhash of the distinct sequences of `size` tokens, of at most `MAX_TOKENS`; 0 without tokens.

    Source: Charikar, Similarity estimation techniques from rounding algorithms, 2002. A sequence has 64 bits: those of
    its CRC-32, and for each of them the exclusive or with the next. Any two of the 64 are independent, which is all
    that the method needs.
    """
    if len(tokens) > MAX_TOKENS:
        tokens = tokens[: MAX_TOKENS // 2] + tokens[-MAX_TOKENS // 2 :]
    encoded = " ".join(tokens).encode("utf-8", "replace").split(b" ")
    shifted = (encoded[start:] for start in range(min(size, len(encoded))))
    found = set(map(crc32, map(b" ".join, zip(*shifted, strict=False))))
    if not tokens:
        return 0
    number = len(found)
    columns = pack(f"<{number}I", *found)
    ones = int.from_bytes(b"\1" * number)
    bytewise = [int.from_bytes(columns[byte::4]) for byte in range(4)]
    planes = [column >> bit & ones for column in bytewise for bit in range(8)]
    planes += [plane ^ planes[(at + 1) % 32] for at, plane in enumerate(planes)]
    return sum(1 << at for at, plane in enumerate(planes) if 2 * plane.bit_count() > number)
