"""Temporary tables that rules on the whole site share, each made when the first of them needs it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol


class Database(Protocol):
    """What a table is made with: `site_facts.SiteFacts`."""

    def query(self, sql: str, *parameters: Any) -> Iterator[Any]:
        """The rows of a query."""
        ...

    def run(self, sql: str, *parameters: Any) -> None:
        """Run a statement."""
        ...


@dataclass(frozen=True, slots=True)
class Table:
    """A temporary table."""

    name: str
    statements: tuple[str, ...]
    """The SQL that makes it."""
    of: tuple[Table, ...] = ()
    """Tables that must be there before."""
    fill: Callable[[Database], None] | None = None
    """What puts rows into it that SQL cannot make."""


def ordered(tables: Iterable[Table]) -> list[Table]:
    """Tables with all they are made of, each once and behind those."""
    found: dict[Table, None] = {}
    for table in tables:
        found.update(dict.fromkeys((*ordered(table.of), table)))
    return list(found)
