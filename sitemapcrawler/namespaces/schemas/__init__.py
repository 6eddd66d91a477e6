"""XML Schemas for sitemaps and their extensions, and readable messages for violations.

May import the modules of `namespaces`, and `urls`. Start reading in `check.py`.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from threading import Lock

from lxml import etree

from sitemapcrawler.namespaces import OWN

CHECKED = tuple(namespace for namespace in OWN if namespace.schema)
"""The extensions of this project whose structure is checked."""
WITH_EXTENSIONS = "urlset"
"""Root of documents whose entries may have elements of other namespaces."""
VALIDATING = Lock()
"""A schema has a single error list, and several threads may read files."""
PACKAGE = "package:"
"""URL scheme of references between schemas."""


class _PackageResolver(etree.Resolver):
    """Resolves imports to schemas of this package, and anything else to an empty document."""

    def resolve(self, url: str, public_id: str | None, context: object) -> object:  # type: ignore[override]  # the stub lacks it
        text = text_of(url.removeprefix(PACKAGE)) if url.startswith(PACKAGE) else b"<none/>"
        return self.resolve_string(text, context)  # type: ignore[call-arg, arg-type, unused-ignore]  # the stub lacks it


def parser() -> etree.XMLParser:
    """Make a parser for these schemas that loads nothing else."""
    return etree.XMLParser(no_network=True, resolve_entities=False)


@cache
def schema(root: str) -> etree.XMLSchema:
    """Return the schema for documents with this root: `urlset`, with our namespaces, or `sitemapindex`."""
    reading = parser()
    reading.resolvers.add(_PackageResolver())
    document = etree.fromstring(text_of(f"{root}.xsd"), reading, base_url=f"{PACKAGE}{root}.xsd")
    for namespace in CHECKED if root == WITH_EXTENSIONS else ():
        document.insert(0, _import(namespace.uri, f"{PACKAGE}{namespace.schema}"))
    return etree.XMLSchema(document)


def _import(uri: str, place: str) -> etree._Element:
    return etree.Element("{http://www.w3.org/2001/XMLSchema}import", namespace=uri, schemaLocation=place)


def text_of(name: str) -> bytes:
    return files(__name__).joinpath(name).read_bytes()


def errors_of(validator: etree.XMLSchema, tree: etree._Element) -> list[etree._LogEntry]:
    """Validate a document and return the errors."""
    with VALIDATING:
        return [] if validator.validate(tree) else [*validator.error_log]  # type: ignore[misc, unused-ignore]  # the stub lacks it
