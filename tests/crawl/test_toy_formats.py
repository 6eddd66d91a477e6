"""Formats and discovery methods of plug-ins, as docs/extending.md declares them, in real crawls."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from sitemapcrawler.namespaces import plugins
from tests.crawl.crawling import FEED, ROOT, crawl
from tests.crawl.site_server import SiteServer

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
CATALOGUE = "<catalogue>\n<product link='/lamp'/>\n<product link='/chair'/></catalogue>"
MODULES = ("catalogue", "jsonlists", "toypaths")
"""Modules of the page with formats and discovery methods."""


def modules() -> dict[str, str]:
    """The modules that the page shows, by name."""
    return dict(re.findall(r"`(\w+)\.py`:\n\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def install(folder: Path) -> None:
    """Lay the page's package out as an installer does: modules, and the metadata with their entry points."""
    metadata = folder / "toyshop-1.0.dist-info"
    metadata.mkdir(parents=True)
    (folder / "toyshop").mkdir()
    for name, code in modules().items():
        (folder / "toyshop" / f"{name}.py").write_text(code)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toyshop\nVersion: 1.0\n")
    [shown] = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    groups = tomllib.loads(shown)["project"]["entry-points"]
    assert sorted(groups) == sorted((*plugins.MODULES, plugins.EXPORTERS))
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in named.items())
        for group, named in groups.items()
    )
    (metadata / "entry_points.txt").write_text(points)


@pytest.fixture
def shop() -> Iterator[SiteServer]:
    """A site that names its sitemaps in a way of its own, and in formats of its own."""
    with SiteServer() as site:
        site.routes = {
            "/.sitemaps": f"{site.url('/all.json')}\n",
            "/all.json": f'{{"sitemaps": ["{site.url("/export/catalogue.xml")}"]}}',
            "/export/catalogue.xml": CATALOGUE,
        }
        yield site


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "installed")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "installed"))


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_installed_plug_in_is_discovered_read_labelled_and_written(shop: SiteServer, tmp_path: Path) -> None:
    done = crawl(tmp_path, "-O", FEED, "-O", "pages.loc", "-a", "report=report", domain=shop.url())
    assert done.code == 0, done.log
    files = {url.removeprefix(shop.url()): record for url, record in done.sitemaps.items()}
    assert {
        path: (one["format"], one["found_by"], one["outcome"], one["url_count"]) for path, one in files.items()
    } == {
        "/all.json": ("json-index", "shop-list", "ok", 1),
        "/export/catalogue.xml": ("shop-catalogue", "index", "ok", 2),
    }
    assert files["/all.json"]["parent"] == shop.url("/.sitemaps")
    assert [(one["loc"], one["line"]) for one in done.of_type("url")] == [
        (shop.url("/lamp"), 2),
        (shop.url("/chair"), 3),
    ]
    assert f"{shop.url('/.sitemaps')}: 1 sitemap named in the list of the shop" in done.log
    lines = (tmp_path / "pages.loc").read_text().splitlines()
    assert sorted(lines) == sorted(
        [
            *done.locs(),
            f"json-index shop-list {shop.url('/all.json')}",
            f"shop-catalogue index {shop.url('/export/catalogue.xml')}",
        ]
    )
    page = (tmp_path / "report" / "report.html").read_text("utf-8")
    assert "<td>catalogue</td>" in page and "<td>JSON index</td>" in page
    assert "/sitemap.xml" not in shop.paths, "a method before the common paths has found one"


def test_modules_of_a_setting_run_in_their_place(shop: SiteServer, tmp_path: Path) -> None:
    del shop.routes["/.sitemaps"]
    for name in MODULES:
        (tmp_path / f"{name}.py").write_text(modules()[name])
    settings = {"SITEMAP_RULES": ",".join(f"{name}.py" for name in MODULES)}
    done = crawl(tmp_path, settings=settings, domain=shop.url())
    assert [(one["format"], one["found_by"]) for one in done.of_type("sitemap")] == [("shop-catalogue", "shop-path")]
    assert shop.paths == ["/.sitemaps", "/export/catalogue.xml"]


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_appending_and_fields_follow_from_the_exporter(shop: SiteServer, tmp_path: Path) -> None:
    for _ in range(2):
        assert crawl(tmp_path, "-o", "pages.loc", domain=shop.url()).code == 0
    assert len((tmp_path / "pages.loc").read_text().splitlines()) == 8
    done = crawl(tmp_path, "-O", "pages.xml", domain=shop.url())
    assert done.code == 2
    [formats] = re.findall("feed format xml is not written; use (.*)", done.log)
    assert "loc" in formats.split(", ")
