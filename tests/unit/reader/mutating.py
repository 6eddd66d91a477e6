"""Documents that were good once: hypothesis strategies for what happens to them."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import strategies as st

TOKENS = (
    b"&", b"&", b"<", b"<", b">", b'"', b"'", b"/", b"\x08", b"\x00", b"\xff", b"\xe9", b"\xc3", b"\xed\xa0\x80", b"\n",
    b"&eacute;", b"&x;", b"&amp", b"&#0;", b"&#65;", b"&#xD800;", b"]]>", b"--", b"</url>", b"<url>", b"<loc>", b"</loc>",
    b"<urlset>", b"</urlset>", b"<url", b"<x>", b"</x>", b"<o:x/>", b"<q:x/>", b"<?xml version='1.0'?>", b"<?", b"<br>",
)  # fmt: skip
SECTIONS = (b"<!--", b"-->", b"<![CDATA[", b"<!DOCTYPE urlset [", b"<!")
"""What opens or closes a stretch that is no markup."""
MAX_SPAN = 24
"""Bytes that one mutation deletes, doubles or moves."""

Mutation = Callable[[bytes, int, int], bytes]


def delete(data: bytes, start: int, end: int) -> bytes:
    return data[:start] + data[end:]


def double(data: bytes, start: int, end: int) -> bytes:
    return data[:end] + data[start:]


def swap(data: bytes, start: int, end: int) -> bytes:
    middle = (start + end) // 2
    return data[:start] + data[middle:end] + data[start:middle] + data[end:]


def truncate(data: bytes, start: int, end: int) -> bytes:
    return data[:start]


def insert(token: bytes) -> Mutation:
    """The mutation that inserts `token`."""
    return lambda data, start, end: data[:start] + token + data[start:]


def mutations(sections: bool = True) -> st.SearchStrategy[Mutation]:
    """One mutation; `sections`: also what opens or closes comments and CDATA."""
    tokens = TOKENS + (SECTIONS if sections else ())
    return st.one_of(st.sampled_from(tokens).map(insert), st.sampled_from((delete, double, swap)))


@st.composite
def mutated(draw: st.DrawFn, data: bytes) -> bytes:
    """`data` after one to three mutations, rarely cut off."""
    for _ in range(draw(st.sampled_from((1, 1, 1, 2, 3)))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(1, MAX_SPAN)))
        data = draw(mutations())(data, start, end)
    return data[: draw(st.integers(0, len(data)))] if draw(st.integers(0, 9)) == 0 else data
