"""Installed plug-ins: modules that packages name under an entry point group of this project.

Importing such a module registers what it declares.
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

NAMESPACES = "sitemapcrawler.namespaces"
"""Entry point group of modules that call `namespaces.register`."""
RULES = "sitemapcrawler.rules"
"""Entry point group of modules with rules."""
FORMATS = "sitemapcrawler.formats"
"""Entry point group of modules that call `reader.formats.register`."""
DISCOVERY = "sitemapcrawler.discovery"
"""Entry point group of modules that call `replies.discovery.register`."""
MODULES = (NAMESPACES, RULES, FORMATS, DISCOVERY)
"""All groups of modules."""
EXPORTERS = "sitemapcrawler.exporters"
"""Entry point group of exporters, each under the suffix of its files."""

_loaded: dict[str, str] = {}
"""{group: why it could not be loaded; empty if it was}."""


def load(group: str) -> None:
    """Import the plug-ins of a group, once per process.

    Raises ValueError, one line, if one of them cannot be imported; so does every later call.
    """
    if group not in _loaded:
        _loaded[group] = ""  # a plug-in may ask for what is registered while it is imported
        for plugin in _installed(group):
            try:
                plugin.load()
            except Exception as error:
                why = " ".join(f"{type(error).__name__}: {error}".split())
                _loaded[group] = f"plug-in {plugin.name} = {plugin.value!r} in {group}: {why}"
                break
    if _loaded[group]:
        raise ValueError(_loaded[group])


def paths(group: str) -> dict[str, str]:
    """Return the import paths of a group's objects by name, without importing them."""
    return {plugin.name: plugin.value.replace(":", ".") for plugin in _installed(group)}


@cache
def _installed(group: str) -> tuple[EntryPoint, ...]:
    """Entry points in a fixed order: that of their names."""
    return tuple(sorted(_all().select(group=group), key=lambda plugin: (plugin.name, plugin.value)))


_all = cache(entry_points)
"""All entry points, looked up once: that takes some 30 ms."""
