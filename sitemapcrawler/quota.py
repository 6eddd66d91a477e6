"""How many pages a spider may ask for, in all runs of a job together."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

from scrapy import Request

KEPT = "sitemap.pages"
"""File in the folder of the job: the keys of the pages, one behind the other."""
KEY_BYTES = 16
"""Bytes of a key: collisions stay unlikely beyond 10^15 pages."""


class Quota:
    """The pages that `max_urls` still allows. Each counts once, since Scrapy asks for it once.

    Memory, and disk in a job: `KEY_BYTES` and a set entry for each page; nothing without a limit.
    """

    def __init__(self, most: int | None, folder: Path | None, fingerprint: Callable[[Request], bytes]) -> None:
        """`folder`: that of the job, None where there is none. `fingerprint`: equal for requests that Scrapy takes for
        the same. OSError where the folder cannot be used."""
        self._most = most
        self._fingerprint = fingerprint
        self._file = (folder / KEPT).open("a+b", buffering=0) if most is not None and folder is not None else None
        self._known: set[bytes] = set()
        self._count = 0
        if self._file is not None:
            self._file.seek(0)
            self._remember(self._file.readall())
            self._file.truncate(self._count * KEY_BYTES)

    @property
    def full(self) -> bool:
        """True when no further page may be asked for."""
        return self._most is not None and self._count >= self._most

    def take(self, request: Request) -> None:
        """A page is asked for."""
        if self._most is None:
            return
        key = blake2b(self._fingerprint(request), digest_size=KEY_BYTES).digest()
        if request.dont_filter or key not in self._known:
            self._remember(key)
            if self._file is not None:
                self._file.write(key)

    def close(self) -> None:
        """Nothing more is taken."""
        if self._file is not None:
            self._file.close()

    def _remember(self, keys: bytes) -> None:
        """Know keys, one behind the other; one that is not whole was not taken."""
        for at in range(0, len(keys) - KEY_BYTES + 1, KEY_BYTES):
            self._known.add(keys[at : at + KEY_BYTES])
            self._count += 1
