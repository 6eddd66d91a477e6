"""The examples of docs/python.md, as they stand there."""

from __future__ import annotations

import re
import urllib.request
from pathlib import Path
from typing import Any

import pytest

import sitemapcrawler
from demo.server import serving
from tests.crawl.crawling import AT_HOME, NO_DELAYS
from tests.crawl.projects import FEED, run

PAGE = (Path(__file__).parents[2] / "docs/python.md").read_text("utf-8")
EXAMPLES = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def example(words: str) -> str:
    """The one example that holds these words."""
    [found] = [text for text in EXAMPLES if words in text]
    return found


def test_file_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = Path(__file__).parents[1] / "data/good/image.xml"
    (tmp_path / "sitemap.xml").write_bytes(good.read_bytes().replace(b"</loc>", b"#top</loc>", 1))
    monkeypatch.chdir(tmp_path)
    exec(example('read_sitemap("sitemap.xml"'), {})
    output = capsys.readouterr().out.splitlines()
    assert output[0].startswith("https://example.com/")
    assert "xml-urlset ok 2" in output
    assert any("warning loc-fragment: " in line for line in output)


def test_download_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as base:
        real: Any = urllib.request.urlopen
        monkeypatch.setattr(urllib.request, "urlopen", lambda _: real(f"{base}/sitemaps/catalogue.xml.gz"))
        exec(example("urlopen"), {})
    assert capsys.readouterr().out == "2026-04-30 06:15:00+00:00\n"


def test_url_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with serving() as base:
        exec(example("DownloadError").replace("https://example.com", base), {})
    assert capsys.readouterr().out == "60 200\n"


@pytest.mark.slow
def test_site_is_audited(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    real: Any = sitemapcrawler.audit
    with serving() as base:
        settings = {**NO_DELAYS, **AT_HOME}
        monkeypatch.setattr(sitemapcrawler, "audit", lambda _, **options: real(base, settings=settings, **options))
        exec(example("sitemapcrawler.audit("), {})
    output = capsys.readouterr().out
    assert re.match(r"Needs repair \{.*'error': \d+", output)
    assert f"{base}/opening-hours redirect 2026-04-30 06:15:00+00:00" in output
    assert re.search(r"^page not read +\d+$", output, re.MULTILINE)


def test_port_of_a_spider_of_scrapy_crawls_the_same(tmp_path: Path) -> None:
    options = ["-s", "SITEMAP_MAX_ROBOTS=0", "-s", "LOG_LEVEL=INFO", "-s", "DOWNLOAD_DELAY=0"]
    found = {}
    with serving() as base:
        for name in ("MuseumSpider", "MuseumPages"):
            (tmp_path / f"{name}.py").write_text(re.sub("(https://)?example.com", base, example(name)))
            done = run(tmp_path, "-m", "scrapy", "runspider", f"{name}.py", "-O", FEED, *options)
            found[name] = sorted(map(repr, done.items))
    assert found["MuseumPages"] == found["MuseumSpider"]
    assert len(found["MuseumPages"]) > 10


@pytest.mark.parametrize(("name", "count"), [("PagesSpider", 58), ("NewsSpider", 1)])
def test_spider_crawls_the_demo(name: str, count: int, tmp_path: Path) -> None:
    (tmp_path / "pages.py").write_text(example(name))
    options = ["-s", "SITEMAP_MAX_ROBOTS=0", "-s", "LOG_LEVEL=INFO", "-a", "exclude=elsewhere"]
    with serving() as base:
        done = run(tmp_path, "-m", "scrapy", "runspider", "pages.py", "-O", FEED, *options, "-a", f"domain={base}")
    assert len(done.items) == count, done.log
    assert all(item["title"] for item in done.items)
