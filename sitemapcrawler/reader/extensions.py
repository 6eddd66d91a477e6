"""Elements of an entry that are not the protocol's own: each into the field of its namespace, or kept as it stands."""

from __future__ import annotations

from sitemapcrawler.element import Element
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces import Namespace, find, hreflang
from sitemapcrawler.reader.faults import Faults
from sitemapcrawler.reader.notes import note_inexact
from sitemapcrawler.reader.scope import MAX_LENGTH


def extend(record: UrlRecord, element: Element, inexact: set[str], faults: Faults) -> None:
    """Put an element where it belongs: into the field of its namespace, else into `extra`.

    `inexact`: namespaces not written exactly that were noted already.
    """
    namespace = meant_by(element)
    if namespace is not None and element.uri != namespace.uri:
        note_inexact(element, namespace.uri, inexact, faults)
    value = namespace.read(element) if namespace else None
    if namespace is None or value is None:
        keep(record, element)
        return
    if namespace.uri == hreflang.URI and (element.has_children or element.text):
        keep(record, element)  # an alternate has no place for content, such as a link that stands inside it
    held = getattr(record, namespace.field)
    if isinstance(held, list):
        held.append(value)
    elif held == ():
        setattr(record, namespace.field, [value])
    elif held is None:
        setattr(record, namespace.field, value)
    else:
        keep(record, element)


def meant_by(element: Element) -> Namespace | None:
    """The extension that an element's namespace means. A longer one than can be remembered is compared in part."""
    return find(element.uri[:MAX_LENGTH])


def keep(record: UrlRecord, element: Element) -> None:
    """Keep an element that no field holds in `extra`, under its namespace."""
    if record.extra is None:
        record.extra = {}
    record.extra.setdefault(element.uri, []).append(element.tree())
