"""Bounds that hold whatever arrives. Hitting one is a fault; what was read before it is kept."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on one document. The protocol's own (50,000 entries, 50 MiB) are judged, not enforced."""

    max_bytes: int = 100 * MIB
    """Uncompressed bytes: twice the protocol's 52,428,800."""
    max_ratio: int = 300
    """Uncompressed bytes per compressed byte. Real sitemaps stay below 100; deflate reaches 1,032."""
    max_entries: int = 10_000_000
    """Entries of one file."""
    max_depth: int = 32
    """Elements open at once; the deepest known namespace (video:tvshow) needs 5."""
    max_element: int = MIB
    """Characters from one entry's end to the next one's: 1,000 images with long titles need about 0.5 MiB. It bounds
    memory, so a larger entry may pass that arrives in one piece."""
    max_head: int = MIB
    """Characters before the first element that are searched for it."""


RATIO_APPLIES_FROM = 8 * MIB
"""Uncompressed bytes below which the ratio is not judged: a short file may be all repetition."""
MAX_GZIP_LAYERS = 3
"""Gzip within gzip: two occur on the web (a .gz file compressed once more by the server), more is an attack."""


FULL = "max_urls was reached"
"""Why a file was not read to its end where `Selection.full`."""
