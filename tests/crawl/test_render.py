"""Rendered pages: what scripts change of pages of five frameworks, which pages are rendered, and what a page may do."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.constants import constants
from tests.crawl.browsers import NEEDS_CHROMIUM
from tests.crawl.crawling import FEED, LOOPBACK, POLL_S, SOON_S, Crawl, command, crawl, launch
from tests.crawl.documents import robots, urlset
from tests.crawl.framework_pages import FILES, PAGES
from tests.crawl.site_server import Reply, Route, SiteServer, in_turn, moved, stalled
from tests.crawl.verified import own_words

pytestmark = [pytest.mark.slow, NEEDS_CHROMIUM]


def serve(site: SiteServer, pages: Mapping[str, Route], rules: str = "Allow: /", **more: Route) -> None:
    site.routes = {
        "/robots.txt": robots(site.url("/sitemap.xml"), rules=rules.splitlines()),
        "/sitemap.xml": urlset(*map(site.url, pages)),
        **pages,
        **more,
    }


def page(markup: str) -> Reply:
    return Reply(markup, headers={"Content-Type": "text/html; charset=utf-8"})


def records(done: Crawl) -> dict[str, dict[str, Any]]:
    """The records of rendered pages by path."""
    return {"/" + one["url"].split("/", 3)[3]: one for one in done.of_type("rendered")}


NONE: dict[str, Route] = {
    "/gone": Reply("", 404),
    "/moved": moved("/next/article"),
    "/file.pdf": Reply("%PDF", headers={"Content-Type": "application/pdf"}),
}
"""Listed URLs that are no pages."""


@pytest.fixture(scope="module")
def site() -> Iterator[SiteServer]:
    with SiteServer() as server:
        serve(server, {path: page(planned.html) for path, planned in PAGES.items()} | NONE, **FILES)
        yield server


@pytest.fixture(scope="module")
def rendered(site: SiteServer, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    done = crawl(tmp_path_factory.mktemp("frameworks"), domain=site.url(), render=50)
    assert done.code == 0, done.log
    return done


def test_every_page_is_rendered_and_counted(rendered: Crawl) -> None:
    assert records(rendered).keys() == PAGES.keys()
    results = [planned.result for planned in PAGES.values()]
    assert rendered.summary["rendered"] == {result: results.count(result) for result in results}


@pytest.mark.parametrize("path", PAGES)
def test_record_of_a_page_says_what_its_scripts_change(rendered: Crawl, path: str) -> None:
    record = records(rendered)[path]
    assert (record["result"], " ".join(record.get("changed", ()))) == (PAGES[path].result, PAGES[path].changed)


@pytest.mark.parametrize("path", PAGES)
def test_rules_report_the_pages_that_need_scripts(rendered: Crawl, site: SiteServer, path: str) -> None:
    found = [one["rule"] for one in rendered.of_type("finding") if one.get("url") == site.url(path)]
    told = [rule.removeprefix("render-") for rule in found if rule.startswith("render-")]
    assert sorted(told) == sorted(PAGES[path].rules.split())


def test_numbers_of_both_states_are_in_the_record(rendered: Crawl, site: SiteServer) -> None:
    shop = records(rendered)["/react/shop"]
    assert (shop["title"], shop["rendered_title"], shop["rendered_h1"]) == ("Museum", *["Hall /react/shop"] * 2)
    assert shop["rendered_canonical"] == site.url("/react/shop") and "canonical" not in shop
    assert (shop["links"], shop["rendered_links"], shop["added_links"]) == (0, 2, 2)
    assert shop["added"] == [site.url("/next/article"), site.url("/astro/static")]
    assert shop["words"] < 10 < shop["rendered_words"]
    assert (shop["requests"], shop["failed"]) == (2, 0)
    assert records(rendered)["/react/lost"]["failed"] == 1
    assert records(rendered)["/nuxt/languages"]["rendered_hreflang"] == 2


def test_page_and_its_requests_are_sent_by_us_and_only_once(rendered: Crawl, site: SiteServer) -> None:
    paths = [one.path for one in site.exchanges]
    assert {one.headers["user-agent"].partition("/")[0] for one in site.exchanges} == {"sitemapcrawler"}
    assert {path: paths.count(path) for path in PAGES} == dict.fromkeys(PAGES, 1)
    assert paths.count("/react/main.js") == 1, "scripts are kept for the next page"
    assert not {"/react/chunk.css", "/angular/login", "/favicon.ico"} & {*paths}


# ---- pages that do not end, or want too much

REQUESTS, BEGUN = 40, 300
"""Requests that a page may make, and begin."""
LIMITS = {
    "verification.browser.HEAP_MIB": 128,
    "verification.browser.MAX_INTERCEPTED": BEGUN,
    "verification.rendering.MAX_REQUESTS": REQUESTS,
}
"""Constants of a crawl whose limits are reached earlier, to take less time."""
SHORT = {"verification.browser.QUIET_S": 2, "verification.browser.CLOSE_S": 1}
"""The same, for pages of which each takes a core until then."""
LONG = "its scripts did not finish"
MEMORY = "out of memory, or a fault of the browser"
BUSY: dict[str, tuple[str, str, str | None]] = {
    "/busy": ("while (true);", "timeout", LONG),
    "/busy-later": ("setTimeout(() => { while (true); }, 500);", "timeout", LONG),
}
HOSTILE: dict[str, tuple[str, str, str | None]] = {
    "/heap": ("const all = []; while (true) all.push(new Array(1e6).fill(Math.random()));", "crashed", MEMORY),
    "/alerts": ("for (let i = 0; i < 1e3; i++) alert(i); onbeforeunload = () => 1;", "rendered", None),
    "/windows": ("for (let i = 0; i < 1e3; i++) open('/window' + i);", "rendered", None),
    "/polling": ("setInterval(() => fetch('/tick'), 200);", "rendered", None),
    "/timers": ("const tick = () => { document.title += '.'; setTimeout(tick, 10); }; tick();", "rendered", None),
    "/text": ("document.body.append('x '.repeat(2.2e6));", "limit", "more than 4,194,304 characters of HTML"),
    "/requests": ("for (let i = 0; i < 50; i++) fetch('/tick?' + i);", "limit", f"more than {REQUESTS} requests"),
    "/storm": ("for (let i = 0; i < 400; i++) fetch('/storm' + i);", "limit", f"more than {BEGUN} requests"),
    "/large": ("fetch('/megabytes').then(() => fetch('/tick?after'));", "rendered", None),
    "/history": ("for (let i = 0; i < 50; i++) history.pushState({}, '', '/history?' + i);", "rendered", None),
    "/lying": (
        "Object.defineProperty(Element.prototype, 'outerHTML', {get: () => '<title>Lie</title>'});"
        " window.requestAnimationFrame = () => 0; window.Promise = null; document.title = 'Truth';",
        "rendered",
        None,
    ),
    "/last": ("document.title = 'Last';", "rendered", None),
}  # fmt: skip
"""{path: (script, result, note)}"""


def results(
    server: SiteServer, folder: Path, scripts: Mapping[str, tuple[str, str, str | None]], **limits: int
) -> Crawl:
    """Crawl pages with these scripts, and check their results."""
    markup = "<title>T</title><body><p>Text.<script>{}</script>"
    megabytes = Reply(b" " * 31 * 2**20, headers={"Content-Type": "text/plain"})
    pages = {path: page(markup.format(script)) for path, (script, *_) in scripts.items()}
    serve(server, pages, **{"/megabytes": megabytes})
    server.otherwise = Reply("")
    done = crawl(folder, settings=constants(LIMITS | limits), domain=server.url(), render=50)
    assert done.code == 0, done.log
    found = {path: (one["title"], one["result"], one.get("note")) for path, one in records(done).items()}
    assert found == {path: ("T", *expected) for path, (_, *expected) in scripts.items()}
    return done


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Crawl, SiteServer]]:
    with SiteServer() as server:
        yield results(server, tmp_path_factory.mktemp("hostile"), HOSTILE), server


def test_busy_page_is_given_up(tmp_path: Path) -> None:
    with SiteServer() as server:
        results(server, tmp_path, BUSY, **SHORT)


def test_limits_bound_what_a_page_makes_the_crawl_request(hostile: tuple[Crawl, SiteServer]) -> None:
    done, server = hostile
    found = records(done)
    paths = [one.path for one in server.exchanges]
    assert sum(path.startswith("/tick?") for path in paths) == REQUESTS == found["/requests"]["requests"]
    assert sum(path.startswith("/storm") for path in paths) <= REQUESTS + 1
    assert 10 <= found["/polling"]["requests"] <= 30
    assert not [path for path in paths if path.startswith("/window")][1:], "no pop-up is opened"
    assert (found["/large"]["failed"], found["/last"]["rendered_title"]) == (1, "Last")


def test_html_is_read_where_scripts_of_the_page_cannot_interfere(hostile: tuple[Crawl, SiteServer]) -> None:
    assert records(hostile[0])["/lying"]["rendered_title"] == "Truth"


# ---- which pages, and by whose rules


def text(path: str) -> Reply:
    return page(f"<title>{path}</title><p>{own_words(path)}")


def test_pages_that_are_none_are_replaced(tmp_path: Path) -> None:
    with SiteServer() as site:
        pages: dict[str, Route] = {f"/{folder}/page": text(folder) for folder in "abcd"}
        serve(site, pages | NONE)
        done = crawl(tmp_path, "-O", "rendered.csv", "-O", FEED, domain=site.url(), render="50%")
        assert records(done).keys() == pages.keys()
        rows = (tmp_path / "rendered.csv").read_text("utf-8").splitlines()
        assert (rows[0].split(",")[:4], len(rows)) == (["type", "url", "result", "note"], len(pages) + 1)


API = "Allow: /\nUser-agent: Googlebot\nDisallow: /api/"
"""Rules by which one crawler may not ask for what scripts do."""


def api_site(site: SiteServer, rules: str) -> None:
    script = "fetch('/api/data').then(answer => answer.text()).then(text => { document.title = text; }).catch(() => 0);"
    pages = {"/page": page(f"<title>HTML</title><p>Text.<script src=/js/app.js></script><script>{script}</script>")}
    files: dict[str, Route] = {
        "/api/data": Reply("Data"),
        "/js/app.js": Reply("window.app = 1", headers={"Content-Type": "text/javascript"}),
    }
    serve(site, pages, rules, **files)


@pytest.mark.parametrize(
    ("crawler", "denied", "allowed"),
    [
        (None, "Disallow: /api/", f"{API}\nDisallow: /js/"),
        ("Googlebot", API, "Allow: /\nUser-agent: Bingbot\nDisallow: /"),
    ],
    ids=["as we are", "as another crawler"],
)  # fmt: skip
def test_robots_txt_decides_on_what_scripts_request(
    tmp_path: Path, crawler: str | None, denied: str, allowed: str
) -> None:
    with SiteServer() as closed, SiteServer() as open_one:
        api_site(closed, denied)
        api_site(open_one, allowed)
        arguments = {"render_as": crawler.lower()} if crawler else {}
        done = crawl(tmp_path, domain=f"{closed.url()},{open_one.url()}", render=2, **arguments)
    found = {one["url"]: one for one in done.of_type("rendered")}
    first, second = found[closed.url("/page")], found[open_one.url("/page")]
    assert [(one["rendered_title"], one["failed"]) for one in (first, second)] == [
        ("HTML", 0 if crawler else 1),
        ("Data", 0),
    ]
    assert first.get("blocked") == ([closed.url("/api/data")] if crawler else None) and "blocked" not in second
    assert {one.get("crawler") for one in (first, second)} == {crawler}


@pytest.fixture(scope="module")
def crossing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Crawl, SiteServer, SiteServer]]:
    """A crawl of two pages whose scripts send data, and read answers of another origin: that one's server is the last."""
    with SiteServer() as site, SiteServer({"/robots.txt": ""}) as other:
        allowed = {"Access-Control-Allow-Origin": site.url()}
        site.otherwise = Reply("{}")
        other.routes |= {
            "/api": Reply("{}", headers=allowed),
            "/open": Reply("open", headers=allowed),
            "/closed": "closed",
        }
        send = "fetch('%s/api', {method: 'POST', body: '{\"query\": 1}'}).then(() => { document.title += '+'; }).catch(() => 0);"
        large = "fetch('/large', {method: 'POST', body: 'x'.repeat(1e5)}).catch(() => 0);"
        read = "fetch('%s').then(answer => answer.text()).then(text => { document.title += text; }).catch(() => 0);"
        scripts = {
            "/sends": f"{send % ''}{send % other.url()}{large}",
            "/reads": "".join(read % other.url(path) for path in ("/open", "/closed")),
        }
        serve(site, {path: page(f"<title>T</title><script>{script}</script>") for path, script in scripts.items()})
        yield crawl(tmp_path_factory.mktemp("crossing"), settings=LOOPBACK, domain=site.url(), render=2), site, other


def test_scripts_may_send_data_to_their_own_site_alone(crossing: tuple[Crawl, SiteServer, SiteServer]) -> None:
    done, site, other = crossing
    record = records(done)["/sends"]
    assert (record["rendered_title"], record["failed"]) == ("T+", 2)
    [sent] = [one for one in site.exchanges if one.method == "POST"]
    assert (sent.path, sent.headers["content-length"]) == ("/api", "12")
    assert "/api" not in other.paths


def test_answer_of_another_origin_is_for_those_that_it_names(crossing: tuple[Crawl, SiteServer, SiteServer]) -> None:
    done, site, other = crossing
    assert records(done)["/reads"]["rendered_title"] == "Topen"
    assert other.exchange("/open").headers["origin"] == site.url()


NOINDEX = "<title>T</title><script>document.head.innerHTML += '<meta name=robots content=noindex>'</script>"


def test_problem_is_solved_once_the_page_is_rendered_without_it(tmp_path: Path) -> None:
    with SiteServer() as site:
        serve(site, {"/page": page(NOINDEX)})
        crawl(tmp_path, settings={"JOBDIR": "first"}, domain=site.url(), render=1)
        serve(site, {"/page": page("<title>T</title>")})
        done = crawl(tmp_path, domain=site.url(), render=1, baseline="first")
    assert [one["change"] for one in done.of_type("change") if one.get("rule") == "render-noindex-set"] == [
        "solved problem"
    ]


# ---- the browser


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/nonexistent/chromium", "CHROME_PATH names no program: /nonexistent/chromium"),
        ("", "needs Chromium: install it"),
    ],
    ids=["named", "none"],
)
def test_without_a_browser_nothing_is_requested(
    monkeypatch: pytest.MonkeyPatch, refusal: Callable[..., str], path: str, message: str
) -> None:
    monkeypatch.setenv("CHROME_PATH", path)
    monkeypatch.setattr("sitemapcrawler.verification.browser.COMMANDS", ())
    monkeypatch.setattr("sitemapcrawler.verification.browser.FOLDERS", ())
    assert message in refusal("audit", "example.com", "-a", "render=5")


@pytest.mark.parametrize(
    ("script", "message"),
    [
        ("exit 7", "{path} ended with exitCode=7, signal=null"),
        ("echo 'FATAL: No usable sandbox!' >&2; kill -ABRT $$", "its sandbox needs user namespaces, which"),
    ],
    ids=["broken", "without user namespaces"],
)
def test_browser_that_does_not_start_is_one_line_and_the_crawl_is_incomplete(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, message: str
) -> None:
    path = tmp_path / "browser"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    with SiteServer() as site:
        serve(site, {"/page": text("/page")})
        monkeypatch.setenv("CHROME_PATH", str(path))
        done = crawl(tmp_path, domain=site.url(), render=1)
        assert (done.code, done.of_type("rendered")) == (3, [])
        assert f"pages could not be rendered: the browser does not start: {message.format(path=path)}" in done.log


def children(pid: int) -> set[int]:
    """All processes that a process has started, and theirs."""
    try:
        tasks = [path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children")]
    except OSError:
        return set()
    own = {int(word) for line in tasks for word in line.split()}
    return own.union(*map(children, own))


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def test_no_browser_is_left_and_the_next_run_renders_the_rest(tmp_path: Path) -> None:
    """After a kill; `test_fetch_as.py` stops a crawl in this phase."""
    with SiteServer() as site:
        titles = ["Title of one", "Title of another"]
        replies = [page(f"<title>{title}</title><p>{own_words(title)}") for title in titles]
        answer = in_turn(iter([*replies, page("<title>Slow</title><script src=/slow.js></script>")]))
        pages: dict[str, Route] = dict.fromkeys(("/a/first", "/b/second", "/c/third"), answer)
        serve(site, pages, **{"/slow.js": stalled()})
        settings = {"RETRY_TIMES": 0, "JOBDIR": "job", "SITEMAP_STOP_GRACE": 0.1}
        with launch(tmp_path, command(settings=settings, domain=site.url(), render=3)) as running:
            site.wait_for("/slow.js")
            last = [path for path in site.paths if path in pages][-1]
            log = tmp_path / "job" / "audit.duckdb.wal"
            running.wait_until(
                lambda: log.exists() and all(title.encode() in log.read_bytes() for title in titles)
            )  # committed
            started = children(running.process.pid)
            assert len(started) > 3
            running.process.kill()
            running.process.wait()
            until = time.monotonic() + SOON_S
            while left := list(filter(is_running, started)):
                assert time.monotonic() < until, left
                time.sleep(POLL_S)  # the processes of the browser end after the crawl
        site.settle()
        site.routes[last] = text(last)
        site.exchanges.clear()
        done = crawl(tmp_path, settings=settings, domain=site.url(), render=3)
        assert [path for path in site.paths if path in pages] == [last]
        assert records(done).keys() == pages.keys()


def test_without_the_argument_no_driver_is_imported_and_nothing_more_is_requested(tmp_path: Path) -> None:
    with SiteServer() as site:
        serve(site, {"/page": text("/page")})
        done = crawl(tmp_path, domain=site.url())
        assert site.paths == ["/sitemap.xml"]
        assert done.of_type("rendered") == [] and "rendered" not in done.summary
    code = "import sys, sitemapcrawler.pipelines.status; print([name for name in sys.modules if 'playwright' in name])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_login_is_sent_from_no_page_of_another_host(tmp_path: Path) -> None:
    with SiteServer() as site, SiteServer() as other:
        other.otherwise = Reply("data", headers={"Access-Control-Allow-Origin": "*"})
        serve(other, {})
        fetches = "".join(f"fetch('{one.url('/api')}').catch(() => 0);" for one in (site, other))
        serve(site, {"/page": page(f"<title>T</title><script>{fetches}</script>")}, **{"/api": Reply("data")})
        named = f"{site.url()},{other.url()}"
        crawl(tmp_path, settings={"SITEMAP_AUTH": "user:secret"}, domain=named, render=1)
        assert "authorization" in site.exchange("/api").headers
        assert "authorization" in other.exchange("/sitemap.xml").headers
        assert "authorization" not in other.exchange("/api").headers
