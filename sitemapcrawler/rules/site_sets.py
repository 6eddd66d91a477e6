"""Tables of the sets of language versions that pages list: which of them disagree, and how."""

from __future__ import annotations

from sitemapcrawler.rules.languages import DEFAULT
from sitemapcrawler.rules.site_links import LINKS
from sitemapcrawler.rules.site_pages import AGAIN, row_of
from sitemapcrawler.rules.site_tables import Table

SETS = Table(
    "site_sets",
    (
        """
        CREATE TEMP TABLE site_sets AS
        SELECT source AS page, hash(count(code), sum(mark), bit_xor(mark)) AS fingerprint, count(code) AS links,
               bool_or(source = target) AS self
        FROM (SELECT *, CASE WHEN code IS NOT NULL THEN hash(target, code) END AS mark FROM temp.site_links)
        GROUP BY source""",
    ),
    of=(LINKS,),
)
"""What each page lists: equal fingerprints for equal sets, `self` where the page is among them."""
SUSPECTS = Table(
    "site_suspects",
    (
        """
        CREATE TEMP TABLE site_suspects AS
        SELECT l.source, l.target, l.code
        FROM temp.site_links l
        JOIN temp.site_sets s ON s.page = l.source
        LEFT JOIN temp.site_sets t ON t.page = l.target
        WHERE l.code IS NOT NULL AND l.target > 0 AND l.target <> l.source
          AND s.self AND t.fingerprint IS DISTINCT FROM s.fingerprint""",
        """
        DELETE FROM temp.site_suspects
        WHERE source IN (SELECT page FROM temp.site_pages WHERE doubtful)
           OR target IN (SELECT page FROM temp.site_pages WHERE doubtful)""",
        """
        CREATE OR REPLACE TEMP TABLE site_back AS
        SELECT source, target, code FROM temp.site_links
        WHERE source IN (SELECT target FROM temp.site_suspects)""",
    ),
    of=(SETS,),
)
"""Links between listed pages that do not list the same: of all others nothing can be wrong, since each page lists
itself. A page that does not is told so, and its links are not looked at. `site_back`: the links of their targets."""
UNRETURNED = Table(
    "site_unreturned",
    (
        """
        CREATE TEMP TABLE site_unreturned AS
        SELECT DISTINCT s.source, s.target FROM temp.site_suspects s
        WHERE NOT EXISTS (FROM temp.site_back b WHERE b.source = s.target AND b.target = s.source)""",
    ),
    of=(SUSPECTS,),
)
"""Links between listed pages without one that leads back."""
CONTRADICTED = Table(
    "site_contradicted",
    (
        f"""
        CREATE TEMP TABLE site_contradicted AS
        SELECT s.source, s.target, min(s.code) AS code, min(own.code) AS own
        FROM temp.site_suspects s JOIN temp.site_back own ON own.source = s.target AND own.target = s.target
        WHERE s.code <> '{DEFAULT}' AND own.code <> '{DEFAULT}'
          AND NOT EXISTS (FROM temp.site_unreturned u WHERE u.source = s.source AND u.target = s.target)
        GROUP BY s.source, s.target HAVING NOT bool_or(s.code = own.code)""",
    ),
    of=(UNRETURNED,),
)
"""Links between listed pages that lead back, with a code that is none of those which the target gives itself."""
REPEATED = Table(
    "site_repeated",
    (
        f"""
        CREATE TEMP TABLE site_repeated AS
        SELECT a.page FROM temp.site_again a JOIN urls u ON u.rowid = {row_of("a.place")}
        WHERE len(u.alternates) > 0 GROUP BY a.page HAVING count(*) > 1""",
    ),
    of=(AGAIN,),
)
"""Pages that several entries give links."""
APART = Table(
    "site_apart",
    (
        """
        CREATE TEMP TABLE site_apart AS
        SELECT target AS page, max_by(source, (links, -source)) AS other FROM (
            SELECT s.source, s.target, o.links FROM temp.site_suspects s
            JOIN temp.site_sets o ON o.page = s.source
            JOIN temp.site_sets t ON t.page = s.target
            WHERE t.self AND o.links >= t.links)
        GROUP BY target""",
        """
        DELETE FROM temp.site_apart WHERE page IN (
            SELECT unnest([source, target]) FROM temp.site_unreturned
            UNION ALL SELECT unnest([source, target]) FROM temp.site_contradicted
            UNION ALL FROM temp.site_repeated)""",
        """
        DELETE FROM temp.site_apart WHERE other IN (
            SELECT unnest([source, target]) FROM temp.site_unreturned
            UNION ALL SELECT unnest([source, target]) FROM temp.site_contradicted
            UNION ALL FROM temp.site_repeated)""",
    ),
    of=(CONTRADICTED, REPEATED),
)
"""Pages and one of their versions each that lists another set, and not a smaller one: it lists what the page does not.
Only where nothing else is wrong with either."""
