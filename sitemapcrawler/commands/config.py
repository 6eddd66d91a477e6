"""Options from a file: `sitemapcrawler.toml`, or the table `[tool.sitemapcrawler]` in `pyproject.toml`.

The nearest file in the working directory or its parents counts, up to the root of the repository, as for ruff. Outside
of a repository only the working directory is searched: in a shared folder, parents belong to others.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from types import MappingProxyType

from scrapy.settings import BaseSettings

from sitemapcrawler.crawl.argument_values import MAX_SHOWN, quoted, read_list
from sitemapcrawler.crawl.params import ARGUMENTS, ArgumentError, Use
from sitemapcrawler.rules.registry import load_rules

NAME = "sitemapcrawler.toml"
"""File whose keys stand at the top level. In the same folder, it wins over pyproject.toml."""
PYPROJECT = "pyproject.toml"
TABLE = "sitemapcrawler"
"""Table below `tool` in pyproject.toml."""
ROOTS = (".git", ".hg")
"""Names that mark the root of a repository."""
TEXTS = ("format", "fail-on", "min-severity", "base-url")
"""Options of `validate` that are texts."""
QUIET, BASE_DIR = "quiet", "base-dir"
OPTIONS = (*TEXTS, QUIET, BASE_DIR)
"""Options of `validate` besides the arguments. `audit` takes some of them too."""
PLACES = ("base-url", BASE_DIR)
"""Options that apply where files are named."""
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
        that has no effect beside the others, such as `sample` without `verify`, is left out.
        """
        of_file = {name: text for name, text in self._arguments.items() if name not in without}
        merged = {**defaults, **of_file, **given}
        for name in [name for name in ARGUMENTS if name in merged and name not in given]:
            if not all(_is_set(other.name, merged) for other in ARGUMENTS[name].beside):
                del merged[name]
        return merged

    def places(self) -> dict[str, str]:
        """Return the arguments that say where named files will live."""
        return {key.replace("-", "_"): str(self.options[key]) for key in PLACES if key in self.options}


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
        elif name in ARGUMENTS and not ARGUMENTS[name].use & OF_ONE_RUN:
            arguments[name] = _argument(shown, key, value)
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
        table: object = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ValueError(f"{shown} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{shown} is no TOML in UTF-8: {error}") from None
    for name in ("tool", TABLE) if path.name == PYPROJECT else ():
        if not isinstance(table, dict) or name not in table:
            return None
        table = table[name]
    if not isinstance(table, dict):
        raise ValueError(f"{shown}: tool.{TABLE} is no table")
    return table


def _problem(key: str) -> str:
    """Why a key is refused, with the nearest key that is accepted."""
    if key.replace("-", "_") in ARGUMENTS:
        return "belongs on the command line"
    accepted = [*OPTIONS, *(each.replace("_", "-") for each in ARGUMENTS if not ARGUMENTS[each].use & OF_ONE_RUN)]
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
        if not (folder / value).is_dir():
            raise ValueError(f"{path}: {key} = {quoted(value)}: no such folder")
        return str(folder / value)
    if key == "base-url":
        _check(path, key, value)
    return value


def _argument(path: str, key: str, value: object) -> str:
    """Convert a value to the text of an argument."""
    if isinstance(value, date):
        value = value.isoformat()
    _check(path, key, value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(value) if isinstance(value, list) else str(value)


def _check(path: str, key: str, value: object) -> None:
    name = key.replace("-", "_")
    try:
        ARGUMENTS[name].value_of(value, read_list)
    except ArgumentError as error:
        raise ValueError(f"{path}: {key} = {str(error).removeprefix(f'argument {name}=')}") from None
