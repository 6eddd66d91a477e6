"""Main content of a page: its length, and hashes that tell whether it has changed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Content:
    """What the main content of one page comes to."""

    words: int
    content_hash: str
    """Version of the extraction, `-` and 32 hexadecimal digits."""
    simhash: str
    """16 hexadecimal digits: similar pages differ in few bits."""
