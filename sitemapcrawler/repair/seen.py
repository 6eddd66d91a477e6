"""Remembers the URLs of a set: which one stands where, and which language versions its entry lists.

URLs are remembered as digests in a database on disk, so that a set of any size fits.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from sitemapcrawler.repair.reading import CONTRADICTED, SELF, UNRETURNED, Versions
from sitemapcrawler.rules.facts.languages import DEFAULT, page_key

DIGEST_BYTES = 16
"""Two of a billion URLs share such a digest with a probability of 1e-21."""
CACHE_KIB = 32 * 1024
"""Memory of the database of digests."""
MAX_SETS = 4096
"""Sets of language versions that are known to be stored. The pages of a set often come in a row."""
APART = """
    SELECT s.digest, m.page, m.code, t.versions
    FROM seen s JOIN versions m ON m.id = s.versions JOIN seen t ON t.digest = m.page
    WHERE s.versions IN (SELECT m.id FROM versions m JOIN seen t ON t.digest = m.page WHERE t.versions IS NOT m.id)
      AND t.versions IS NOT s.versions AND m.page <> s.digest
      AND EXISTS (SELECT 1 FROM versions WHERE id = s.versions AND page = s.digest)"""
"""SQL for links to listed language versions with other sets than the page, which lists itself. Pages with equal sets
return each other's links."""
WITHOUT_SELF = """
    SELECT digest, versions FROM seen s
    WHERE digest > ? AND versions IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM versions WHERE id = s.versions AND page = s.digest)
    ORDER BY digest LIMIT 1000"""
"""SQL for pages that list versions and not themselves."""
ROUNDS = 10
"""Times that the links of all pages are judged at most; what is removed may be missed by another page."""
CODES = "SELECT code FROM versions WHERE id IS ? AND page = ?"


class Seen:
    """Remembers which URL stands where, which language versions it lists, and what has to be changed in entries."""

    def __init__(self, path: Path) -> None:
        self._database = sqlite3.connect(path, isolation_level=None)
        execute = self._database.execute
        for pragma in ("journal_mode=OFF", "synchronous=OFF", f"cache_size=-{CACHE_KIB}", "locking_mode=EXCLUSIVE"):
            execute(f"PRAGMA {pragma}")
        execute(
            "CREATE TABLE seen (digest BLOB PRIMARY KEY, file INT, entry INT, bare INT, versions INT) WITHOUT ROWID"
        )
        execute("CREATE TABLE versions (id INT, page BLOB, code TEXT, PRIMARY KEY (id, page, code)) WITHOUT ROWID")
        execute("CREATE TABLE pages (digest BLOB PRIMARY KEY, key TEXT) WITHOUT ROWID")
        execute("CREATE TABLE again (digest BLOB, file INT, entry INT)")
        execute("CREATE TABLE late (file INT, entry INT, line INT, text TEXT, lastmod TEXT)")
        execute("CREATE TABLE links (source BLOB, rule TEXT, page BLOB, code TEXT)")
        execute("CREATE TABLE wrong (source BLOB, rule TEXT, page BLOB, code TEXT)")
        execute("CREATE TABLE edits (file INT, entry INT, rule TEXT, key TEXT, code TEXT)")
        execute("BEGIN")
        self._sets: dict[Versions, int] = {}

    def add(
        self, loc: str, file: int, entry: int, is_bare: bool, versions: Versions = ()
    ) -> tuple[int, int, bool] | None:
        """Add a URL. If it was added before, return the file and entry that it has, and whether that is a bare one."""
        digest = _digest(loc)
        added = self._database.execute(
            "INSERT OR IGNORE INTO seen VALUES (?, ?, ?, ?, ?)",
            (digest, file, entry, is_bare, self._set_of(versions) if versions else None),
        ).rowcount
        if added:
            return None
        found = self._database.execute("SELECT file, entry, bare FROM seen WHERE digest = ?", (digest,)).fetchone()
        return found[0], found[1], bool(found[2])

    def add_again(self, loc: str, file: int, entry: int, versions: Versions) -> None:
        """Add another entry of a URL, which is kept too. Its language versions are those of the page as well."""
        digest = _digest(loc)
        self._database.execute("INSERT INTO again VALUES (?, ?, ?)", (digest, file, entry))
        if versions:
            before, new = self._versions_of(digest), self._set_of(versions)
            if before is not None and before != new:
                both = "SELECT DISTINCT page, code FROM versions WHERE id IN (?, ?)"
                new = self._store(self._database.execute(both, (before, new)).fetchall())
            self._set_versions(digest, new)

    def give_versions(self, loc: str, versions: Versions) -> None:
        """Give the language versions of an entry that is dropped to the first one of its URL, unless that has some."""
        digest = _digest(loc)
        if versions and self._versions_of(digest) is None:
            self._set_versions(digest, self._set_of(versions))

    def _versions_of(self, digest: bytes) -> int | None:
        row = self._database.execute("SELECT versions FROM seen WHERE digest = ?", (digest,)).fetchone()
        found: int | None = row[0]
        return found

    def _set_versions(self, digest: bytes, number: int | None) -> None:
        self._database.execute("UPDATE seen SET versions = ? WHERE digest = ?", (number, digest))

    def _set_of(self, versions: Versions) -> int:
        """Store a set of language versions, each once; return its number."""
        number = self._sets.get(versions)
        if number is None:
            pages = {(_digest(url), page_key(url), code) for code, url in versions}
            number = self._store([(page, code) for page, _, code in pages])
            if len(self._sets) >= MAX_SETS:
                self._sets.clear()
            self._sets[versions] = number
            self._database.executemany(
                "INSERT OR IGNORE INTO pages VALUES (?, ?)", [(page, key) for page, key, _ in pages]
            )
        return number

    def _store(self, members: Iterable[tuple[bytes, str]]) -> int:
        members = sorted(members)
        digest = blake2b(b"\n".join(page + code.encode() for page, code in members), digest_size=8).digest()
        number = int.from_bytes(digest, "big", signed=True)
        rows = [(number, *member) for member in members]
        self._database.executemany("INSERT OR IGNORE INTO versions VALUES (?, ?, ?)", rows)
        return number

    def judge_links(self, rules: Collection[str]) -> None:
        """Decide on the language versions of all pages. A page that does not list itself gets the code that others give
        it. Links that are not returned are removed, since search engines ignore them; a page that is given another code
        than it gives itself gets its own, or loses the link if another page has that code."""
        execute = self._database.execute
        if SELF in rules:
            self._list_themselves()
        for _ in range(ROUNDS):
            self._find_contradictions(rules)
            if execute("SELECT 1 FROM wrong LIMIT 1").fetchone() is None:
                break
            for source, group in groupby(execute("SELECT DISTINCT * FROM wrong ORDER BY source, page"), itemgetter(0)):
                self._settle(source, [(rule, page, code) for _, rule, page, code in group])
            execute("DELETE FROM wrong")
        execute(
            """
            INSERT INTO edits
            SELECT p.file, p.entry, l.rule, k.key, l.code
            FROM links l
            JOIN (SELECT digest, file, entry FROM seen UNION ALL SELECT * FROM again) p ON p.digest = l.source
            LEFT JOIN pages k ON k.digest = l.page ORDER BY l.rowid"""
        )
        execute("CREATE INDEX by_place ON edits (file, entry)")

    def _find_contradictions(self, rules: Collection[str]) -> None:
        execute, insert = self._database.execute, "INSERT INTO wrong VALUES (?, ?, ?, ?)"
        for page, other, code, its_versions in execute(APART):
            if execute(CODES, (its_versions, page)).fetchone() is None:
                if UNRETURNED in rules:
                    execute(insert, (page, UNRETURNED, other, None))
            elif code != DEFAULT and CONTRADICTED in rules:
                named = {found for (found,) in execute(CODES, (its_versions, other))}
                own = min(named - {DEFAULT}, default=None)
                if own is not None and code not in named:
                    execute(insert, (page, CONTRADICTED, other, own))

    def _settle(self, source: bytes, wrong: list[tuple[str, bytes, str | None]]) -> None:
        """Change the versions of one page: (rule, page, code) each, code None to remove the page."""
        found = self._database.execute("SELECT page, code FROM versions WHERE id = ?", (self._versions_of(source),))
        members = found.fetchall()
        for rule, page, code in wrong:
            if any(one == code and other != page for other, one in members):
                code = None
            kept = [(page, DEFAULT)] if code is not None and (page, DEFAULT) in members else []
            members = [member for member in members if member[0] != page] + kept
            if code is not None:
                members.append((page, code))
            self._decide(source, rule, page, code)
        self._set_versions(source, self._store(members) if members else None)

    def _list_themselves(self) -> None:
        execute, last = self._database.execute, b""
        while found := execute(WITHOUT_SELF, (last,)).fetchall():
            last = found[-1][0]
            execute("CREATE INDEX IF NOT EXISTS by_page ON versions (page)")
            for page, versions in found:
                given = {code for (code,) in execute("SELECT DISTINCT code FROM versions WHERE page = ?", (page,))}
                given = given - {DEFAULT} or given
                held = execute("SELECT page, code FROM versions WHERE id = ?", (versions,)).fetchall()
                code = given.pop() if len(given) == 1 else None
                if code is None or code in {one for _, one in held}:
                    self._decide(page, SELF, None, None)
                    self._set_versions(page, None)
                else:
                    self._decide(page, SELF, page, code)
                    self._set_versions(page, self._store([*held, (page, code)]))

    def _decide(self, source: bytes, rule: str, page: bytes | None, code: str | None) -> None:
        self._database.execute("INSERT INTO links VALUES (?, ?, ?, ?)", (source, rule, page, code))

    def links(self, file: int) -> Iterator[tuple[int, str, str | None, str | None]]:
        """Yield (entry, rule, page key, code) of the links of a file to change, in their order; code None to remove
        them, page None for all."""
        yield from self._database.execute(
            "SELECT entry, rule, key, code FROM edits WHERE file = ? ORDER BY entry, rowid", (file,)
        )

    def add_to(self, file: int, entry: int, line: int | None, text: str, lastmod: str | None) -> None:
        """Keep an entry whose images and videos, and newer date, belong into an earlier one. `line`: None if it is in
        another file."""
        self._database.execute("INSERT INTO late VALUES (?, ?, ?, ?, ?)", (file, entry, line, text, lastmod))

    def additions(self, file: int) -> Iterator[tuple[int, int | None, str, str | None]]:
        """Yield (entry, line, text, lastmod) of what belongs into the entries of a file, in their order."""
        yield from self._database.execute(
            "SELECT entry, line, text, lastmod FROM late WHERE file = ? ORDER BY entry, rowid", (file,)
        )

    def close(self) -> None:
        self._database.close()


def _digest(url: str) -> bytes:
    return blake2b(page_key(url).encode("utf-8", "replace"), digest_size=DIGEST_BYTES).digest()
