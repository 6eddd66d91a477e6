"""The Link header. Source: RFC 8288, 3 and appendix B"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

MAX_LINKS = 500  # of one answer; some name a hundred styles and scripts to load early
# Possessive, and no "<" inside a target, so that no header makes it slow.
_LINK = re.compile(r'<([^<>]*+)>((?:[^",<]++|"(?:[^"\\]++|\\.)*+")*+)', re.DOTALL)
_PARAMETER = re.compile(r';\s*+([^\s=;,"]++)\s*+(?:=\s*+("(?:[^"\\]++|\\.)*+"|[^;,"\s]*+))?+', re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Link:
    """One link of a header."""

    target: str
    """The reference as written."""
    rel: tuple[str, ...]
    """Relation types, lower case."""
    parameters: dict[str, str]
    """By name in lower case; of two with one name the first counts."""


def links(headers: Iterable[str]) -> Iterator[Link]:
    """The links of Link headers, in order; what is none is passed over."""
    count = 0
    for header in headers:
        for found in _LINK.finditer(header):
            count += 1
            if count > MAX_LINKS:
                return
            parameters = _parameters(found[2])
            yield Link(found[1].strip(), tuple(parameters.get("rel", "").lower().split()), parameters)


def _parameters(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in _PARAMETER.findall(text):
        plain = _ESCAPED.sub(r"\1", value[1:-1]) if value.startswith('"') else value
        found.setdefault(name.lower(), plain)
    return found
