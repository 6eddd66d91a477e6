"""`fix`: one command from a site, an audit or files to a corrected set of sitemaps."""

from __future__ import annotations

import csv
import json
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from itertools import product
from pathlib import Path

import duckdb
import pytest

from demo.server import serving
from sitemapcrawler.commands.fix import SCRATCH
from sitemapcrawler.download.body_cache import name_of
from sitemapcrawler.feeds.scratch import prefix_of
from sitemapcrawler.repair.publishing import manifest_of
from sitemapcrawler.repair.sources import NO_BODY
from tests.crawl import forks
from tests.crawl.crawling import DEADLINE_S, SETTINGS, program, run
from tests.crawl.documents import CORE, index, page, robots, urlset
from tests.crawl.forks import environment
from tests.crawl.mounts import Mounted, small
from tests.crawl.site_server import Exchange, Reply, SiteServer, stalled

WRITTEN = [
    "feeds/blog.atom", "feeds/news.rss", "sitemap-index.xml",
    *(f"sitemaps/{name}" for name in (
        "ampersand.xml", "archive-2024.xml", "archive-2025.xml", "archive-index.xml", "catalogue.xml.gz", "defects.xml",
        "media.xml", "pages.txt", "pages.xml", "shop.xml",
    )),
]  # fmt: skip
KILLS = 2
HOME = "https://example.com/"


def crawl(folder: Path, site: str, *more: str) -> int:
    """Crawl a site as the job `job`. Returns the exit code."""
    return run(folder, "crawl", "sitemap", "-a", f"domain={site}", "-s", "JOBDIR=job", *SETTINGS, *more).returncode


def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "changes.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def names(folder: Path) -> list[str]:
    upload = folder / "upload"
    return sorted(path.relative_to(upload).as_posix() for path in upload.rglob("*") if path.is_file())


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    with serving() as address:
        yield address


@pytest.mark.slow
def test_a_site_is_repaired_and_the_set_is_valid(site: str, tmp_path: Path) -> None:
    done = run(tmp_path, "fix", site, "--out", "fixed", *SETTINGS)
    assert done.returncode == 3, done.stderr  # four files of the demo cannot be read
    first = f"{site}: 13 files read, 128 entries: 94 kept, 17 changed, 13 dropped, 4 not repaired"
    assert done.stdout.splitlines()[0] == first
    assert names(tmp_path / "fixed") == WRITTEN
    found = {(row["action"], row["rule"], row["url"].removeprefix(site)) for row in rows(tmp_path / "fixed")}
    assert found >= {
        ("dropped", "status-404", "/exhibitions/lighthouses"),
        ("dropped", "url-blocked-by-robots", "/private/press-kit"),
        ("dropped", "status-redirect", "/opening-hours"),
        ("changed", "loc-relative", "/defects/1"),
        ("not repaired", "hreflang-return-missing", "/visit"),
        ("unread", "doc-http-status", "/sitemaps/missing.xml"),
        ("unread", "doc-is-html", "/sitemaps/login.xml"),
        ("unread", "doc-truncated", "/sitemaps/truncated.xml"),
        ("unread", "doc-blocked-by-robots", "/private/drafts.xml"),
    }
    index = (tmp_path / "fixed/upload/sitemap-index.xml").read_text()
    assert f"<loc>{site}/sitemaps/pages.xml</loc><lastmod>2026-04-30T06:15:00Z</lastmod>" in index
    assert "archive-index" not in index
    assert f"upload/ -> {site}/\n" in (tmp_path / "fixed/README.txt").read_text()
    valid = run(tmp_path, "validate", "fixed/upload", "--base-url", f"{site}/", "--min-severity", "error")
    errors = [line.split()[2] for line in valid.stdout.splitlines() if " error " in line]
    missing = ["index-child-missing"] * 3  # behind a login, forbidden by robots.txt, and truncated
    assert errors == [*missing, "hreflang-return-missing"]
    unrepaired = {row["url"] for row in rows(tmp_path / "fixed") if row["action"] == "not repaired"}
    unread = [f"{site}/{name}.xml" for name in ("private/drafts", "sitemaps/login", "sitemaps/truncated")]
    assert unrepaired == {*unread, f"{site}/visit"}
    again = run(tmp_path, "fix", "fixed/upload", "--base-url", f"{site}/", "--dry-run").stdout.splitlines()
    assert [line.split()[1:] for line in again[1:-1]] == [
        ["not", "repaired", "index-child-missing"],
        ["not", "repaired", "hreflang-return-missing"],
        ["not", "read", "index-child-missing"],
    ]


@pytest.mark.slow
def test_a_site_and_its_audit_are_split_again_into_the_same_new_set(
    tmp_path: Path, refusal: Callable[..., str]
) -> None:
    with SiteServer() as site:
        video = (
            f"<video:video><video:thumbnail_loc>{site.url('/t.jpg')}</video:thumbnail_loc><video:title>T</video:title>"
            f"<video:description>D</video:description><video:content_loc>{site.url('/v.mp4')}</video:content_loc></video:video>"
        )
        entries = {"/shop/a": video, "/shop/old": "", "/shop/gone": "", "/blog/b": "", "/blog/c": ""}
        text = "".join(f"<url><loc>{site.url(path)}</loc>{more}</url>\n" for path, more in entries.items())
        root = f'<urlset {CORE} xmlns:video="http://www.google.com/schemas/sitemap-video/1.1">'
        site.routes |= {path: page() for path in ("/shop/a", "/shop/new", "/blog/b", "/blog/c")}
        site.routes["/shop/old"] = Reply("", 301, {"Location": site.url("/shop/new")})
        site.routes |= {
            "/robots.txt": robots(site.url("/sitemap.xml")), "/sitemap.xml": index(*map(site.url, ("/one.xml", "/two.xml", "/lost.xml"))), "/lost.xml": Reply("", 403),
            "/one.xml": f"{root}\n{text}</urlset>".encode(), "/two.xml": urlset(site.url("/shop/a")),
        }  # fmt: skip
        (tmp_path / "sitemapcrawler.toml").write_text('[segments]\nshop = "/shop/"\nblog = "/blog/"\n')
        run(tmp_path, "audit", site.url(), "--out", "audit", *SETTINGS)
        for target, more, by in ((site.url(), SETTINGS, "folder"), ("audit", (), "segment")):
            done = run(tmp_path, "fix", target, "--split-by", by, "--out", "new", *more)
            assert done.returncode == 3
            assert f"{site.url('/lost.xml')} was not read to its end (HTTP status 403): the set lacks" in done.stderr
            assert ": 2 files read, 6 entries: 3 kept, 1 changed, 2 dropped, 0 not repaired" in done.stdout
            new = tmp_path / "new/upload"
            assert locs(new / "sitemap.xml") == [site.url(f"/sitemap-{name}.xml") for name in ("shop", "blog")]
            assert locs(new / "sitemap-shop.xml") == [*map(site.url, ("/shop/a", "/shop/new"))]
            assert locs(new / "sitemap-blog.xml") == [*map(site.url, ("/blog/b", "/blog/c"))]
            assert video in (new / "sitemap-shop.xml").read_text()
            found = {
                (row["action"], row["rule"], row["url"], row["sitemap"], row["line"]) for row in rows(tmp_path / "new")
            }
            assert found == {
                ("changed", "status-redirect", site.url("/shop/old"), site.url("/one.xml"), "3"),
                ("dropped", "status-404", site.url("/shop/gone"), site.url("/one.xml"), "4"),
                ("dropped", "loc-duplicate", site.url("/shop/a"), site.url("/two.xml"), "3"),
            }
            told = (tmp_path / "new/README.txt").read_text()
            replaced = re.findall("^  (http.*)$", told, re.MULTILINE)
            unread = f"{site.url('/lost.xml')}: HTTP status 403"
            assert {*replaced} == {*map(site.url, ("/one.xml", "/two.xml")), unread}
            assert "robots.txt:\n" not in told, "robots.txt names the index already"
        valid = run(tmp_path, "validate", "new/upload", "--base-url", site.url(""), "--min-severity", "error")
        assert valid.returncode == 0, valid.stdout
        for arguments, by in product((["only=changes", "baseline=audit"], ["max_urls=2"]), ["segment", "folder"]):
            given = [word for argument in arguments for word in ("-a", argument)]
            told = refusal("fix", site.url(), "--split-by", by, *given, *SETTINGS)
            assert f"does not have all pages ({arguments[0].removesuffix('=2')})" in told


@pytest.mark.slow
def test_a_new_set_is_for_the_host_that_has_most_pages(tmp_path: Path) -> None:
    with SiteServer() as shop, SiteServer() as storage:
        files = [storage.url("/index.xml"), storage.url("/shop.xml"), shop.url("/more.xml"), shop.url("/gone.xml")]
        shop.routes = {path: page() for path in ("/a", "/b", "/c")} | {
            "/robots.txt": robots(*files), "/more.xml": urlset(shop.url("/a"), shop.url("/c"), storage.url("/e")),
        }  # fmt: skip
        storage.routes = {
            "/index.xml": index(storage.url("/own.xml"), storage.url("/gone.xml")), "/own.xml": urlset(*map(storage.url, ("/d", "/e"))),
            "/shop.xml": urlset(*map(shop.url, ("/a", "/b"))), "/d": page(), "/e": page(),
        }  # fmt: skip
        allowed = ("-s", "SITEMAP_ALLOW_NETWORKS=127.0.0.0/8")
        run(tmp_path, "audit", shop.url(), "--out", "audit", *SETTINGS, *allowed)
        run(tmp_path, "fix", "audit", "--split-by", "folder", "--out", "new")
        assert sorted(locs(tmp_path / "new/upload/sitemap-root.xml")) == [*map(shop.url, ("/a", "/b", "/c"))]
        replaced, _, new = (tmp_path / "new/README.txt").read_text().partition("takes the place of")[2].partition("No")
        assert {*re.findall("http.*", replaced)} == {*files[1:]}
        assert f"Sitemap: {shop.url('/sitemap.xml')}" in new


MOVES = {"/old": (301, "/b"), "/older": (301, "/old"), "/soon": (302, "/a"), "/dead": (301, "/gone"), "/loop": (301, "/loop"),
         "/new-home": (308, "/unlisted")}  # fmt: skip
CANONICALS = {"/copy": "/a", "/variant": "/unlisted", "/lost": "/gone"}


LONG = "/" + "long" * 600
ADDED = {
    "/shop/chairs": "/shop/sitemap.xml", "/shop/r&d": "/shop/sitemap.xml", "/gr%C3%B6%C3%9Fe": "/sitemap.xml",
    "/it's": "/sitemap.xml", "/item?id=2": "/sitemap.xml", "/dated": "/sitemap.xml",
}  # fmt: skip
"""{page that links lead to and that is added: its file}."""
UNADDED = {LONG: "loc-too-long", "/calendar?month=1": "add-parameters", "/calendar?month=2": "add-parameters"}


def linked_site(site: SiteServer) -> None:
    """Serve a site with pages that only links lead to."""

    def linking(*paths: str, head: str = "") -> bytes:
        anchors = "".join(
            f'<p>To <a href="{escape(path, quote=True)}">{escape(path)} and more</a></p>' for path in paths
        )
        return page(head).replace(b"Hello.", f"About {paths}. {anchors}".encode())

    dated_page = '<meta property="article:modified_time" content="2026-03-04T10:00:00+01:00">'
    site.otherwise = Reply("<p>Nothing here", 404, {"Content-Type": "text/html"})
    pages = {
        "/": linking("/shop/", "/größe", "/it's", "/item?id=2#top", "/dated", "/calendar?month=1", LONG, "/gone", "/noindex",
                     "/copy", "/private", "mailto:a@example.com", "ftp://127.0.0.1/x", "/shop/chairs#legs"),
        "/shop/": linking("/shop/chairs", "/shop/r&d", "/shop/list.pdf", "/feed/", "/blog/page/2"),
        "/dated": linking("/", head=dated_page),
        "/calendar?month=1": linking("/calendar?month=2"),
        "/noindex": linking("/", head='<meta name="robots" content="noindex">'),
        "/copy": linking("/", head=f'<link rel="canonical" href="{site.url("/shop/")}">'),
        **{path: linking("/", path) for path in (*ADDED, *UNADDED, "/item?id=1", "/private", "/blog/page/2")
           if path not in ("/dated", "/calendar?month=1")},
    }  # fmt: skip
    site.routes = {path: Reply(body, headers={"Content-Type": "text/html"}) for path, body in pages.items()}
    site.routes |= {
        "/robots.txt": robots(site.url("/sitemap.xml"), site.url("/shop/sitemap.xml"), rules=["Disallow: /private"]),
        "/sitemap.xml": urlset(site.url("/"), site.url("/item?id=1")),
        "/shop/sitemap.xml": urlset(site.url("/shop/")),
    }


def not_in_sitemap(folder: Path) -> set[str]:
    """URLs of the findings of an audit on pages that no sitemap lists."""
    with (folder / "findings.csv").open(encoding="utf-8", newline="") as file:
        return {row["url"] for row in csv.DictReader(file) if row["rule"] == "cross-not-in-sitemap" and row["url"]}


@pytest.mark.slow
def test_pages_that_links_lead_to_are_added_and_the_next_audit_finds_no_others(tmp_path: Path) -> None:
    with SiteServer() as site:
        linked_site(site)
        run(tmp_path, "audit", site.url(), "--out", "audit", "-a", "links=site", *SETTINGS)
        assert not_in_sitemap(tmp_path / "audit") == {*map(site.url, (*ADDED, *UNADDED))}
        done = run(tmp_path, "fix", "audit", "--add", "--out", "fixed")
        assert done.stdout.splitlines()[0].endswith(
            f"3 kept, 0 changed, 0 dropped, 0 not repaired; {len(ADDED)} pages added"
        )
        found = rows(tmp_path / "fixed")
        by_action = {action: {row["url"].removeprefix(site.url("")): row for row in found if row["action"] == action}
                     for action in ("added", "not added")}  # fmt: skip
        assert {path: row["sitemap"] for path, row in by_action["added"].items()} == {
            path: site.url(file) for path, file in ADDED.items()
        }
        assert {path: row["rule"] for path, row in by_action["not added"].items()} == UNADDED
        assert "<lastmod>2026-03-04T09:00:00Z</lastmod>" in by_action["added"]["/dated"]["new"]
        for name in names(tmp_path / "fixed"):
            site.routes[f"/{name}"] = (tmp_path / "fixed/upload" / name).read_bytes()
        run(tmp_path, "audit", site.url(), "--out", "next", "-a", "links=site", *SETTINGS)
        assert not_in_sitemap(tmp_path / "next") == {*map(site.url, UNADDED)}
        again = run(tmp_path, "fix", "next", "--add").stdout.splitlines()
        assert again[0].endswith("9 kept, 0 changed, 0 dropped, 0 not repaired; 0 pages added")


@pytest.mark.slow
def test_pages_of_lists_are_added(tmp_path: Path) -> None:
    with SiteServer() as site:
        linked_site(site)
        listed = ["/dated", "/gone", "/shop/chairs", "/shop/list.pdf"]
        (tmp_path / "list.txt").write_text("".join(f"{site.url(path)}\n" for path in listed))
        compare = ("-a", "compare=list.txt")
        of_site = run(tmp_path, "fix", site.url(), "--add", "--out", "of-site", *compare, *SETTINGS)
        run(tmp_path, "audit", site.url(), "--out", "audit", *compare, *SETTINGS)
        of_audit = run(tmp_path, "fix", "audit", "--add", "--out", "of-audit")
        for done, folder in ((of_site, "of-site"), (of_audit, "of-audit")):
            assert done.stdout.splitlines()[0].endswith("2 pages added"), done.stderr
            urls = {row["url"]: row["rule"] for row in rows(tmp_path / folder)}
            assert urls == {site.url(path): "coverage-not-listed" for path in ("/dated", "/shop/chairs")}
        assert "2026-03-04" in (tmp_path / "of-site/upload/sitemap.xml").read_text()


@pytest.mark.slow
def test_an_audit_of_planned_answers_is_repaired_once_and_for_all(tmp_path: Path) -> None:
    with SiteServer() as site:
        good = ["/a", "/b", "/c", "/unlisted"]
        listed = [*good[:3], *MOVES, *CANONICALS, "/gone", "/noindex", "/empty", "/blocked"]
        links = "".join(
            f'<xhtml:link rel="alternate" hreflang="{code}" href="{site.url(path)}"/>'
            for code, path in (("en", "/c"), ("de", "/a"), ("fr", "/noindex"), ("es", "/copy"), ("iw", "/unlisted"))
        )
        site.routes = {path: page(f'<link rel="canonical" href="{site.url(path)}">') for path in good}
        site.routes |= {path: page(f'<link rel="canonical" href="{site.url(to)}">') for path, to in CANONICALS.items()}
        site.routes |= {path: Reply("", status, {"Location": site.url(to)}) for path, (status, to) in MOVES.items()}
        site.routes |= {
            "/robots.txt": robots(*map(site.url, ("/s.xml", "/none.xml")), rules=["Disallow: /blocked"]),
            "/s.xml": index(site.url("/1.xml"), site.url("/en/1.xml")),
            "/1.xml": urlset(*map(site.url, listed)),
            "/en/1.xml": versions(site.url("/c"), links),
            "/noindex": page('<meta name="robots" content="noindex">'),
            "/empty": Reply("", 200, {"Content-Type": "text/html"}),
        }
        run(tmp_path, "audit", site.url(), "--out", "audit", *SETTINGS)
        assert run(tmp_path, "fix", "audit", "--out", "fixed", *SETTINGS).returncode == 3
        assert names(tmp_path / "fixed") == ["1.xml", "en/1.xml", "s.xml"]
        gone = f"from robots.txt and Search Console, or restore them:\n  {site.url('/none.xml')}\n"
        assert (tmp_path / "fixed/README.txt").read_text().endswith(gone)
        kept = [*map(site.url, ("/a", "/b", "/c", "/soon", "/unlisted", "/lost"))]  # /gone replaces nothing
        assert locs(tmp_path / "fixed/upload/1.xml") == kept
        left = (tmp_path / "fixed/upload/en/1.xml").read_text()
        assert [code for code in ("en", "de", "fr", "es", "iw", "he") if f'"{code}"' in left] == ["en", "de", "he"]
        base = ("--base-url", f"{site.url()}/")
        unlinked = "7 kept, 0 changed, 0 dropped, 2 not repaired"  # two pages do not link back
        assert unlinked in run(tmp_path, "fix", "fixed/upload", *base).stdout
        site.routes |= {
            f"/{name}": (tmp_path / "fixed/upload" / name).read_bytes() for name in names(tmp_path / "fixed")
        }
        again = run(tmp_path, "fix", site.url(), *SETTINGS).stdout
    assert unlinked in again


def versions(loc: str, links: str) -> bytes:
    root = urlset(loc).decode().replace("<urlset ", '<urlset xmlns:xhtml="http://www.w3.org/1999/xhtml" ')
    return root.replace("</loc>", f"</loc>{links}").encode()


def locs(path: Path) -> list[str]:
    return [part.partition("</loc>")[0] for part in path.read_text().split("<loc>")[1:]]


def test_an_index_tells_where_the_files_of_a_folder_will_live(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.xml").write_text(document("a").replace(HOME, "/"))
    children = f"<sitemap><loc>{HOME}a.xml</loc></sitemap>"
    (tmp_path / "site" / "sitemap.xml").write_text(
        f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{children}</sitemapindex>'
    )
    done = run(tmp_path, "fix", "site/sitemap.xml", "--out", "fixed")
    assert done.returncode == 0, done.stderr
    assert f"<loc>{HOME}a</loc>" in (tmp_path / "fixed/upload/a.xml").read_text()
    assert f"<loc>{HOME}a.xml</loc>" in (tmp_path / "fixed/upload/sitemap.xml").read_text()


def test_without_a_folder_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(document("a b"))
    done = run(tmp_path, "fix", "a.xml", "--base-url", HOME)
    assert done.returncode == 0
    assert done.stdout.splitlines()[1].split() == ["1", "changed", "loc-whitespace"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.xml"]


def test_an_audit_that_ended_early_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(document("a", "b", "c"))
    more = (f"-abase_url={HOME}", "-amax_urls=2", "-averify=off", "-areport=audit")
    run(tmp_path, "crawl", "sitemap", "-asitemap=a.xml", "-sJOBDIR=job", *more)
    for audit in ("job", "audit"):
        done = run(tmp_path, "fix", audit)
        early = f"sitemapcrawler: '{audit}': the audit ended early (max_urls); what it did not read or check stays as it is\n"
        assert (done.returncode, done.stderr) == (3, early)
    refused = run(tmp_path, "fix", "audit", "--add")
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)
    assert "followed no links and read no lists" in refused.stderr


ROWS = [
    {"loc": f"{HOME}a", "lastmod": "2024-05-01", "images": [{"loc": f"{HOME}i.jpg?x=1&y=2"}], "indexable": True},
    {"loc": f"{HOME}blog/b", "lastmod": "17. Mai 2024"},
    {"loc": "https://user:secret@example.com/c"},
    {"loc": f"{HOME}gone", "indexable": False},
    {"loc": "https://other.example/"},
    {"loc": f"{HOME}a"},
    {"loc": f"{HOME}{'x' * 2100}"},
    {"loc": "no url"},
]
OF_ROWS = [
    ("dropped", "list-row-not-indexable", "5"), ("dropped", "list-row-unreadable", "9"), ("dropped", "loc-duplicate", "7"),
    ("dropped", "loc-offsite", "6"), ("dropped", "loc-too-long", "8"),
]  # fmt: skip
"""Rows of the list of changes for `ROWS` below a header."""


def write_list(path: Path) -> None:
    """Write `ROWS` in the format of a file's suffix."""
    if path.suffix == ".txt":
        path.write_text("".join(f"{line}\n" for line in ["# pages", *(row["loc"] for row in ROWS)]))
    elif path.suffix == ".parquet":
        with path.with_suffix(".jsonl").open("w") as file:
            file.writelines(f"{json.dumps(row)}\n" for row in [{"loc": None}, *ROWS])
        duckdb.sql(f"COPY (FROM read_json('{path.with_suffix('.jsonl')}')) TO '{path}'")
    else:
        with path.open("w", newline="") as file:
            out = csv.writer(file)
            out.writerow(["loc", "lastmod", "images", "indexable"])
            for row in ROWS:
                image = row["images"][0]["loc"] if "images" in row else ""
                out.writerow([row["loc"], row.get("lastmod", ""), image, str(row.get("indexable", "")).lower()])


@pytest.mark.parametrize("suffix", ["csv", "parquet", "txt"])
def test_list_of_pages_becomes_a_valid_set(suffix: str, tmp_path: Path) -> None:
    write_list(tmp_path / f"pages.{suffix}")
    done = run(tmp_path, "fix", f"@pages.{suffix}", "--base-url", HOME, "--out", "out", "--split-by", "folder")
    assert done.returncode == 0, done.stderr
    assert "secret" not in "".join(path.read_text() for path in (tmp_path / "out").rglob("*.*"))
    upload = tmp_path / "out/upload"
    assert locs(upload / "sitemap.xml") == [f"{HOME}sitemap-root.xml", f"{HOME}sitemap-blog.xml"]
    is_text = suffix == "txt"
    assert locs(upload / "sitemap-root.xml") == [f"{HOME}a", f"{HOME}c", *[f"{HOME}gone"] * is_text]
    assert locs(upload / "sitemap-blog.xml") == [f"{HOME}blog/b"]
    assert ("<image:loc>https://example.com/i.jpg?x=1&amp;y=2<" in (upload / "sitemap-root.xml").read_text()) != is_text
    found = rows(tmp_path / "out")
    dropped = sorted((row["action"], row["rule"], row["line"]) for row in found if row["action"] == "dropped")
    first = [("dropped", "list-row-unreadable", "1")] * (suffix == "parquet")
    assert dropped == sorted([*first, *OF_ROWS[is_text:]])
    assert {row["sitemap"].rpartition("/")[2] for row in found} == {f"pages.{suffix}"}
    assert [row["rule"] for row in found if row["action"] == "changed"] == ["lastmod-invalid"] * (not is_text)
    valid = run(tmp_path, "validate", "out/upload", "--base-url", HOME, "--min-severity", "error")
    assert (valid.returncode, " error " in valid.stdout) == (0, False)
    assert f"Sitemap: {HOME}sitemap.xml\n" in (tmp_path / "out/README.txt").read_text()


def test_entries_of_a_list_link_to_no_version_that_the_list_calls_not_indexable(tmp_path: Path) -> None:
    """One on another host is not listed either, but works; a finding on it says nothing about that."""
    versions = {code: f"https://{code}.example/a" for code in ("fr", "pt", "it", "es", "nl")} | {"de": f"{HOME}a"}
    links = [{"hreflang": code, "href": url} for code, url in versions.items()]
    rows = [
        {"type": "url", "loc": versions["de"], "alternates": links, "reply": {"status": 200}, "indexability": "ok"},
        {"type": "url", "loc": versions["fr"], "alternates": links, "status": 404, "indexability": "not found"},
        {"type": "url", "loc": versions["pt"], "alternates": links, "Código de resposta": 404},
        {"type": "url", "loc": versions["it"], "alternates": links, "indexability": "noindex", "indexable": False},
        {"type": "url", "loc": versions["es"], "alternates": links, "indexability": "ok"},
        {"type": "url", "loc": versions["nl"], "change": "removed"},
        {"type": "finding", "url": versions["es"], "rule": "lastmod-missing"},
    ]
    (tmp_path / "urls.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    assert run(tmp_path, "fix", "@urls.jsonl", "--base-url", HOME, "--out", "fixed").returncode == 0
    text = (tmp_path / "fixed/upload/sitemap-pages.xml").read_text()
    assert re.findall(r'hreflang="(\w+)"', text) == ["es", "nl", "de"]
    with (tmp_path / "fixed/changes.csv").open(newline="") as file:
        changed = [(row["rule"], row["url"]) for row in csv.DictReader(file) if row["action"] == "changed"]
    assert sorted(changed) == [(f"hreflang-target-{why}", versions["de"]) for why in ("noindex", "status", "status")]


def test_list_is_split_by_the_segments_of_a_file_or_of_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "pages.txt").write_text("".join(f"{HOME}{path}\n" for path in ("shop/a", "about", "blog/b", "shop/c")))
    (tmp_path / "sitemapcrawler.toml").write_text('[segments]\nOther = "/blog/"\nshop = "/shop/"\n')
    words = ("fix", "@pages.txt", "--base-url", HOME, "--split-by", "segment", "--out")
    assert run(tmp_path, *words, "out").returncode == 0
    names = [name.removeprefix(f"{HOME}sitemap-") for name in locs(tmp_path / "out/upload/sitemap.xml")]
    assert [name.partition("-")[0] for name in names] == ["shop.xml", "other", "Other.xml"], (
        "names differ in case alone"
    )
    assert locs(tmp_path / "out/upload/sitemap-shop.xml") == [f"{HOME}shop/a", f"{HOME}shop/c"]
    assert run(tmp_path, *words, "out", "-a", "segments=blog=/blog/").returncode == 0
    assert locs(tmp_path / "out/upload/sitemap.xml") == [f"{HOME}sitemap-{name}.xml" for name in ("other", "blog")]


def test_index_of_a_list_has_no_date_in_the_future(tmp_path: Path) -> None:
    (tmp_path / "pages.csv").write_text(f"loc,lastmod\n{HOME}a,2026-01-02\n{HOME}b,2999-01-01\n")
    assert run(tmp_path, "fix", "@pages.csv", "--base-url", HOME, "--out", "out").returncode == 0
    text = (tmp_path / "out/upload/sitemap.xml").read_text()
    assert "<lastmod>2026-01-02</lastmod>" in text and "2999" not in text


def test_list_without_a_page_to_list_makes_no_set(tmp_path: Path) -> None:
    (tmp_path / "pages.txt").write_text("https://other.example/\n")
    done = run(tmp_path, "fix", "@pages.txt", "--base-url", HOME, "--out", "out")
    assert done.returncode == 4
    assert done.stdout.splitlines()[1].split() == ["1", "dropped", "loc-offsite"]
    assert done.stderr == "sitemapcrawler: '@pages.txt': no page can be listed, so nothing was written\n"
    assert not (tmp_path / "out").exists()


def test_list_that_is_cut_is_read_up_to_there(tmp_path: Path) -> None:
    (tmp_path / "pages.json").write_text(f'["{HOME}a", "{HOME}b", ')
    done = run(tmp_path, "fix", "@pages.json", "--base-url", HOME, "--out", "out")
    assert done.returncode == 3
    assert ": 1 file read, 2 entries: 2 kept" in done.stdout
    assert [row["action"] for row in rows(tmp_path / "out")] == ["unread"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["@none.csv", "--base-url", HOME], "'@none.csv': no such file"),
        (["@empty.csv", "--base-url", HOME], "'@empty.csv': is empty"),
        (["@a.xml", "--base-url", HOME], "'@a.xml': is XML or HTML"),
        (["@names.csv", "--base-url", HOME], "'@names.csv': has no column with URLs; its columns are 'name', 'size'"),
        (["@bad.txt", "--base-url", HOME], "'@bad.txt': no row can be listed; 'no url'"),
        (["@bad.txt"], "--base-url is missing"),
        (["@bad.txt", "--base-url", f"{HOME}map.xml"], "is the URL of a file"),
        (["@bad.txt", "--base-url", "ftp://example.com/"], "--base-url 'ftp://example.com/'"),
        (["@bad.txt", "@names.csv", "--base-url", HOME], "fix takes one site"),
        (["@bad.txt", "--base-url", HOME, "--only", "loc-offsite"], "--only: not for a list"),
        (["@full", "--base-url", HOME], "'@full': is a folder"),
        (["@full/theirs.txt", "--base-url", HOME, "--out", "full"], "is not empty"),
        (["names.csv"], "'names.csv': is not a sitemap; a list of pages is named @names.csv"),
        (["a.xml", "--split-by", "folder"], "--split-by: only for a site, a URL, an audit, or a list"),
        (["empty.csv", "--split-by", "folder", "--add"], "--add: not with --split-by"),
        (["http://127.0.0.1:9/", "--split-by", "folder", "--only", "loc-offsite"], "--only: not for a list"),
        (["@a.txt", "--split-by", "segment"], "--split-by segment: no segments; accepted: -a segments="),
        (["@a.txt", "--split-by", "segment", "-a", "segments=x"], "argument segments='x': is not name=pattern"),
        (["@a.txt", "--split-by", "folder", "-a", "segments=x=/"], "-a: only for a site or a URL"),
        (["robots.txt"], "'robots.txt': is a robots.txt"),
        (["a.xml", "--out", "full"], "is not empty"),
        (["a.xml", "--only", "loc-relativ"], "loc-relativ"),
        (["a.xml", "-a", "verify=get"], "-a: only for a site"),
        (["a.xml", "--add"], "--add: only for a site, a URL or an audit"),
        (["a.xml", "--only", "cross-not-in-sitemap"], "leads to changes with --add"),
        (["a.xml", "--lastmod", "content"], "--lastmod: only for a JOBDIR"),
        (["http://127.0.0.1:9/", "--base-url", HOME], "--base-url: only for local files"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_wrong_argument_is_one_line(
    arguments: list[str], said: str, tmp_path: Path, refusal: Callable[..., str]
) -> None:
    (tmp_path / "a.xml").write_text(document("a"))
    (tmp_path / "robots.txt").write_text("User-agent: *\n")
    (tmp_path / "empty.csv").touch()
    (tmp_path / "names.csv").write_text("name,size\na,1\n")
    (tmp_path / "bad.txt").write_text("no url\n")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "theirs.txt").write_text("keep me")
    assert said in refusal("fix", *arguments)
    assert (tmp_path / "full" / "theirs.txt").read_text() == "keep me"


def document(*paths: str) -> str:
    entries = "".join(f"<url><loc>{HOME}{path}</loc></url>\n" for path in paths)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</urlset>\n'


def fails_on(disk: Mounted, folder: Path, *words: str) -> str:
    """Run a command whose temporary files go to a disk that is too small, of which nothing is left. Returns its only
    line."""
    done = subprocess.run(
        [*disk.within(folder), *program(*words)],
        env={**environment(), "TMPDIR": str(disk.folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=DEADLINE_S,
    )
    assert disk.names() == set()
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    return done.stderr


@pytest.mark.slow
def test_a_full_disk_is_not_a_fault_of_the_site(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "disk").mkdir()
    (tmp_path / "site" / "a.xml").write_text(document("a"))
    command = ["fix", "site", "--base-url", HOME, "--out", "out"]
    assert run(tmp_path, *command).returncode == 0
    before = (tmp_path / "out/upload/a.xml").read_bytes()
    (tmp_path / "site" / "a.xml").write_text(document(*(f"p/{number}" for number in range(30_000))))
    with small(tmp_path / "disk", "1m") as disk:
        assert "cannot be written: " in fails_on(disk, tmp_path, *command)
    assert (tmp_path / "out/upload/a.xml").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".out")] == []


@pytest.mark.slow
def test_a_disk_too_small_for_the_crawl_of_a_site_is_not_a_fault_of_the_site(
    site_of_files: SiteServer, tmp_path: Path
) -> None:
    site = site_of_files
    site.routes["/a.xml"] = urlset(*(site.url(f"/{'x' * 400}{number}") for number in range(20_000)))
    (tmp_path / "tiny").mkdir()
    with small(tmp_path / "tiny", "6m") as disk:
        line = fails_on(disk, tmp_path, "fix", site.url(), "--out", "out", "-a", "verify=off", *SETTINGS)
    assert line.startswith(f"sitemapcrawler: the crawl of the site could not be stored in {disk.folder}: ")
    assert not (tmp_path / "out").exists()


def test_an_unreadable_file_of_a_folder_is_reported(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.xml").write_text(document("a"))
    (tmp_path / "site" / "b.xml").symlink_to("b.xml")
    done = run(tmp_path, "fix", "site", "--base-url", HOME)
    assert done.returncode == 3
    assert "site/b.xml cannot be read" in done.stderr


@pytest.mark.slow
def test_a_killed_run_leaves_the_set_before_it(tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    source = tmp_path / "site" / "a.xml"
    source.write_text(document("old 1"))
    command = ["fix", "site", "--base-url", HOME, "--out", "out"]
    assert run(tmp_path, *command).returncode == 0
    (tmp_path / "out" / "theirs.txt").write_text("keep me")
    source.write_text(document(*(f"p/{number}" for number in range(9_998)), "new 1", "new 2"))
    began = time.monotonic()
    assert run(tmp_path, *command[:-1], "whole").returncode == 0
    lasted = time.monotonic() - began
    for number in range(KILLS):
        process = forks.start(program(*command), cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL)
        time.sleep(lasted * (0.4 + 0.7 * number / KILLS))
        process.send_signal(signal.SIGKILL)
        process.wait()
        text = (tmp_path / "out/upload/a.xml").read_text()
        assert (text.count("<loc>"), len(rows(tmp_path / "out"))) in ((1, 1), (10_000, 2))
        assert text.endswith("</urlset>\n")
        assert manifest_of(tmp_path / "out") == ["README.txt", "changes.csv", "upload/a.xml"]
        assert (tmp_path / "out/README.txt").read_text().endswith(f"upload/ -> {HOME}\n")
    assert run(tmp_path, *command).returncode == 0
    assert (tmp_path / "out/upload/a.xml").read_text().count("<loc>") == 10_000
    assert (tmp_path / "out" / "theirs.txt").read_text() == "keep me"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".out")] == []


@pytest.mark.slow
def test_run_that_is_stopped_leaves_no_temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    with SiteServer() as slow:
        slow.routes = {"/robots.txt": robots(slow.url("/map.xml")), "/map.xml": stalled()}
        command = program("fix", slow.url(), "--out", "out", *SETTINGS)
        process = forks.start(command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, process_group=0)
        slow.wait_for("/map.xml")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, errors) == (5, b"sitemapcrawler: stopped; nothing was written\n")
    assert list(temporary.iterdir()) == []
    assert not (tmp_path / "out").exists()


def test_next_run_removes_what_a_killed_one_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "temporary"
    left = temporary / f"{prefix_of(SCRATCH)}killed"
    left.mkdir(parents=True)
    monkeypatch.setenv("TMPDIR", str(temporary))
    (tmp_path / "a.xml").write_text(document("new"))
    assert run(tmp_path, "fix", "a.xml", "--base-url", HOME).returncode == 0
    assert list(temporary.iterdir()) == []


def fixed(site: SiteServer, folder: Path, source: str) -> tuple[list[str], str]:
    """Run `fix` on an audit that all has gone well with. Returns the paths that it requests, and its output."""
    before = len(site.paths)
    done = run(folder, "fix", source, *SETTINGS)
    assert done.returncode == 0, done.stderr
    return site.paths[before:], done.stdout


def stored(folder: Path, site: SiteServer, path: str) -> Path:
    """The file in the cache of the job `job` that holds a body of a site."""
    return folder / "job" / "cache" / name_of(site.url(path))


def validators(site: SiteServer, path: str) -> list[str | None]:
    """The ETags by which a path was requested, in order."""
    return [one.headers.get("if-none-match") for one in site.exchanges if one.path == path]


@pytest.mark.slow
def test_a_damaged_or_missing_body_of_an_audit_is_unread(site_of_files: SiteServer, tmp_path: Path) -> None:
    site = site_of_files
    crawl(tmp_path, site.url())
    path = stored(tmp_path, site, "/a.xml")
    head, data = path.read_bytes().split(b"\n", 1)
    path.write_bytes(head + b"\n" + data[:12] + b"\xff" * len(data[12:]))
    stored(tmp_path, site, "/b.xml").unlink()
    before = len(site.paths)
    done = run(tmp_path, "fix", "job", "--out", "new", *SETTINGS)
    assert (done.returncode, site.paths[before:]) == (3, [])
    assert done.stderr == "sitemapcrawler: 'job': the cache lacks 2 files; run the audit again to repair all\n"
    changes = (tmp_path / "new/changes.csv").read_text()
    assert [f"{site.url(path)}," in changes for path in ("/a.xml", "/b.xml")] == [True, True]
    assert changes.count(NO_BODY) == 2


STORED: dict[str, dict[str, str]] = {
    "/none.xml": {},
    "/no-store.xml": {"Cache-Control": "no-store"},
    "/max-age.xml": {"Cache-Control": "max-age=86400"},
    "/etag.xml": {"ETag": '"1"', "Cache-Control": "max-age=86400"},
}
"""Files, and what their headers say of a cache."""


@pytest.mark.slow
def test_after_an_audit_nothing_is_requested(tmp_path: Path) -> None:
    with SiteServer() as site:
        site.routes = {"/robots.txt": robots(site.url("/index.xml")), "/index.xml": index(*map(site.url, STORED))}
        for number in (3, 4):
            for path, headers in STORED.items():
                pages = (site.url(f"{path}/{page}") for page in range(number))
                site.routes[path] = Reply(urlset(*pages), headers=headers)
            before = len(site.exchanges)
            run(tmp_path, "audit", site.url(), "--out", "audit", "--no-pages", *SETTINGS)
            known = {one.path: one.headers.get("if-none-match") for one in site.exchanges[before:]}
            asked = [one.path for one in site.exchanges[before:] if one.path in STORED]
            assert sorted(asked) == sorted(STORED), "a stored answer is never fresh"
            assert [known[path] for path in STORED] == [None, None, None, None if number == 3 else '"1"']
            paths, summary = fixed(site, tmp_path, "audit")
            assert paths == []
            assert f"{len(STORED) + 1} files read, {len(STORED) * (number + 1)} entries" in summary


@pytest.mark.slow
def test_a_file_that_has_not_changed_comes_from_the_cache_of_the_baseline(
    site_of_files: SiteServer, tmp_path: Path
) -> None:
    site, child = site_of_files, site_of_files.routes["/a.xml"]
    assert isinstance(child, bytes)

    def unless_known(exchange: Exchange) -> None:
        is_known = exchange.headers.get("if-none-match") == '"1"'
        exchange.head(304 if is_known else 200, ETag='"1"', Content_Length=0 if is_known else len(child))
        exchange.send(b"" if is_known else child)

    site.routes["/a.xml"] = unless_known
    crawl(tmp_path, site.url())
    crawl(tmp_path, site.url(), "-s", "JOBDIR=tuesday", "-a", "baseline=job")
    assert fixed(site, tmp_path, "tuesday")[0] == []
    crawl(tmp_path, site.url(), "-a", "fresh=yes")
    assert validators(site, "/a.xml") == [None, '"1"', '"1"']
    assert fixed(site, tmp_path, "job")[0] == []


def test_damaged_body_is_requested_as_a_whole_and_one_of_no_use_removed(
    site_of_files: SiteServer, tmp_path: Path
) -> None:
    site, child = site_of_files, site_of_files.routes["/a.xml"]
    assert isinstance(child, bytes)
    site.routes["/a.xml"] = Reply(child, headers={"ETag": '"1"'})
    crawl(tmp_path, site.url())
    path = stored(tmp_path, site, "/a.xml")
    path.write_bytes(path.read_bytes()[:-12])
    site.routes["/index.xml"] = index(site.url("/a.xml"))
    assert crawl(tmp_path, site.url(), "-a", "fresh=yes") == 0
    assert validators(site, "/a.xml") == [None, None]
    assert fixed(site, tmp_path, "job")[0] == []
    kept = {path.name for path in (tmp_path / "job" / "cache").iterdir()}
    assert kept == {name_of(site.url(path)) for path in ("/robots.txt", "/index.xml", "/a.xml")}
    assert not (tmp_path / "job" / "cache.earlier").exists()


@dataclass(frozen=True)
class Fixed:
    """The requests of `fix`."""

    site: list[Exchange]
    other: list[Exchange]
    """Of a server that only files name."""

    @property
    def of_files(self) -> list[Exchange]:
        return [one for one in (*self.site, *self.other) if one.path != "/robots.txt"]


@pytest.fixture(scope="module")
def with_login(tmp_path_factory: pytest.TempPathFactory) -> Fixed:
    """A site that is fixed with a login and a header."""
    login = ("-s", "SITEMAP_AUTH=user:secret", "-s", "SITEMAP_ALLOW_NETWORKS=127.0.0.0/8")
    header = ("-s", 'DEFAULT_REQUEST_HEADERS={"X-Key": "a"}')
    with SiteServer() as site, SiteServer() as other:
        with_files(site)
        other.routes = {"/robots.txt": robots(), "/far.xml": urlset(other.url("/1"))}
        site.routes["/index.xml"] = index(site.url("/a.xml"), other.url("/far.xml"))
        site.routes["/robots.txt"] = robots(site.url("/index.xml"), other.url("/far.xml"))
        run(tmp_path_factory.mktemp("login"), "fix", site.url(), "-a", "verify=off", *SETTINGS, *login, *header)
        return Fixed(list(site.exchanges), list(other.exchanges))


def test_login_goes_to_no_port_that_only_a_file_names(with_login: Fixed) -> None:
    assert {one.headers.get("authorization") for one in with_login.other} == {None}
    assert None not in {one.headers.get("authorization") for one in with_login.site}


def test_dictionary_of_the_command_line_holds_for_the_crawl(with_login: Fixed) -> None:
    assert {one.path for one in with_login.of_files} >= {"/a.xml", "/far.xml", "/index.xml"}
    assert {one.headers.get("x-key") for one in with_login.of_files} == {"a"}


@pytest.fixture
def site_of_files() -> Iterator[SiteServer]:
    with SiteServer() as site:
        with_files(site)
        yield site


def with_files(site: SiteServer) -> None:
    """Give a site an index of two files, which have three entries and one."""
    site.routes = {
        "/robots.txt": robots(site.url("/index.xml")),
        "/index.xml": index(site.url("/a.xml"), site.url("/b.xml")),
        "/a.xml": urlset(site.url("/1"), site.url("/2"), site.url("/3")),
        "/b.xml": urlset(site.url("/9")),
    }
