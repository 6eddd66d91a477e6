"""Writes the contents of an environment as a CycloneDX SBOM: python release/sbom.py INTERPRETER FILE

The file is validated against the CycloneDX schema, and must list every runtime package that pyproject.toml names.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXTRAS = ("parquet", "fleet", "s3", "gcs", "cloud")
"""Extras for users; all others are for development."""
_NAME = re.compile(r"[\w.-]+")


def direct() -> set[str]:
    """Return the names of the runtime packages in pyproject.toml."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [*project["dependencies"], *(one for extra in EXTRAS for one in project["optional-dependencies"][extra])]
    return {normal(found[0]) for one in named if (found := _NAME.match(one))}


def normal(name: str) -> str:
    """Normalise a package name. Source: PEP 503"""
    return re.sub(r"[-_.]+", "-", name).lower()


def write(interpreter: str, target: Path) -> set[str]:
    """Write the SBOM; return the packages that it lacks. Raises CalledProcessError if it cannot be made or is
    invalid."""
    target.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "cyclonedx_py", "environment", interpreter]
    options = ["--pyproject", str(ROOT / "pyproject.toml"), "--output-format", "JSON", "--output-reproducible"]
    subprocess.run([*command, *options, "--validate", "--output-file", str(target)], check=True)
    listed = {normal(part["name"]) for part in json.loads(target.read_text("utf-8"))["components"]}
    return direct() - listed


if __name__ == "__main__":
    if missing := write(sys.argv[1], Path(sys.argv[2])):
        sys.exit(f"sbom: {', '.join(sorted(missing))} missing")
    print(f"sbom: {sys.argv[2]}")
