"""What fuzzing checks holds for its whole corpus, and for all that it once found: here without a fuzzer."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from fuzz.target import FOUND, ROOT, Target, all_targets, names

INPUTS = [(target, path) for target in all_targets() for path in target.kept()]
SEEDS_OF_EACH = 5
"""Inputs that a target begins with, at least."""


@pytest.mark.parametrize(("target", "path"), INPUTS, ids=lambda value: getattr(value, "name", None))
def test_what_fuzzing_checks_holds(target: Target, path: Path) -> None:
    target.check(path.read_bytes()[: target.max_bytes])


@pytest.mark.parametrize("target", all_targets(), ids=lambda target: target.name)
def test_a_target_says_what_it_checks_and_where_it_begins(target: Target) -> None:
    assert target.module.__doc__
    assert len(target.inputs()) >= SEEDS_OF_EACH
    assert target.dictionary is None or target.dictionary.is_file()
    assert any(target.corpus.iterdir())


def test_every_finding_belongs_to_a_target() -> None:
    assert {path.name.partition("-")[0] for path in FOUND.iterdir()} <= set(names())


@pytest.mark.slow
def test_targets_import_nothing_that_only_tests_need() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    names, own = ({canonicalize_name(Requirement(line).name) for line in extras[extra]} for extra in ("test", "fuzz"))
    missing = [
        module
        for module, packages in packages_distributions().items()
        if (names - own) & {*map(canonicalize_name, packages)}
    ]
    assert {"hypothesis", "pytest", "_pytest"} <= {*missing}
    code = (
        "import sys; sys.modules.update(dict.fromkeys(sys.argv[1:]))\n"  # importing what is None raises ImportError
        "from fuzz.target import all_targets\n"
        "for target in all_targets(): target.module"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *sorted({*missing} - {path.name for path in ROOT.iterdir()})],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
