"""DuckDB, imported on first use, and its settings: crawls without a database save 14 MB and a tenth of a second."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__all__ = ["ALONE", "CONFIG", "MEMORY_MB", "Config", "duckdb"]

Config = dict[str, str | bool | int | float | list[str]]
"""Settings of DuckDB."""
ALONE: Config = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "allow_persistent_secrets": False,
    "python_enable_replacements": False,  # unknown names in SQL must not refer to Python variables
}
"""Settings of every connection. Source: https://duckdb.org/docs/stable/operations_manual/securing_duckdb/overview"""
MEMORY_MB = 128
"""DuckDB's initial memory limit in MB."""
CONFIG: Config = ALONE | {"threads": 1, "memory_limit": f"{MEMORY_MB}MB"}
"""DuckDB's settings during a crawl, low enough to leave the machine to the crawl."""

if TYPE_CHECKING:
    import duckdb
else:

    class _OnUse:
        """Stands for a module until one of its names is used."""

        def __init__(self, module: str) -> None:
            self._module = module

        def __getattr__(self, name: str) -> object:
            value = getattr(import_module(self._module), name)
            setattr(self, name, value)
            return value

    duckdb = _OnUse("duckdb")
