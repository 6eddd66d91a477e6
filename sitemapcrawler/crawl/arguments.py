"""Declarations of the spider's arguments: how a value is parsed, and what it means to jobs, fleets and commands.

`Params` in `params` declares ours; a plug-in adds its own with `declare`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Flag, auto
from functools import partial
from typing import Any, NamedTuple

from sitemapcrawler import urls
from sitemapcrawler.crawl import argument_values as values
from sitemapcrawler.crawl.argument_values import Start, read_list
from sitemapcrawler.urls.display import masked_url
from sitemapcrawler.urls.expressions import Expression


class ArgumentError(ValueError):
    """An invalid argument. The message is one line: name, value, problem, accepted values."""

    def __init__(self, name: str, value: object, problem: str, accepted: str, line: str | None = None) -> None:
        given = name if value is None else f"{values.quoted(name)[1:-1]}={values.quoted(value)}"
        super().__init__(f"argument {given}: {problem}; accepted: {accepted}")
        self.line = line
        """Line of an @file that is at fault; None if the value itself is."""


class ListError(ValueError):
    """An invalid line of an @file."""

    def __init__(self, line: str, problem: str) -> None:
        super().__init__(f"{line}: {problem}")
        self.line = line


class Use(Flag):
    """What an argument means beyond the audit that it configures."""

    AUDIT = 0
    """Nothing: only audits take it, all crawls of a fleet may share it, and it is the same in all runs of a job."""
    TARGET = auto()
    """Names what to crawl. Commands take it without `-a`; a fleet gives each crawl its own."""
    PAGES = auto()
    """Selects pages. Page spiders and `inspect` accept it too."""
    ONE_SITE = auto()
    """Concerns one site. Fleets refuse it."""
    RUN = auto()
    """Does not affect the results. May differ between the runs of a job."""
    FILES = auto()
    """Decides which files are read, but not how their entries are judged. May differ between a crawl and a baseline
    from which entries are copied."""
    COMPARISON = auto()
    """Chooses the baseline. May differ once the job is finished."""


class Beside(NamedTuple):
    """Another argument that must be given too."""

    name: str
    problem: str
    """What is wrong without it."""
    accepted: str


@dataclass(frozen=True, slots=True)
class Argument:
    """The declaration of an argument."""

    name: str
    default: object
    """Value of an argument that is not given; None or an empty tuple for none."""
    help: str
    accepted: str
    parse: Callable[[str], object]
    """Parses a value, or one item of a list; raises ValueError if it is invalid. Of what `str` makes of a value, it
    makes the same value again."""
    separator: re.Pattern[str] | None = None
    """Separates the items of a list; None for a single value."""
    use: Use = Use.AUDIT
    schema: Mapping[str, object] = field(default_factory=lambda: {"type": "string"})
    """JSON Schema of a value, for web forms."""
    beside: tuple[Beside, ...] = ()
    narrows: Callable[[Any, Any], bool] | None = None  # Any: the argument's own type
    """True if the first value leaves out something that the second, the default, has read or judged; None if no value
    does."""

    def limits(self, text: str, default: str | None = None) -> bool:
        """True if a value, as a user writes it, leaves out something that the default does not.

        `default`: that of a command; None for the argument's own.
        """
        if self.narrows is None:
            return False
        values = [self.default if each is None else self.value_of(each, read_list) for each in (text, default)]
        return self.narrows(*values)

    @property
    def default_text(self) -> str:
        """Default as a user would write it; empty if there is none."""
        return "" if self.default is None else canonical(self.default)

    def value_of(self, value: object, read_text: Callable[[str], str]) -> object:
        """Parse a value as Scrapy passes it. Raises ArgumentError. `read_text` returns the text of an @file."""
        if isinstance(value, bool) and self.schema["type"] == "boolean":
            return value
        try:
            if isinstance(value, re.Pattern) and self.parse is values.expression:
                return Expression(value)
            if self.separator is None:
                return self.parse(_text(value))
            text = _text(values.joined(value))
            return _list(_items(text, self.separator, read_text), self.parse, text)
        except ValueError as error:
            line = error.line if isinstance(error, ListError) else None
            raise ArgumentError(self.name, value, str(error), self.accepted, line) from None


ARGUMENTS: dict[str, Argument] = {}
"""All arguments by name, in the order of the documentation; those of plug-ins are last."""


def declare(argument: Argument) -> None:
    """Add an argument to those of the spider. Raises ValueError if the name is taken."""
    if ARGUMENTS.setdefault(argument.name, argument) != argument:
        raise ValueError(f"two arguments are named {argument.name}")


def names_of(use: Use) -> tuple[str, ...]:
    """Names of the arguments with this use, in the order of the documentation."""
    return tuple(name for name, argument in ARGUMENTS.items() if use in argument.use)


def flag(name: str, help: str, use: Use = Use.AUDIT, *beside: Beside) -> Argument:
    """An argument that is yes or no, no by default."""
    accepted, schema = ", ".join(values.ANSWERS), {"type": "boolean"}
    return Argument(name, False, help, accepted, values.yes, use=use, schema=schema, beside=beside)


def choice(
    name: str, default: str | None, help: str, accepted: Iterable[str], use: Use = Use.AUDIT, *beside: Beside
) -> Argument:
    """An argument with one of the accepted values."""
    choices = tuple(accepted)
    parse, schema = partial(values.choice, accepted=choices), {"type": "string", "enum": list(choices)}
    return Argument(name, default, help, ", ".join(choices), parse, use=use, schema=schema, beside=beside)


def number(
    name: str,
    default: int | None,
    help: str,
    use: Use = Use.AUDIT,
    *beside: Beside,
    least: int = 1,
    most: int | None = None,
) -> Argument:
    """An argument that is a whole number from `least` to `most`."""
    accepted = f"a whole number from {least}{'' if most is None else f' to {most}'}"
    parse = partial(values.count, least=least, most=most)
    schema = {"type": "integer", "minimum": least, **({} if most is None else {"maximum": most})}
    return Argument(name, default, help, accepted, parse, use=use, schema=schema, beside=beside)


def canonical(value: object) -> str:
    """The text of an argument's value, equal for equal values."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


def _text(value: object) -> str:
    """The value as stripped text; scripts may also pass numbers."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError("is no text")
    if values.CONTROL.search(str(value)):
        raise ValueError("has a control character")
    if not str(value).strip():
        raise ValueError("is empty")
    return str(value).strip()


def _items(text: str, separator: re.Pattern[str], read_text: Callable[[str], str]) -> Iterator[tuple[str, str | None]]:
    """Yield each item, and its place if it is a line of an @file."""
    for item in map(str.strip, separator.split(text)):
        if item.startswith("@"):
            yield from _lines(item[1:], read_text)
        else:
            yield item, None


def _lines(path: str, read_text: Callable[[str], str]) -> Iterator[tuple[str, str]]:
    try:
        lines = [values.without_comment(line) for line in read_text(path).split("\n")]
    except OSError as error:
        raise ValueError(f"cannot read {values.quoted(path)}, {error.strerror or error}") from None
    except ValueError:
        raise ValueError(f"cannot read {values.quoted(path)}, no text in UTF-8") from None
    if not any(lines):
        raise ValueError(f"{values.quoted(path)} lists nothing")
    yield from ((line, f"line {number} of {values.quoted(path)}") for number, line in enumerate(lines, 1) if line)


def _list(items: Iterator[tuple[str, str | None]], parse: Callable[[str], object], text: str) -> tuple[object, ...]:
    found: dict[str, object] = {}
    for item, line in items:
        try:
            value = parse(_text(item))
        except ValueError as error:
            if line is not None:
                raise ListError(line, f"item {values.quoted(item)}: {error}") from None
            if masked_url(text) != text:  # a comma inside a password is no separator
                raise ValueError(values.PASSWORD) from None
            raise ValueError(str(error) if item == text else f"item {values.quoted(item)}: {error}") from None
        # Two spellings of a site are the same if they start at the same origin.
        place = value.url_candidates[0] if isinstance(value, Start) else str(value)
        found.setdefault(urls.visit_key(place), value)
    return tuple(found.values())
