"""Declares an extension namespace once; reader, counts, feeds, database, baseline comparison and rules follow from it.

Our own declarations are in `extensions.py`. Plug-ins add theirs with `register`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol, get_args, get_origin, get_type_hints

from sitemapcrawler.namespaces import plugins
from sitemapcrawler.namespaces.element import Element, Fields, attributed, fill, text

EXTRA = "extra"
"""Field of each object, and of a url record, with the elements that no other field holds."""


class HasExtra(Protocol):
    """A url record, as far as namespaces depend on it. It also has the field of each of our own."""

    @property
    def extra(self) -> Mapping[str, Sequence[object]] | None:
        """See `UrlRecord.extra`."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Namespace:
    """How elements of one namespace become part of a url record."""

    uri: str
    """Official URI."""
    prefix: str
    """Usual prefix."""
    field: str
    """Field of `UrlRecord` with the objects; of a plug-in's namespace, key in the record's `extra`."""
    kind: type
    """Dataclass of an object: a field for each part, each null or an empty list by default, and `extra`.

    A list is a part that may repeat, a dict one with attributes; the metadata `read` overrides the function that reads
    it. Records hold the objects of a plug-in as dicts, without empty fields.
    """
    noun: str = ""
    """What one object is, in the singular, for messages. Default: the prefix."""
    element: str = ""
    """Name of the element in an entry. Default: the prefix."""
    word: str = ""
    """Identifies a misspelt URI (other scheme, host, version, extra slash) that contains it. Empty: exact URI only.
    Elements under such a URI are read, and reported as `xml-ext-namespace-wrong`."""
    single: bool = False
    """True if an entry has one object at most: the field holds it without a list."""
    empty: bool = False
    """True if its elements have attributes only. Content is kept in the record's `extra` as well."""
    schema: str | Path = ""
    """XML Schema: a file name in `schemas/`, or a plug-in's path. Empty: the structure is not checked."""
    read: Callable[[Element], object] | None = None
    """Returns the object of an element, None if the namespace does not define the element in an entry. Default: fills
    `kind` from the children of an element named `element`."""
    own: bool = False
    """True if `UrlRecord` has a field for it, as for all namespaces of this project."""
    fields: Fields = dataclasses.field(init=False, repr=False)
    """Parts of the element, each with the function that reads it."""
    object_of: Callable[[Element], Any] = dataclasses.field(init=False, repr=False)  # Any: plug-ins bring classes
    """Returns the object of an element as a record holds it, or None."""

    def __post_init__(self) -> None:
        element = self.element or self.prefix
        fields = {} if self.read else readers(self.kind)
        read = self.read or _filled(self.kind, element, fields)
        object_of = read if self.own else lambda element: _row(read(element))
        derived = {"noun": self.noun or self.prefix, "element": element, "fields": fields, "object_of": object_of}
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def objects(self, record: HasExtra) -> Sequence[object]:
        """Objects of this namespace that a url record has, in document order."""
        if not self.own:
            return (record.extra or {}).get(self.field, ())
        held = getattr(record, self.field)
        return (() if held is None else (held,)) if self.single else held


def readers(kind: type) -> Fields:
    """{field: function that reads it} of an object's dataclass, without `extra`."""
    hints = get_type_hints(kind)
    return {
        part.name: part.metadata.get("read") or (attributed if _holds_dict(hints[part.name]) else text)
        for part in dataclasses.fields(kind)
        if part.name != EXTRA
    }


def _holds_dict(hint: object) -> bool:
    return dict in (hint, get_origin(hint)) or any(map(_holds_dict, get_args(hint)))


def _filled(kind: type, name: str, fields: Fields) -> Callable[[Element], object]:
    """Return a reader for elements called `name`."""

    def read(element: Element) -> object:
        if element.name != name:
            return None
        target = kind()
        fill(target, element, fields)
        return target

    return read


def _row(value: object) -> object:
    """An object as JSON feeds write it: a dict without empty fields."""
    if not dataclasses.is_dataclass(value):
        return value
    parts = ((part.name, getattr(value, part.name)) for part in dataclasses.fields(value))
    return {name: part for name, part in parts if part is not None and part != [] and part != {}}


NAMESPACES: dict[str, Namespace] = {}
"""{URI: namespace} of this project and of the plug-ins registered so far; see `declared`."""


def register(namespace: Namespace) -> Namespace:
    """Make a namespace known to the whole package, before the first file is read. Returns it.

    Raises ValueError if its URI, prefix or field is taken, or its field is not an identifier.
    """
    if not namespace.field.isidentifier():
        raise ValueError(f"the field {namespace.field!r} of a namespace is not an identifier")
    for other in NAMESPACES.values():
        for name in ("uri", "prefix", "field"):
            if getattr(other, name) == getattr(namespace, name):
                raise ValueError(f"two namespaces have the {name} {getattr(namespace, name)}")
    NAMESPACES[namespace.uri] = namespace
    for answer in (find, declared, plugged):
        answer.cache_clear()
    return namespace


@cache
def declared() -> tuple[Namespace, ...]:
    """All namespaces: those of this project, of installed plug-ins, and others that were registered.

    Raises ValueError if a plug-in cannot be imported.
    """
    plugins.load(plugins.NAMESPACES)
    return tuple(NAMESPACES.values())


@cache
def plugged() -> tuple[Namespace, ...]:
    """The namespaces of plug-ins, whose objects are in the `extra` of a record."""
    return tuple(namespace for namespace in declared() if not namespace.own)


@lru_cache(maxsize=256)
def find(uri: str) -> Namespace | None:
    """Return the extension that a URI means, even if it is misspelt."""
    known = declared()
    exact = NAMESPACES.get(uri)
    if exact is not None:
        return exact
    plain = uri.strip().lower()
    return next((namespace for namespace in known if namespace.word and namespace.word in plain), None)
