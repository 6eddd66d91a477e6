"""The sitemaps that an audit has read, as files to repair: from its cache, and what it lacks from one crawl."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sitemapcrawler import urls
from sitemapcrawler.api.child import TemporaryFolder
from sitemapcrawler.api.sitemaps import Download, DownloadError
from sitemapcrawler.download.body_cache import BodyStorage, DamagedBody, KeptBody, Rights
from sitemapcrawler.feeds.folder import CACHE
from sitemapcrawler.items import UNREAD, SitemapRecord
from sitemapcrawler.reader.formats import format_named
from sitemapcrawler.repair.sources import Source
from sitemapcrawler.replies.discovery import ARGUMENT
from sitemapcrawler.rules.facts.given import GONE
from sitemapcrawler.urls import Authority

HTTP_STATUS, HTML, BLOCKED = "doc-http-status", "doc-is-html", "doc-blocked-by-robots"
UNLISTABLE = ("index-child-missing", "index-child-is-page")
"""Rules on files that no index may list."""
NAMED_BY = ("robots", "index", "argument")
"""How a sitemap was found that is no guess."""


def is_failed_guess(record: SitemapRecord) -> bool:
    """True for a guessed URL that is no sitemap."""
    return record.outcome in UNREAD and record.found_by not in NAMED_BY


class AuditedFiles:
    """The files of one audit."""

    def __init__(self, audit: Path, work: Path, settings: Mapping[str, object]) -> None:
        """`audit`: folder of a job or a report; `work`: folder for their content; `settings`: those of a crawl for
        missing files."""
        self._cache = BodyStorage(audit / CACHE)
        self._work = work
        self._settings = settings

    def sources(self, records: Sequence[SitemapRecord]) -> list[Source]:
        """Return the files of these records in order, without guessed URLs that are no sitemap. Raises DownloadError or
        ValueError, one line, if missing files cannot be fetched, and OSError for a full disk."""
        found = [source for record in records if (source := self._source(record)) is not None]
        missing = [source.url for source in found if source.path is None and not source.error]
        if not missing:
            return found
        folder = TemporaryFolder(self._work)
        rights = self._rights(records).written()
        downloads = Download.fetch_all(missing, self._settings, folder, rights)
        fetched = dict(zip(missing, downloads, strict=True))
        return [self._fetched(source, fetched[source.url]) if source.url in fetched else source for source in found]

    def _source(self, record: SitemapRecord) -> Source | None:
        """A file of the audit, without content or error if it must be fetched; None for a guess that is no sitemap."""
        path = urls.local_path(record.sitemap)
        if path is not None:
            is_there = Path(path).is_file()
            return Source(record.sitemap, Path(path) if is_there else None, error="" if is_there else "no such file")
        if is_failed_guess(record):
            return None
        if record.outcome in UNREAD:
            rule = HTTP_STATUS if record.status and not format_named(record.format).is_sitemap else "doc-fetch-failed"
            rule = BLOCKED if record.outcome == "blocked" else HTML if HTML in record.issues else rule
            unlistable = next((found for found in UNLISTABLE if found in record.issues), "")
            error, is_gone = record.error or record.outcome, record.status in GONE
            return Source(record.sitemap, error=error, rule=rule, is_gone=is_gone, unlistable=unlistable)
        final_url = record.final_url or record.sitemap
        kept = self._cache.named(final_url)
        return Source(record.sitemap, None if kept is None else self._copied(kept), base=final_url)

    def _copied(self, kept: KeptBody) -> Path | None:
        """Write a body to a file of its own; None if it is damaged."""
        path = self._work / f"body-{kept.path.name}"
        try:
            with path.open("wb") as file:
                file.writelines(kept.chunks())
        except DamagedBody:
            return None
        return path

    def _fetched(self, source: Source, download: Download | DownloadError) -> Source:
        """Add content or error. The content is moved: the folder of the downloads is removed with the last of them."""
        if isinstance(download, DownloadError):
            return replace(source, error=str(download).partition(": ")[2], rule="doc-connection-error")
        path = download.path.replace(self._work / f"fetched-{download.name}")
        return replace(source, path=path, base=download.final_url, error=download.error or "")

    def _rights(self, records: Sequence[SitemapRecord]) -> Rights:
        """What the audit was allowed to do. An older one has not noted it: its records tell which files were named."""
        noted = self._cache.rights
        named = [urls.authority(record.sitemap) for record in records if record.found_by == ARGUMENT.name]
        known = frozenset[Authority](filter(None, named))
        return noted if noted.authorities else Rights(known, known)
