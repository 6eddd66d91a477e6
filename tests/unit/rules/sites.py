"""Judging a site in a test: the records of a crawl in, findings of the rules on the whole site out."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import duckdb

from sitemapcrawler.items import AnswerRecord, FindingRecord, RenderedRecord, RobotsRecord, SitemapRecord, UrlRecord
from sitemapcrawler.jobs.store.queries import rows_of
from sitemapcrawler.jobs.store.schema import RECORDS, statements, tables
from sitemapcrawler.namespaces.extensions import Alternate
from sitemapcrawler.rules import Per, all_rules
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts.site import SiteFacts, numbered
from sitemapcrawler.rules.facts.sites import CARRIED
from sitemapcrawler.rules.judge import Judge
from sitemapcrawler.rules.registry import ON_THE_SITE

HOME = "https://example.com"
A, B, C = (f"{HOME}/{name}.xml" for name in "abc")
"""Files."""
RULES = tuple(
    dataclasses.replace(rule, per=Per.SITE) if rule.per is Per.FILE and {*ON_THE_SITE} & {*rule.of} else rule
    for rule in all_rules()
)
"""All rules; those on the site report every entry by itself."""

Links = dict[str, str]
"""{hreflang: href}"""


def page(loc: str, sitemap: str = A, links: Links | Sequence[Alternate] = (), **fields: Any) -> UrlRecord:
    """An entry; a path is one of `HOME`."""
    alternates = [Alternate(code, at(url)) for code, url in links.items()] if isinstance(links, dict) else list(links)
    return UrlRecord(loc=at(loc), sitemap=sitemap, alternates=alternates, **fields)


def at(path: str) -> str:
    """A path as a URL of `HOME`."""
    return HOME + path if path.startswith("/") else path


class Site:
    """A crawl that has ended."""

    def __init__(
        self,
        *records: UrlRecord | SitemapRecord | RobotsRecord | AnswerRecord | RenderedRecord,
        children: Sequence[tuple[str, str]] = (),
        choice: Choice | None = None,
        per_rule: int = 100,
    ) -> None:
        """`children`: (index, listed). Files of entries that have no record of their own get one."""
        self.connection = duckdb.connect(":memory:")
        self.connection.execute(";".join(statements()))
        self.connection.execute("ALTER TABLE urls ADD COLUMN IF NOT EXISTS change VARCHAR")
        given = {record.sitemap for record in records if isinstance(record, SitemapRecord)}
        listed = dict.fromkeys(record.sitemap for record in records if isinstance(record, UrlRecord))
        files = [
            SitemapRecord(url, found_by="robots", format="xml-urlset", status=200) for url in listed if url not in given
        ]
        given_and_made = (*files, *records)
        for line, record in enumerate(given_and_made):
            if isinstance(record, UrlRecord) and record.line is None:
                record.line = line
        for table, kind in RECORDS.items():
            if table != CARRIED:
                self._insert(table, [record for record in given_and_made if isinstance(record, kind)])
        for index, child in children:
            self.connection.execute("INSERT INTO children (sitemap, loc) VALUES (?, ?)", [index, child])
        self.judge = Judge(choice or Choice(RULES), per_rule)

    def earlier(self, *records: UrlRecord) -> str:
        """Attach an earlier crawl with these entries; its name."""
        name = self.before(1)
        self._insert("urls", records, f"{name}.")
        return name

    def _insert(self, table: str, records: Sequence[Any], database: str = "") -> None:
        """Insert records of one kind in one statement, since DuckDB plans each for milliseconds."""
        if not records:
            return
        known = [name for name in tables()[table] if hasattr(records[0], name)]
        values = {name: [plain(getattr(record, name)) for record in records] for name in known}
        values = {name: column for name, column in values.items() if any(value is not None for value in column)}
        names = ", ".join(f'"{name}"' for name in values)
        rows = ", ".join([f"({', '.join('?' for _ in values)})"] * len(records))
        cells = [value for row in zip(*values.values(), strict=True) for value in row]
        self.connection.execute(f"INSERT INTO {database}{table} ({names}) VALUES {rows}", cells)

    def before(self, number: int) -> str:
        """Attach an earlier crawl, in which two files listed so many pages; its name."""
        self.connection.execute("ATTACH IF NOT EXISTS ':memory:' AS baseline")
        for statement in statements():
            if statement.startswith("CREATE TABLE "):
                self.connection.execute(statement.replace("CREATE TABLE ", "CREATE TABLE IF NOT EXISTS baseline."))
        for sitemap, pages in ((A, number - 1), (B, 1)):
            self.connection.execute("INSERT INTO baseline.sitemaps (sitemap, found_by) VALUES (?, 'robots')", [sitemap])
            self.connection.execute("INSERT INTO baseline.urls (sitemap) SELECT ? FROM range(?)", [sitemap, pages])
        return "baseline"

    def change(self, change: str, *paths: str) -> None:
        """What the comparison with a baseline says of paths."""
        for path in paths:
            self.connection.execute("UPDATE urls SET change = ? WHERE loc = ?", [change, at(path)])

    def findings(self, **facts: Any) -> list[FindingRecord]:
        """Findings of all rules on the whole site; that a rule raised is one too."""
        return list(self.judge.site(SiteFacts(rows_of(self.connection.cursor()), **facts)))

    def marked(self, **facts: Any) -> dict[str, set[tuple[str, str]]]:
        """{rule: (file, path) of the entries that the rules on the whole site concern}."""
        site = SiteFacts(rows_of(self.connection.cursor()), **facts)
        list(self.judge.site(site))
        self.judge.mark_entries(site)
        marked = f"""
            SELECT n.sitemap, u.loc, unnest(m.rules) FROM ({numbered("SELECT sitemap FROM urls")}) n
            JOIN urls u ON u.rowid = n.row JOIN ({site.marks}) m ON m.sitemap = n.sitemap AND m.number = n.number"""
        found: dict[str, set[tuple[str, str]]] = {}
        for sitemap, loc, rule in site.query(marked):
            found.setdefault(rule, set()).add((sitemap.removeprefix(f"{HOME}/"), loc.removeprefix(HOME)))
        return found

    def told(self, **facts: Any) -> list[tuple[str, str | None, str]]:
        """(rule, path of the URL or else of the file, message) of findings, in order of these."""
        found = self.findings(**facts)
        return sorted((one.rule, short(one.url or one.sitemap), one.message.replace(HOME, "")) for one in found)

    def rules(self, **facts: Any) -> list[tuple[str, str | None]]:
        """(rule, path) of findings."""
        return [(rule, path) for rule, path, _ in self.told(**facts)]


def short(url: str | None) -> str | None:
    """A URL without `HOME`."""
    return url.removeprefix(HOME) if url else url


def plain(value: Any) -> Any:
    """A value of a record as DuckDB takes it; what a row of a feed leaves out is None."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value] or None
    if isinstance(value, dict):
        return {"key": list(value), "value": list(value.values())} if value else None
    return value
