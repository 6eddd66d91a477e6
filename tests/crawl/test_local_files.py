"""Sitemaps on this machine: read where the argument names them, and never for anybody else."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from tests.crawl.crawling import crawl
from tests.crawl.documents import index, packed, pages, robots, text, urlset
from tests.crawl.site_server import SiteServer, moved


def test_file_is_read_that_is_named_by_its_url_or_by_another_folder(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    for name in ("x", "y"):
        (tmp_path / f"{name}.xml").write_bytes(urlset(*pages(name, 3)))
    x, y = ((tmp_path / f"{name}.xml").as_uri() for name in ("x", "y"))
    done = crawl(tmp_path, sitemap=f"{x},./sub/../y.xml")
    assert list(done.sitemaps) == [x, y]
    record = done.sitemaps[y]
    assert (record["found_by"], record["outcome"], record["url_count"]) == ("argument", "ok", 3)
    assert record["bytes_fetched"] == record["bytes"] == (tmp_path / "y.xml").stat().st_size
    assert "status" not in record
    assert (done.code, done.locs(x), done.locs(y)) == (0, pages("x", 3), pages("y", 3))


def test_many_files_of_all_kinds(tmp_path: Path) -> None:
    files = {
        "a b [\u00e9]#1%41.xml": urlset(*pages("odd", 1)),
        "c.gz": packed(urlset(*pages("packed", 1))),
        "d.txt": text(*pages("text", 1)),
        "empty.xml": b"",
    }
    for name, body in files.items():
        (tmp_path / name).write_bytes(body)
    (tmp_path / "list.txt").write_text("".join(f"./{name}\n" for name in files), "utf-8")
    done = crawl(tmp_path, sitemap="@list.txt")
    assert sorted(done.locs()) == sorted(pages("odd", 1) + pages("packed", 1) + pages("text", 1))
    assert {url: record["outcome"] for url, record in done.sitemaps.items()} == {
        (tmp_path / name).as_uri(): "failed" if name == "empty.xml" else "ok" for name in files
    }


def test_file_that_is_too_large_is_read_up_to_the_limit(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_bytes(urlset(*pages("x", 5000)))
    done = crawl(tmp_path, sitemap="x.xml", settings={"DOWNLOAD_MAXSIZE": 100_000})
    [record] = done.of_type("sitemap")
    assert (record["outcome"], record["bytes_fetched"]) == ("truncated", 100_000)
    assert record["error"]
    assert done.locs() == pages("x", len(done.locs()))
    assert len(done.locs()) > 1000


def test_pipe_is_no_file(refusal: Callable[..., str], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.xml")
    refusal("crawl", "sitemap", "-a", "sitemap=pipe.xml")


def test_children_of_a_local_index_are_asked_on_the_web(site: SiteServer, tmp_path: Path) -> None:
    (tmp_path / "near.xml").write_bytes(urlset(*pages("near", 1)))
    children = [site.url("/far.xml"), "near.xml", (tmp_path / "near.xml").as_uri()]
    (tmp_path / "index.xml").write_bytes(index(*children))
    site.routes = {"/far.xml": urlset(*pages("far", 1))}
    settings = {"SITEMAP_ALLOW_NETWORKS": "127.0.0.0/8"}
    done = crawl(tmp_path, sitemap="index.xml", settings=settings)
    assert done.locs() == pages("far", 1)
    assert done.sitemaps[(tmp_path / "near.xml").as_uri()]["outcome"] == "failed"
    assert done.code == 0


def test_server_cannot_have_a_file_read(site: SiteServer, tmp_path: Path) -> None:
    secret = tmp_path / "secret.xml"
    secret.write_bytes(urlset("https://pages.example/secret"))
    spellings = [secret.as_uri(), f"FILE://{secret}", f"file://localhost{secret}", f"file:{secret}", str(secret)]
    site.routes = {
        "/robots.txt": robots("/index.xml", secret.as_uri(), "/go.xml"),
        "/index.xml": index(*spellings, site.url("/good.xml")),
        "/go.xml": moved(secret.as_uri()),
        "/good.xml": urlset(*pages("good", 1)),
    }
    done = crawl(tmp_path, domain=site.url())
    assert done.locs() == pages("good", 1)
    refused = [record for url, record in done.sitemaps.items() if url.lower().startswith("file:")]
    assert len(refused) >= 3
    assert all(record["outcome"] == "failed" and record["bytes"] == 0 and record["error"] for record in refused)
    assert done.code == 0


def test_server_cannot_have_a_file_read_that_is_named_beside_it(site: SiteServer, tmp_path: Path) -> None:
    (tmp_path / "mine.xml").write_bytes(urlset(*pages("mine", 1)))
    site.routes = {"/go.xml": moved((tmp_path / "mine.xml").as_uri()), "/a.xml": urlset(*pages("a", 2))}
    done = crawl(tmp_path, sitemap=f"./mine.xml,{site.url('/go.xml')},{site.url('/a.xml')}")
    assert sorted(done.locs()) == sorted([*pages("mine", 1), *pages("a", 2)])
    assert done.sitemaps[site.url("/go.xml")]["outcome"] == "failed"
