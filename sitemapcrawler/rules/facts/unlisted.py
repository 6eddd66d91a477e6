"""Pages that no sitemap lists, in SQL: which of them a sitemap should list, and which are only counted by group."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sitemapcrawler.replies.indexability import Indexability
from sitemapcrawler.replies.kinds import Reason

FEED = r"(/(feed|rss)(/(rss2?|rdf|atom))?/?|\.(rss|atom|rdf)|/(feed|rss2?|atom|rdf|index)\.(xml|json))"
FILE = (
    r"\.(pdf|docx?|xlsx?|pptx?|od[tsp]|rtf|epub|csv|zip|gz|tar|7z|rar|dmg|exe|avif|bmp|gif|ico|jpe?g|png|svg|tiff?|webp"
    r"|mp[34]|m4[av]|ogg|wav|webm|mov|avi)"
)
GROUPS: Mapping[str, str] = MappingProxyType(
    {
        "feed": rf"(?i)^[^?#]*{FEED}([?#]|$)|[?&]feed=(rss|atom|rdf)",
        "file": rf"(?i)^[^?#]*{FILE}([?#]|$)",
        "paginated page": r"(?i)[?&](page|paged|pg|seite|pagina|start|offset)=[0-9]{1,5}([&#]|$)"
        r"|/(comment-)?(page|seite|pagina)[-/]?[0-9]{1,5}/?([?#]|$)",
    }
)
"""{what a URL is by its spelling: expression in RE2 syntax}, in order. Such URLs come in large numbers and are rarely
meant to be listed."""


def group_of(url: str) -> str:
    """SQL for the group of a URL; NULL for a page that counts by itself. `url`: a column."""
    cases = " ".join(f"WHEN regexp_matches({url}, '{pattern}') THEN '{name}'" for name, pattern in GROUPS.items())
    return f"CASE {cases} END"


MISSING = f"""
    SELECT c.page, c.url, c.lists, c.rows, f.indexable, f.modified, {group_of("c.url")} AS grouped
    FROM compared c LEFT JOIN (SELECT DISTINCT ON (page) * FROM found) f USING (page)
    WHERE NOT c.listed
      AND (f.page IS NULL OR f.indexable OR (f.indexable IS NULL AND f.kind IN ('unchecked', 'ok')))"""
"""SQL for pages of the lists that no sitemap lists, unless a request has shown that they cannot be indexed."""
ONLY = f"SELECT loc, {group_of('loc')} AS grouped FROM uncompared"
"""SQL for indexable listed pages that no list has."""
UNLISTED = f"""
    SELECT * FROM (SELECT *, {group_of("url")} AS grouped FROM pages)
    WHERE NOT listed AND inlinks > 0
      AND ((indexable AND (outlinks IS NOT NULL OR grouped IS NOT NULL))
           OR indexability = '{Indexability.NOT_CHECKED}')"""
"""SQL for pages that are linked and not listed, unless a request has shown that they cannot be indexed or are no
HTML."""
NOT_LINKED = f"""
    SELECT * FROM pages
    WHERE listed AND inlinks = 0 AND depth IS DISTINCT FROM 0 AND indexable IS NOT FALSE
      AND reason IS DISTINCT FROM '{Reason.OFF_SITE}'"""
"""SQL for listed pages that no page links to, without those that cannot be indexed, and those of other sites: links to
these do not count."""
