"""Passwords in URLs: never sent, and nowhere to be found in what a crawl leaves, whatever part of a site writes them."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

from sitemapcrawler.crawl.params import ArgumentError, Params
from tests.crawl.crawling import LOOPBACK, Crawl, crawl
from tests.crawl.documents import CORE, DECLARATION, page
from tests.crawl.site_server import Reply, SiteServer, moved

USER, PASSWORD = "sneaky", "s3cr3t"
SECRETS = (USER, PASSWORD, b64encode(f"{USER}:{PASSWORD}".encode()).decode().rstrip("="))
SPACES = (
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml" '
    'xmlns:video="http://www.google.com/schemas/sitemap-video/1.1" xmlns:x="http://unknown.example/ns"'
)
OUTPUTS = ("records.jsonl", "records.json", "urls.csv", "urls.parquet", "findings.sarif", "findings.junit")


@dataclass
class Leaks:
    """A crawl of a site that writes passwords everywhere."""

    crawl: Crawl
    site: SiteServer
    folder: Path


def site_with_passwords(site: SiteServer) -> None:
    """Have every part of a site write passwords."""
    place = f"http://{USER}:{PASSWORD}@{site.place}"
    entries = [
        f"<loc>{place}/plain</loc>",
        f"<loc>{place}/dated</loc><lastmod>2024-01-01</lastmod>",
        f"<loc>//{USER}:{PASSWORD}@{site.place}/relative</loc>",
        f"<loc>http://{USER}:{PASSWORD}&amp;x@{site.place}/entity</loc>",
        f"<loc>http://{USER}&#58;{PASSWORD}&#64;{site.place}/characters</loc>",
        f"<loc>http://{USER}:{PASSWORD}<!-- -->x@{site.place}/comment</loc>",
        f"<loc><![CDATA[{place}/cdata]]></loc>",
        f"<loc>http://{USER}:{PASSWORD} with blanks@{site.place}/blanks</loc>",
        f"<loc>ftp://{USER}:{PASSWORD}@{site.place}/ftp</loc>",
        f"<loc>http://{USER}:{PASSWORD}@{site.place}:99999/port</loc>",
        f"<loc>http:\\\\{USER}:{PASSWORD}@{site.place}\\backslash</loc>",
        f"<loc>{site.url('/objects')}</loc><image:image><image:loc>{place}/image</image:loc>"
        f"<image:license>{place}/license</image:license></image:image><video:video><video:title>{place}/t</video:title>"
        f"<video:thumbnail_loc>{place}/thumb</video:thumbnail_loc><video:player_loc x='y'>{place}/player</video:player_loc>"
        f"</video:video><xhtml:link rel='alternate' hreflang='de' href='{place}/de'/>"
        f"<x:thing at='{place}/at'>{place}/extra<x:in>{place}/in</x:in></x:thing><unknown>{place}/unknown</unknown>",
        f"<loc>{site.url('/moved')}</loc>",
        f"<loc>{site.url('/elsewhere')}</loc>",
        f"<loc>{site.url('/canonical')}</loc>",
        f"<loc>{place}/broken?a=1&b=2</loc>",
        f"<loc>http://{USER}:{PASSWORD}&@{site.place}/illegal</loc>",
    ]
    body = "".join(f"<url>{entry}</url>\n" for entry in entries)
    site.routes = {
        "/robots.txt": f"User-agent: *\nAllow: /\nSitemap: {place}/index.xml\nSitemaps {place}/typo.xml\nNoindex: {place}/a\n"
        f"Sitemap: {place}/utf.xml # {place}\nDisallow: {place}/full\nUnknown: {place}/b\n",
        "/index.xml": f"{DECLARATION}<sitemapindex {CORE}><sitemap><loc>{place}/pages.xml</loc></sitemap>"
        f"<sitemap><loc>{place}/feed.xml</loc></sitemap><sitemap><loc>{place}/list.txt</loc></sitemap>"
        f"<sitemap><loc>ftp://{USER}:{PASSWORD}@{site.place}/x.xml</loc></sitemap>"
        f"<sitemap><loc>{site.url('/go.xml')}</loc></sitemap><sitemap><loc>{site.url('/far.xml')}</loc></sitemap>"
        f"<sitemap><loc>{place}/page.xml</loc></sitemap></sitemapindex>",
        "/pages.xml": f"{DECLARATION}<urlset {CORE} {SPACES}>\n{body}{place}/between</urlset>{place}/behind",
        "/feed.xml": f"<rss version='2.0'><channel><title>x</title><item><link>{place}/item</link><guid>{place}/guid</guid>"
        f"<enclosure url='{place}/e.mp3'/></item></channel></rss>",
        "/list.txt": f"{place}/text\nsee {place}/note\n{place}/meta 0.5 {place}/more\n",
        "/utf.xml": f"<urlset {CORE}><url><loc>{place}/utf16</loc></url></urlset>".encode("utf-16"),
        "/page.xml": Reply(
            page(f'<link rel="sitemap" href="{place}/linked.xml">'), headers={"Content-Type": "text/html"}
        ),
        "/go.xml": moved(f"{place}/gone.xml"),
        "/far.xml": moved(f"ftp://{USER}:{PASSWORD}@{site.place}/far.xml"),
        "/gone.xml": moved(f"//{USER}:{PASSWORD}@{site.place}/again.xml"),
        "/moved": moved(f"{place}/target"),
        "/elsewhere": moved(f"ftp://{USER}:{PASSWORD}@{site.place}/far"),
        "/canonical": Reply(
            page(
                f'<link rel="canonical" href="{place}/own"><meta http-equiv="refresh" content="9; url={place}/r">',
                f'<link rel="alternate" hreflang="de" href="{place}/de"><base href="{place}/base/">',
            ),
            headers={"Content-Type": "text/html", "Link": f'<{place}/link>; rel="canonical"'},
        ),
    }
    site.otherwise = Reply(page(), headers={"Content-Type": "text/html"})


@pytest.fixture(scope="module")
def leaks(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Leaks]:
    folder = tmp_path_factory.mktemp("leaks")
    with SiteServer() as site:
        site_with_passwords(site)
        settings = LOOPBACK | {"JOBDIR": "job", "RETRY_TIMES": 1}
        options = ["-L", "DEBUG", *(part for name in OUTPUTS for part in ("-O", name))]
        asked = {"verify": "get", "verify_offsite": "yes", "verify_assets": "yes", "report": "report"}
        yield Leaks(crawl(folder, *options, settings=settings, domain=site.url(), **asked), site, folder)


def test_no_request_carries_a_password(leaks: Leaks) -> None:
    sent = [f"{one.path} {one.headers}" for one in leaks.site.exchanges]
    assert len(sent) > 20
    assert not [one for one in sent if any(secret in one for secret in SECRETS)]
    assert not [one for one in leaks.site.exchanges if "authorization" in one.headers]


def test_no_file_and_no_log_tells_a_password(leaks: Leaks) -> None:
    files = [path for path in leaks.folder.rglob("*") if path.is_file() and path.suffix != ".duckdb"]
    assert {path.name for path in files} >= {*OUTPUTS, "report.html", "log.txt"}
    told = {}
    for path in files:
        data = path.read_bytes()
        told[path.name] = [
            data[max(0, at - 80) : at + 80] for secret in SECRETS if (at := data.find(secret.encode())) >= 0
        ]
    assert {name: places for name, places in told.items() if places} == {}
    assert not any(secret in leaks.crawl.output for secret in SECRETS)


def test_database_holds_no_password(leaks: Leaks) -> None:
    (path,) = leaks.folder.rglob("*.duckdb")
    with duckdb.connect(str(path), read_only=True) as base:
        tables = [
            (row[0], row[1]) for row in base.execute("SELECT schema_name, table_name FROM duckdb_tables()").fetchall()
        ]
        rows = [
            f"{table} {row}" for schema, table in tables for row in base.sql(f'FROM "{schema}"."{table}"').fetchall()
        ]
    assert len(rows) > 20
    assert [row for row in rows if any(secret in row for secret in SECRETS)] == []


def test_records_have_the_url_and_the_place_of_the_password(leaks: Leaks) -> None:
    by_loc = {record["loc"]: record for record in leaks.crawl.of_type("url")}
    names = ("plain", "dated", "entity", "characters", "comment", "cdata", "item", "text", "utf16", "blanks")
    for path in (f"/{name}" for name in names):
        record = by_loc[leaks.site.url(path)]
        assert record["loc_raw"] == f"http://***@{leaks.site.place}{path}", record
        assert "loc-credentials" in record["issues"]
        assert record["reply"]["status"] == 200
    assert by_loc[leaks.site.url("/relative")]["loc_raw"] == f"//***@{leaks.site.place}/relative"
    assert "loc-credentials" in by_loc[leaks.site.url("/relative")]["issues"]
    objects = by_loc[leaks.site.url("/objects")]
    assert objects["images"][0]["loc"] == f"http://***@{leaks.site.place}/image"
    assert json.dumps(objects).count("***@") >= 8


def test_sitemaps_are_known_without_it(leaks: Leaks) -> None:
    assert {leaks.site.url(path) for path in ("/index.xml", "/pages.xml", "/utf.xml", "/again.xml")} <= (
        leaks.crawl.sitemaps.keys() | {record.get("final_url") for record in leaks.crawl.of_type("sitemap")}
    )
    (robots,) = [one for one in leaks.crawl.of_type("robots") if leaks.site.place in one["robots"]]
    assert leaks.site.url("/index.xml") in robots["sitemaps"]


BAD = (
    ("crawl", "sitemap", "-a", "domain=a.example,https://sneaky:s3cr3t,x@example.com"),
    ("inspect", "https://sneaky:s3cr3t@example.com/a.xml"),
    ("validate", "sneaky:s3cr3t@example.com"),
    ("fleet", "https://sneaky:s3cr3t@example.com", "--out", "out"),
)
BAD_ARGUMENTS = (
    ("domain", "https://sneaky:s3cr3t@example.com"),
    ("domain", "sneaky:s3cr3t@example.com"),
    ("domain", "a.example,https://sneaky:s3cr3t,x@example.com"),
    ("domain", "https://sneaky:s3cr3t/x@example.com"),
    ("sitemap", "https://sneaky:s3cr3t@example.com/a.xml"),
)


@pytest.mark.parametrize(("name", "value"), BAD_ARGUMENTS)
def test_value_with_a_password_is_refused_and_not_told(name: str, value: str) -> None:
    with pytest.raises(ArgumentError) as refusal:
        Params.parse({name: value})
    told = str(refusal.value)
    assert len(told.splitlines()) == 1
    assert not any(secret in told for secret in SECRETS), told
    assert "SITEMAP_AUTH" in told or "/x@" in value, told


@pytest.mark.parametrize("words", BAD, ids=lambda words: words[0])
def test_argument_with_a_password_is_refused_and_not_told(words: tuple[str, ...], refusal: Callable[..., str]) -> None:
    line = refusal(*words)
    assert not any(secret in line for secret in SECRETS), line
    assert "SITEMAP_AUTH" in line
