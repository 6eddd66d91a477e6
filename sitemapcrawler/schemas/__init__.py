"""Our own XML Schemas, and the violations of an entry in words.

May import `namespaces` and `urls`. Start reading in `check.py`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from lxml import etree

PACKAGE = "package:"
"""Scheme under which one schema names another."""


class _PackageResolver(etree.Resolver):
    """Resolves imports to schemas of this package, and anything else to an empty document."""

    def resolve(self, url: str, public_id: str | None, context: Any) -> Any:  # type: ignore[override]  # the stub lacks it
        """The text of the schema that `url` names."""
        text = text_of(url.removeprefix(PACKAGE)) if url.startswith(PACKAGE) else b"<none/>"
        return self.resolve_string(text, context)  # type: ignore[call-arg, arg-type, unused-ignore]  # the stub lacks it


def parser() -> etree.XMLParser:
    """A parser for our own schemas; it loads nothing from elsewhere."""
    return etree.XMLParser(no_network=True, resolve_entities=False)


@cache
def schema(root: str) -> etree.XMLSchema:
    """The schema for documents with this root: `urlset` or `sitemapindex`."""
    reading = parser()
    reading.resolvers.add(_PackageResolver())
    return etree.XMLSchema(etree.fromstring(text_of(f"{root}.xsd"), reading, base_url=f"{PACKAGE}{root}.xsd"))


def text_of(name: str) -> bytes:
    """The text of one schema file."""
    return files(__name__).joinpath(name).read_bytes()
