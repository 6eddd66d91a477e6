"""docs/deploy.md, Scrapyd: the project deployed as an egg to a real server, and its jobs compared with crawls here."""

from __future__ import annotations

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from demo.server import serving as serving_demo
from tests.crawl.crawling import AT_HOME, NO_DELAYS, crawl, read_feed
from tests.crawl.documents import index, urlset
from tests.crawl.job_feeds import difference, rows
from tests.crawl.jobs import KEPT
from tests.crawl.site_server import SiteServer, stalled
from tests.deploy.scrapyd_server import ROOT, Scrapyd, checkout, deploy, environment, serving

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs/deploy.md").read_text("utf-8")
COMMAND = re.compile(r"^    ((?:scrapyd|scrapyd-deploy|curl)\b.*)$", re.MULTILINE)
QUICK = {**NO_DELAYS, **AT_HOME}
GRACE = {"SITEMAP_STOP_GRACE": 1}
DEPLOYED = {"scrapyd-deploy": "2.0.0+newer", "scrapyd-deploy -v 14": "2.0.0+older"}
"""How the documentation deploys, and what the package then calls itself, to the sites too."""
NEWER, OLDER = DEPLOYED.values()
SPOKEN = re.compile(r"\[Launcher,(\d+)/std(?:out|err)\] (.*)")
"""Scrapyd's line on what a job has printed."""
LINE = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[[\w.]+\] (?:INFO|WARNING|ERROR): .+")


def commands(page: str = PAGE) -> list[str]:
    """The commands that the section shows, in order."""
    [section] = [part for part in re.split(r"^## ", page, flags=re.MULTILINE) if part.startswith("Scrapyd\n")]
    return COMMAND.findall(section)


@dataclass(frozen=True)
class Fleet:
    """Two servers with the same eggs."""

    one: Scrapyd
    """As the documentation sets it up."""
    other: Scrapyd
    """Without `items_dir`, with `jobs_dir`."""
    project: Path
    """What was deployed."""
    answers: dict[str, Any]
    """What `scrapyd-deploy` printed."""


@pytest.fixture(scope="module")
def demo() -> Iterator[str]:
    with serving_demo() as base:
        yield base


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Both servers, to which a checkout with changes that nobody has committed was deployed."""
    folder = tmp_path_factory.mktemp("scrapyd")
    apart = {"items_dir": "", "jobs_dir": "jobs", "eggs_dir": folder / "one/eggs"}
    with serving(folder / "one") as one:
        project = checkout(folder / "project", one.url)
        (project / "sitemapcrawler/stray.py").write_text("import nothing_of_this_name\n")
        answers = {command: deploy_as(version, project, command) for command, version in DEPLOYED.items()}
        with serving(folder / "other", **apart) as other:  # it looks for projects when it starts
            yield Fleet(one, other, project, answers)


def deploy_as(version: str, project: Path, command: str) -> dict[str, Any]:
    """Deploy a package that calls itself of another version."""
    module = project / "sitemapcrawler/version.py"
    module.write_text(re.sub(r'__version__ = ".*"', f'__version__ = "{version}"', module.read_text("utf-8")))
    return deploy(project, command)


@pytest.fixture
def site() -> Iterator[SiteServer]:
    with SiteServer() as server:
        yield server


@pytest.fixture
def slow() -> Iterator[SiteServer]:
    """A site with an index of two sitemaps, of which the second never ends."""
    with SiteServer() as server:
        server.routes |= {
            "/robots.txt": f"Sitemap: {server.url('/index.xml')}\n",
            "/index.xml": index(server.url("/whole.xml"), server.url("/slow.xml")),
            "/whole.xml": urlset(*(server.url(f"/whole/{number}") for number in range(50))),
            "/slow.xml": stalled(urlset(server.url("/slow/0"))[:-20]),
        }
        yield server


def listed(path: Path) -> list[str]:
    """The pages in a feed."""
    return [record["loc"] for record in read_feed(path) if record["type"] == "url"]


def test_egg_holds_the_package_and_nothing_else(deployed: Fleet) -> None:
    eggs = deployed.one.folder / "eggs/sitemapcrawler"
    package = {path.relative_to(deployed.project).as_posix() for path in files(deployed.project / "sitemapcrawler")}
    assert {Path(name).suffix for name in package} > {".xsd", ".j2", ".css", ".js"}
    for command, version in DEPLOYED.items():
        with zipfile.ZipFile(eggs / f"{deployed.answers[command]['version']}.egg") as egg:
            names = {name for name in egg.namelist() if not name.startswith("EGG-INFO/") and "__pycache__" not in name}
            assert names == package
            assert f"\nVersion: {version}\n" in egg.read("EGG-INFO/PKG-INFO").decode()


def files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)


def test_server_knows_versions_and_spider(deployed: Fleet) -> None:
    told = list(deployed.answers.values())
    assert [(answer["status"], answer["spiders"]) for answer in told] == [("ok", 1)] * len(told)
    versions, spiders = (
        deployed.one.curl(command) for command in commands() if "/list" in command and "jobs" not in command
    )
    assert spiders["spiders"] == ["sitemap"]
    assert sorted(versions["versions"]) == sorted({answer["version"].replace(".", "_") for answer in told})


def test_job_gives_what_a_crawl_gives(deployed: Fleet, demo: str, tmp_path: Path) -> None:
    server = deployed.one
    server.schedule("whole", domain=demo, report=str(tmp_path / "report"), settings=QUICK)
    expected = crawl(tmp_path, domain=demo, report=str(tmp_path / "expected"))
    assert server.wait_for("whole") == expected.code == 0
    items = server.items("whole").rename(tmp_path / "items.jsonl")
    assert difference(rows(tmp_path / "records.jsonl"), rows(items)) == ""
    assert len(expected.locs()) > 100
    report = (tmp_path / "report/report.html").read_text("utf-8")
    assert NEWER in report and "<svg" in report
    assert rows(tmp_path / "report/urls.jsonl").total() == len(expected.locs())
    lines = server.job_log("whole").splitlines()
    assert [line for line in lines if not LINE.fullmatch(line)] == []
    assert re.search(r"17 files, 114 URLs, .*; took [\d.]+ s", lines[-1])
    assert SPOKEN.findall(server.log) == []


def test_egg_stays_zipped(deployed: Fleet) -> None:
    for server in (deployed.one, deployed.other):
        assert [path for path in server.folder.rglob("*.py*") if path.name != "twistd.pid"] == []
        assert not (server.folder / "unpacked").exists()


def test_what_refuses_a_job_stands_in_its_log(deployed: Fleet, demo: str) -> None:
    deployed.one.schedule("refused", domain=demo, verify="perhaps")
    assert deployed.one.wait_for("refused") == 2
    [line] = deployed.one.job_log("refused").splitlines()
    assert LINE.fullmatch(line)
    assert line.endswith("ERROR: argument verify='perhaps': invalid value; accepted: off, head, get")
    assert not deployed.one.items("refused").exists()


def test_cancelled_job_keeps_what_it_had_and_goes_on(deployed: Fleet, slow: SiteServer, tmp_path: Path) -> None:
    server, settings = deployed.one, {**QUICK, **GRACE, "JOBDIR": tmp_path / "job"}
    server.schedule("going", domain=slow.url(), settings=settings)
    slow.wait_for("/slow.xml")
    server.wait_until(lambda: "/whole.xml: ok, 50 entries" in server.job_log("going"))
    server.cancel("going")
    assert server.wait_for("going") == 3
    assert len(listed(server.items("going"))) >= 50
    assert read_feed(server.items("going"))[-1]["partial"] == "shutdown"
    assert "to resume" in server.job_log("going")
    assert slow.exchange("/whole.xml").headers["user-agent"].startswith(f"sitemapcrawler/{NEWER} ")

    slow.routes["/slow.xml"] = urlset(slow.url("/slow/0"), slow.url("/slow/1"))
    server.schedule("going", domain=slow.url(), settings=settings)
    assert server.wait_for("going", times=2) == 0
    found = listed(server.items("going"))
    assert len(found) == len(set(found)) == 52
    summaries = [record for record in read_feed(server.items("going")) if record["type"] == "summary"]
    assert [summary.get("partial") for summary in summaries] == [None]
    assert slow.paths.count("/whole.xml") == 1


def test_what_the_interpreter_lacks_is_one_line(deployed: Fleet) -> None:
    """As Scrapyd's answer to `scrapyd-deploy` has it."""
    blocked = "import runpy, sys; sys.modules.update(duckdb=None, pygal=None); "
    blocked += "runpy.run_module('scrapyd.runner', run_name='__main__', alter_sys=True)"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", blocked, "list", "-s", "LOG_STDOUT=0"],
        cwd=deployed.one.folder,
        env=environment(deployed.one.folder) | {"SCRAPY_PROJECT": "sitemapcrawler"},
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert re.fullmatch(r"sitemapcrawler: \S+ lacks .*; install 'duckdb>=\S+' 'pygal>=\S+' there\n", done.stderr)


def test_commands_of_the_page(deployed: Fleet, site: SiteServer, tmp_path: Path) -> None:
    """Each `curl` that the page shows, in order; the others have set the servers up. The other server has no feeds but
    those that are asked for, and gives jobs a JOBDIR by their name."""
    server = deployed.other
    site.routes = {"/robots.txt": f"Sitemap: {site.url('/a.xml')}\n", "/a.xml": urlset(site.url("/page"))}
    server.schedule("named", "_version=14", domain=site.url(), settings=QUICK)
    assert server.wait_for("named") == 0
    assert site.exchange("/a.xml").headers["user-agent"].startswith(f"sitemapcrawler/{OLDER} ")
    assert {path.name for path in (server.folder / "jobs/sitemapcrawler/sitemap/named").iterdir()} == KEPT
    assert not server.items("named").parent.exists()
    assert [command for command in commands() if not command.startswith("curl")] == ["scrapyd", *DEPLOYED]
    shown = [command for command in commands() if command.startswith("curl")]
    assert len(shown) >= 9
    quick = "".join(f" -d setting={name}={value}" for name, value in QUICK.items())
    for command in shown:
        if "/cancel.json" in command:
            server.wait_until(lambda: server.job_log("example-monday") != "")
        own = quick if "/schedule.json" in command else ""
        text = command.replace("domain=example.com", f"domain={site.url()}").replace("/srv/audits", str(tmp_path)) + own
        told = server.curl(text)
        assert told["status"] == "ok", (command, told)
    jobs = server.ask("listjobs.json")
    named = [job["id"] for job in (*jobs["pending"], *jobs["running"], *jobs["finished"])]
    for job in named:
        server.wait_for(job)
    assert (tmp_path / "example/report.html").exists()
    assert {server.codes(job)[-1] for job in named} <= {0, 3}
    assert len(list(tmp_path.glob("sitemap-*.csv"))) == 1
