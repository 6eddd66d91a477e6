"""Options of our commands from a file.

The file is `sitemapcrawler.toml`, or the table `[tool.sitemapcrawler]` in `pyproject.toml`. The nearest one in the
working directory or its parents counts, up to the root of the repository, as for ruff. Outside of a repository only the
working directory is searched: in a shared folder, parents belong to others.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import partial
from pathlib import Path
from types import MappingProxyType

from scrapy.settings import BaseSettings

from sitemapcrawler.crawl.argument_values import MAX_SHOWN, quoted, read_list
from sitemapcrawler.crawl.arguments import canonical
from sitemapcrawler.crawl.params import ARGUMENTS, ArgumentError, Params, Use
from sitemapcrawler.download.shared import UNNAMED_URL
from sitemapcrawler.pipelines.summary import LIMITED_BY
from sitemapcrawler.policy import Limit
from sitemapcrawler.rules.registry import load_rules
from sitemapcrawler.urls.display import inert
from sitemapcrawler.urls.segments import Segment

NAME = "sitemapcrawler.toml"
"""File whose keys stand at the top level. In the same folder, it wins over pyproject.toml."""
PYPROJECT = "pyproject.toml"
TABLE = "sitemapcrawler"
"""Table below `tool` in pyproject.toml."""
ROOTS = (".git", ".hg")
"""Names that mark the root of a repository."""
FAIL_ON, NEVER = "fail-on", "never"
"""Option, and its value with which no finding fails a run."""
TEXTS = ("format", FAIL_ON, "min-severity", "base-url")
"""Options of `validate` that are texts."""
QUIET, BASE_DIR = "quiet", "base-dir"
OPTIONS = (*TEXTS, QUIET, BASE_DIR)
"""Options of `validate` besides the arguments. `audit` takes some of them too."""
PLACES = ("base-url", BASE_DIR)
"""Options that apply where files are named."""
TABLES: Mapping[str, Callable[[str], object]] = {"segments": Segment.parse, "policy": Limit.parse}
"""Arguments that are tables of a file, each with what parses an item; raises ValueError."""
MAX_BYTES = 1 << 20
"""Size of a file in bytes, at most. Those of people have some kilobytes; one of 300 MB takes a minute to read."""
MAX_NESTED = 4
"""Tables within each other, at most."""
OUTSIDE = "is outside the folder of this file"
OF_ONE_RUN = Use.TARGET | Use.ONE_SITE | Use.COMPARISON
"""Arguments that belong on the command line: what to crawl, and what concerns a single site or run."""


@dataclass(frozen=True, slots=True)
class Config:
    """Options from a file; empty without one."""

    path: str = ""
    """Path of the file relative to the working directory."""
    options: Mapping[str, str | bool] = field(default_factory=dict)
    """Options by key. Paths are absolute."""
    _arguments: Mapping[str, str] = field(default_factory=dict)

    def arguments(
        self, given: Mapping[str, str], without: Container[str] = (), defaults: Mapping[str, str] = MappingProxyType({})
    ) -> dict[str, str]:
        """Return the arguments of a crawl: those of the command line, those of the file that these leave open, and the
        defaults of the command.

        `given`: arguments on the command line; `without`: names to leave out of the file's. An argument of the file
        that has no effect beside the others, such as `sample` without `verify`, is left out. Raises ValueError, one
        line, if the file limits what a policy of the command line is checked on.
        """
        of_file = {name: text for name, text in self._arguments.items() if name not in without}
        if "policy" in given:
            self._check_demand(given, of_file, defaults)
        merged = {**defaults, **of_file, **given}
        for name in [name for name in ARGUMENTS if name in merged and name not in given]:
            if not all(_is_set(other, merged) for other in ARGUMENTS[name].needs):
                del merged[name]
        return merged

    def _check_demand(self, given: Mapping[str, str], of_file: Mapping[str, str], defaults: Mapping[str, str]) -> None:
        """Raise ValueError if an argument of the file makes a policy of the command line easier to keep: whoever may
        change the file need not be allowed to switch the policy off."""
        is_about_segments = any(limit.segment for limit in Params.read({"policy": given["policy"]}).policy)
        for name, text in of_file.items():
            narrows = is_about_segments if name == "segments" else _narrows(name, text, defaults.get(name))
            if narrows and name not in given:
                raise ValueError(
                    f"{self.path}: {name.replace('_', '-')} limits what the policy of the command line checks; "
                    f"name {name} there too"
                )

    def note_limits(
        self,
        settings: BaseSettings,
        arguments: Mapping[str, str],
        options: Mapping[str, object] = MappingProxyType({}),
        defaults: Mapping[str, str] = MappingProxyType({}),
    ) -> bool:
        """Have every summary name what the file leaves out of a run; returns False if that is nothing.

        Whoever relies on the result need not have written the file. `arguments`, `options`: those in effect, which the
        command line may have overridden; `defaults`: those of the command.
        """
        found = {
            name.replace("_", "-"): text
            for name, text in self._arguments.items()
            if arguments.get(name) == text and _narrows(name, text, defaults.get(name))
        }
        if self.options.get(FAIL_ON) == options.get(FAIL_ON) == NEVER:
            found[FAIL_ON] = NEVER
        if found:
            limits = ", ".join(f"{name} = {inert(text, MAX_SHOWN)}" for name, text in found.items())
            settings.set(LIMITED_BY, f"{inert(self.path)}: {limits}", "cmdline")
        return bool(found)

    def places(self) -> dict[str, str]:
        """Return the arguments that say where named files will live."""
        return {key.replace("-", "_"): str(self.options[key]) for key in PLACES if key in self.options}

    def note_place(self, settings: BaseSettings, arguments: Mapping[str, str]) -> None:
        """Refuse private addresses for the `base-url` of the file, whose author need not be allowed to reach them.

        `arguments`: those in effect, which the command line may have overridden.
        """
        place = self.options.get("base-url")
        if place is not None and arguments.get("base_url") == place:
            settings.set(UNNAMED_URL, place, "cmdline")


def _narrows(name: str, text: str, default: str | None) -> bool:
    """True if the value of an argument leaves out something that its default, or that of the command, does not."""
    narrows = ARGUMENTS[name].narrows
    if narrows is None:
        return False
    return narrows(Params.read({name: text})[name], Params.read({name: default} if default else {})[name])


def _is_set(name: str, arguments: Mapping[str, str]) -> bool:
    if name == "verify" and "urls" in arguments:  # a list of URLs is verified by default
        return arguments.get(name) != ARGUMENTS[name].default_text
    return arguments.get(name, ARGUMENTS[name].default_text) != ARGUMENTS[name].default_text


def read_config(settings: BaseSettings) -> Config:
    """Read the nearest file. Raises ValueError, one line, for an unknown key or a wrong value.

    `settings`: name the modules of the user's own rules, which `select` and `ignore` may name.
    """
    path, table = _nearest(Path.cwd())
    if not table:
        return Config()
    load_rules(settings)
    shown = os.path.relpath(path)
    options: dict[str, str | bool] = {}
    arguments: dict[str, str] = {}
    for written, value in table.items():
        key, name = written.replace("_", "-"), written.replace("-", "_")
        if key in options or name in arguments:
            raise ValueError(f"{shown}: {key}: is given twice")
        if key in OPTIONS:
            options[key] = _option(shown, key, value, path.parent)
        elif key in TABLES:
            if items := [_item(shown, key, name, one) for name, one in _leaves(shown, key, value)]:
                arguments[key] = ",".join(items)
        elif name in ARGUMENTS and not ARGUMENTS[name].use & OF_ONE_RUN:
            arguments[name] = _argument(shown, key, value, path.parent)
        else:
            raise ValueError(f"{shown}: {quoted(written)[1:-1]}: {_problem(key)}")
    return Config(shown, options, arguments)


def _nearest(folder: Path) -> tuple[Path, dict[str, object]]:
    """Path and table of the nearest file; an empty table if there is none."""
    for here in _searched(folder):
        for name in (NAME, PYPROJECT):
            path = here / name
            if path.is_file():
                table = _table(path)
                if table is not None:
                    return path, table
    return folder, {}


def _searched(folder: Path) -> list[Path]:
    """The folder and its parents up to the root of the repository; the folder alone outside of a repository."""
    folders = [folder, *folder.parents]
    root = next((at for at, here in enumerate(folders) if any((here / name).exists() for name in ROOTS)), 0)
    return folders[: root + 1]


def _table(path: Path) -> dict[str, object] | None:
    """The options in a file; None for a pyproject.toml without our table."""
    shown = os.path.relpath(path)
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise ValueError(f"{shown} cannot be read: {error.strerror}") from None
    if len(data) > MAX_BYTES:
        raise ValueError(f"{shown} is longer than {MAX_BYTES:,} bytes")
    try:
        table: object = tomllib.loads(data.decode("utf-8-sig"))  # editors on Windows mark it
    except ValueError as error:
        raise ValueError(f"{shown} is not TOML in UTF-8: {error}") from None
    except RecursionError:
        raise ValueError(f"{shown} is not TOML in UTF-8: it nests too deeply") from None
    for name in ("tool", TABLE) if path.name == PYPROJECT else ():
        if not isinstance(table, dict) or name not in table:
            return None
        table = table[name]
    if not isinstance(table, dict):
        raise ValueError(f"{shown}: tool.{TABLE} is not a table")
    return table


def _problem(key: str) -> str:
    """Why a key is refused, with the nearest key that is accepted."""
    if key.replace("-", "_") in ARGUMENTS:
        return "belongs on the command line"
    accepted = [
        *OPTIONS,
        *TABLES,
        *(each.replace("_", "-") for each in ARGUMENTS if not ARGUMENTS[each].use & OF_ONE_RUN),
    ]
    near = difflib.get_close_matches(key[:MAX_SHOWN].lower(), accepted, 1)
    return f"unknown key, did you mean {near[0]}?" if near else f"unknown key; accepted: {', '.join(accepted)}"


def _option(path: str, key: str, value: object, folder: Path) -> str | bool:
    if key == QUIET:
        if not isinstance(value, bool):
            raise ValueError(f"{path}: {key} = {quoted(value)}: accepted: true, false")
        return value
    if not isinstance(value, str):
        raise ValueError(f"{path}: {key} = {quoted(value)}: accepted: a text")
    if key == BASE_DIR:
        if not _is_below(folder, value):
            raise ValueError(f"{path}: {key} = {quoted(value)}: {OUTSIDE}; the command line may name it")
        if not (folder / value).is_dir():
            raise ValueError(f"{path}: {key} = {quoted(value)}: no such folder")
        return str(folder / value)
    if key == "base-url":
        _parsed(path, key, value, folder)
    return value


def _argument(path: str, key: str, value: object, folder: Path) -> str:
    """Convert a value to the text of an argument, with the lines of each @file in its place."""
    if isinstance(value, date):
        value = value.isoformat()
    parsed = _parsed(path, key, value, folder)
    if isinstance(parsed, tuple):
        value = canonical(parsed)
        _parsed(path, key, value, None)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def _leaves(path: str, name: str, value: object, nested: int = 0) -> Iterator[tuple[str, object]]:
    """Yield the values of a table with their dotted keys, those of a list one by one."""
    if nested > MAX_NESTED or not (nested or isinstance(value, dict)):
        raise ValueError(f"{path}: {name}: {'nests too deeply' if nested else 'accepted: a table'}")
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(path, f"{name}.{key}", inner, nested + 1)
    elif value == []:
        raise ValueError(f"{path}: {quoted(name)[1:-1]}: the list is empty")
    else:
        yield from ((name, one) for one in (value if isinstance(value, list) else [value]))


def _item(path: str, table: str, name: str, value: object) -> str:
    """The text of an item of an argument, from a value of a table."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError(f"{path}: {quoted(name)[1:-1]} = {quoted(value)}: accepted: a text or a number")
    text = f"{name.removeprefix(f'{table}.')}={value}".replace(",", "%2C")  # a comma separates items
    try:
        TABLES[table](text)
    except ValueError as error:
        raise ValueError(f"{path}: {quoted(name)[1:-1]} = {quoted(value)}: {error}") from None
    return text


def _parsed(path: str, key: str, value: object, folder: Path | None) -> object:
    """Parse a value. An @file is read if it lies below `folder`; None refuses it.

    Whoever may change the file need not be allowed to read others on this machine, so a message names a line of an
    @file without its text.
    """
    name = key.replace("-", "_")
    try:
        return Params.read({name: value}, partial(_read_below, folder))[name]
    except ArgumentError as error:
        problem = str(error).removeprefix(f"argument {name}=")
        if error.line is not None:
            problem = f"{quoted(value)}: {error.line} is wrong; accepted: {ARGUMENTS[name].accepted}"
        raise ValueError(f"{path}: {key} = {problem}") from None


def _read_below(folder: Path | None, path: str) -> str:
    """The text of an @file that a file of options names. Raises OSError or UnicodeDecodeError."""
    if folder is None:
        raise OSError("a list names no other list")
    if not _is_below(folder, path):
        raise OSError(OUTSIDE)
    return read_list(str(folder / path))


def _is_below(folder: Path, path: str) -> bool:
    """True if a path, relative to a folder, lies in that folder after its symbolic links are resolved."""
    return "\0" not in path and Path(os.path.realpath(folder / path)).is_relative_to(os.path.realpath(folder))
