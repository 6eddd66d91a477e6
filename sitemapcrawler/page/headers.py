"""The headers of an answer as text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sitemapcrawler.robots.decode import escaped

Headers = Mapping[str, Sequence[str]]
"""Header names in lower case -> their values, in the order in which they came."""
WITH_URLS = frozenset(("location", "link", "refresh", "content-location"))


def plain_headers(pairs: Iterable[tuple[bytes, Iterable[bytes]]]) -> dict[str, list[str]]:
    """`Headers` of what came over the network: names, each with its values.

    A value is UTF-8; where it is not, it is Latin-1 (RFC 9110, 5.5), or in a URL its bytes become %XX, which is what
    they are in a request.
    """
    plain: dict[str, list[str]] = {}
    for name, values in pairs:
        key = name.decode("latin-1").lower()
        plain.setdefault(key, []).extend(_text(value, key in WITH_URLS) for value in values)
    return plain


def _text(value: bytes, is_url: bool) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return escaped(value.decode("utf-8", "surrogateescape")) if is_url else value.decode("latin-1")
