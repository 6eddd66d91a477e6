"""Every row of docs/security.md names a test that exists, and every test of attacks stands in a row."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sitemapcrawler import settings

ROOT = Path(__file__).parents[2]
ROWS = [
    [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in (ROOT / "docs" / "security.md").read_text("utf-8").splitlines()
    if line.startswith("| ") and not line.startswith(("| attack |", "| what happens |"))
]
NAMED = [name for row in ROWS for name in re.findall(r"`(tests/[^`]+)`", row[-1])]


@pytest.mark.parametrize("row", ROWS, ids=[row[0] for row in ROWS])
def test_row_is_whole(row: list[str]) -> None:
    assert len(row) == 4
    assert all(row[:2]), "an attack, and what becomes of it"
    assert "`tests/" in row[3], "each attack is tried"
    assert [name for name in re.findall(r"`([A-Z_]{4,})`", row[2]) if not hasattr(settings, name)] == []


@pytest.mark.parametrize("name", sorted(set(NAMED)))
def test_named_test_exists(name: str) -> None:
    path, _, function = name.partition("::")
    assert re.search(rf"^(async )?def {function}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE), name


def test_no_test_of_an_attack_is_left_out() -> None:
    written = {
        f"{path.relative_to(ROOT)}::{function}"
        for folder in ("security", "faults")
        for path in (ROOT / "tests" / folder).glob("test_*.py")
        for function in re.findall(r"^def (test_\w+)\(", path.read_text("utf-8"), re.MULTILINE)
    }
    assert sorted(written - set(NAMED)) == []
