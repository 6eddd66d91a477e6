"""Judging a document in a test: bytes in, findings out, the way a crawl does it."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from sitemapcrawler.items import FindingRecord, SitemapRecord, UrlRecord
from sitemapcrawler.reader import Document
from sitemapcrawler.rules import Per, all_rules
from sitemapcrawler.rules.choice import Choice
from sitemapcrawler.rules.facts.given import FileFacts
from sitemapcrawler.rules.judge import Judge

URL = "https://example.com/sitemap.xml"
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
EACH = Choice(tuple(replace(rule, per=Per.ENTRY) for rule in all_rules()))
"""All rules, each of which reports every entry by itself."""
SUMMED_UP = Choice(all_rules())
"""All rules, as a crawl has them: some report once per file or site."""


def judge(
    data: bytes, url: str = URL, choice: Choice | None = None, status: int = 200, at: datetime = NOW, **record: object
) -> list[FindingRecord]:
    """Findings on the document `data`, as fetched from `url`; further arguments set fields of its record. Without a
    choice, those on every entry by itself."""
    judging = Judge(choice or EACH, per_rule=1_000_000)
    document = Document(url, keep_elements=True)
    sitemap = SitemapRecord(url)
    file = FileFacts(
        url,
        sitemap,
        document,
        content_type="application/xml",
        fetched_at=at,
    )
    findings: list[FindingRecord] = []
    for records in document.read([data]):
        urls = [entry for entry in records if isinstance(entry, UrlRecord)]
        for child in records:
            if not isinstance(child, UrlRecord):
                file.list_child(child)
        judging.urls(urls, file, document.notes)
        findings += document.notes.findings(urls)
    sitemap.status = status
    for name in ("format", "outcome", "url_count", "bytes", "encoding", "counts", "namespaces", "error"):
        setattr(sitemap, name, getattr(document, name))
    for name, value in record.items():
        setattr(sitemap, name, value)
    return findings + judging.file(sitemap, file) + judging.crawl({})
