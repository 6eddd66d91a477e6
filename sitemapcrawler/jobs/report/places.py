"""Whom the site lets in, and which languages it speaks: robots.txt and language versions."""

from __future__ import annotations

from typing import Any

import msgspec

from sitemapcrawler.items import RobotsRecord
from sitemapcrawler.jobs.store.columns import json_line
from sitemapcrawler.report.model import MAX_LANGUAGES, MAX_ROBOTS, Language
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.facts.site_links import UNRETURNED

FIRST_SITEMAPS = 100
"""Sitemaps of a robots.txt that its record keeps here."""
ROBOTS = f"""
    SELECT {json_line(RobotsRecord)} FROM (
        SELECT * REPLACE (sitemaps[:{FIRST_SITEMAPS}] AS sitemaps) FROM robots
        ORDER BY urls DESC, robots LIMIT {MAX_ROBOTS})
    ORDER BY urls DESC, robots"""
LANGUAGES = """
    SELECT l.code, count(*) AS links, coalesce(any_value(u.number), 0) AS unreturned, count(*) FILTER (l.lost) AS lost
    FROM temp.site_links l
    LEFT JOIN (SELECT s.code, count(*) AS number FROM temp.site_suspects s
               JOIN temp.site_unreturned r ON r.source = s.source AND r.target = s.target
               GROUP BY s.code) u ON u.code = l.code
    WHERE l.code IS NOT NULL GROUP BY l.code ORDER BY links DESC, l.code"""

_robots = msgspec.json.Decoder(RobotsRecord).decode


def robots(site: SiteFacts) -> dict[str, Any]:
    """The robots.txt files of most listed URLs."""
    [(count,)] = site.query("SELECT count(*) FROM robots")
    return {"robots": [_robots(line) for (line,) in site.query(ROBOTS)], "robots_count": count}


def languages(site: SiteFacts) -> dict[str, Any]:
    """The languages that pages have versions in, from the tables of the rules on them."""
    if not site.has("alternates"):
        return {}
    site.need(UNRETURNED)
    found = [Language(*row) for row in site.query(LANGUAGES)]
    return {"languages": found[:MAX_LANGUAGES], "language_count": len(found)}
