"""Benchmark definitions: the sets, and the programs that each part runs on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from bench.compare import Command
from bench.generate import Recipe
from bench.robots import SMALL
from bench.robots import large as large_robots
from sitemapcrawler.rules import all_rules
from sitemapcrawler.rules.registry import ON_THE_SITE

ROOT = Path(__file__).parents[1]
PEERS = ROOT / "bench" / "peers"
SLOW_ROUNDS = 3  # rounds of programs that take half a minute or more
NO_LIMIT = 1 << 40  # bytes or entries

RECIPES = {
    "plain": Recipe("plain", "http://127.0.0.1:8961", files=20, raw=True),
    "plain-5": Recipe("plain", "http://127.0.0.1:8962", files=5),
    "plain-100": Recipe("plain", "http://127.0.0.1:8963", files=100),
    "large": Recipe("plain", "http://127.0.0.1:8964", files=1, entries=None, gib=1),
    "rich": Recipe("rich", "http://127.0.0.1:8965", files=5, entries=20_000),
    "multilingual": Recipe("multilingual", "http://127.0.0.1:8972", files=5, entries=20_000),
    "multilingual-20": Recipe("multilingual", "http://127.0.0.1:8974", files=20, entries=5_000),
    "faulty": Recipe("faulty", "http://127.0.0.1:8973", files=20),
    "unusual": Recipe("unusual", "http://127.0.0.1:8966", files=5),
    "robots-small": Recipe("plain", "http://127.0.0.1:8967", rules=SMALL),
    "robots-500": Recipe("plain", "http://127.0.0.1:8968", rules=large_robots(Random(1), 1)),
    "pages-10000": Recipe("pages", "http://127.0.0.1:8969", files=1, entries=10_000),
    "pages-30000": Recipe("pages", "http://127.0.0.1:8971", files=1, entries=30_000),
    "pages-200000": Recipe("pages", "http://127.0.0.1:8970", files=4, entries=50_000),
}
"""Sets, by the folder that they are written to."""

UNHURRIED = ("AUTOTHROTTLE_ENABLED=0", "DOWNLOAD_DELAY=0", "ROBOTSTXT_OBEY=0")
"""Settings of every crawl here: no delays, and no requests that the other programs do not make."""
AT_64 = ("CONCURRENT_REQUESTS=64", "CONCURRENT_REQUESTS_PER_DOMAIN=64", "ROBOTSTXT_OBEY=1", "RETRY_TIMES=0")
"""Settings of crawls that verify: 64 requests at a time, and no retry of the pages that fail, one in a hundred."""
URL_ROW = b'{"type":"url"'
ANY_ROW = b'{"type":"summary"'
"""Start of a row that every crawl writes once."""
RAISED = tuple(f"{name}={NO_LIMIT}" for name in ("DOWNLOAD_MAXSIZE", "SITEMAP_MAX_BYTES"))


def index_of(name: str) -> str:
    """Return the URL of a set's index."""
    return f"{RECIPES[name].host}/index.xml"


@dataclass(frozen=True)
class Tools:
    """Interpreters for the programs, and their output folder."""

    python: str
    peers_python: str
    out: Path

    def crawl(
        self,
        name: str,
        *arguments: str,
        settings: Sequence[str] = (),
        rows: bytes = URL_ROW,
        feed: str = "crawl.jsonl",
    ) -> Command:
        """Return a crawl of ours into a feed, whose `rows` are counted."""
        output = self.out / feed
        argv = [self.python, "-m", "scrapy", "crawl", "sitemap", "-O", str(output)]
        argv += [part for argument in arguments for part in ("-a", argument)]
        argv += [part for setting in (*UNHURRIED, *settings) for part in ("-s", setting)]
        return Command(name, argv, cwd=ROOT, output=output, row_start=rows)

    def peer(self, name: str, script: str, url: str, rounds: int | None = None) -> Command:
        """Return a script of `peers/` as a command."""
        output = self.out / "peer.out"
        return Command(name, [self.peers_python, str(PEERS / script), url, str(output)], output=output, rounds=rounds)


def plain(tools: Tools) -> list[Command]:
    """20 files of 50,000 plain entries, ours and the others."""
    host, index = RECIPES["plain"].host, index_of("plain")
    return [
        tools.peer("lxml loop", "lxml_loop.py", index),
        tools.peer("lxml loop, uncompressed files", "lxml_loop.py", f"{host}/index-raw.xml"),
        tools.crawl("sitemapcrawler", f"sitemap={index}", "select=none", "agents=none"),
        tools.crawl("sitemapcrawler, domain=", f"domain={host}", "select=none", "agents=none"),
        tools.crawl("sitemapcrawler, all rules", f"sitemap={index}", "agents=none"),
        tools.peer("advertools", "advertools_frame.py", index, SLOW_ROUNDS),
        tools.peer("ultimate-sitemap-parser", "ultimate_sitemap_parser.py", host, SLOW_ROUNDS),
        tools.peer("Scrapy's SitemapSpider", "scrapy_sitemap_spider.py", index, SLOW_ROUNDS),
    ]


def memory(tools: Tools) -> list[Command]:
    """The same crawl over 5, 20 and 100 files."""
    sets = {5: "plain-5", 20: "plain", 100: "plain-100"}
    ways = {"sitemapcrawler": ("select=none", "agents=none"), "sitemapcrawler, all rules": ("agents=none",)}
    return [
        tools.crawl(f"{way}, {files} files", f"sitemap={index_of(name)}", *arguments)
        for way, arguments in ways.items()
        for files, name in sets.items()
    ]


def large(tools: Tools) -> list[Command]:
    """One urlset of 1 GiB, compressed, with the limits raised."""
    index = index_of("large")
    return [
        tools.peer("lxml loop", "lxml_loop.py", index),
        tools.crawl("sitemapcrawler", f"sitemap={index}", "select=none", "agents=none", settings=RAISED),
        tools.crawl("sitemapcrawler, all rules", f"sitemap={index}", "agents=none", settings=RAISED),
    ]


def rich(tools: Tools) -> list[Command]:
    """Five files of 20,000 entries with images, language versions, videos and news."""
    index = index_of("rich")
    return [
        tools.peer("lxml loop, all fields", "lxml_rich.py", index),
        tools.peer("lxml loop, loc and lastmod", "lxml_loop.py", index),
        tools.crawl("sitemapcrawler", f"sitemap={index}", "select=none", "agents=none"),
        tools.crawl("sitemapcrawler, all rules", f"sitemap={index}", "agents=none"),
        tools.peer("ultimate-sitemap-parser", "ultimate_sitemap_parser.py", RECIPES["rich"].host, SLOW_ROUNDS),
        tools.peer("advertools", "advertools_frame.py", index, SLOW_ROUNDS),
    ]


def multilingual(tools: Tools) -> list[Command]:
    """Five files of 20,000 healthy entries in clusters of languages, without rules, and with all rules and database."""
    index = index_of("multilingual")
    return [
        tools.peer("ultimate-sitemap-parser", "ultimate_sitemap_parser.py", RECIPES["multilingual"].host),
        tools.crawl("sitemapcrawler", f"sitemap={index}", "select=none", "agents=none"),
        tools.crawl("sitemapcrawler, all rules", f"sitemap={index}", "agents=none"),
    ]


def faulty(tools: Tools) -> list[Command]:
    """Plain entries, healthy ones, the same to CSV, and ones with a wrong date each; all rules and database."""
    healthy = f"sitemap={index_of('plain')}"
    return [
        tools.crawl("healthy entries", healthy, "agents=none"),
        tools.crawl("a CSV feed", healthy, "agents=none", rows=b"http", feed="crawl.csv"),
        tools.crawl("a wrong date each", f"sitemap={index_of('faulty')}", "agents=none"),
    ]


def unusual(tools: Tools) -> list[Command]:
    """Five files of 50,000 entries with the four elements in another order, and milliseconds."""
    index = index_of("unusual")
    return [
        tools.peer("lxml loop", "lxml_loop.py", index),
        tools.crawl("sitemapcrawler", f"sitemap={index}", "select=none", "agents=none"),
        tools.crawl("sitemapcrawler, all rules", f"sitemap={index}", "agents=none"),
        tools.peer("ultimate-sitemap-parser", "ultimate_sitemap_parser.py", RECIPES["unusual"].host, SLOW_ROUNDS),
    ]


def robots(tools: Tools) -> list[Command]:
    """The plain entries judged by robots.txt for the crawlers of both groups, or for none."""
    return [
        tools.crawl(f"{name}{way}", f"sitemap={index_of(folder)}", *arguments)
        for name, folder in (("a small robots.txt", "robots-small"), ("500 rules", "robots-500"))
        for way, arguments in ((", for none", ("agents=none",)), ("", ()))
    ]


def status(tools: Tools) -> list[Command]:
    """30,000 pages verified with HEAD, 64 at a time, with every middleware that we promise; robots.txt is obeyed."""
    index = index_of("pages-30000")
    ours = ("verify=head", "agents=none", "select=none", f"sitemap={index}")
    return [
        tools.peer("one awaited request an item", "scrapy_status.py", index),
        tools.crawl("sitemapcrawler", *ours, settings=AT_64),
    ]


def store(tools: Tools) -> list[Command]:
    """The plain entries with all rules: without a database, with a temporary one, and as a job that stays."""
    plain = (f"sitemap={index_of('plain')}", "agents=none")
    site = ",".join(sorted(rule.id for rule in all_rules() if not set(ON_THE_SITE).isdisjoint(rule.of)))
    job = [f"JOBDIR={tools.out / 'job'}"]
    return [
        tools.crawl("no database", *plain, settings=["SITEMAP_STORE=0"]),
        tools.crawl("a job without rules on the site", *plain, f"ignore={site}", "fresh=yes", settings=job),
        tools.crawl("a temporary database", *plain),
        tools.crawl("a job", *plain, "fresh=yes", settings=job),
        tools.crawl("the job again", *plain, settings=job),
    ]


def again(tools: Tools) -> list[Command]:
    """The plain entries as a job, and the next day, when nothing has changed."""
    plain = (f"sitemap={index_of('plain')}", "agents=none", "fresh=yes")
    first, second = ([f"JOBDIR={tools.out / name}"] for name in ("job-1", "job-2"))
    baseline = f"baseline={tools.out / 'job-1'}"
    return [
        tools.crawl("the first time", *plain, settings=first),
        tools.crawl("again", *plain, baseline, settings=second),
        tools.crawl("again, only=changes", *plain, baseline, "only=changes", settings=second, rows=ANY_ROW),
    ]


def people(tools: Tools) -> list[Command]:
    """The plain entries with all rules as feeds, as a report, and in the commands for people."""
    index = index_of("plain")
    feeds = tools.crawl("feeds", f"sitemap={index}", "agents=none")
    findings, report = tools.out / "findings.txt", tools.out / "report"
    beside = ["-O", str(tools.out / "crawl.parquet")]
    call = [tools.python, "-m", "sitemapcrawler.cli"]
    unhurried = [part for setting in UNHURRIED for part in ("-s", setting)]
    return [
        feeds,
        replace(feeds, name="feeds, Parquet too", argv=[*feeds.argv, *beside]),
        Command(
            "a report",
            [
                *call,
                "crawl",
                "sitemap",
                "-a",
                f"sitemap={index}",
                "-a",
                "agents=none",
                "-a",
                f"report={report}",
                *unhurried,
            ],
            ROOT,
            report / "urls.jsonl",
            URL_ROW,
        ),
        Command("validate", [*call, "validate", index, "--agents", "none", "-o", str(findings), *unhurried], ROOT),
        Command("inspect --expand", [*call, "inspect", index, "--expand", *unhurried], ROOT),
    ]


def status_memory(tools: Tools) -> list[Command]:
    """The same over 10,000 and 200,000 pages."""
    return [
        tools.crawl(f"sitemapcrawler, {name}", "verify=head", f"sitemap={index_of(name)}", settings=AT_64)
        for name in ("pages-10000", "pages-200000")
    ]


@dataclass(frozen=True)
class Part:
    """Comparison: its commands, the sets it needs, and its number of rounds."""

    commands: Callable[[Tools], list[Command]]
    sets: tuple[str, ...]
    rounds: int


PARTS = {
    "plain": Part(plain, ("plain",), 5),
    "memory": Part(memory, ("plain-5", "plain", "plain-100"), 3),
    "large": Part(large, ("large",), 3),
    "rich": Part(rich, ("rich",), 5),
    "multilingual": Part(multilingual, ("multilingual",), 3),
    "faulty": Part(faulty, ("plain", "faulty"), 3),
    "unusual": Part(unusual, ("unusual",), 5),
    "robots": Part(robots, ("robots-small", "robots-500"), 5),
    "status": Part(status, ("pages-30000",), 5),
    "store": Part(store, ("plain",), 5),
    "again": Part(again, ("plain",), 5),
    "people": Part(people, ("plain",), 3),
    "status-memory": Part(status_memory, ("pages-10000", "pages-200000"), 1),
}
