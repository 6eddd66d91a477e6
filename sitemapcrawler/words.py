"""Reads words of many languages from TOML files beside the modules that use them."""

from __future__ import annotations

import tomllib
from importlib.resources import files


def read_words(package: str, name: str) -> dict[str, dict[str, str]]:
    """Return the texts in the file `name`.toml of a package: {section: {key: text}}."""
    return tomllib.loads((files(package) / f"{name}.toml").read_text("utf-8"))
