"""What an argument of the spider is: its meaning to jobs, fleets and commands, and how a text becomes its value.

`Params` in `params` declares ours; a plug-in adds its own with `declare`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from enum import Flag, auto
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import CoreSchema, core_schema

from sitemapcrawler import urls
from sitemapcrawler.crawl import argument_values as values
from sitemapcrawler.crawl.argument_values import Start, read_list
from sitemapcrawler.urls.display import masked_url
from sitemapcrawler.urls.expressions import Expression

ReadText = Callable[[str], str]
"""Returns the text of an @file. Raises OSError or UnicodeDecodeError."""
TOO_LARGE = 10**12
"""Numbers end below: times and counts so large have no meaning, and databases count in 64 bits."""


class ArgumentError(ValueError):
    """An invalid argument. The message is one line: name, value, problem, accepted values."""

    def __init__(self, name: str, value: object, problem: str, accepted: str, line: str | None = None) -> None:
        given = name if value is None else f"{values.quoted(name)[1:-1]}={values.quoted(value)}"
        more = "" if "accepted: " in problem else f"; accepted: {accepted}"  # of a part of the value, it says so itself
        super().__init__(f"argument {given}: {problem}{more}")
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
    COMPARISON = auto()
    """Chooses the baseline. May differ once the job is finished."""


@dataclass(frozen=True, slots=True)
class Argument:
    """What an argument means: the annotation of a field, which has its type, its default and its help."""

    accepted: str = ""
    """Accepted values; for a flag, a choice or a number, those of its type."""
    use: Use = Use.AUDIT
    needs: tuple[str, ...] = ()
    """Arguments without which it has no effect."""
    narrows: Callable[..., bool] | None = None
    """True if the first value leaves out something that the second, the default, has read or judged; None if no value
    does."""
    help: str = ""
    default: object = None
    """Value of an argument that is not given; None or an empty tuple for none."""
    is_secret: bool = False
    """True if no message and no record may show the value."""

    @classmethod
    def of(cls, field: FieldInfo, schema: Mapping[str, Any]) -> Argument:  # Any: JSON Schema
        """The argument that a field declares."""
        own = next(one for one in field.metadata if isinstance(one, cls))
        accepted = own.accepted or _accepted(schema.get("anyOf", [schema])[0])
        is_secret = any(isinstance(one, Text) and one.is_secret for one in field.metadata)
        text = (field.description or "").rstrip(".")
        return replace(own, accepted=accepted, help=text, default=field.default, is_secret=is_secret)

    @property
    def default_text(self) -> str:
        """Default as a user would write it; empty if there is none."""
        return "" if self.default is None else canonical(self.default)


def _accepted(schema: Mapping[str, Any]) -> str:  # Any: JSON Schema
    """What a flag, a choice or a number accepts."""
    match schema:
        case {"type": "boolean"}:
            return "yes, no, true, false"
        case {"enum": choices}:
            return ", ".join(map(str, choices))
        case {"const": choice}:
            return str(choice)
        case {"minimum": least}:
            return f"a whole number from {least}"
        case {"exclusiveMinimum": least}:
            return f"a number above {least:g}"
        case {"type": "integer"}:
            return "a whole number"
        case {"type": "number"}:
            return "a number"
    return "a text"


@dataclass(frozen=True, slots=True)
class Text:
    """Annotation of a type whose values are written as text, as pydantic reads annotations."""

    parse: Callable[[str], object]
    """Parses a value, or one item of a list; raises ValueError if it is invalid. Of what `str` makes of a value, it
    makes the same value again."""
    separator: re.Pattern[str] | None = None
    """Separates the items of a list; None for a single value."""
    is_secret: bool = False
    """True for texts that no message and no record may show."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.with_info_plain_validator_function(self._value)

    def __get_pydantic_json_schema__(self, *_: object) -> dict[str, object]:
        return {"type": "string"}

    def _value(self, value: object, info: core_schema.ValidationInfo) -> object:
        if isinstance(value, re.Pattern) and self.parse is values.expression:
            return Expression(value)
        if self.separator is None:
            return self.parse(plain(value))
        read_text: ReadText = (info.context or {}).get("read_text", read_list)
        text = plain(values.joined(value))
        return _list(_items(text, self.separator, read_text), self.parse, text, self.is_secret)


def plain(value: object) -> str:
    """The value as stripped text; scripts may also pass numbers and dates."""
    if isinstance(value, date):
        value = value.isoformat()
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError("is not text")
    if values.CONTROL.search(str(value)):
        raise ValueError("has a control character")
    if not str(value).strip():
        raise ValueError("is empty")
    return str(value).strip()


def _no_switch(value: object) -> object:
    if isinstance(value, bool):
        raise ValueError("is not a number")
    return value


NO_SWITCH = BeforeValidator(_no_switch)
"""Refuses True and False, which are 1 and 0 to Python."""
Count = Annotated[int, Field(ge=1, lt=TOO_LARGE), NO_SWITCH]
FromZero = Annotated[int, Field(ge=0, lt=TOO_LARGE), NO_SWITCH]
AboveZero = Annotated[float, Field(gt=0, lt=TOO_LARGE, allow_inf_nan=False), NO_SWITCH]


PROBLEMS = {"less_than": "is too large"}
"""{type of an error of pydantic: what is wrong}, where what is accepted does not tell."""


class Problem(NamedTuple):
    """What is wrong with a value."""

    name: str
    text: str
    line: str | None
    """Line of an @file that is at fault; None if the value itself is."""

    @classmethod
    def of(cls, error: ValidationError) -> Problem:
        """The first of the problems that pydantic found. Messages name what is accepted in place of its words."""
        first = error.errors(include_url=False)[0]
        cause = first.get("ctx", {}).get("error")
        text = str(cause) if isinstance(cause, ValueError) else PROBLEMS.get(first["type"], "invalid value")
        return cls(str(first["loc"][0]) if first["loc"] else "", text, getattr(cause, "line", None))


def value_of(kind: Any, text: str) -> Any:  # Any: a type, and its value
    """The value of a text. Raises ValueError with the problem alone."""
    try:
        return TypeAdapter(kind).validate_python(plain(text))
    except ValidationError as error:
        raise ValueError(Problem.of(error).text) from None


def canonical(value: object) -> str:
    """The text of an argument's value, equal for equal values."""
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)


def _items(text: str, separator: re.Pattern[str], read_text: ReadText) -> Iterator[tuple[str, str | None]]:
    """Yield each item, and its place if it is a line of an @file."""
    for item in map(str.strip, separator.split(text)):
        if item.startswith("@"):
            yield from _lines(item[1:], read_text)
        else:
            yield item, None


def _lines(path: str, read_text: ReadText) -> Iterator[tuple[str, str]]:
    try:
        lines = [values.without_comment(line) for line in read_text(path).split("\n")]
    except OSError as error:
        raise ValueError(f"cannot read {values.quoted(path)}, {error.strerror or error}") from None
    except ValueError:
        raise ValueError(f"cannot read {values.quoted(path)}, not UTF-8 text") from None
    if not any(lines):
        raise ValueError(f"{values.quoted(path)} lists nothing")
    yield from ((line, f"line {number} of {values.quoted(path)}") for number, line in enumerate(lines, 1) if line)


def _list(
    items: Iterator[tuple[str, str | None]], parse: Callable[[str], object], text: str, is_secret: bool
) -> tuple[object, ...]:
    found: dict[str, object] = {}
    for number, (item, line) in enumerate(items, 1):
        shown = f"number {number}" if is_secret else values.quoted(item)
        try:
            value = parse(plain(item))
        except ValueError as error:
            if line is not None:
                raise ListError(line, f"item {shown}: {error}") from None
            if masked_url(text) != text and not is_secret:  # a comma inside a password is no separator
                raise ValueError(values.PASSWORD) from None
            raise ValueError(str(error) if item == text else f"item {shown}: {error}") from None
        # Two spellings of a site are the same if they start at the same origin.
        place = value.url_candidates[0] if isinstance(value, Start) else str(value)
        found.setdefault(urls.visit_key(place), value)
    return tuple(found.values())
