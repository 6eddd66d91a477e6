"""What an audit's replies mean for an entry: dropped, replaced by a verified page, or kept."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import msgspec
import pytest

from sitemapcrawler.items import Hop, PageRecord, ReplyRecord, RobotsRecord, SitemapRecord, Target, UrlRecord
from sitemapcrawler.repair.audited import AuditedSite, is_audit
from sitemapcrawler.repair.sources import AuditedFiles
from sitemapcrawler.repair.streaming import Verdict
from sitemapcrawler.replies.indexability import set_indexability

PAGE, GOOD, OTHER = "https://example.com/page", "https://example.com/good", "https://other.example/"


def reply(status: int | None = 200, **fields: Any) -> ReplyRecord:
    answer = {"status": status, "final_status": status, "final_url": PAGE}
    return ReplyRecord(**{"kind": "ok", "noindex": False, **answer, **fields})


def moved(to: str = GOOD, *statuses: int, **fields: Any) -> ReplyRecord:
    """A chain of redirects with these statuses; one of 301 by default."""
    hops = [Hop(status, f"{PAGE}{number or ''}") for number, status in enumerate(statuses or (301,))]
    answer = {"status": hops[0].status, "final_status": 200, "final_url": to, "redirects": hops}
    return reply(**{"kind": "redirected", **answer, **fields})


def lost(**fields: Any) -> ReplyRecord:
    """A redirect to a page of the site that answers with an error."""
    return moved(kind="http-error", noindex=None, **fields)


def verdict(
    folder: Path,
    *,
    blocked: bool = False,
    robots: str = "parsed",
    status: int | None = None,
    keep: bool = False,
    leads_to: Target | None = None,
    issues: Sequence[str] = (),
    sitemap: str = "https://example.com/sitemap.xml",
    beside: Sequence[UrlRecord] = (),
    answer: ReplyRecord,
) -> Verdict | None:
    """The verdict on `PAGE`, in an audit that has read `GOOD`, too, and the pages `beside`. `leads_to`: the target of
    `PAGE`."""
    records = [
        UrlRecord(
            loc=PAGE,
            reply=answer,
            target=leads_to,
            blocked_for=["Googlebot"] if blocked else [],
            issues=[*issues],
            sitemap=sitemap,
        ),
        UrlRecord(loc=GOOD, reply=reply(final_url=GOOD), blocked_for=[]),
        *beside,
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
        (reply(refresh=GOOD, canonical=PAGE), "page-meta-refresh", GOOD),
        (reply(refresh="https://example.com/unknown"), "page-meta-refresh", None),
        (reply(refresh=OTHER), "page-meta-refresh", None),
        (moved(refresh="https://example.com/unknown"), "status-redirect", None),
        (moved(), "status-redirect", GOOD),
        (moved(OTHER), "status-redirect-offsite", None),
        (moved(noindex=True), "page-noindex-meta", None),
        (moved(GOOD, 301, 308), "status-redirect-chain", GOOD),
        (moved(GOOD, 301, 302), "status-redirect-chain", f"{PAGE}1"),
        (moved(GOOD, 308, 301, 302, 301), "status-redirect-chain", f"{PAGE}2"),
        (moved("https://example.com/"), "status-redirect-to-home", "https://example.com/"),
        (moved(OTHER, 302), "status-redirect-offsite", None),
        (moved("https://example.com/login?next=/page", 302), "status-redirect-to-login", None),
        (moved("https://login.example/signin"), "status-redirect-to-login", None),
        (moved(OTHER, 302, kind="http-error", final_status=404), "status-redirect-offsite", None),
        (moved(soft_404="title"), "status-soft-404", None),
        (moved(GOOD, 302, soft_404="title"), "status-soft-404", None),
        (moved(GOOD, 302, noindex=True), "page-noindex-meta", None),
        (lost(final_status=404), "status-404", None),
        (lost(final_status=410), "status-410", None),
        (lost(final_status=302), "status-redirect", None),
        (moved(GOOD, 302, kind="redirect-loop", final_status=302), "status-redirect-loop", None),
        (moved(canonical="https://example.com/unknown"), "status-redirect", None),
        (moved(GOOD, 302, canonical="https://example.com/unknown"), "status-redirect", None),
        (moved(noindex=None), "status-redirect", None),
        (moved("https://example.com/", noindex=None), "status-redirect-to-home", None),
    ],
)
def test_a_page_that_does_not_belong_in_a_sitemap(
    answer: ReplyRecord, rule: str, replacement: str | None, tmp_path: Path
) -> None:
    assert verdict(tmp_path / "audit", answer=answer) == Verdict(rule, replacement)


@pytest.mark.parametrize(
    ("first", "second", "stays"),
    [
        ("", "", False), ("", "index.html", False), ("home", "", False), ("de/index.html", "de/", False),
        ("de", "DE/home", False), ("de/", "", True), ("de-at/", "de/", True),
    ],
)  # fmt: skip
def test_pages_of_which_several_redirect_to_one_home_page_are_dropped(
    first: str, second: str, stays: bool, tmp_path: Path
) -> None:
    target = f"https://example.com/{first}"
    other = UrlRecord(loc=f"{PAGE}-2", reply=moved(f"https://example.com/{second}"), blocked_for=[])
    expected = Verdict("status-redirect-to-home", target if stays else None)
    assert verdict(tmp_path / "audit", answer=moved(target), beside=[other]) == expected


def test_a_page_that_has_moved_to_the_host_of_the_sitemap_is_replaced(tmp_path: Path) -> None:
    found = verdict(tmp_path / "audit", sitemap="https://other.example/sitemap.xml", answer=moved(OTHER))
    assert found is not None
    assert found.rule == "status-redirect-to-home"


def test_a_page_whose_canonical_is_in_another_language_stays(tmp_path: Path) -> None:
    answer = reply(canonical=GOOD)
    assert verdict(tmp_path / "audit", issues=["page-canonical-other-language"], answer=answer) is None


@pytest.mark.parametrize("rule", ["page-noindex-meta", "page-noindex-header", "page-noindex-for-googlebot-only"])
def test_a_page_that_is_noindex_is_dropped_by_the_rule_that_found_it(rule: str, tmp_path: Path) -> None:
    answer = reply(noindex_agents=["googlebot"])
    assert verdict(tmp_path / "audit", issues=["page-thin-content", rule], answer=answer) == Verdict(rule)


UNLISTED = "https://example.com/unlisted"


def target(why: str = "ok", url: str = UNLISTED, **fields: Any) -> Target:
    """What was found out about the target of a page; `why`: its indexability."""
    indexable = {"ok": True, "not checked": None, "page not read": None}.get(why, False)
    return Target(url, indexable=indexable, indexability=why, **fields)


@pytest.mark.parametrize(
    ("answer", "leads_to", "rule", "replacement"),
    [
        (reply(canonical=UNLISTED), target(), "page-canonical-other", UNLISTED),
        (reply(canonical=f"{UNLISTED}#top"), target(), "page-canonical-other", UNLISTED),
        (reply(canonical=UNLISTED), target("noindex"), "page-canonical-other", None),
        (reply(canonical=UNLISTED), target("not checked"), "page-canonical-other", None),
        (reply(canonical=OTHER), target(url=OTHER), "page-canonical-other", None),
        (reply(refresh=UNLISTED), target(), "page-meta-refresh", UNLISTED),
        (reply(refresh=UNLISTED), target("redirect"), "page-meta-refresh", None),
        (moved(refresh=UNLISTED), target(), "status-redirect", UNLISTED),
        (moved(refresh=UNLISTED), target("noindex"), "page-noindex-meta", None),
        (moved(), target(url=GOOD), "status-redirect", GOOD),
        (moved(UNLISTED), target(), "status-redirect", UNLISTED),
        (moved(UNLISTED, content_type="application/pdf"), target(), "status-redirect", UNLISTED),
        (moved(UNLISTED, content_type="image/jpeg"), target(), "status-redirect", None),
        (moved(UNLISTED, content_type="application/rss+xml; charset=utf-8"), target(), "status-redirect", None),
        (moved(UNLISTED), target("blocked"), "status-redirect", None),
        (moved(UNLISTED), target("page not read"), "status-redirect", None),
        (moved(UNLISTED), target("soft 404"), "status-soft-404", None),
        (moved(UNLISTED), target("noindex"), "page-noindex-meta", None),
        (lost(final_url=UNLISTED, final_status=404), target("not found", status=404), "status-404", None),
        (lost(final_url=UNLISTED, final_status=410), target("not found", status=410), "status-410", None),
        (moved(OTHER), target(url=OTHER), "status-redirect-offsite", None),
        (moved(OTHER, kind="http-error", final_status=503), target("server error"), "status-redirect-offsite", None),
        (moved(canonical=UNLISTED), target(), "status-redirect", UNLISTED),
        (moved(canonical=UNLISTED), target("noindex"), "page-noindex-meta", None),
        (moved(canonical=UNLISTED), target("not checked"), "status-redirect", None),
        (moved(canonical=OTHER), target(url=OTHER), "status-redirect", None),
        (moved(canonical=UNLISTED), target("canonicalised"), "status-redirect", GOOD),
        (moved(canonical=PAGE), target("redirect", PAGE, status=301, final_url=GOOD), "status-redirect", GOOD),
        (
            reply(kind="unchecked", reason="blocked", redirects=[Hop(301, PAGE)], final_url=None),
            *(None, "status-redirect", None),
        ),
    ],
)
def test_a_target_takes_the_place_of_a_page_if_it_is_indexable(
    answer: ReplyRecord, leads_to: Target | None, rule: str, replacement: str | None, tmp_path: Path
) -> None:
    assert verdict(tmp_path / "audit", answer=answer, leads_to=leads_to) == Verdict(rule, replacement)


@pytest.mark.parametrize(
    "answer",
    [
        reply(),
        reply(kind="http-error", status=503),
        reply(kind="http-error", status=403),
        reply(kind="timeout", status=None),
        moved(GOOD, 302),
        moved(GOOD, 307, 301),
        moved(GOOD, 303, canonical=PAGE),
        moved(GOOD, 302, refresh=PAGE),
        moved(GOOD, 302, noindex=None),
        lost(final_status=503),
        lost(final_status=403),
        reply(kind="unchecked", reason="sampled-out", status=None),
        reply(noindex=None),
    ],
    ids=lambda answer: " ".join(
        map(str, [answer.kind, answer.final_status, *(hop.status for hop in answer.redirects)])
    ),
)
def test_a_page_that_may_belong_in_it_is_kept(answer: ReplyRecord, tmp_path: Path) -> None:
    assert verdict(tmp_path / "audit", answer=answer) is None


def test_a_page_whose_target_did_not_answer_is_kept(tmp_path: Path) -> None:
    silent = moved(kind="timeout", final_status=None)
    assert verdict(tmp_path / "audit", answer=silent, leads_to=target("unreachable")) is None


@pytest.mark.parametrize("why", ["canonicalised", "not found", "soft 404"])
def test_a_page_is_kept_whose_canonical_names_another_one_or_does_not_exist(why: str, tmp_path: Path) -> None:
    assert verdict(tmp_path / "named", answer=reply(canonical=UNLISTED), leads_to=target(why)) is None
    behind = moved(GOOD, 302, canonical=UNLISTED)
    assert verdict(tmp_path / "behind", answer=behind, leads_to=target(why)) is None


def test_a_page_whose_canonical_redirects_back_is_kept(tmp_path: Path) -> None:
    insecure = PAGE.replace("https", "http")
    back = target("redirect", insecure, status=301, final_url=PAGE)
    assert verdict(tmp_path / "audit", answer=reply(canonical=insecure), leads_to=back) is None


def test_a_page_whose_canonical_on_a_former_domain_redirects_to_it_is_kept(tmp_path: Path) -> None:
    former = "https://old.example/page"
    back = target("redirect", former, status=301, final_url="https://www.example.com/page/")
    assert verdict(tmp_path / "audit", answer=reply(canonical=former), leads_to=back) is None


def test_what_robots_txt_blocks_is_dropped(tmp_path: Path) -> None:
    assert verdict(tmp_path / "audit", blocked=True, answer=reply()) == Verdict("url-blocked-by-robots")


def test_a_robots_txt_that_did_not_answer_drops_nothing(tmp_path: Path) -> None:
    assert verdict(tmp_path / "audit", blocked=True, robots="unreachable", answer=reply()) is None
    assert verdict(tmp_path / "busy", blocked=True, robots="unavailable", status=429, answer=reply()) is None


def test_an_audit_of_another_version_is_refused(tmp_path: Path) -> None:
    for name in ("urls", "sitemaps"):
        duckdb.sql("SELECT 'https://example.com/' AS loc").write_parquet(str(tmp_path / f"{name}.parquet"))
    (tmp_path / "summary.json").write_text("{}")
    (tmp_path / "work").mkdir()
    with pytest.raises(ValueError, match=r"sitemaps\.parquet .* written by another version; audit the site again"):
        AuditedSite(tmp_path, tmp_path / "work", False)


UNKNOWN = "https://example.com/unknown"
KEEPING: list[tuple[ReplyRecord, Target | None, Verdict | None]] = [
    (reply(canonical=UNKNOWN), None, None),
    (reply(refresh=UNKNOWN), None, None),
    (moved(refresh=UNKNOWN), None, None),
    (moved(), target("page not read"), None),
    (moved(), target(url=GOOD), Verdict("status-redirect", GOOD)),
    (moved(), target("not checked"), None),
    (moved(), target("blocked"), Verdict("status-redirect")),
    (reply(canonical=UNLISTED), target(), Verdict("page-canonical-other", UNLISTED)),
    (reply(canonical=UNLISTED), target("noindex"), Verdict("page-canonical-other")),
    (reply(canonical=UNLISTED), target("server error"), None),
]


@pytest.mark.parametrize(("answer", "leads_to", "expected"), KEEPING)
def test_keeping_what_is_not_verified(
    answer: ReplyRecord, leads_to: Target | None, expected: Verdict | None, tmp_path: Path
) -> None:
    assert verdict(tmp_path / "audit", keep=True, answer=answer, leads_to=leads_to) == expected


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


def test_a_file_that_could_not_be_read_has_the_rule_of_the_audit(tmp_path: Path) -> None:
    damaged = SitemapRecord(PAGE, status=200, outcome="failed", issues=["doc-content-type", "doc-gzip-error"])
    [source] = AuditedFiles(tmp_path, tmp_path).sources([damaged])
    assert source.rule == "doc-gzip-error"


def test_a_file_that_came_in_part_is_not_written(tmp_path: Path) -> None:
    cut = SitemapRecord(
        PAGE, status=200, outcome="truncated", issues=["doc-content-type", "doc-truncated"], error="why"
    )
    [source] = AuditedFiles(tmp_path, tmp_path).sources([cut])
    assert (source.path, source.rule, source.error) == (None, "doc-truncated", "why")


@pytest.mark.parametrize(("status", "is_behind"), [(301, False), (302, True)])
def test_page_behind_a_redirect_that_stays_is_known(status: int, is_behind: bool, tmp_path: Path) -> None:
    found = PageRecord(url=UNLISTED, inlinks=1, outlinks=0, kind="ok", indexable=True, indexability="ok")
    (tmp_path / "pages.jsonl").write_bytes(msgspec.json.encode(found))
    verdict(tmp_path, answer=moved(UNLISTED, status), leads_to=target())
    (tmp_path / "again").mkdir()
    with closing(AuditedSite(tmp_path, tmp_path / "again", False)) as site:
        assert [(page.url, page.is_behind) for page in site.found_pages()] == [(UNLISTED, is_behind)]


def test_the_cache_of_another_user_is_said_to_be_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cache").mkdir()
    monkeypatch.setattr(os, "access", lambda path, _: path != tmp_path / "cache")
    with pytest.raises(ValueError, match="cannot be read: Permission denied"):
        AuditedFiles(tmp_path, tmp_path)
