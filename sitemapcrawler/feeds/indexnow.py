"""Feed format of IndexNow: the URLs that search engines shall fetch again, as bodies of requests.

Nothing is sent. Source: https://www.indexnow.org/documentation
"""

from __future__ import annotations

from hashlib import blake2b
from typing import IO, Any, cast
from urllib.parse import urlsplit

import msgspec

from sitemapcrawler import urls
from sitemapcrawler.feeds.exporters import RecordExporter, rows_of
from sitemapcrawler.feeds.storages import Outlet
from sitemapcrawler.items import UrlRecord
from sitemapcrawler.replies.indexability import Indexability
from sitemapcrawler.robots.agents import SEARCH, named

MAX_URLS = 10_000
"""URLs of a body. Source: https://www.indexnow.org/documentation"""
DIGEST_BYTES = 8
"""Bytes of a URL that is remembered: of a million, two share them with a probability of 3 in 100 million."""
NO_NEWS = frozenset(("changefreq", "priority", "blocked_for"))
"""Changed fields that say nothing about the page."""
HINT = "lastmod"
"""The changed field that counts only where the content of the page is unknown."""
FATE = frozenset(("status", "indexability", "canonical"))
"""Values of `what_changed` that count for a page that cannot be indexed: whatever else it says is not shown."""
ENGINES = frozenset(agent.name for agent in named(SEARCH))
PASSING = frozenset((Indexability.UNREACHABLE, Indexability.SERVER_ERROR))
"""What a search engine would not learn anything from."""


class IndexNowExporter(RecordExporter):
    """`indexnow`: an array of bodies, each with the URLs of one host that were added, changed or removed."""

    suffix = "indexnow.json"
    record_types = default_types = (UrlRecord,)
    has_fields = False
    needs_baseline = True

    def __init__(self, file: IO[bytes], **kwargs: Any) -> None:  # Any: as in Scrapy
        super().__init__(**kwargs)
        self.outlet = Outlet(file, "utf-8", "strict")
        self._waiting: dict[str, list[str]] = {}
        """{host: URLs that no body has yet}."""
        self._known: set[bytes] = set()
        self._bodies = 0

    def start_exporting(self) -> None:
        self.outlet.write_text("[")

    def export_item(self, item: object) -> None:
        """Collect the URLs of the item that search engines shall fetch."""
        for row in rows_of(item, UrlRecord):
            record = cast("UrlRecord", row)  # or what has its attributes
            if is_news(record):
                self._add(urls.request_key(record.loc))

    def finish_exporting(self) -> None:
        for host in list(self._waiting):
            self._write(host)
        self.outlet.write_text("\n]\n")

    def _add(self, url: str) -> None:
        digest = blake2b(url.encode("utf-8", "surrogatepass"), digest_size=DIGEST_BYTES).digest()
        if digest in self._known:
            return  # listed twice
        self._known.add(digest)
        host = urlsplit(url).netloc
        self._waiting.setdefault(host, []).append(url)
        if len(self._waiting[host]) == MAX_URLS:
            self._write(host)

    def _write(self, host: str) -> None:
        found = self._waiting.pop(host)
        body = msgspec.json.encode({"host": host, "urlList": found})
        self.outlet.write_text(",\n" if self._bodies else "\n")
        self.outlet.write_utf8(body)
        self._bodies += 1


def is_news(record: UrlRecord) -> bool:
    """True if search engines shall fetch a URL: it is new, its page has changed as far as that is known, or it is no
    longer listed. A date that moves counts only where the content of the page is unknown, and of a page that cannot be
    indexed only what decides on that. What robots.txt blocks, or does not answer, is left out."""
    is_blocked = record.indexability == Indexability.BLOCKED or not ENGINES.isdisjoint(record.blocked_for or ())
    if is_blocked or not urls.is_web(record.loc) or record.indexability in PASSING:
        return False
    if record.change == "added":
        return record.indexable is not False
    if record.change == "changed":
        is_read = record.reply is not None and record.reply.content_hash is not None
        has_news = bool(set(record.changed_fields) - NO_NEWS - ({HINT} if is_read else set()))
        return has_news and (record.indexable is not False or record.what_changed in FATE)
    return record.change == "removed"
