"""A site that is audited day after day, each day with the day before as its baseline."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.crawl.crawling import FEED, Crawl, Running, read_feed, start
from tests.crawl.documents import CORE, DECLARATION, EXTENSIONS, entry
from tests.crawl.jobs import DATABASE
from tests.crawl.site_server import Exchange, Reply, SiteServer

JOBDIR = "job"
ONCE = {"RETRY_TIMES": 0}
"""Settings by which a server that cannot answer is asked once."""
OF_A_DAY = ("outcome", "status", "bytes_fetched")
"""Fields of a file that need not be those of the day before where it has not changed."""


@dataclass
class Days:
    """The site, and what each day's crawl left in a folder of its own."""

    site: SiteServer
    folder: Path
    asked: dict[str, list[Exchange]] = field(default_factory=dict)
    """The requests of each day."""

    def crawl(self, day: str, *feeds: str, before: str | None = None, **options: Any) -> Crawl:
        """The crawl of a day; parameters as for `start`."""
        running = self.start(day, *feeds, before=before, **options)
        done = running.finish()
        self.asked[day] = self.site.exchanges
        return done

    def start(
        self,
        day: str,
        *feeds: str,
        before: str | None = None,
        keep: bool = True,
        settings: Mapping[str, object] | None = None,
        **arguments: Any,
    ) -> Running:
        """Start the crawl of a day. `before`: the baseline, a path in the folder of all days; `keep`: as a job."""
        folder = self.folder / day
        folder.mkdir(exist_ok=True)
        self.site.exchanges = []
        given = {"domain": self.site.url(), **({"baseline": self.folder / before} if before else {}), **arguments}
        chosen = {**({"JOBDIR": JOBDIR} if keep else {}), **(settings or {})}
        options = [part for feed in feeds or (FEED,) for part in ("-O", feed)]
        given = {name: value for name, value in given.items() if value is not None}
        return start(folder, *options, settings=chosen, **given)

    def recorded(self, day: str) -> Crawl:
        """What the crawl of a day left in its feed."""
        folder = self.folder / day
        return Crawl(0, "", "", folder, 0, read_feed(folder / FEED))

    def job(self, day: str) -> Path:
        """The database of a day."""
        return self.folder / day / JOBDIR / DATABASE

    def paths(self, day: str) -> list[str]:
        """What was asked for, in order."""
        return [exchange.path for exchange in self.asked[day]]


def changes(done: Crawl) -> dict[str, str]:
    """{path: change} of pages that did not stay as they were, with the fields of those that changed; each once."""
    rows = [record for record in done.of_type("url") if record["change"] != "unchanged"]
    told = {path_of(row["loc"]): " ".join([row["change"], *row.get("changed_fields", ())]) for row in rows}
    assert len(told) == len(rows), Counter(row["loc"] for row in rows).most_common(3)
    return told


def outcomes(done: Crawl) -> dict[str, tuple[str, int | None]]:
    """{path: (outcome, status)} of files."""
    return {path_of(url): (record["outcome"], record.get("status")) for url, record in done.sitemaps.items()}


def path_of(url: str) -> str:
    """A URL without scheme and host."""
    return "/" + url.split("/", 3)[3]


def known(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without what may differ from day to day though nothing has changed."""
    left_out = {"sitemap": OF_A_DAY, "url": ("change",), "summary": ("started", "elapsed_s", "peak_mb", "changes")}
    return {name: value for name, value in record.items() if name not in left_out.get(record["type"], ())}


# ---- answers


def stubborn(body: bytes, etag: str) -> Reply:
    """A file that is sent whatever the request says."""
    return Reply(body, headers={"ETag": etag, "Content-Type": "application/xml"})


def xml(body: bytes) -> Reply:
    """A file that nothing tells the age of."""
    return Reply(body, headers={"Content-Type": "application/xml"})


# ---- documents


def dated_index(children: Mapping[str, str]) -> bytes:
    """An index of files with the dates of their last change."""
    rows = "".join(f"<sitemap><loc>{url}</loc><lastmod>{date}</lastmod></sitemap>\n" for url, date in children.items())
    return f"{DECLARATION}<sitemapindex {CORE}>\n{rows}</sitemapindex>".encode()


def urlset_of(site: SiteServer, entries: Mapping[str, str]) -> bytes:
    """A urlset of paths, each with further elements as markup."""
    rows = "".join(entry(site.url(path), more) for path, more in entries.items())
    return f"{DECLARATION}<urlset {CORE} {EXTENSIONS} xmlns:o='urn:other'>\n{rows}</urlset>".encode()


def on(date: str, paths: Iterable[str]) -> dict[str, str]:
    """Entries of one date."""
    return dict.fromkeys(paths, f"<lastmod>{date}</lastmod>")


RICH: dict[str, str] = {
    "/rich/core": "<lastmod>2024-05-01T10:00:00+02:00</lastmod><changefreq>weekly</changefreq><priority>0.80</priority>",
    "/rich/images": "<image:image><image:loc>/1.png</image:loc><image:caption>A &#x2028; &amp; B\u0085</image:caption>"
    "</image:image><image:image><image:loc>/2.png</image:loc><image:odd>x</image:odd></image:image>",
    "/rich/video": "<video:video><video:title>T</video:title><video:description>D</video:description>"
    "<video:thumbnail_loc>/t.png</video:thumbnail_loc>"
    '<video:player_loc allow_embed="yes" autoplay="a=1">/p</video:player_loc>'
    '<video:restriction relationship="allow">DE</video:restriction><video:tag>a</video:tag><video:tag>b</video:tag>'
    '<video:price currency="EUR">1.99</video:price><video:uploader info="/u">U</video:uploader></video:video>',
    "/rich/links": '<xhtml:link rel="alternate" hreflang="de" href="https://x.example/de"/>'
    '<xhtml:link rel="alternate" hreflang="x-default" href="https://x.example/"/>',
    "/rich/größe?a=1&b=2": "<lastmod>yesterday</lastmod>",
    "/private/page": "<priority>1</priority>",
}
"""Entries with more than a date; `unit/jobs/test_comparing.py` compares every field."""
NEWS: dict[str, str] = {
    "/news/page": "<news:news><news:publication><news:name>P</news:name><news:language>en</news:language>"
    "</news:publication><news:publication_date>2024-05-01</news:publication_date><news:title>N</news:title></news:news>"
}
"""An entry with news."""
