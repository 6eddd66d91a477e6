"""Writes requirements.txt for Zyte Scrapy Cloud from pyproject.toml: python tools/make_requirements.py"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "requirements.txt"
EXTRA = "cloud"
OF_THE_STACK = {"scrapy"}
"""Packages whose version only the stack determines."""
NAME = re.compile(r"[\w.-]+")
HEAD = """\
# What Zyte Scrapy Cloud installs on top of its stack (scrapinghub.yml). Made of pyproject.toml, which is the place to
# change it: python tools/make_requirements.py
# Scrapy is the stack's. Bounds and no pins: where the stack has a package that will do, it stays as it is.
"""


def document() -> str:
    """Return the text of the requirements file."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [*project["dependencies"], *project["optional-dependencies"][EXTRA]]
    return HEAD + "".join(f"{line}\n" for line in needed if name(line) not in OF_THE_STACK)


def name(requirement: str) -> str:
    """Return the package name in a requirement."""
    found = NAME.match(requirement)
    assert found, requirement
    return found[0].lower()


if __name__ == "__main__":
    TARGET.write_text(document(), encoding="utf-8")
