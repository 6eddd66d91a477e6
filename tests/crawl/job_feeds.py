"""What feeds hold, apart from times: two runs of one job must agree on it, whatever the order and the format."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

OF_THE_RUN = ("started", "elapsed_s", "peak_mb")
"""Fields of the summary that tell of this run only."""
OF_THE_REQUEST = ("elapsed_ms", "attempts")
"""The same of replies; how often a URL was asked depends on what was in flight at a kill."""
TIMES = ("startTimeUtc", "endTimeUtc")
"""The same of SARIF."""
SHOWN = 6
"""Rows of a difference that a failure shows, and so many characters of each:"""
WIDTH = 400


def rows(path: Path) -> Counter[str]:
    """The rows of a feed without times, each as text, with how often it is there."""
    return Counter(json.dumps(row, sort_keys=True, default=str) for row in READERS[path.suffix](path))


def difference(expected: Counter[str], found: Counter[str]) -> str:
    """What is missing and what is too much, for a person; empty where nothing is."""
    told = []
    for word, rest in {"missing": expected - found, "too much": found - expected}.items():
        told += [f"{rest.total()} rows {word}"] if rest else []
        told += [f"  {count} x {row[:WIDTH]}" for row, count in rest.most_common(SHOWN)]
    return "\n".join(told)


def timeless(record: dict[str, Any]) -> dict[str, Any]:
    """A record without what depends on the time."""
    kept = dict(record)
    if kept.get("type", "summary") == "summary":
        kept = without(kept, OF_THE_RUN)
    if kept.get("changes"):
        kept["changes"] = without(kept["changes"], ("since",))
    if kept.get("reply"):
        kept["reply"] = without(kept["reply"], OF_THE_REQUEST)
    return kept


def without(fields: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """All fields but these."""
    return {name: value for name, value in fields.items() if name not in names}


def _lines(path: Path) -> Iterator[Any]:
    return map(timeless, map(json.loads, path.read_bytes().splitlines()))


def _list(path: Path) -> Iterator[Any]:
    return map(timeless, json.loads(path.read_bytes()))


def _table(path: Path) -> Iterator[Any]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            yield without(row, OF_THE_REQUEST)


def _parquet(path: Path) -> Iterator[Any]:
    return map(timeless, pq.read_table(path).to_pylist(maps_as_pydicts="strict"))


def _sarif(path: Path) -> Iterator[Any]:
    [run] = json.loads(path.read_bytes())["runs"]
    yield from run.pop("results")
    for invocation in run.pop("invocations"):
        yield from invocation.pop("toolConfigurationNotifications", [])
        yield without(invocation, TIMES)
    yield run


READERS = {".jsonl": _lines, ".json": _list, ".csv": _table, ".parquet": _parquet, ".sarif": _sarif}
"""How the rows of a feed are read, by the end of its name."""
