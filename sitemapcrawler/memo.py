"""What has been asked in a crawl, so that nothing is asked twice however often it is listed.

SQLite keeps it in a temporary file that has no name and goes with the process: memory stays flat, whatever the number.
"""

from __future__ import annotations

import logging
import sqlite3
from hashlib import blake2b

from sitemapcrawler.reply.step import Step, decode, encode

logger = logging.getLogger(__name__)

DIGEST_BYTES = 16
"""Bytes that stand for a request: two with the same do not occur."""
CACHE_KIB = 4096
"""KiB of the file that SQLite keeps in memory."""
MARK = ""
"""Stands for the method in the digest of a URL that is marked."""
TEMPORARY = ""
"""Name with which SQLite opens a temporary file."""


class Memo:
    """The answer to every request. Where the disk is full, none is known any more: their URLs may be asked again."""

    def __init__(self) -> None:
        self._base = sqlite3.connect(TEMPORARY, isolation_level=None)
        self._base.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
        self._base.execute("PRAGMA journal_mode = OFF")
        self._base.execute("CREATE TABLE steps (request BLOB PRIMARY KEY, step BLOB) WITHOUT ROWID")
        self._base.execute("BEGIN")
        self._full = False

    def get(self, method: str, key: str) -> Step | None:
        """The answer to a request; None where it is not known. `key`: `urls.request_key` of the URL."""
        if self._full:  # without a journal, what is there may be damaged too
            return None
        try:
            row = self._base.execute("SELECT step FROM steps WHERE request = ?", (_digest(method, key),)).fetchone()
        except sqlite3.Error as error:
            self._give_up(error)
            return None
        return None if row is None else decode(row[0])

    def put(self, method: str, key: str, step: Step) -> None:
        """Keep the answer to a request."""
        if self._full:
            return
        try:
            self._base.execute("INSERT OR REPLACE INTO steps VALUES (?, ?)", (_digest(method, key), encode(step)))
        except sqlite3.Error as error:
            self._give_up(error)

    def mark(self, key: str) -> bool:
        """True the first time that this is said of a URL; where the disk is full, later ones are always new."""
        if self._full:
            return True
        try:
            done = self._base.execute("INSERT OR IGNORE INTO steps VALUES (?, x'')", (_digest(MARK, key),))
        except sqlite3.Error as error:
            self._give_up(error)
            return True
        return done.rowcount > 0

    def _give_up(self, error: sqlite3.Error) -> None:
        self._full = True
        logger.warning("replies cannot be kept any more (%s): URLs that are listed again are asked again", error)

    def close(self) -> None:
        """Free the file."""
        self._base.close()


def _digest(method: str, key: str) -> bytes:
    return blake2b(f"{method} {key}".encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
