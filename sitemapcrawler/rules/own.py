"""Rules of a user's own: the modules and files that the setting SITEMAP_RULES names."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

from sitemapcrawler.rules.registry import RULES

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

FILE_SUFFIX = ".py"
"""What a name ends with that is a path, and not that of a module."""


def load_rules(settings: BaseSettings) -> None:
    """Import what the setting names, each once in a process, so that its rules are in the catalogue.

    ValueError, one line, for a module that is not there, cannot be imported, or takes the id of another rule. Such a
    module leaves no rules behind.
    """
    for name in settings.getlist("SITEMAP_RULES"):
        before = set(RULES)
        try:
            _load(name)
        except Exception as error:
            _take_back(RULES.keys() - before)
            why = " ".join(f"{type(error).__name__}: {error}".split())
            raise ValueError(f"setting SITEMAP_RULES={name!r}: {why}") from None


def sources(settings: BaseSettings) -> list[bytes]:
    """The text of the modules that the setting names, as far as they are files: who judges with another one judges
    differently."""
    found = []
    for name in settings.getlist("SITEMAP_RULES"):
        path = getattr(sys.modules.get(_key(name)), "__file__", None)
        with suppress(OSError):
            found.append(Path(path).read_bytes() if path else b"")
    return found


def _load(name: str) -> None:
    if not name.endswith(FILE_SUFFIX):
        import_module(name)
    elif _key(name) not in sys.modules:
        _execute(Path(_key(name)))


def _take_back(ids: Iterable[str]) -> None:
    """Forget rules, but for those of modules that stay imported: nothing would register them again."""
    for id in ids:
        if getattr(RULES[id].check, "__module__", None) not in sys.modules:
            del RULES[id]


def _key(name: str) -> str:
    """Name of a module in `sys.modules`: its own, or the whole path of a file."""
    return str(Path(name).resolve()) if name.endswith(FILE_SUFFIX) else name


def _execute(path: Path) -> None:
    spec = spec_from_file_location(str(path), path)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[str(path)] = module  # dataclasses look there for the module they stand in
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[str(path)]
        raise
