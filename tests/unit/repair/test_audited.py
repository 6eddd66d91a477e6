"""What an audit's replies mean for an entry: dropped, replaced by a verified page, or kept."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from sitemapcrawler.items import ReplyRecord, RobotsRecord, SitemapRecord, UrlRecord
from sitemapcrawler.repair.audited import AuditedSite, is_audit
from sitemapcrawler.repair.reading import Verdict
from sitemapcrawler.replies.indexability import set_indexability

PAGE, GOOD, OTHER = "https://example.com/page", "https://example.com/good", "https://other.example/"


def reply(**fields: Any) -> ReplyRecord:
    return ReplyRecord(**{"kind": "ok", "status": 200, "final_url": PAGE, "noindex": False, **fields})


def moved(to: str = GOOD, **fields: Any) -> ReplyRecord:
    return reply(kind="redirected", final_url=to, **fields)


def verdict(
    folder: Path,
    *,
    blocked: bool = False,
    robots: str = "parsed",
    status: int | None = None,
    keep: bool = False,
    answer: ReplyRecord,
) -> Verdict | None:
    """The verdict on `PAGE`, in an audit that has read `GOOD`, too."""
    records = [
        UrlRecord(loc=PAGE, reply=answer, blocked_for=["Googlebot"] if blocked else []),
        UrlRecord(loc=GOOD, reply=reply(final_url=GOOD), blocked_for=[]),
    ]
    for record in records:
        set_indexability(record)
    folder.mkdir(exist_ok=True)
    (folder / "urls.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, records)))
    (folder / "sitemaps.jsonl").write_bytes(msgspec.json.encode(SitemapRecord("https://example.com/sitemap.xml")))
    found = RobotsRecord(robots="https://example.com/robots.txt", outcome=robots, status=status)
    (folder / "robots.jsonl").write_bytes(msgspec.json.encode(found))
    (folder / "summary.json").write_text("{}")
    assert is_audit(folder)
    (folder / "work").mkdir()
    site = AuditedSite(folder, folder / "work", keep)
    try:
        assert [record.sitemap for record in site.sitemaps] == ["https://example.com/sitemap.xml"]
        verdicts = site.verdicts([PAGE, GOOD])
        assert GOOD not in verdicts
        return verdicts.get(PAGE)
    finally:
        site.close()


@pytest.mark.parametrize(
    ("answer", "rule", "replacement"),
    [
        (reply(kind="http-error", status=404), "status-404", None),
        (reply(kind="http-error", status=410), "status-410", None),
        (reply(soft_404="title"), "status-soft-404", None),
        (reply(noindex=True), "page-noindex-meta", None),
        (reply(kind="redirect-loop", status=302), "status-redirect-loop", None),
        (reply(canonical=GOOD), "page-canonical-other", GOOD),
        (reply(canonical="https://example.com/unknown"), "page-canonical-other", None),
        (reply(canonical=OTHER), "page-canonical-other", None),
        (moved(), "status-redirect", GOOD),
        (moved(OTHER), "status-redirect-offsite", None),
        (moved(noindex=True), "page-noindex-meta", None),
        (moved(status=404), "status-404", None),
        (moved(canonical="https://example.com/unknown"), "status-redirect", None),
    ],
)
def test_a_page_that_does_not_belong_in_a_sitemap(
    answer: ReplyRecord, rule: str, replacement: str | None, tmp_path: Path
) -> None:
    assert verdict(tmp_path / "audit", answer=answer) == Verdict(rule, replacement)


@pytest.mark.parametrize(
    "answer",
    [
        reply(),
        reply(kind="http-error", status=503),
        reply(kind="http-error", status=403),
        reply(kind="timeout", status=None),
        reply(kind="unchecked", reason="sampled-out", status=None),
        reply(noindex=None),
    ],
    ids=lambda answer: f"{answer.kind} {answer.status}",
)
def test_a_page_that_may_belong_in_it_is_kept(answer: ReplyRecord, tmp_path: Path) -> None:
    assert verdict(tmp_path / "audit", answer=answer) is None


def test_what_robots_txt_blocks_is_dropped(tmp_path: Path) -> None:
    assert verdict(tmp_path / "audit", blocked=True, answer=reply()) == Verdict("url-blocked-by-robots")


def test_a_robots_txt_that_did_not_answer_drops_nothing(tmp_path: Path) -> None:
    assert verdict(tmp_path / "audit", blocked=True, robots="unreachable", answer=reply()) is None
    assert verdict(tmp_path / "busy", blocked=True, robots="unavailable", status=429, answer=reply()) is None


def test_keeping_what_is_not_verified(tmp_path: Path) -> None:
    unknown = "https://example.com/unknown"
    assert verdict(tmp_path / "a", keep=True, answer=reply(canonical=unknown)) is None
    assert verdict(tmp_path / "b", keep=True, answer=moved(noindex=None)) is None
    assert verdict(tmp_path / "c", keep=True, answer=moved()) == Verdict("status-redirect", GOOD)


def test_a_host_lets_the_sitemaps_list_its_pages_that_its_robots_txt_names(tmp_path: Path) -> None:
    index, child = "https://cdn.example.net/sitemap.xml", "https://cdn.example.net/1.xml"
    records = [SitemapRecord(index), SitemapRecord(child, parent=index)]
    (tmp_path / "sitemaps.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, records)))
    found = RobotsRecord(robots="https://example.com/robots.txt", sitemaps=[index])
    (tmp_path / "robots.jsonl").write_bytes(msgspec.json.encode(found))
    (tmp_path / "urls.jsonl").write_bytes(b"")
    (tmp_path / "work").mkdir()
    with closing(AuditedSite(tmp_path, tmp_path / "work", False)) as site:
        assert site.may_list(PAGE, [child])
        assert not site.may_list(OTHER, [child])
        assert not site.may_list(PAGE, ["https://cdn.example.net/2.xml"])
