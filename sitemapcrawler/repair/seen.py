"""Remembers the entries of a set, and decides on what depends on all of them: which of several entries of a page stays,
which links to language versions lead to pages that are gone, and which problems between pages remain.

URLs are remembered as digests in a database on disk, so that a set of any size fits.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from sitemapcrawler.reader.entries import FIELDS
from sitemapcrawler.repair.edits import CODE
from sitemapcrawler.repair.markup import TAG
from sitemapcrawler.repair.streaming import (
    CONTRADICTED,
    CROSS,
    DUPLICATE,
    SELF,
    UNRETURNED,
    Kept,
    Lost,
    Rules,
    Versions,
    line_of,
)
from sitemapcrawler.rules.facts.languages import DEFAULT, page_key
from sitemapcrawler.rules.reach import OF_VERSIONS

DIGEST_BYTES = 16
"""Two of a billion URLs share such a digest with a probability of 1e-21."""
CACHE_KIB = 32 * 1024
"""Memory of the database of digests."""
MAX_SETS = 4096
"""Sets of language versions that are known to be stored. The pages of a set often come in a row."""
DROPPED, UNLINKED, RELINKED, UNREPAIRED = "dropped", "unlinked", "relinked", "unrepaired"
"""Decisions on an entry."""
TABLES = """
    CREATE TABLE entries (digest BLOB, file INT, entry INT, moved INT, bare INT, undated INT, news INT,
                          versions INT, linked INT, objects BLOB,
                          PRIMARY KEY (digest, file, entry)) WITHOUT ROWID;
    CREATE TABLE versions (id INT, page BLOB, code TEXT, PRIMARY KEY (id, page, code)) WITHOUT ROWID;
    CREATE TABLE pages (digest BLOB PRIMARY KEY, key TEXT) WITHOUT ROWID;
    CREATE TABLE lost (digest BLOB PRIMARY KEY, rule TEXT, judged INT, target TEXT, at BLOB) WITHOUT ROWID;
    CREATE TABLE gone (file INT, entry INT, PRIMARY KEY (file, entry)) WITHOUT ROWID;
    CREATE TABLE broken (id INT, page BLOB, rule TEXT, PRIMARY KEY (id, page)) WITHOUT ROWID;
    CREATE TABLE sets (digest BLOB PRIMARY KEY, versions INT) WITHOUT ROWID;
    CREATE TABLE edits (file INT, entry INT, action TEXT, rule TEXT, page TEXT);
    """
REPEATED = f"""
    SELECT file, entry,
           CASE WHEN moved AND max(in_file, in_kind) > 1 THEN ''
                WHEN NOT moved AND :file AND in_file > 1 AND (bare OR in_objects > 1) THEN '{DUPLICATE}'
                WHEN NOT moved AND :set AND bare AND in_bare > 1 THEN '{CROSS}' END AS rule
    FROM (SELECT *, row_number() OVER (PARTITION BY digest, file ORDER BY moved, bare, undated, entry) AS in_file,
                 row_number() OVER (PARTITION BY digest, file, objects, versions
                                    ORDER BY moved, undated, entry) AS in_objects,
                 row_number() OVER (PARTITION BY digest, news ORDER BY moved, bare, undated, file, entry) AS in_kind,
                 row_number() OVER (PARTITION BY digest, bare ORDER BY moved, undated, file, entry) AS in_bare
          FROM entries e WHERE digest IN (SELECT digest FROM entries GROUP BY digest HAVING count(*) > 1)
          AND NOT EXISTS (SELECT 1 FROM gone WHERE file = e.file AND entry = e.entry))
    WHERE rule IS NOT NULL"""
"""SQL for the entries that repeat others, and say no more than those that stay: one has extensions or a date if any
has, and is the first of such; others in its file have other extensions. An entry that an audit moved to its page makes
way for the page's own."""
KEPT = """
    entries e WHERE versions IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM gone WHERE file = e.file AND entry = e.entry)"""
"""SQL for the entries that stay and list versions."""
MOVED = """
    SELECT v.id, v.page, v.code, l.rule, l.at FROM versions v JOIN lost l ON l.digest = v.page
    WHERE EXISTS (SELECT 1 FROM entries WHERE digest = l.at AND moved)
      AND NOT EXISTS (SELECT 1 FROM entries WHERE digest = l.at AND NOT moved)
      AND NOT EXISTS (SELECT 1 FROM lost WHERE digest = l.at)
      AND NOT EXISTS (SELECT 1 FROM versions o LEFT JOIN lost t ON t.digest = o.page
                      WHERE o.id = v.id AND o.page <> v.page AND l.at IN (o.page, t.at))"""
"""SQL for the links to language versions whose entries have moved to a page that nothing else stands for."""
WITHOUT_SELF = f"""
    SELECT e.digest, e.file, e.entry, e.versions FROM {KEPT}
       AND NOT EXISTS (SELECT 1 FROM versions WHERE id = e.versions AND page = e.digest)
       AND NOT EXISTS (SELECT 1 FROM edits WHERE file = e.file AND entry = e.entry AND rule = '{CODE}')"""
"""SQL for entries that list versions and not themselves, not even with an invalid code."""
APART = """
    SELECT s.digest, m.page, m.code, t.versions
    FROM sets s JOIN versions m ON m.id = s.versions JOIN sets t ON t.digest = m.page
    WHERE s.versions IN (SELECT m.id FROM versions m JOIN sets t ON t.digest = m.page WHERE t.versions IS NOT m.id)
      AND t.versions IS NOT s.versions AND m.page <> s.digest
      AND EXISTS (SELECT 1 FROM versions WHERE id = s.versions AND page = s.digest)"""
"""SQL for links to listed language versions with other sets than the page, which lists itself. Pages with equal sets
return each other's links."""
CODES = "SELECT code FROM versions WHERE id IS ? AND page = ?"


@dataclass(frozen=True, slots=True)
class Decision:
    """A decision on an entry, made when all are known."""

    action: str
    """`DROPPED`, `UNLINKED`, `RELINKED` or `UNREPAIRED`."""
    rule: str
    """Empty for a drop in favour of the page's own entry, which has the rule of its move."""
    page: str
    """Page key of the other page."""


class Seen:
    """Remembers the entries of a set, and decides on them."""

    def __init__(self, path: Path, rules: Rules) -> None:
        self._rules = rules
        self._database = sqlite3.connect(path, isolation_level=None)
        execute = self._database.execute
        for pragma in ("journal_mode=OFF", "synchronous=OFF", f"cache_size=-{CACHE_KIB}", "locking_mode=EXCLUSIVE"):
            execute(f"PRAGMA {pragma}")
        self._database.executescript(TABLES)
        execute("BEGIN")
        self._sets: dict[Versions, int] = {}
        self._has_versions = False

    def add(self, file: int, entry: int, kept: Kept) -> None:
        """Remember an entry. `file` and `entry`: numbers of the file, and of the entry in it."""
        versions = self._set_of(kept.versions) if kept.versions else None
        row = (_digest(kept.loc), file, entry, kept.origin.move != "", kept.is_bare,
               kept.lastmod_at is None, kept.articles > 0, versions, kept.has_only_versions,
               None if kept.is_bare else _digest_of(_extensions(line_of(kept.text))))  # fmt: skip
        self._database.execute("INSERT INTO entries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", row)
        for rule in kept.problems:
            self._database.execute("INSERT INTO edits VALUES (?, ?, ?, ?, '')", (file, entry, UNREPAIRED, rule))

    def has(self, url: str) -> bool:
        """True if an entry is for this page."""
        found = self._database.execute("SELECT 1 FROM entries WHERE digest = ?", (_digest(url),))
        return found.fetchone() is not None

    def lose(self, lost: Lost) -> None:
        """Remember a page whose entry is dropped, or that an audit judged not indexable."""
        rule = OF_VERSIONS.get(lost.rule, lost.rule)
        if rule in self._rules:
            target = lost.replacement
            if target is not None:  # links that have followed it may have to go all the same
                self._database.execute("INSERT OR IGNORE INTO pages VALUES (?, ?)", (_digest(target), page_key(target)))
            row = (_digest(lost.loc), rule, lost.is_judged, target, None if target is None else _digest(target))
            self._database.execute("INSERT OR REPLACE INTO lost VALUES (?, ?, ?, ?, ?)", row)

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
        self._has_versions = True
        return number

    def settle(self) -> None:
        """Decide on all entries."""
        self._database.execute("CREATE INDEX by_place ON edits (file, entry)")
        if self._has_versions:
            self._follow_links()
            self._find_broken_links()
            self._renumber()
        self._drop_repeated()
        if self._has_versions:
            if SELF in self._rules:
                self._find_those_without_self()
            self._find_contradictions()
            if self._rules.is_new:
                self._drop_repeated()  # equal without the links that they have lost

    def _drop_repeated(self) -> None:
        """Drop the entries that repeat others. One that has nothing but language versions, and none left, is bare."""
        execute = self._database.execute
        execute("UPDATE entries SET bare = 1 WHERE linked AND versions IS NULL")
        chosen = {"file": DUPLICATE in self._rules, "set": CROSS in self._rules}
        execute(f"INSERT INTO edits SELECT file, entry, '{DROPPED}', rule, '' FROM ({REPEATED})", chosen)
        execute(f"INSERT OR IGNORE INTO gone SELECT file, entry FROM edits WHERE action = '{DROPPED}'")

    def _follow_links(self) -> None:
        """Link to the new URL of language versions whose entries have moved: the page behind it has no entry of its
        own, and no other version of the set is there."""
        execute = self._database.execute
        execute(f"CREATE TEMP TABLE moved AS {MOVED}")
        execute(f"""
            INSERT INTO edits SELECT e.file, e.entry, '{RELINKED}', m.rule, p.key
            FROM entries e JOIN (SELECT DISTINCT id, page, rule FROM moved) m ON m.id = e.versions
            JOIN pages p ON p.digest = m.page""")
        execute("DELETE FROM versions WHERE (id, page) IN (SELECT id, page FROM moved)")
        execute("INSERT INTO versions SELECT id, at, code FROM moved")

    def _find_broken_links(self) -> None:
        """Find the links to pages that are gone. A page of which another entry stays is not."""
        execute = self._database.execute
        execute("""
            INSERT INTO broken
            SELECT DISTINCT v.id, v.page, l.rule FROM versions v JOIN lost l ON l.digest = v.page
            WHERE l.judged OR NOT EXISTS (SELECT 1 FROM entries WHERE digest = v.page)""")
        execute(f"""
            INSERT INTO edits SELECT e.file, e.entry, '{UNLINKED}', b.rule, p.key
            FROM entries e JOIN broken b ON b.id = e.versions JOIN pages p ON p.digest = b.page""")

    def _renumber(self) -> None:
        """Give entries the number of the versions that are left to them."""
        execute = self._database.execute
        execute("CREATE TEMP TABLE reduced (id INT PRIMARY KEY, versions INT)")
        for (number,) in execute("SELECT id FROM broken UNION SELECT id FROM moved").fetchall():
            gone = {page for (page,) in execute("SELECT page FROM broken WHERE id = ?", (number,))}
            execute("INSERT INTO reduced VALUES (?, ?)", (number, self._without(number, gone)))
        execute("""
            UPDATE entries SET versions = (SELECT versions FROM reduced WHERE id = entries.versions)
            WHERE versions IN (SELECT id FROM reduced)""")

    def _without(self, number: int, gone: Collection[bytes]) -> int | None:
        """Store the versions of a set that are left without some pages; return their number, None if none are left."""
        members = self._database.execute("SELECT page, code FROM versions WHERE id = ?", (number,)).fetchall()
        left = [member for member in members if member[0] not in gone]
        return self._store(left) if left else None

    def _unlink(self, links: str) -> None:
        """Remove links from the entries of a new set. `links`: SQL for digest, file, entry, number of its versions,
        page of the link, and rule."""
        execute = self._database.execute
        found = execute(f"{links} ORDER BY 1, 2, 3").fetchall()
        for (digest, file, entry, number), group in groupby(found, itemgetter(0, 1, 2, 3)):
            rules = {page: rule for *_, page, rule in group}
            for page, rule in rules.items():
                execute(
                    f"INSERT INTO edits SELECT ?, ?, '{UNLINKED}', ?, key FROM pages WHERE digest = ?",
                    (file, entry, rule, page),
                )
            left = self._without(number, rules)
            execute(
                "UPDATE entries SET versions = ? WHERE digest = ? AND file = ? AND entry = ?",
                (left, digest, file, entry),
            )

    def _find_those_without_self(self) -> None:
        """Find the entries that do not list themselves. Those of a new set lose all their links."""
        if self._rules.is_new:
            self._unlink(f"SELECT e.*, v.page, '{SELF}' FROM ({WITHOUT_SELF}) e JOIN versions v ON v.id = e.versions")
        else:
            self._database.execute(
                f"INSERT INTO edits SELECT file, entry, '{UNREPAIRED}', '{SELF}', '' FROM ({WITHOUT_SELF})"
            )

    def _find_contradictions(self) -> None:
        """Find links between pages that are not returned, or with another code than the page gives itself."""
        execute = self._database.execute
        self._merge_sets()
        execute("CREATE TEMP TABLE wrong (digest BLOB, rule TEXT, other BLOB)")
        insert = "INSERT INTO wrong VALUES (?, ?, ?)"
        for page, other, code, its_versions in execute(APART):
            if execute(CODES, (its_versions, page)).fetchone() is None:
                if UNRETURNED in self._rules:
                    execute(insert, (other, UNRETURNED, page))
            elif code != DEFAULT and CONTRADICTED in self._rules:
                own = {found for (found,) in execute(CODES, (its_versions, other))}
                if own - {DEFAULT} and code not in own:
                    execute(insert, (page, CONTRADICTED, other))
        if self._rules.is_new:  # neither page keeps its link to the other
            both = "SELECT digest, other, rule FROM wrong UNION SELECT other, digest, rule FROM wrong"
            self._unlink(f"""
                SELECT e.digest, e.file, e.entry, e.versions, w.other, w.rule
                FROM ({both}) w JOIN entries e ON e.digest = w.digest
                JOIN versions v ON v.id = e.versions AND v.page = w.other""")
            return
        execute(f"""
            INSERT INTO edits SELECT e.file, e.entry, '{UNREPAIRED}', w.rule, coalesce(p.key, '')
            FROM (SELECT digest, rule, other, min(rowid) FROM wrong GROUP BY digest, rule) w
            JOIN entries e ON e.digest = w.digest LEFT JOIN pages p ON p.digest = w.other""")

    def _merge_sets(self) -> None:
        """Give each page the versions of all its entries."""
        execute = self._database.execute
        execute(f"INSERT INTO sets SELECT digest, min(versions) FROM {KEPT} GROUP BY digest")
        execute("INSERT OR IGNORE INTO sets SELECT digest, NULL FROM entries")
        several = f"SELECT digest FROM {KEPT} GROUP BY digest HAVING count(DISTINCT versions) > 1"
        for (digest,) in execute(several).fetchall():
            found = f"SELECT DISTINCT page, code FROM versions WHERE id IN (SELECT versions FROM {KEPT} AND digest = ?)"
            merged = self._store(execute(found, (digest,)).fetchall())
            execute("UPDATE sets SET versions = ? WHERE digest = ?", (merged, digest))

    def target_of(self, page: str) -> str:
        """The URL to which a page has moved. `page`: page key of its URL."""
        [(target,)] = self._database.execute("SELECT target FROM lost WHERE digest = ?", (_digest(page),))
        return str(target)

    def dropped(self, file: int) -> Iterator[int]:
        """Yield the numbers of the entries of a file that are dropped, in their order."""
        found = self._database.execute("SELECT entry FROM gone WHERE file = ? ORDER BY entry", (file,))
        yield from (entry for (entry,) in found)

    def decisions(self, file: int) -> Iterator[tuple[int, list[Decision]]]:
        """Yield the decisions on each entry of a file, in their order."""
        query = "SELECT entry, action, rule, page FROM edits WHERE file = ? ORDER BY entry, rowid"
        for entry, group in groupby(self._database.execute(query, (file,)), itemgetter(0)):
            yield entry, [Decision(*row) for _, *row in group]

    def close(self) -> None:
        self._database.close()


LINK = re.compile(r"<((?:[\w.-]+:)?link)\s(?=(?:[^<>]*\s)?hreflang\s*=)[^<>]*+>(?:(?<=/>)|\s*+</\1\s*+>)\s?")


def _extensions(text: str) -> str:
    """Return the text of an entry without language versions and the fields of the protocol, in which entries with equal
    extensions differ."""
    tag = TAG.match(text)
    return LINK.sub("", _core_field(tag[2] if tag is not None else None).sub("", text))


@lru_cache
def _core_field(prefix: str | None) -> re.Pattern[str]:
    start = f"{re.escape(prefix)}:" if prefix else ""
    return re.compile(rf"<({start}(?:{'|'.join(FIELDS)}))>[^<]*</\1>\s?")


def _digest(url: str) -> bytes:
    return _digest_of(page_key(url))


def _digest_of(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=DIGEST_BYTES).digest()
