"""Rules on the whole site, run on a generated database: wall time and peak memory.

    python -m bench.site [--urls 1000000] [--alternates 10] [--memory 500MB] [--threads 2] [--bad 200] ...

Each page is a version of as many pages as there are alternates. One page in `--bad` lists only itself, so that it does
not return the links of its versions. The figures do not include the crawl.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import duckdb

from sitemapcrawler.jobs.store.queries import rows_of
from sitemapcrawler.jobs.store.schema import statements
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts.site import SiteFacts
from sitemapcrawler.rules.judge import Judge

PER_FILE = 50_000
"""Entries per file. Source: https://www.sitemaps.org/protocol.html#index"""
HOST = "https://www.example.com"
CODES = ["x-default", "en", "de", "fr", "es", "it", "pt-BR", "nl", "pl", "ja", "ko", "zh-Hant-TW", "sv", "da"]
URL = "'{host}/' || lower({codes}[{code}]) || '/catalogue/section-' || ({page} % 97) || '/product-' || {page}{tail}"
STATUS = Path("/proc/self/status")


def make(path: Path, urls: int, alternates: int, listed: int, bad: int, tail: str) -> None:
    """Create the database of a crawl."""
    own, links = link("code", tail), f"[{link('c', tail)} FOR c IN range(1, {alternates + 1})]"
    with duckdb.connect(path, config={"preserve_insertion_order": True, "threads": 2}) as connection:
        for statement in statements():
            connection.execute(statement)
        connection.execute("ALTER TABLE urls ADD COLUMN IF NOT EXISTS change VARCHAR")
        connection.execute(f"""
            INSERT INTO urls (loc, sitemap, line, lastmod, lastmod_at, alternates)
            SELECT {url("page", "code", tail)}, '{HOST}/sitemap-' || (n // {PER_FILE}) || '.xml',
                   n % {PER_FILE} * 12 + 3, '2026-01-05', '2026-01-05T00:00:00Z',
                   CASE WHEN n % {bad} = {bad} - 1 THEN [{own}] ELSE {links} END
            FROM (SELECT range AS n, n // {listed} AS page, n % {listed} + 1 AS code FROM range({urls}))""")
        connection.execute("""
            INSERT INTO sitemaps (sitemap, found_by, format, outcome, status, url_count)
            SELECT sitemap, 'robots', 'xml-urlset', 'ok', 200, count(*) FROM urls GROUP BY sitemap""")


def url(page: str, code: str, tail: str) -> str:
    """SQL for the URL of a version of a page."""
    end = f" || '{tail}'" if tail else ""
    return URL.format(host=HOST, codes=CODES, code=code, page=page, tail=end)


def link(code: str, tail: str) -> str:
    """SQL for the link to a version of `page`."""
    others = "rel := NULL::VARCHAR, attributes := NULL::MAP(VARCHAR, VARCHAR)"
    return f"struct_pack(hreflang := {CODES}[{code}], href := {url('page', code, tail)}, {others})"


def judge(path: Path, threads: int, memory: str, folder: str) -> None:
    """Run the rules, and print their cost and findings."""
    judging, peak = Judge(Choice(all_rules()), per_rule=100), Peak()
    settings = {
        "threads": threads, "memory_limit": memory, "temp_directory": folder, "preserve_insertion_order": False,
        "autoinstall_known_extensions": False, "autoload_known_extensions": False,
    }  # fmt: skip
    start = time.perf_counter()
    with duckdb.connect(path, config=settings) as connection, peak:
        findings = Counter(finding.rule for finding in judging.site(SiteFacts(rows_of(connection.cursor()))))
    wall = time.perf_counter() - start
    print(f"{wall:.1f} s, {peak.mb:.0f} MB at most, {resource.getrusage(resource.RUSAGE_SELF).ru_utime:.1f} s of CPU")
    print(f"records: {dict(findings)}; findings: {dict(judging.counts)}; skipped: {dict(judging.skipped)}")


class Peak:
    """Peak memory of the process while the context is open, sampled every 20 ms."""

    mb = 0.0

    def __enter__(self) -> None:
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._end.wait(0.02):
            self.mb = max(self.mb, int(STATUS.read_text().partition("VmRSS:")[2].split()[0]) / 1024)


def main() -> None:
    """Create the database unless it is kept, and run the rules."""
    parser = argparse.ArgumentParser(prog="python -m bench.site", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--urls", type=int, default=1_000_000, help="default: %(default)s")
    parser.add_argument("--alternates", type=int, default=10, help="of each URL, at most 14; default: %(default)s")
    parser.add_argument("--listed", type=int, help="of these, how many have entries; default: all")
    parser.add_argument("--bad", type=int, default=200, help="default: %(default)s")
    parser.add_argument("--tail", default="", help="what URLs end with, such as %%c3%%a9 or é for odd spellings")
    parser.add_argument("--memory", default="500MB", help="DuckDB's limit, default: %(default)s")
    parser.add_argument("--threads", type=int, default=2, help="default: %(default)s")
    parser.add_argument("--keep", type=Path, help="a database to make, or to use again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = arguments.keep or Path(folder) / "audit.duckdb"
        if not path.exists():
            listed = arguments.listed or arguments.alternates
            make(path, arguments.urls, arguments.alternates, listed, arguments.bad, arguments.tail)
            print(f"{arguments.urls} URLs, {path.stat().st_size / 1e6:.0f} MB")
        judge(path, arguments.threads, arguments.memory, folder)


if __name__ == "__main__":
    main()
