"""The package states its types: each `Any` has a reason, and there are few."""

from __future__ import annotations

import ast
from pathlib import Path

import sitemapcrawler

PACKAGE = Path(sitemapcrawler.__path__[0])
MOST = 59
"""Uses of `Any` in the package."""


def test_each_any_has_its_reason_on_its_line() -> None:
    used, unexplained = 0, []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text("utf-8")
        if "Any" not in text:
            continue
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Name) and node.id == "Any":
                used += 1
                if "# Any: " not in lines[node.lineno - 1]:
                    unexplained.append(f"{path.relative_to(PACKAGE)}:{node.lineno}")
    assert unexplained == []
    assert 0 < used <= MOST
