"""Tables of listed pages whose content was read, and of those that most servers answer with the same page."""

from __future__ import annotations

from sitemapcrawler.replies.page.content import PART_SIZE
from sitemapcrawler.rules.facts.site import FILES, PAGES, Table, file_of, row_of
from sitemapcrawler.rules.facts.sites import text_key

EXTENSIONS = (".html", ".htm", ".php", ".aspx", ".asp", ".jsp")
"""Extensions of pages. Tests for a suffix take half the time of regular expressions."""
INDEX_PAGES = ("index", "default", "Default")
"""Names of a folder's page, without their extension."""
MIN_WORDS = 20
"""Words of a text that can be a duplicate. Pages that a script fills often share a shorter one."""
NEAR = 5
"""Bits in which the similarity hashes of near duplicates may differ. With one inserted word, 97 % of texts of 400 words
differ in no more, 85 % of 200 and 65 % of 100; sequences of two words would find more of them, and call far more pages
alike that share four fifths of their text. One of six bands is then equal. Source: Manku, Jain and Das Sarma, Detecting
near-duplicates for web crawling, 2007."""
OF_TEXT = f"split_part(u.reply.content_hash, '-', 2)[{2 * PART_SIZE + 1}:]"
"""SQL for the part of a hash that tells texts apart; that of the template is before it, in hexadecimal digits."""
CONTENTS = Table(
    "site_contents",
    f"""
    SELECT p.page, f.site, p.key, u.reply.words AS words, {OF_TEXT} || u.reply.simhash AS hash,
           ('0x' || u.reply.simhash)::UBIGINT AS near
    FROM temp.site_pages p JOIN urls u ON u.rowid = {row_of("p.page")}
    JOIN temp.site_files f ON f.file = {file_of("p.page")}
    WHERE u.indexable AND u.reply.kind = 'ok' AND u.reply.words IS NOT NULL
      AND (u.reply.canonical IS NULL OR u.reply.canonical IN (u.reply.final_url, u.loc))""",
    of=(PAGES, FILES),
)
"""Indexable listed pages whose content was read, and whose canonical is their own URL. `hash` has both hashes: if a
text has paragraphs alone, its content hash has 16 bits, which pages of a large site share."""
_CUT = " ".join(f"WHEN suffix(key, '{end}') THEN left(key, length(key) - {len(end)})" for end in EXTENSIONS)
_IS_INDEX = " OR ".join(f"suffix(stem, '/{name}')" for name in INDEX_PAGES)
_BASES = f"""
    SELECT page, CASE WHEN {_IS_INDEX} THEN 'index' ELSE 'extension' END AS what,
           {text_key(f"CASE WHEN {_IS_INDEX} THEN regexp_replace(stem, '[^/]+$', '') ELSE stem END")} AS base
    FROM (SELECT page, CASE {_CUT} END AS stem FROM temp.site_pages WHERE NOT contains(key, '?'))
    WHERE NOT suffix(stem, '/')"""
ALIASES = Table(
    "site_aliases",
    f"""
    SELECT place, other, CASE WHEN bit_count(xor(a.near, b.near)) <= {NEAR} AND least(a.words, b.words) >= {MIN_WORDS}
                              THEN 'same' ELSE what END AS what
    FROM (SELECT b.page AS place, min(p.page) AS other, min(b.what) AS what
          FROM temp.site_pages p JOIN ({_BASES}) b ON b.base = {text_key("p.key")} GROUP BY b.page)
    LEFT JOIN temp.site_contents a ON a.page = place LEFT JOIN temp.site_contents b ON b.page = other""",
    of=(PAGES, CONTENTS),
)
"""Pages that are listed by another URL too: by that of their folder (`index`), without their extension (`extension`),
or either with the same or nearly the same text (`same`)."""
