"""No expression of the package takes more than linear time on a text that a stranger has made for that."""

from __future__ import annotations

import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import sitemapcrawler
from sitemapcrawler.reader.sniff import sniff
from sitemapcrawler.robots.text import _FIELD
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.facts.suspects import find_telling, telling

all_rules()
TELLING = telling()
SHORT, LONG = 1_000, 8_000
"""Characters of the two texts."""
FLOOR_S = 0.005
"""What takes less for the longer text is not looked at: noise."""
GROWTH = 24
"""Quadratic time grows 64 times, linear 8 times: the machine may be busy, and either is told."""
TRIES = 4
UNITS = (
    "a", "1", " ", "\n", "/", ".", ":", "@", "%", "&", "<", "<!--", "<a ", '"', "-", "=", "a=", "a ", "a.", "u:@",
    "&amp;", "%41", "<!", "//", "\x1b[", "ä", "[", "sitemap", "http://", ",", "{{", "../",
)  # fmt: skip
"""Of which the texts are made."""
ANCHORED = {"match", "fullmatch"}
"""Methods that try one beginning alone."""
ROOT = Path(sitemapcrawler.__path__[0]).parent
SOURCE = "\n".join(path.read_text("utf-8") for path in (ROOT / "sitemapcrawler").rglob("*.py"))
HARMLESS = {
    "sitemapcrawler.reader.sniff.DOCTYPE_PART": "the search ends with a few parts that have no end",
    "sitemapcrawler.urls.display._TYPED": "what was typed, cut at 4,096 characters",
    "sitemapcrawler.urls.display._URL": "is tried at the beginning alone",
    "sitemapcrawler.rules.catalogue._LABEL": "docstrings of rules",
    "sitemapcrawler.feeds.findings._SEMANTIC": "our own version",
}
"""Expressions that are given no long text of strangers, or not to its end."""


def patterns() -> Iterator[tuple[str, re.Pattern[Any]]]:
    """The expressions of all modules and their classes, each under its first name."""
    seen = set()
    for module in pkgutil.walk_packages(sitemapcrawler.__path__, "sitemapcrawler."):
        if module.name.endswith("__main__"):
            continue
        code = importlib.import_module(module.name)
        classes = (one for one in vars(code).values() if isinstance(one, type) and one.__module__ == module.name)
        for holder in (code, *classes):
            for name, value in list(vars(holder).items()):
                for pattern in value if isinstance(value, (tuple, list)) else (value,):
                    if isinstance(pattern, re.Pattern) and pattern not in seen:
                        seen.add(pattern)
                        yield f"{module.name}.{name}", pattern


def method_of(name: str, pattern: re.Pattern[Any]) -> Callable[[Any], Any]:
    """How the code uses an expression: where it does not only try the beginning of a text, all matches are sought."""
    module, _, short = name.rpartition(".")
    path = ROOT / f"{module.replace('.', '/')}.py"
    own = path.read_text("utf-8") if path.is_file() else ""
    calls = rf"\b{re.escape(short)}\.([a-z]+)\b"
    used = set(re.findall(calls, own) or re.findall(calls, SOURCE))
    if used and used <= ANCHORED:
        return pattern.match if "match" in used else pattern.fullmatch
    return lambda text: sum(1 for _ in pattern.finditer(text))


def seconds(method: Callable[[Any], Any], text: Any) -> float:
    """CPU time of this thread alone: whatever else the machine does is not counted."""
    began = time.thread_time()
    method(text)
    return time.thread_time() - began


def growths(name: str, pattern: re.Pattern[Any], units: Sequence[str] = UNITS) -> Iterator[tuple[str, float]]:
    """The units of texts that take long, with how much longer the long one takes, at best."""
    method = method_of(name, pattern)
    for unit in units:
        short, long = (f"{unit * (size // len(unit))}!" for size in (SHORT, LONG))
        texts = (short.encode(), long.encode()) if isinstance(pattern.pattern, bytes) else (short, long)
        if seconds(method, texts[1]) > FLOOR_S:
            times = [min(seconds(method, text) for _ in range(TRIES)) for text in texts]
            if times[1] > FLOOR_S:
                yield unit, times[1] / max(times[0], 1e-6)


@pytest.mark.slow
def test_time_grows_with_the_length_of_the_text() -> None:
    slow = {
        name: found
        for name, pattern in patterns()
        if name not in HARMLESS and (found := [one for one in growths(name, pattern) if one[1] > GROWTH])
    }
    assert slow == {}


@pytest.mark.parametrize(
    ("read", "start", "unit"),
    [
        (_FIELD.match, "User-agent: a", " \t"),
        (lambda text: find_telling(TELLING, [text]), "https://example.com/", "a//"),
        (lambda text: find_telling(TELLING, [text]), "https://example.com/?", "?a&"),
        (lambda text: sniff(text, complete=True), "<html>", "<?a>"),
    ],
)
def test_time_grows_with_the_length_of_a_text_that_begins_so(read: Callable[[str], Any], start: str, unit: str) -> None:
    times = [
        min(seconds(read, f"{start}{unit * (size // len(unit))}!") for _ in range(TRIES))
        for size in (SHORT * 6, LONG * 6)
    ]
    assert times[1] < FLOOR_S or times[1] / times[0] < GROWTH


def test_quadratic_expression_would_be_found() -> None:
    assert any(growth > GROWTH for _, growth in growths("here.none", re.compile(r"\s+x"), ["a", " "]))
    assert not list(growths("here.none", re.compile("a+")))
