"""`read_sitemap` with a URL: a download by the rules of a crawl, and one clear exception where there is none."""

from __future__ import annotations

import gc
import re
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sitemapcrawler import DownloadError, SitemapFile, read_sitemap
from tests.crawl.crawling import AT_HOME, NO_DELAYS
from tests.crawl.documents import dated, index, packed, robots, urlset
from tests.crawl.site_server import Reply, SiteServer, cut, moved

SETTINGS: dict[str, object] = {**NO_DELAYS, **AT_HOME, "RETRY_TIMES": 0}


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder in which temporary files are made; nothing is left there."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert not list(tmp_path.iterdir())


def read(url: str, settings: Mapping[str, object] = {}) -> SitemapFile:
    return read_sitemap(url, settings=SETTINGS | settings)


@pytest.mark.slow
def test_url_is_downloaded_and_read(site: SiteServer) -> None:
    site.routes = {
        "/robots.txt": robots(),
        "/old.xml.gz": moved("/new/sitemap.xml.gz"),
        "/new/sitemap.xml.gz": Reply(packed(dated({"/new/a": "2024-05-01"})), headers={"ETag": '"7"'}),
    }
    sitemap = read(site.url("/old.xml.gz"))
    [entry] = sitemap
    assert (entry.loc, entry.lastmod_at) == (site.url("/new/a"), datetime(2024, 5, 1, tzinfo=UTC))
    record = sitemap.sitemap
    assert (record.sitemap, record.final_url) == (site.url("/old.xml.gz"), site.url("/new/sitemap.xml.gz"))
    assert (record.status, record.outcome, record.etag) == (200, "ok", '"7"')
    assert [(hop.status, hop.url) for hop in record.hops] == [(302, site.url("/old.xml.gz"))]
    assert sitemap.counts["loc-relative"] == 1
    assert site.paths.count("/new/sitemap.xml.gz") == 1


def test_children_of_an_index_are_not_fetched(site: SiteServer) -> None:
    site.routes = {"/index.xml": index(site.url("/1.xml"), site.url("/2.xml")), "/1.xml": urlset(site.url("/a"))}
    assert [child.loc for child in read(site.url("/index.xml"))] == [site.url("/1.xml"), site.url("/2.xml")]
    assert {"/1.xml", "/2.xml"}.isdisjoint(site.paths)


@pytest.mark.slow
def test_download_that_breaks_off_is_an_outcome(site: SiteServer) -> None:
    site.routes = {"/sitemap.xml": cut(urlset(site.url("/a"), site.url("/b"))[:-20])}
    sitemap = read(site.url("/sitemap.xml"))
    assert site.url("/a") in [entry.loc for entry in sitemap]
    assert (sitemap.sitemap.outcome, sitemap.sitemap.error) == ("truncated", "the connection ended before the body did")


@pytest.mark.slow
def test_unread_download_is_removed(site: SiteServer) -> None:
    site.routes = {"/sitemap.xml": urlset(site.url("/a"))}
    sitemap = read(site.url("/sitemap.xml"))
    assert repr(sitemap).endswith(": not read yet>")
    del sitemap
    gc.collect()


@pytest.mark.slow
def test_url_without_a_sitemap_is_one_clear_exception(site: SiteServer) -> None:
    site.routes = {"/robots.txt": robots(rules=["User-agent: *", "Disallow: /private"]), "/loop": moved("/loop")}
    for path, why in {
        "/none.xml": "HTTP status 404",
        "/private.xml": "forbidden by robots.txt, line ",
        "/loop": "max redirections reached",
    }.items():
        with pytest.raises(DownloadError, match=f"^{re.escape(site.url(path))}: {why}") as error:
            read(site.url(path))
        assert "\n" not in str(error.value)
        assert isinstance(error.value, OSError)
    with pytest.raises(DownloadError, match="HTTP status 404"):
        read(site.url("/private.xml"), {"ROBOTSTXT_OBEY": False})


def test_redirect_to_a_private_address_is_refused(site: SiteServer) -> None:
    with SiteServer() as other:
        other.routes = {"/sitemap.xml": urlset(site.url("/a"))}
        site.routes = {"/sitemap.xml": moved(other.url("/sitemap.xml"))}
        with pytest.raises(DownloadError, match="is not public"):
            read(site.url("/sitemap.xml"))
        assert other.paths == []


@pytest.mark.parametrize(
    ("url", "settings", "words"),
    [
        ("https://user:secret@example.com/sitemap.xml", {}, "password"),
        ("https://exa mple.com/sitemap.xml", {}, "accepted: "),
        (
            "https://example.com/sitemap.xml",
            {"SITEMAP_MAX_BYTES": "x"},
            "setting SITEMAP_MAX_BYTES='x': accepted: a whole number",
        ),
    ],
)
def test_bad_input_is_one_line(url: str, settings: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        read(url, settings)
    assert "\n" not in str(error.value)
    assert "secret" not in str(error.value)
