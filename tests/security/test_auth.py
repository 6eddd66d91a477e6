"""SITEMAP_AUTH, headers and cookies of the user's own, and the password of a proxy: each goes where it is for."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.settings import Settings
from scrapy.utils.test import get_crawler

from sitemapcrawler.download.shared import Named
from sitemapcrawler.middlewares.credentials import CredentialsMiddleware, auth_of, import_environment
from sitemapcrawler.urls import Authority
from tests.crawl.crawling import LOOPBACK, Crawl, start
from tests.crawl.documents import index, page, robots, urlset
from tests.crawl.forks import environment
from tests.crawl.site_server import Exchange, Reply, SiteServer, moved

AUTH = "käthe:open:sesame"
SENT = "Basic " + b64encode(AUTH.encode()).decode()
PROXY = "proxy-user:proxy-pass"
PROXY_SENT = "Basic " + b64encode(PROXY.encode()).decode()
HEADERS = '{"Authorization": "Bearer own-token", "Cookie": "session=own-cookie"}'
SECRETS = ("sesame", "proxy-pass", SENT.split()[1], PROXY_SENT.split()[1])


@dataclass
class Visit:
    """A crawl of a site that wants a login, and that leads to another one everywhere."""

    crawl: Crawl
    site: SiteServer
    other: SiteServer

    def of(self, server: SiteServer, header: str) -> set[str | None]:
        """The values of a header that a server was sent."""
        return {one.headers.get(header) for one in server.exchanges}


def run(folder: Path, settings: Mapping[str, object], variables: Mapping[str, str], **arguments: str) -> Crawl:
    """A crawl with all that is logged."""
    chosen = LOOPBACK | {"RETRY_TIMES": 0, "JOBDIR": "job", "LOG_LEVEL": "DEBUG"} | settings
    within = ["env", *(f"{name}={value}" for name, value in variables.items())] if variables else []
    return start(folder, settings=chosen, within=within, **arguments).finish()


def logged_in(reply: Reply | bytes) -> object:
    """The answer to those who log in."""

    def route(exchange: Exchange) -> None:
        known = exchange.headers.get("authorization") == SENT
        answer = reply if isinstance(reply, Reply) else Reply(reply)
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        exchange.head(answer.status if known else 401, Content_Length=len(body), **answer.headers)
        if exchange.method != "HEAD":
            exchange.send(body)

    return route


def lead_away(site: SiteServer, other: SiteServer, to: Callable[[Any], Any]) -> None:
    """Have everything of a site lead to another one, and back; `to` says who gets an answer."""
    html, cookie = {"Content-Type": "text/html"}, {"Set-Cookie": "from=site; Path=/"}
    site.routes = {
        "/robots.txt": to(robots("/index.xml", "/away.xml", other.url("/named.xml"))),
        "/index.xml": to(index("/pages.xml", "/away.xml", other.url("/child.xml"))),
        "/away.xml": to(moved(other.url("/came.xml"))),
        "/pages.xml": to(Reply(urlset(*map(site.url, ("/page", "/go", "/back")), other.url("/far")), headers=cookie)),
        "/page": to(Reply(page(), headers=html | cookie)),
        "/go": to(moved(other.url("/went"))),
        "/back": to(moved(other.url("/return"))),
    }
    other.routes = {"/return": moved(site.url("/page")), "/came.xml": urlset(other.url("/x"))}
    other.otherwise = Reply(page(), headers=html)


@pytest.fixture(scope="module")
def login(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    with SiteServer() as site, SiteServer() as other:
        lead_away(site, other, logged_in)
        folder = tmp_path_factory.mktemp("login")
        settings = {"HTTPCACHE_ENABLED": 1, "HTTPCACHE_DIR": str(folder / "cache")}
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SITEMAP_AUTH", AUTH)
            done = run(folder, settings, {}, domain=site.url(), verify="get", verify_offsite="yes")
        yield Visit(done, site, other)


def test_named_authority_is_logged_in_to(login: Visit) -> None:
    assert login.of(login.site, "authorization") == {SENT}
    assert {"/index.xml", "/pages.xml", "/page", "/go"} <= set(login.site.paths)
    kinds = {record["loc"]: record["reply"]["kind"] for record in login.crawl.of_type("url")}
    assert kinds[login.site.url("/page")] == "ok"
    assert kinds[login.site.url("/back")] == "redirected"
    assert login.crawl.code == 0


def test_no_other_authority_hears_of_it(login: Visit) -> None:
    assert {"/child.xml", "/came.xml", "/named.xml", "/went", "/far", "/return"} <= set(login.other.paths)
    assert login.of(login.other, "authorization") == {None}


def test_login_is_written_nowhere(login: Visit) -> None:
    files = [path for path in login.crawl.folder.rglob("*") if path.is_file()]
    assert {"audit.duckdb", "log.txt", "request_headers"} <= {path.name for path in files}
    assert [path.name for path in files if has_secret(path.read_bytes())] == []


@pytest.fixture(scope="module")
def own(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    with SiteServer() as site, SiteServer(host="127.0.0.2") as other:
        lead_away(site, other, lambda reply: reply)
        settings = {"DEFAULT_REQUEST_HEADERS": HEADERS, "COOKIES_ENABLED": 1, "LOG_LEVEL": "INFO"}
        folder = tmp_path_factory.mktemp("own")
        done = run(folder, settings, {}, domain=site.url(), verify="get", verify_offsite="yes")
        yield Visit(done, site, other)


def test_headers_and_cookies_of_the_user_stay_with_the_named_host(own: Visit) -> None:
    assert own.of(own.site, "authorization") == {"Bearer own-token"}
    assert any("from=site" in (value or "") for value in own.of(own.site, "cookie"))
    assert {"/child.xml", "/came.xml", "/went", "/far", "/return"} <= set(own.other.paths)
    assert own.of(own.other, "authorization") == {None}
    assert own.of(own.other, "cookie") == {None}


@pytest.mark.slow
def test_proxy_alone_hears_its_password_and_is_asked_for_no_address_inside(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    hosts = ("127.0.0.1", "127.1", "2130706433", "127.0.0.1.", "localhost", "[::1]", "169.254.169.254", "10.0.0.1",
             "metadata.google.internal", "%31%32%37.0.0.1", "[::ffff:127.0.0.1]", "db.internal")  # fmt: skip
    with SiteServer() as proxy, SiteServer() as canary:
        port = canary.server_address[1]
        inside = [f"http://{host}:{port}/{number}" for number, host in enumerate(hosts)]
        site = "http://shop.example"
        proxy.routes = {
            f"{site}/robots.txt": robots(f"{site}/index.xml"),
            f"{site}/index.xml": index(*inside, f"{site}/pages.xml", f"{site}/go.xml"),
            f"{site}/pages.xml": urlset(f"{site}/page", f"{site}/go", *inside),
            f"{site}/go.xml": moved(inside[0]),
            f"{site}/go": moved(inside[1]),
            f"{site}/page": Reply(page(), headers={"Content-Type": "text/html"}),
        }
        folder = tmp_path_factory.mktemp("proxy")
        variables = {"http_proxy": f"http://{PROXY}@{proxy.place}", "SITEMAP_AUTH": AUTH}
        settings = {"SITEMAP_ALLOW_NETWORKS": "", "SITEMAP_MAX_ROBOTS": 50}
        done = run(folder, settings, variables, domain=site, verify="get", verify_offsite="yes")
        assert canary.connections == 0
        assert {one.headers.get("proxy-authorization") for one in proxy.exchanges} == {PROXY_SENT}
        assert {one.path.split("/")[2] for one in proxy.exchanges} == {"shop.example"}
        assert done.code == 0
        replies = {record["loc"]: record["reply"]["kind"] for record in done.of_type("url")}
        assert replies[f"{site}/page"] == "ok"
        assert {replies[url] for url in (*inside[:9], f"{site}/go")} == {"address-refused"}
        assert [path.name for path in folder.rglob("*") if path.is_file() and has_secret(path.read_bytes())] == []


def has_secret(data: bytes) -> bool:
    """True where one of the passwords stands in a file."""
    return any(secret.encode() in data for secret in SECRETS)


@pytest.mark.parametrize("value", ["s3cr3t", "u:s3cr3t\r\nX: y", "u:s3cr3t\0", "u:s3cr3t\ud800", "u:s3cr3t\x7f"])
def test_bad_login_is_refused_and_not_told(value: str) -> None:
    with pytest.raises(ValueError, match=r"^SITEMAP_AUTH: ") as refused:
        auth_of(get_crawler(settings_dict={"SITEMAP_AUTH": value}).settings)
    assert "s3cr3t" not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_bad_login_ends_the_command(refusal: Callable[..., str]) -> None:
    line = refusal("crawl", "sitemap", "-s", "SITEMAP_AUTH=s3cr3t", "-a", "domain=http://127.0.0.1:9")
    assert "SITEMAP_AUTH" in line and "s3cr3t" not in line


def test_fleet_hands_the_login_over(monkeypatch: pytest.MonkeyPatch) -> None:
    from sitemapcrawler.commands.fleet import passed
    from sitemapcrawler.fleet.crawling import CrawlJob
    from sitemapcrawler.fleet.task import FleetPlan

    settings = Settings()
    monkeypatch.setitem(os.environ, "SITEMAP_AUTH", AUTH)
    import_environment(settings)
    handed = passed(settings)
    assert handed["SITEMAP_AUTH"][0] == AUTH
    assert "sesame" not in repr(FleetPlan("out", {}, handed, 1.0, 0)) + repr(CrawlJob("e.com", {}, handed, "f", ()))


def test_request_that_is_sent_again_or_kept_has_no_login() -> None:
    crawler = get_crawler(Spider, {"SITEMAP_AUTH": AUTH})
    crawler.spider = Spider("a")
    Named.of(crawler).own.add(Authority("e.com", 443))
    middleware = CredentialsMiddleware.from_crawler(crawler)
    request = Request("https://E.com/")
    assert middleware.process_request(request) is None
    assert request.headers[b"Authorization"] == SENT.encode()
    location = b"https://u:p@e.com/x"
    response = Response(request.url, 302, {"Location": location})
    assert middleware.process_response(request, response).headers[b"Location"] == b"https://e.com/x"
    assert b"Authorization" not in request.headers
    other = Request("https://e.com:8443/", headers={"Authorization": SENT})
    middleware.process_request(other)
    assert b"Authorization" not in other.headers
    changed = middleware.process_request(Request("https://u:p@e.com/"))
    assert changed is not None
    assert changed.url == "https://e.com/"
    assert "SITEMAP_AUTH" not in environment()
