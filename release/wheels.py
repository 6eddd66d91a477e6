"""Checks that users of each Python version can install wheels alone: python release/wheels.py [--strict]

Exit codes: 0 they can, or the package index could not be reached, which the last line says; 1 they cannot, or with
`--strict` the index could not be reached.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent / "pyproject.toml"
OF_DEVELOPERS = {"test", "test-all", "docs", "release", "fuzz", "dev"}
"""Extras that no user installs."""
LACKING = {("3.15", "fleet")}
"""Extras without wheels for a version: ray has none yet."""
VERSIONS = ("3.11", "3.12", "3.13", "3.14", "3.15")
"""Those of the classifiers, and the next one."""
PATIENCE_S = 300
"""Seconds for one version."""


def resolved(version: str, extras: Sequence[str]) -> str:
    """Resolve the base install and extras to wheels. Returns what uv complains of, empty if nothing."""
    command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--only-binary", ":all:"]
    command += ["--python-version", version]
    options = [part for extra in extras for part in ("--extra", extra)]
    try:
        done = subprocess.run([*command, *options, str(PROJECT)], capture_output=True, text=True, timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        return "timed out"
    return done.stderr.strip() if done.returncode else ""


def main(arguments: Sequence[str]) -> int:
    """Resolve, print the result, and return the exit code."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    for version in VERSIONS:
        extras = [name for name in project["optional-dependencies"] if name not in OF_DEVELOPERS]
        found = resolved(version, [name for name in extras if (version, name) not in LACKING])
        if "No solution found" in found:
            print(f"wheels: Python {version}: {found}")
            return 1
        if found:
            print("wheels: SKIPPED, the package index cannot be reached")
            return 1 if "--strict" in arguments else 0
    print(f"wheels: all packages have some for Python {', '.join(VERSIONS)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
