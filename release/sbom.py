"""Writes what an environment consists of, as CycloneDX: python release/sbom.py INTERPRETER FILE

The file is checked against the schema of CycloneDX, and must list every package that pyproject.toml names for use.
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
"""What users may install besides; all else is for those who develop."""
_NAME = re.compile(r"[\w.-]+")


def direct() -> set[str]:
    """Names of the packages that pyproject.toml names for use."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [*project["dependencies"], *(one for extra in EXTRAS for one in project["optional-dependencies"][extra])]
    return {normal(found[0]) for one in named if (found := _NAME.match(one))}


def normal(name: str) -> str:
    """A name of a package as indexes have it. Source: PEP 503"""
    return re.sub(r"[-_.]+", "-", name).lower()


def write(interpreter: str, target: Path) -> set[str]:
    """Write the list; what it lacks. CalledProcessError where it cannot be made, or does not fit its schema."""
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
