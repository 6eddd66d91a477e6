"""Chooses listed pages in the database of a job: those of a sample, to request as other crawlers, and to render.

Each function takes the database, and is called in its writing thread only.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from sitemapcrawler.envelopes import decoded
from sitemapcrawler.jobs.coverage import FOLDER
from sitemapcrawler.jobs.links import number_pages
from sitemapcrawler.jobs.segments import segment_of
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.queries import line_of
from sitemapcrawler.reader.notes import Note
from sitemapcrawler.replies.kinds import Reason, ReplyKind
from sitemapcrawler.rules.facts.site import numbered, origin_of
from sitemapcrawler.rules.facts.sites import CURRENT
from sitemapcrawler.urls import site_of
from sitemapcrawler.urls.segments import Segment

FEW = 10
"""URLs of each segment that a sample has at least, if it has them. They are at most half of the sample, or one each."""
MAX_REPEATS = 100_000
"""Entries of a sample besides one of each URL, which are in memory too; further ones stay as they are."""
OFFERED = f"reply.reason = '{Reason.SAMPLED_OUT}'"
"""SQL that is true for entries that may be in the sample."""
OF_SEGMENTS = """
    CREATE OR REPLACE TEMP TABLE sample_pages AS
    SELECT page, part, row_number() OVER (PARTITION BY part ORDER BY page) AS place
    FROM (SELECT page, {segment} AS part FROM (
        SELECT page, min(entry) AS entry FROM sample_listed GROUP BY page) JOIN urls ON urls.rowid = entry)"""
"""SQL for the pages that may be in the sample, with their segments: that of the first entry."""
SAMPLE = f"""
    WITH pages AS (SELECT page FROM sample_pages ORDER BY place <= $1 DESC, page LIMIT $2),
    entries AS (
        SELECT entry FROM sample_listed JOIN pages USING (page)
        ORDER BY row_number() OVER (PARTITION BY page ORDER BY entry), entry LIMIT $2 + {MAX_REPEATS})
    SELECT n.sitemap, n.number, {line_of("urls", "u.")}
    FROM ({numbered("SELECT sitemap FROM urls WHERE rowid IN (FROM entries)")}) n
    JOIN entries e ON e.entry = n.row JOIN urls u ON u.rowid = n.row
    ORDER BY n.sitemap, n.number"""
"""SQL for the entries of a sample. Parameters: pages of each segment, and pages in all."""

CANDIDATES = 10
"""Pages of a site that are tried at most as other crawlers, in case that some of them are no page to us."""
SPARE = 3
"""Pages that are tried for each that is to be rendered, for the same reason."""
ORIGIN = origin_of("loc")
LISTED = f"""
    SELECT loc, {ORIGIN} AS origin, {FOLDER.format(url="loc")} AS folder, any_value(segment) AS segment,
        bool_or(reply.kind = '{ReplyKind.OK}' AND reply.final_status = 200) AS known
    FROM urls WHERE {CURRENT} AND (reply IS NULL OR reply.kind IN ('{ReplyKind.OK}', '{ReplyKind.UNCHECKED}'))
    GROUP BY loc"""
"""SQL for listed pages that answer us, or may do so."""
TO_ASK = f"""
    SELECT origin, loc FROM (
        SELECT *, count(*) OVER (PARTITION BY origin, folder) AS size,
            row_number() OVER (PARTITION BY origin, folder ORDER BY known DESC NULLS LAST, md5(loc)) AS place
        FROM ({LISTED}) SEMI JOIN (SELECT unnest(?) AS origin) USING (origin))
    QUALIFY row_number() OVER (PARTITION BY origin ORDER BY place, size DESC, folder) <= {CANDIDATES}
    ORDER BY place, size DESC, folder, origin"""
"""SQL for some pages of each origin: one of each folder in turn, the largest folder first, the same in each crawl."""
TO_RENDER = f"""
    SELECT loc FROM (
        SELECT *, count(*) OVER part AS size,
            row_number() OVER (part ORDER BY known DESC NULLS LAST, md5($2 || loc)) AS place
        FROM ({LISTED}) WHERE list_contains($1, origin) WINDOW part AS (PARTITION BY segment, origin, folder))
    ORDER BY row_number() OVER (PARTITION BY segment ORDER BY place, size DESC, folder, origin), size DESC, segment
    LIMIT $3"""
"""SQL for some listed pages: one of each segment in turn, and within these of each folder, the largest first; the same
with each seed."""


@dataclass(frozen=True, slots=True)
class SampleDraw:
    """A sample that was drawn."""

    notes: Mapping[str, Sequence[Note]]
    """{sitemap: its entries in order}."""
    population: int
    """Distinct URLs that could be drawn."""
    offered: Mapping[str, Counter[str | None]]
    """{sitemap: entries that could be drawn, by segment}."""

    def shares(self) -> dict[str | None, Fraction]:
        """Share of each segment in all entries that could be drawn."""
        found = sum(self.offered.values(), Counter())
        return {segment: Fraction(number, found.total()) for segment, number in found.items()}


def drawn(store: Store, count: int, segments: Sequence[Segment], number: Callable[[str], int]) -> SampleDraw:
    """Draw `count` pages: those with the smallest numbers, which `number` gives a URL. Of segments, as a stratified
    sample: of each the `FEW` with the smallest numbers, and of all others those with the smallest numbers, which is
    proportional to the segments on average."""
    number_pages(store, "sample_listed", OFFERED, number)
    segment = segment_of(segments) if segments else "NULL"
    store.execute(OF_SEGMENTS.format(segment=segment))
    [(population, parts)] = store.execute("SELECT count(*), count(DISTINCT part) FROM sample_pages")
    least = min(FEW, max(1, count // (2 * parts))) if 0 < parts <= count else 0
    notes: defaultdict[str, list[Note]] = defaultdict(list)
    for sitemap, place, line in store.execute(SAMPLE, [least, count]):
        notes[sitemap].append(Note(decoded(line), number=place))
    offered: defaultdict[str, Counter[str | None]] = defaultdict(Counter)
    counts = f"SELECT sitemap, {segment} AS part, count(*) FROM urls WHERE {OFFERED} GROUP BY ALL"
    for sitemap, part, entries in store.execute(counts):
        offered[sitemap][part] = entries
    for table in ("listed", "pages"):
        store.execute(f"DROP TABLE temp.sample_{table}")
    return SampleDraw(notes, population, offered)


def pages_to_ask(store: Store, sites: Collection[str]) -> dict[str, list[str]]:
    """{site: pages to try as crawlers, those of earlier runs first}. `sites`: those that the user named, as from
    `site_of`."""
    listed = store.execute(f"SELECT DISTINCT {ORIGIN} FROM urls")
    origins = [origin for (origin,) in listed if site_of(origin) in sites]
    rows = store.execute("SELECT DISTINCT url FROM answers ORDER BY url")
    chosen = [url for (url,) in rows] + [loc for _, loc in store.execute(TO_ASK, [origins])]
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for url in chosen:
        found[site_of(url)][url] = None
    return {site: list(pages)[:CANDIDATES] for site, pages in found.items()}


def answered(store: Store) -> set[tuple[str, str]]:
    """Page and crawler of the answers that earlier runs have compared."""
    return set(store.execute("SELECT url, crawler FROM answers"))


def pages_to_render(
    store: Store, sites: Collection[str] | None, count: int | None, share: Fraction | None, seed: int
) -> tuple[int, list[str]]:
    """How many pages to render, and those to try. `sites`: as from `site_of`, to which they belong; None for any.
    `count`, `share`: how many, of those that are listed; `seed` selects them."""
    listed = store.execute(f"SELECT {ORIGIN} AS origin, count(DISTINCT loc) FROM urls WHERE {CURRENT} GROUP BY 1")
    numbers = {origin: number for origin, number in listed if sites is None or site_of(origin) in sites}
    number = sum(numbers.values())
    wanted = min(number, count if share is None else ceil(share * number)) if count or share else number
    chosen = store.execute(TO_RENDER, [list(numbers), str(seed), SPARE * wanted])
    return wanted, [loc for (loc,) in chosen]


def rendered(store: Store) -> set[str]:
    """Pages that earlier runs have rendered."""
    return {url for (url,) in store.execute("SELECT url FROM rendered")}


def listed_of(store: Store, urls: Sequence[str]) -> list[str]:
    """Those of some URLs that are listed, in the same order."""
    rows = store.execute(f"SELECT DISTINCT loc FROM urls WHERE {CURRENT} AND list_contains(?, loc)", [list(urls)])
    found = {loc for (loc,) in rows}
    return [url for url in urls if url in found]
