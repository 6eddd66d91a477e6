"""How pytest-xdist spreads the tests over its workers."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESULT = re.compile(r"^\[(gw\d)\].* PASSED (\S+?)::", re.MULTILINE)


@pytest.mark.slow
def test_worker_runs_whole_modules() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    [options] = re.findall(r"^PYTEST = .* -m pytest --numprocesses \S+ (.*)$", makefile, re.MULTILINE)
    modules = [f"tests/unit/urls/test_{name}.py" for name in ("display", "expressions", "segments")]
    command = ["-n", "2", *options.split(), "-v", "-p", "no:cacheprovider", "--no-cov", *modules]
    done = subprocess.run([sys.executable, "-m", "pytest", *command], cwd=ROOT, capture_output=True, text=True)
    by_module: dict[str, set[str]] = {}
    for worker, module in RESULT.findall(done.stdout):
        by_module.setdefault(module, set()).add(worker)
    assert len(by_module) == len(modules), done.stdout
    assert {len(workers) for workers in by_module.values()} == {1}
