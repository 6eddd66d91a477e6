"""The audit spider in a Scrapy project that has spiders, pipelines and middlewares of its own."""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from tests.crawl import crawling
from tests.crawl.documents import index, urlset
from tests.crawl.projects import crawl, project, run
from tests.crawl.site_server import SiteServer

SPIDERS = """
    import scrapy


    class Pages(scrapy.Spider):
        name = "pages"

        async def start(self):
            for name, value in self.settings.copy_to_dict().items():
                if name not in ("SPIDER_MODULES", "ADDONS"):
                    yield {"setting": name, "value": repr(value)}
"""
AUDIT = """
    from sitemapcrawler.spiders.sitemap import AuditSpider


    class Sitemap(AuditSpider):
        name = "sitemap"
        custom_settings = {"SITEMAP_MAX_SITE_TIME": 600}
"""
PARTS = """
    from itemadapter import ItemAdapter


    class Seeing:
        def process_request(self, request):
            self.crawler.stats.inc_value("shop/requests")

        @classmethod
        def from_crawler(cls, crawler):
            parts = cls()
            parts.crawler = crawler
            return parts


    class Writing:
        def open_spider(self):
            self.file = open("seen.txt", "w")

        def process_item(self, item):
            self.file.write(f"{ItemAdapter(item).get('type')}\\n")
            return item

        def close_spider(self):
            self.file.close()
"""
SETTINGS = """
    BOT_NAME = "shop"
    SPIDER_MODULES = ["shop.spiders"]
    DEPTH_LIMIT = 1
    CONCURRENT_ITEMS = 50
    DOWNLOADER_MIDDLEWARES = {"shop.parts.Seeing": 543}
    ITEM_PIPELINES = {"shop.parts.Writing": 300}
    LOG_LEVEL = "INFO"
    AUTOTHROTTLE_ENABLED = False
"""
ADDON = 'ADDONS = {"sitemapcrawler.Addon": 500}\n'
WAYS = {
    "module": 'SPIDER_MODULES = ["shop.spiders", "sitemapcrawler.spiders"]\n',
    "add-on": ADDON,
    "subclass": "",
    "commands": f'{ADDON}COMMANDS_MODULE = "sitemapcrawler.commands"\n',
}
"""{way in which a project gets the audit: its settings}"""


Shop = Callable[..., Path]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project without the audit."""
    return project(tmp_path_factory.mktemp("template"), SPIDERS, parts=PARTS, settings=SETTINGS)


@pytest.fixture
def shop(template: Path, tmp_path: Path) -> Shop:
    """Makes a project that has the audit in one of the `WAYS`, and returns its folder."""

    def make(way: str) -> Path:
        folder = shutil.copytree(template, tmp_path / way)
        with (folder / "shop/settings.py").open("a") as settings:
            settings.write(WAYS[way])
        if way == "subclass":
            (folder / "shop/spiders/audit.py").write_text(dedent(AUDIT))
        return folder

    return make


@pytest.fixture(scope="module")
def site() -> Iterator[SiteServer]:
    """Two levels of indexes, a sitemap that is missing, and pages that robots.txt blocks."""
    with SiteServer() as server:
        home = server.url()
        server.routes = {
            "/robots.txt": f"User-agent: *\nDisallow: /private/\nSitemap: {home}/index.xml\n",
            "/index.xml": index(f"{home}/more.xml", f"{home}/none.xml"),
            "/more.xml": index(f"{home}/a.xml"),
            "/a.xml": urlset(*(f"{home}/{folder}/{at}" for folder in ("shop", "private") for at in range(3))),
        }
        yield server


def lasting(records: list[dict[str, Any]]) -> list[str]:
    """Records without times and what a summary says of the process, in any order: files come as they arrive."""
    passing = ("started", "elapsed_s", "peak_mb")
    return sorted(json.dumps({name: record[name] for name in record if name not in passing}) for record in records)


@pytest.fixture(scope="module")
def alone(site: SiteServer, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The records of the console script."""
    records = crawling.crawl(tmp_path_factory.mktemp("alone"), domain=site.url()).records
    assert {record["type"] for record in records} == {"url", "sitemap", "finding", "robots", "summary"}
    return lasting(records)


@pytest.mark.slow
@pytest.mark.parametrize("way", ["module", "subclass", "commands"])
def test_audit_is_that_of_the_console_script(way: str, site: SiteServer, alone: list[str], shop: Shop) -> None:
    done = crawl(shop(way), "sitemap", "-a", f"domain={site.url()}")
    assert (done.code, lasting(done.items)) == (0, alone)


def test_own_parts_see_each_record_and_request_before_they_close(
    site: SiteServer, alone: list[str], shop: Shop
) -> None:
    folder = shop("add-on")
    done = crawl(folder, "sitemap", "-a", f"domain={site.url()}", "-O", "urls.csv.gz:csv")
    assert (done.code, lasting(done.items)) == (0, alone)
    assert gzip.decompress((folder / "urls.csv.gz").read_bytes()).startswith(b"loc,status,")
    assert (folder / "seen.txt").read_text().split() == [item["type"] for item in done.items]
    assert "'shop/requests': 5" in done.log


def test_own_pipelines_may_stay_out(site: SiteServer, alone: list[str], shop: Shop) -> None:
    folder = shop("add-on")
    done = crawl(folder, "sitemap", "-a", f"domain={site.url()}", "-s", "ITEM_PIPELINES={}")
    assert (done.code, lasting(done.items)) == (0, alone)
    assert not (folder / "seen.txt").exists()


def test_own_spiders_run_as_without_the_audit(shop: Shop) -> None:
    with_audit, without = (crawl(shop(way), "pages") for way in ("add-on", "subclass"))
    assert with_audit.code == without.code == 0
    assert without.items == with_audit.items
    assert "sitemapcrawler" not in "".join(with_audit.values("value"))


def test_command_leaves_own_spiders_to_scrapy(shop: Shop) -> None:
    folder = shop("commands")
    done = run(folder, "-m", "scrapy", "crawl", "pages", "-O", "items.xml")
    assert done.code == 0
    assert "Dumping Scrapy stats" in done.log
    assert "Enabled extensions" in done.log
    assert (folder / "items.xml").read_text().startswith("<?xml")


def test_spider_of_pages_that_refuses_an_argument_is_one_line(shop: Shop) -> None:
    folder = shop("commands")
    spider = "from sitemapcrawler import SitemapSpider\nclass Own(SitemapSpider):\n    name = 'own'\n"
    (folder / "shop/spiders/own.py").write_text(spider)
    done = run(folder, "-m", "scrapy", "crawl", "own", "-a", "verify=get")
    assert (done.code, "Traceback" in done.log) == (1, False)
    assert "argument verify='get': is for an audit" in done.log


def test_spider_of_the_project_keeps_its_name(shop: Shop) -> None:
    folder = shop("commands")
    spiders = folder / "shop/spiders/pages.py"
    spiders.write_text(spiders.read_text().replace('"pages"', '"sitemap"'))
    done = crawl(folder, "sitemap")
    assert [*done.items[0]] == ["setting", "value"]


@pytest.mark.parametrize(
    ("way", "options", "code", "words"),
    [
        ("add-on", ("-a", "domain=e.com", "-a", "verify=yes"), 1, "ERROR: argument verify='yes': invalid value"),
        (
            "add-on",
            ("-a", "domain=e.com", "-s", "SITEMAP_STORE_MEMORY=x"),
            2,
            "error: setting SITEMAP_STORE_MEMORY='x'",
        ),
        ("commands", ("-s", "SITEMAP_CONTACT_URL=x"), 2, "sitemapcrawler: setting SITEMAP_CONTACT_URL='x'"),
    ],
)
def test_refusal_is_one_line(way: str, options: tuple[str, ...], code: int, words: str, shop: Shop) -> None:
    done = crawl(shop(way), "sitemap", *options)
    assert done.code == code
    [line] = [line for line in done.log.splitlines() if re.search("(ERROR|error|sitemapcrawler): ", line)]
    assert words in line


@pytest.mark.parametrize("command", [("inspect", "--urls"), ("validate", "--format", "json")])
def test_own_pipelines_do_not_see_what_commands_print(command: tuple[str, ...], site: SiteServer, shop: Shop) -> None:
    folder = shop("commands")
    output = run(folder, "-m", "scrapy", command[0], site.url("/a.xml"), *command[1:])
    assert output.code in (0, 1)
    assert not (folder / "seen.txt").exists()


def test_commands_audit_with_the_settings_of_the_project(site: SiteServer, shop: Shop) -> None:
    folder = shop("commands")
    command = [sys.executable, "-m", "scrapy", "audit", site.url(), "--out", "report", "--no-pages"]
    with crawling.launch(folder, command) as running:
        running.process.communicate(timeout=crawling.DEADLINE_S)
    assert running.process.returncode == 1  # there are errors
    assert (folder / "report/report.html").is_file()
    assert (folder / "seen.txt").read_text().split()[-1] == "summary"
