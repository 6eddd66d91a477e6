"""Prose reads like English: no phrase of `tests/data/phrases.toml` is in the documentation, docstrings, comments or
messages."""

from __future__ import annotations

import io
import re
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PHRASES = [
    (re.compile(one["phrase"], re.IGNORECASE), one["instead"])
    for one in tomllib.loads((ROOT / "tests/data/phrases.toml").read_text("utf-8"))["phrases"]
]
PAGES = [
    *(path for path in ROOT.glob("*.md")),
    *(path for path in ROOT.glob("docs/**/*.md")),
    *(path for path in ROOT.glob("bench/*.md")),
]
MODULES = [path for folder in ("sitemapcrawler", "demo", "bench") for path in sorted((ROOT / folder).rglob("*.py"))]
TEMPLATES = sorted((ROOT / "sitemapcrawler").rglob("*.j2"))
FENCE = re.compile(r"^\s*(?:```|~~~)")
FIELD = re.compile(r"\{[^{}]*\}")
"""Expressions of f-strings."""
CODE = re.compile(r"`[^`\n]*`")


def of_markdown(text: str) -> Iterator[tuple[int, str]]:
    """Lines outside of code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, CODE.sub("``", line)


def of_python(text: str) -> Iterator[tuple[int, str]]:
    """Lines of strings and comments."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT) or token.type == getattr(tokenize, "FSTRING_MIDDLE", -1):
            for number, line in enumerate(token.string.splitlines(), token.start[0]):
                yield number, FIELD.sub("{}", line)


def hits(path: Path) -> list[str]:
    text = path.read_text("utf-8")
    phrases = [
        (phrase, instead) for phrase, instead in PHRASES if phrase.search(text)
    ]  # of few texts: parsing takes long
    lines = of_python(text) if path.suffix == ".py" else of_markdown(text)
    return [
        f"{path.relative_to(ROOT)}:{number}: {found[0]!r}: write {instead!r}"
        for number, line in (lines if phrases else ())
        for phrase, instead in phrases
        if (found := phrase.search(line))
    ]


@pytest.mark.parametrize("path", [*PAGES, *MODULES, *TEMPLATES], ids=lambda path: str(path.relative_to(ROOT)))
def test_no_phrase_reads_as_if_translated(path: Path) -> None:
    found = hits(path)
    assert not found, "\n".join(found)


def test_phrases_are_found_in_prose_and_not_in_code(tmp_path: Path) -> None:
    page = "It goes on.\n\n    goes on\n\n```\ngoes on\n```\n`goes on`\n"
    assert [number for number, line in of_markdown(page) if PHRASES[0][0].search(line) or "goes on" in line] == [1]
    module = 'goes_on = 1\nx = "goes on"  # asked for\ny = f"in vain {goes_on}"\n'
    assert [number for number, line in of_python(module) if any(one.search(line) for one, _ in PHRASES)] == [2, 2, 3]
