"""Reports to make pages of: an empty one, one of a site such as clients have, and one as large as a report gets."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sitemapcrawler.items import (
    ChangeCounts,
    ChangeRecord,
    ComparedFolder,
    ComparedList,
    Counts,
    Coverage,
    CrawlerAccess,
    FindingRecord,
    Hop,
    Lastmods,
    LinkGraph,
    PageRecord,
    Reach,
    ReplyRecord,
    RobotsRecord,
    Share,
    SitemapRecord,
    SummaryRecord,
    UrlRecord,
)
from sitemapcrawler.jobs.url_table import COLUMNS, Packer, Value
from sitemapcrawler.replies.indexability import set_indexability
from sitemapcrawler.report.model import (
    CHANGES,
    MAX_CHANGED,
    MAX_FINDINGS,
    MAX_LANGUAGES,
    MAX_NOT_INDEXABLE,
    MAX_ROBOTS,
    MAX_SITEMAPS,
    Denied,
    Entries,
    FileProblems,
    Language,
    MissingPage,
    Report,
    RuleReach,
    Run,
)
from sitemapcrawler.robots.agents import AGENTS as KNOWN
from sitemapcrawler.robots.agents import Agent

SITE = "https://www.example.com"
STARTED = "2026-11-20T21:04:11Z"
AGENTS = [agent.name for agent in KNOWN if agent.group]
RULES = (
    ("status-not-found", "error", "A listed page does not exist", 412, 19),
    ("url-other-host", "error", "A listed URL is on another host than its sitemap", 96, 2),
    ("xml-malformed", "error", "The file is not well-formed XML", 3, 3),
    ("hreflang-no-return", "warning", "A language version does not link back", 2870, 31),
    ("lastmod-future", "warning", "The last modification lies in the future", 1204, 12),
    ("status-redirected", "warning", "A listed page redirects", 655, 40),
    ("loc-duplicate", "warning", "A page is listed more than once", 188, 9),
    ("priority-same", "info", "All entries have the same priority", 34, 34),
    ("sitemap-not-in-robots", "info", "robots.txt does not name the sitemap", 1, 1),
)


def empty(**fields: Any) -> Report:
    """A crawl that came to nothing."""
    return Report(SummaryRecord(domains=["example.com"], started=STARTED), **fields)


def small(hosts: int) -> Report:
    """A little of everything; the matrix of crawlers looks another way where hosts are many."""
    return _report(files=8, hosts=hosts, languages=2, bad=4, changed=1, urls=900)


def typical() -> Report:
    """A shop with 42 files and 140,000 pages, crawled with everything that can be asked for."""
    return _report(files=42, hosts=3, languages=14, bad=60, changed=40, urls=9000)


def full() -> Report:
    """As much as a report holds."""
    return _report(MAX_SITEMAPS, MAX_ROBOTS, MAX_LANGUAGES, MAX_NOT_INDEXABLE, MAX_CHANGED, urls=30_000)


def _report(files: int, hosts: int, languages: int, bad: int, changed: int, urls: int) -> Report:
    chance = random.Random(7)
    sitemaps = [_file(at, chance, urls) for at in range(files)]
    listed = sum(file.record.url_count for file in sitemaps if file.record.format != "xml-index")
    summary = _summary(sitemaps, listed)
    return Report(
        summary=summary,
        urls=listed - 7,
        indexability=summary.indexability,
        rules=[_rule(*rule) for rule in RULES],
        files=sorted(sitemaps, key=lambda file: (-file.errors, -file.warnings)),
        months=_months(chance, listed),
        undated=listed // 31,
        statuses={"200": 9017, "404": 412, "410": 31, "500": 12, "timeout": 9, "dns": 1},
        not_indexable=[_not_indexable(at) for at in range(bad)],
        robots=[_robots(at, listed) for at in range(hosts)],
        judged_agents=AGENTS,
        denied=[_denied(at, hosts) for at in range(4 * hosts)],
        languages=[_language(at, chance) for at in range(languages)],
        unlisted=[_linked(at, False) for at in range(bad)],
        not_linked=[_linked(at, True) for at in range(bad)],
        depths={1: [40, 3], 2: [9000, 60], -1: [12, 0]},
        missing=[
            MissingPage(f"{SITE}/deals/{at}", ["crawl.csv", "access.log"], 7 + at, at % 3 > 0) for at in range(bad)
        ],
        listed_only=[f"{SITE}/offers/2019/{at}" for at in range(bad)],
        changed={kind: [_change(at, kind) for at in range(changed)] for kind in CHANGES},
        entries=entries(rows(urls // 10)),
        feeds=["urls.jsonl", "sitemaps.jsonl", "findings.jsonl", "robots.jsonl", "summary.json"],
        arguments={"domain": "www.example.com", "verify": "head", "sample": "10000", "baseline": "../2026-11-13"},
        judged=141,
        runs=_runs(),
    )


def entries(rows: Sequence[Sequence[Value]], total: int | None = None) -> Entries:
    """The table of all URLs. `rows`: their values by column; `total`: number of entries, if the rows are a sample."""
    packer = Packer(COLUMNS)
    for row in rows:
        packer.add(row)
    return Entries(packer.packed(), packer.rows, total or packer.rows)


STATES: tuple[tuple[str, str, list[str], str | None], ...] = (
    ("ok", "200", [], None),
    ("ok", "200", ["lastmod-future"], None),
    ("ok", "200", [], None),
    ("not found", "404", ["status-not-found"], None),
    ("redirect", "301", ["loc-duplicate", "status-redirected"], f"{SITE}/en/products"),
    ("unreachable", "timeout", [], None),
)
"""What entries of the table of all URLs are, in turn: indexability, first status, problems and target."""


def rows(number: int) -> list[list[Value]]:
    """So many entries, in the order of their URLs; each seventh repeats the one before it."""
    made: list[list[Value]] = []
    for at in range(number):
        page = at - (at % 7 == 6)
        indexability, status, problems, target = STATES[page % len(STATES)]
        made.append([
            f"{SITE}/{('de', 'en')[page * 2 // number]}/lamps/lamp-{page:06}", indexability, status, problems, target,
            f"{SITE}/sitemaps/products-{at % 42 + 1:03}.xml.gz", at // 42 * 6 + 3, "www.example.com",
            None, f"/{('de', 'en')[page * 2 // number]}/",
            f"2026-{page % 11 + 1:02}-{page % 28 + 1:02}", f"2026-{page % 11 + 1:02}", ["CCBot", "GPTBot"][page % 3 :],
            (None, "Crawled - currently not indexed", "Submitted and indexed")[page % 3],
            ("unchanged", "changed", "added")[page % 3],
        ])  # fmt: skip
    return made


def _linked(at: int, listed: bool) -> PageRecord:
    """A page that is linked and not listed, or listed and not linked."""
    url = f"{SITE}/{'archive' if listed else 'deals'}/{at}"
    sources = [] if listed else [f"{SITE}/", f"{SITE}/menu", f"{SITE}/news/{at}"]
    return PageRecord(
        url=url, listed=listed, sitemap=f"{SITE}/sitemap.xml" if listed else None, depth=None if listed else 2,
        inlinks=0 if listed else 40 + at, linked_from=sources, kind="ok", status=200, indexable=True, indexability="ok",
    )  # fmt: skip


def _runs() -> list[Run]:
    """Three months of weekly runs; one without verify, one that ended early."""
    runs = [
        Run(
            f"2026-{8 + at // 4:02}-{1 + at % 4 * 7:02}T21:04:11Z",
            found={"error": Reach("error", 900 - 31 * at, None, 4), "warning": Reach("warning", 4900 + at, None, 9)},
            urls=140_000 + at,
            indexable=120_000 + 900 * at,
            checkable=140_000 + at,
            arguments={"verify": "head"},
        )
        for at in range(13)
    ]
    runs[4] = replace(runs[4], indexable=None, checkable=None, arguments={})
    runs[8] = replace(runs[8], partial="max_time")
    return runs


def _summary(files: Sequence[FileProblems], listed: int) -> SummaryRecord:
    severities: dict[str, int] = {}
    reach = {rule: _reach(severity, count, files) for rule, severity, _, count, files in RULES}
    for _, severity, _, count, _ in RULES:
        severities[severity] = severities.get(severity, 0) + count
    return SummaryRecord(
        domains=["www.example.com"],
        started=STARTED,
        elapsed_s=5025.4,
        peak_mb=183.2,
        sitemaps=len(files),
        urls=listed,
        rules={rule: count for rule, _, _, count, _ in RULES},
        severities=severities,
        reach=reach,
        severity_reach={
            severity: Reach(
                severity,
                sum(one.urls for one in reach.values() if one.severity == severity),
                None,
                max(one.files for one in reach.values() if one.severity == severity),
            )
            for severity in severities
        },
        agents={"GPTBot": 40_210, "CCBot": listed},
        crawlers=[_crawler(one, listed) for one in KNOWN if one.group],
        replies={
            "ok": 9017,
            "redirected": 318,
            "http-error": 455,
            "timeout": 9,
            "dns": 1,
            "sampled-out": listed - 9800,
        },
        bad=Share(listed, 9800, 783, 783 / 9800, 0.0747, 0.0855),
        changes=ChangeCounts(
            "2026-11-13T21:04:11Z",
            3120,
            418,
            18_902,
            listed - 22_022,
            {"error": 40, "warning": 3},
            {"error": 2000},
            what_changed={"lastmod": 18_000, "content": 900, "status": 2},
        ),
        not_indexable=Share(listed, 9800, 1104, 1104 / 9800, 0.1066, 0.119),
        indexability={
            "ok": 8696,
            "redirect": 318,
            "not found": 443,
            "server error": 12,
            "noindex": 321,
            "unreachable": 10,
            "not checked": listed - 9800,
        },
        lastmod=Lastmods(0.97, 8800, 0.71, {"future": 1204, "identical": 90_000, "newer_than_header": 1310}),
        graph=LinkGraph(
            pages=9200,
            read=9017,
            unread={"redirected": 100, "blocked": 83},
            unlisted=180,
            not_linked=60,
            links=190_000,
            nofollow=1200,
            offsite=40_000,
            max_depth=2,
            home_read=True,
            cut=1,
            partial="max_pages",
        ),
        coverage=Coverage(
            [
                ComparedList("crawl.csv", "Screaming Frog", 20_000, 311, 2, 40, 18_000, 17_820, 180),
                ComparedList("access.log", "access log", 9_000_000, 4_000_000, 3, 0, 8000, 7900, 100),
            ],
            not_listed=180,
            not_verified=20,
            not_indexable=411,
            listed_only=60,
            partial="max_pages",
            folders=[
                ComparedFolder("/deals/", 0, 180, 0, {"crawl.csv": 180, "access.log": 100}),
                ComparedFolder("/offers/", 12, 0, 60),
            ],
        ),
        skipped={"since": 1200, "hreflang-no-return": 2},
    )


def _file(at: int, chance: random.Random, urls: int) -> FileProblems:
    kinds = ("products", "categories", "stories", "stores", "images", "video")
    kind = kinds[min(at % 11, 5)]
    loc = f"{SITE}/sitemaps/{kind}-{at + 1:03}.xml.gz"
    if at == 0:
        record = SitemapRecord(sitemap=f"{SITE}/sitemap.xml", format="xml-index", status=200, url_count=41, bytes=5120)
        return FileProblems(record, infos=1)
    if at % 17 == 5:
        error = "The file is not well-formed: an element ends that was not begun, on line 1,204."
        return FileProblems(SitemapRecord(sitemap=loc, outcome="failed", status=200, error=error), errors=1)
    count = int(urls * chance.betavariate(1.2, 2)) + 1
    record = SitemapRecord(
        sitemap=loc,
        parent=f"{SITE}/sitemap.xml",
        found_by="index",
        depth=1,
        format="xml-urlset",
        status=200,
        url_count=count,
        bytes=count * 212,
        bytes_fetched=count * 21,
        lastmod_min="2019-02-01T00:00:00Z",
        lastmod_max=f"2026-{chance.randint(1, 11):02}-{chance.randint(1, 20):02}T08:30:00Z",
        counts=Counts(images=count),
    )
    errors = chance.choice((0, 0, 0, 2, 45)) if at % 3 else 0
    bad = count * chance.choice((0, 0, 0, 2, 30, 80)) // 100
    return FileProblems(record, errors, chance.choice((0, 0, 7, 120)), chance.choice((0, 1)), count, bad)


def _reach(severity: str, count: int, files: int) -> Reach:
    return Reach(severity, count if count > files else 0, count, files)


def _rule(rule: str, severity: str, what: str, count: int, files: int) -> RuleReach:
    why = "Crawlers spend their visits on pages that nobody can use, and find the good ones later."
    return RuleReach(
        rule,
        _reach(severity, count, files),
        count,
        what,
        why,
        "https://www.sitemaps.org/protocol.html",
        [_finding(rule, severity, at) for at in range(min(count, MAX_FINDINGS // len(RULES)))],
        "Remove these URLs from the sitemap, or write `<loc>` in full.",
        f"{SITE}/sitemaps/products-002.xml.gz",
        count * 2 // 3,
        "404",
        count // 2,
    )


def _finding(rule: str, severity: str, at: int) -> FindingRecord:
    return FindingRecord(
        rule=rule,
        severity=severity,
        message=f"the page answered 404 instead of 200, and is listed {at + 2} times",
        sitemap=f"{SITE}/sitemaps/products-{at + 2:03}.xml.gz",
        line=1204 + 7 * at,
        column=7,
        url=f"{SITE}/en/products/garden/lamps/harbour-lamp-{at}",
        value="404",
    )


def _months(chance: random.Random, listed: int) -> dict[str, int]:
    months = {
        f"{year}-{month:02}": chance.randint(1, 9) + (year - 2018) ** 3 * month
        for year in range(2019, 2027)
        for month in range(1, 13)
    }
    months["1970-01"] = 12
    months["2027-03"] = 1204
    return dict(sorted(months.items()))


def _not_indexable(at: int) -> UrlRecord:
    loc = f"{SITE}/en/products/garden/lamps/harbour-lamp-{at}"
    kinds = (
        ReplyRecord("http-error", status=404, final_status=404, final_url=loc, attempts=1),
        ReplyRecord(
            "http-error",
            status=500,
            final_status=500,
            final_url=loc,
            attempts=3,
            error="the server answers 500 each time",
        ),
        ReplyRecord(
            "redirected",
            status=301,
            final_status=200,
            final_url=f"{SITE}/en/products",
            redirects=[Hop(301, loc)],
            soft_404="it redirects to the home page",
        ),
        ReplyRecord("timeout", final_url=loc, attempts=3, error="no answer within 30 s"),
    )
    record = UrlRecord(loc=loc, sitemap=f"{SITE}/sitemaps/products-002.xml.gz", line=100 + at, reply=kinds[at % 4])
    set_indexability(record)
    return record


DENIED = {"GPTBot": 9, "CCBot": 1, "Bytespider": 1, "ClaudeBot": 700, "Baiduspider": 2}
"""Crawlers that are denied every n-th page."""


def _crawler(known: Agent, listed: int) -> CrawlerAccess:
    denied = listed // DENIED[known.name] if known.name in DENIED else 0
    return CrawlerAccess(known.name, known.operator, known.purpose, listed - denied, denied)


def _robots(at: int, listed: int) -> RobotsRecord:
    host = "www.example.com" if at == 0 else f"shop-{at}.example.com"
    denied = {
        "GPTBot": listed // 9,
        "CCBot": listed,
        "Bytespider": listed,
        "ClaudeBot": 12,
        "Baiduspider": listed * 3 // 4,
    }
    return RobotsRecord(
        robots=f"https://{host}/robots.txt",
        status=200,
        bytes=2048,
        sitemaps=[f"{SITE}/sitemap.xml"],
        crawl_delay=2.0 if at % 3 == 1 else None,
        urls=listed,
        agents=denied if at % 2 == 0 else {},
    )


def _denied(at: int, hosts: int) -> Denied:
    """A URL of a host that denies crawlers; see `_robots`."""
    lines = {"CCBot": "line 2, Disallow: /", "Bytespider": "line 2, Disallow: /", "GPTBot": "line 9, Disallow: /lamps/"}
    host = _robots(at % hosts, 1).robots
    url = f"{host.removesuffix('robots.txt')}en/products/garden/lamps/harbour-lamp-{at}"
    return Denied(host, url, [*lines, "ClaudeBot"], lines)


def _language(at: int, chance: random.Random) -> Language:
    codes = ("en", "de", "fr", "nl", "es", "it", "pl", "pt-br", "sv", "da", "cs", "zh-hant", "ja", "x-default")
    links = 40_000 // (at + 1)
    code = codes[at] if at < len(codes) else f"en-{at:03}"
    return Language(code, links, links // 9 if at % 3 else 0, chance.choice((0, 0, links // 40)))


def _change(at: int, kind: str) -> ChangeRecord:
    if kind == "robots.txt":
        return ChangeRecord(
            f"{SITE}/robots.txt", kind, "rules", f"Disallow: /old/{at}/ (*)", f"Disallow: /new/{at}/ (*)"
        )
    rule = {"rule": "status-404", "severity": "error"} if "problem" in kind else {}
    values = {"what": "lastmod", "before": "2026-11-18", "after": "2026-11-19"} if kind == "changed" else {}
    url = f"{SITE}/en/stories/{kind.replace(' ', '-')}/how-a-lighthouse-keeps-its-light-{at}"
    return ChangeRecord(url, kind, sitemap=f"{SITE}/sitemaps/stories-003.xml.gz", line=at, **rule, **values)
