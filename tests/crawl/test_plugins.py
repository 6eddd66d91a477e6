"""Namespaces, rules, formats and discovery methods of plug-ins, as docs/extending.md declares them, in real crawls."""

from __future__ import annotations

import csv
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from sitemapcrawler.namespaces import plugins
from tests.crawl.crawling import FEED, LOOPBACK, ROOT, Crawl, crawl
from tests.crawl.documents import index, robots
from tests.crawl.jobs import DATABASE
from tests.crawl.site_server import SiteServer, conditional

TOY = "https://toys.example/schemas/sitemap-toy/1.0"
PRICE = '<toy:price currency="EUR">5</toy:price>'
BALL = "<toy:toy><toy:name>Ball</toy:name>{}<toy:tag>red</toy:tag><toy:tag>round</toy:tag></toy:toy>"
EXPIRING = "<toy:toy><toy:name>Kite</toy:name><toy:until>2030-01-01</toy:until></toy:toy>"
MODULE = "toys.py"
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
CATALOGUE = "<catalogue>\n<product link='/lamp'/>\n<product link='/chair'/></catalogue>"
FORMATS = ("catalogue", "jsonlists", "toypaths")
"""Modules of the page with formats and discovery methods."""


def urlset(site: SiteServer, **toys: str) -> bytes:
    """Pages by name, each with its toys."""
    entries = "".join(f"<url><loc>{site.url(f'/{name}')}</loc>{more}</url>\n" for name, more in toys.items())
    core = "http://www.sitemaps.org/schemas/sitemap/0.9"
    return f'<urlset xmlns="{core}" xmlns:toy="{TOY}">\n{entries}</urlset>'.encode()


@pytest.fixture
def site() -> Iterator[SiteServer]:
    """A file with toys, one with a toy that expires, one without; the last two never change."""
    with SiteServer() as server:
        files = [server.url(f"/{name}.xml") for name in ("toys", "kites", "plain")]
        server.routes = {"/robots.txt": robots(server.url("/index.xml")), "/index.xml": index(*files)}
        server.routes["/kites.xml"] = conditional(urlset(server, kite=EXPIRING), etag='"kites"')
        server.routes["/plain.xml"] = conditional(urlset(server, chair=""), etag='"plain"')
        monday(server)
        yield server


def monday(site: SiteServer) -> None:
    site.routes["/toys.xml"] = urlset(site, ball=BALL.format(""), lamp="", table="<toy:thing/>")


def tuesday(site: SiteServer) -> None:
    site.routes["/toys.xml"] = urlset(site, ball=BALL.format(PRICE), lamp="", table="<toy:thing/>")


@pytest.fixture
def declared() -> str:
    """The module with a namespace."""
    page = PAGE.partition("\n## A namespace\n")[2]
    return re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[0]


def run(folder: Path, site: SiteServer, module: str, *options: str, **arguments: str) -> Crawl:
    (folder / MODULE).write_text(module)
    settings = {**LOOPBACK, "SITEMAP_RULES": MODULE, "JOBDIR": arguments.pop("job", "job")}
    done = crawl(folder, *options, settings=settings, domain=site.url(), select="toy", probe="never", **arguments)
    assert done.code == 0, done.log
    return done


def extras(done: Crawl) -> dict[str, object]:
    return {path(record["loc"]): record.get("extra") for record in done.of_type("url")}


def path(url: str) -> str:
    return "/" + url.split("/", 3)[3]


def test_toys_are_in_records_counts_feeds_and_findings(tmp_path: Path, site: SiteServer, declared: str) -> None:
    done = run(tmp_path, site, declared, "-O", "records.jsonl", "-O", "urls.csv", "-O", "urls.parquet")
    ball = {"name": "Ball", "tag": ["red", "round"]}
    assert extras(done) == {
        "/ball": {"toys": [ball]},
        "/lamp": None,
        "/table": {TOY: [{"name": "thing"}]},
        "/kite": {"toys": [{"name": "Kite", "until": "2030-01-01"}]},
        "/chair": None,
    }
    assert {path(url): record.get("counts", {}).get("extra") for url, record in done.sitemaps.items()} == {
        "/index.xml": None,
        "/toys.xml": {"toys": 1},
        "/kites.xml": {"toys": 1},
        "/plain.xml": None,
    }
    found = sorted((record["rule"], path(record["url"])) for record in done.of_type("finding"))
    assert found == [
        ("toy-none", "/chair"),
        ("toy-none", "/lamp"),
        ("toy-none", "/table"),
        ("toy-price-missing", "/ball"),
        ("toy-price-missing", "/kite"),
    ]
    with (tmp_path / "urls.csv").open(newline="") as file:
        rows = {path(row["loc"]): row["extra"] for row in csv.DictReader(file)}
    assert rows["/ball"] == "toys" and rows["/lamp"] == ""
    [(text,)] = duckdb.sql(f"SELECT extra FROM '{tmp_path / 'urls.parquet'}' WHERE loc LIKE '%/ball'").fetchall()
    assert json.loads(text) == {"toys": [ball]}
    with duckdb.connect(str(tmp_path / "job" / DATABASE), read_only=True) as database:
        [(name, number)] = database.execute(
            "SELECT extra->>'$.toys[0].name', (SELECT sum(counts.extra['toys']) FROM sitemaps) FROM urls "
            "WHERE loc LIKE '%/ball'"
        ).fetchall()
    assert (name, number) == ("Ball", 2)


@pytest.mark.slow
def test_toys_are_compared_with_a_baseline(tmp_path: Path, site: SiteServer, declared: str) -> None:
    before = run(tmp_path, site, declared)
    tuesday(site)
    done = run(tmp_path, site, declared, job="next", baseline=f"job/{DATABASE}")
    changes = {path(one["loc"]): (one["change"], one.get("changed_fields", [])) for one in done.of_type("url")}
    assert changes == {
        "/ball": ("changed", ["extra.toys"]),
        "/lamp": ("unchanged", []),
        "/table": ("unchanged", []),
        "/kite": ("unchanged", []),
        "/chair": ("unchanged", []),
    }
    outcomes = {path(url): record["outcome"] for url, record in done.sitemaps.items()}
    assert outcomes["/plain.xml"] == outcomes["/kites.xml"] == "unchanged"
    assert before.summary["rules"] == {"toy-none": 3, "toy-price-missing": 2}
    assert done.summary["rules"] == {"toy-none": 3, "toy-price-missing": 1}


def test_package_that_cannot_be_imported_is_one_line(
    tmp_path: Path, site: SiteServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "installed", "[sitemapcrawler.namespaces]\ntoys = toyshop\n", toyshop="1 / 0\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "installed"))
    done = crawl(tmp_path, settings=LOOPBACK, domain=site.url())
    assert done.code == 2
    why = "plug-in toys = 'toyshop' in sitemapcrawler.namespaces: ZeroDivisionError: division by zero"
    assert why in done.log and "Traceback" not in done.log


def install(folder: Path, points: str, **modules: str) -> None:
    """Lay a package out as an installer does: modules, and the metadata with their entry points."""
    metadata = folder / "toyshop-1.0.dist-info"
    metadata.mkdir(parents=True)
    for name, code in modules.items():
        (folder / f"{name}.py").write_text(code)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: toyshop\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(points)


CHILDREN = '''
from sitemapcrawler.rules import Message, Of, Severity, rule


@rule("toy-child", Severity.INFO, "the handbook of toy shops", of=Of.CHILD)
def toy_child(child):
    """A sitemap is listed."""
    yield Message("listed", value=child.record.loc)
'''


def test_rule_on_children_sees_each_entry_of_an_index(tmp_path: Path, site: SiteServer) -> None:
    done = run(tmp_path, site, CHILDREN)
    assert [path(record["value"]) for record in done.of_type("finding")] == ["/toys.xml", "/kites.xml", "/plain.xml"]


# ---- formats and discovery methods


def modules() -> dict[str, str]:
    """The modules that the page shows, by name."""
    return dict(re.findall(r"`(\w+)\.py`:\n\n```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


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
    [shown] = re.findall(r"^```toml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    groups = tomllib.loads(shown)["project"]["entry-points"]
    assert sorted(groups) == sorted((*plugins.MODULES, plugins.EXPORTERS))
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in named.items())
        for group, named in groups.items()
    )
    (tmp_path / "installed" / "toyshop").mkdir(parents=True)
    install(tmp_path / "installed", points, **{f"toyshop/{name}": code for name, code in modules().items()})
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
    for name in FORMATS:
        (tmp_path / f"{name}.py").write_text(modules()[name])
    settings = {"SITEMAP_RULES": ",".join(f"{name}.py" for name in FORMATS)}
    done = crawl(tmp_path, settings=settings, domain=shop.url())
    assert [(one["format"], one["found_by"]) for one in done.of_type("sitemap")] == [("shop-catalogue", "shop-path")]
    assert shop.paths == ["/.sitemaps", "/export/catalogue.xml"]


@pytest.mark.slow
@pytest.mark.usefixtures("installed")
def test_appending_and_fields_follow_from_the_exporter(shop: SiteServer, tmp_path: Path) -> None:
    (tmp_path / "pages.loc").write_text("earlier\n")
    assert crawl(tmp_path, "-o", "pages.loc", domain=shop.url()).code == 0
    assert len((tmp_path / "pages.loc").read_text().splitlines()) == 1 + 4
    done = crawl(tmp_path, "-O", "pages.xml", domain=shop.url())
    assert done.code == 2
    [formats] = re.findall("feed format xml is not supported; use (.*)", done.log)
    assert "loc" in formats.split(", ")
