"""Redirects are followed hop by hop, each asked once, and never to where a crawl must not go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawl.documents import page, robots
from tests.crawl.site_server import Reply, Route, SiteServer, by_method, garbage, moved
from tests.crawl.verified import PATIENT, Verified, verifying

FOLLOWED = (301, 308)
NOT_FOLLOWED = (304,)
KINDS: dict[str, Route] = {f"/by-{status}": moved("/target", status) for status in (*FOLLOWED, *NOT_FOLLOWED)}
CHAINS: dict[str, Route] = {
    "/one": moved("/shared", 301),
    "/two": moved("/shared"),
    "/shared": moved("/target", 308),
    "/to-missing": moved("/missing"),
    "/to-itself": moved("/to-itself"),
    "/loop-a": moved("/loop-b"),
    "/loop-b": moved("/loop-a#fragment"),
    "/head-refused": by_method(Reply("", 405), moved("/behind")),
}
HIDDEN: dict[str, Route] = {
    "/target": page(),
    "/behind": page(),
    "/dir/target": page(),
    "/%C3%BC": page(),
}
LOCATIONS: dict[str, tuple[str, str]] = {
    "/dir/relative": ("target#part", "/dir/target"),
    "/raw-letter": ("/\u00fc", "/%C3%BC"),
}
"""Path: (its Location, where it leads). `unit/replies/test_chase.py` has the others, and those that lead nowhere."""
NOWHERE = {"/no-port": "http://127.0.0.1:99999/", "/to-ftp": "ftp://127.0.0.1/x", "/to-file": "file:///etc/passwd"}


def raw(location: str) -> Route:
    """A redirect whose Location is sent as it is, in UTF-8."""
    return garbage(f"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: {location}\r\n\r\n".encode())


@pytest.fixture(scope="module")
def stranger() -> Iterator[SiteServer]:
    """A server that nobody named."""
    with SiteServer() as server:
        server.otherwise = page()
        yield server


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory, stranger: SiteServer) -> Iterator[Verified]:
    odd = {path: raw(location) for path, (location, _) in LOCATIONS.items()}
    odd |= {path: raw(location) for path, location in NOWHERE.items()}
    odd |= {"/no-location": Reply("", 302), "/to-stranger": moved(stranger.url("/secret"))}
    odd |= {"/to-local-name": moved(stranger.url("/secret").replace("127.0.0.1", "localhost"))}
    pages = {**KINDS, **CHAINS, **odd, "/last": page()}
    folder = tmp_path_factory.mktemp("redirects")
    with verifying(folder, pages, stranger.url("/"), hidden=HIDDEN, settings=PATIENT, verify="head") as found:
        yield found


@pytest.mark.parametrize("status", FOLLOWED)
def test_redirect_is_followed(visit: Verified, status: int) -> None:
    path = f"/by-{status}"
    reply = visit.reply(path)
    assert (reply["kind"], reply["status"], reply["final_status"]) == ("redirected", status, 200)
    assert reply["final_url"] == visit.url("/target")
    assert visit.hops(path) == [(status, visit.url(path))]
    assert reply["attempts"] == 2


@pytest.mark.parametrize("status", NOT_FOLLOWED)
def test_other_3xx_leads_nowhere(visit: Verified, status: int) -> None:
    reply = visit.reply(f"/by-{status}")
    assert (reply["kind"], reply["status"]) == ("http-error", status)
    assert visit.hops(f"/by-{status}") == []


def test_each_hop_is_asked_once(visit: Verified) -> None:
    asked = Counter((exchange.method, exchange.path) for exchange in visit.site.exchanges)
    assert {request for request, count in asked.items() if count > 1} == set()
    assert visit.asked("/shared") == visit.asked("/target") == ["HEAD"]


def test_hops_are_told_in_order(visit: Verified) -> None:
    shared = (308, visit.url("/shared"))
    assert visit.hops("/one") == [(301, visit.url("/one")), shared]
    assert visit.hops("/two") == [(302, visit.url("/two")), shared]
    assert visit.hops("/shared") == [shared]


def test_redirect_to_an_error_is_an_error(visit: Verified) -> None:
    reply = visit.reply("/to-missing")
    assert (reply["kind"], reply["status"], reply["final_status"]) == ("http-error", 302, 404)
    assert reply["final_url"] == visit.url("/missing")


def test_loops_are_found(visit: Verified) -> None:
    for path, hops in {"/to-itself": 1, "/loop-a": 2, "/loop-b": 2}.items():
        assert (visit.reply(path)["kind"], len(visit.hops(path))) == ("redirect-loop", hops), path
        assert visit.hops(path)[0][1] == visit.url(path)


def test_get_after_a_refused_head_goes_on_by_get(visit: Verified) -> None:
    assert visit.asked("/head-refused") == ["HEAD", "GET"]
    assert visit.asked("/behind") == ["GET"]
    reply = visit.reply("/head-refused")
    assert (reply["kind"], reply["head_status"], reply["attempts"]) == ("redirected", 405, 3)


@pytest.mark.parametrize("path", LOCATIONS)
def test_location_is_read_as_browsers_do(visit: Verified, path: str) -> None:
    reply = visit.reply(path)
    assert reply["kind"] == "redirected", reply
    assert visit.asked(LOCATIONS[path][1])


@pytest.mark.parametrize("path", [*NOWHERE, "/no-location"])
def test_location_that_is_no_url_leads_nowhere(visit: Verified, path: str) -> None:
    reply = visit.reply(path)
    assert (reply["kind"], reply["status"]) == ("http-error", 302)
    assert "redirect" in reply["error"]


def test_redirect_to_another_scheme_is_an_error(visit: Verified) -> None:
    findings = [one for one in visit.crawl.of_type("finding") if one.get("url") == visit.url("/to-ftp")]
    [error] = [one for one in findings if one["rule"] == "status-redirect" and one["severity"] == "error"]
    assert error["message"].startswith("HTTP status 302: a redirect to ftp:")
    assert "security-scheme-refused" not in visit.crawl.summary["rules"]


@pytest.mark.parametrize("path", ["/to-stranger", "/to-local-name"])
def test_redirect_to_a_private_address_is_not_followed(visit: Verified, path: str) -> None:
    reply = visit.reply(path)
    assert reply["kind"] == "address-refused", reply
    assert "not public" in reply["error"]
    assert visit.hops(path) == [(302, visit.url(path))]


def test_no_connection_is_made_to_a_private_address(visit: Verified, stranger: SiteServer) -> None:
    assert visit.reply(stranger.url("/"))["kind"] == "address-refused"
    assert stranger.connections == 0


def test_crawl_goes_on(visit: Verified) -> None:
    assert visit.reply("/last")["kind"] == "ok"
    assert visit.crawl.code == 0
    assert "partial" not in visit.crawl.summary


def test_redirect_to_another_host_obeys_that_ones_robots(tmp_path: Path, stranger: SiteServer) -> None:
    stranger.routes = {"/robots.txt": robots(rules=["Disallow: /private"]), "/hop": moved("/private/too")}
    pages = {f"/{name}": moved(stranger.url(f"/{name}")) for name in ("open", "private", "hop")}
    settings = PATIENT | {"SITEMAP_ALLOW_NETWORKS": "127.0.0.0/8"}
    with verifying(tmp_path, pages, settings=settings, verify="head") as visit:
        assert visit.reply("/open")["kind"] == "redirected"
        assert visit.reply("/open")["final_url"] == stranger.url("/open")
        for path, hops in {"/private": 1, "/hop": 2}.items():
            reply = visit.reply(path)
            assert (reply["kind"], reply["reason"], len(reply["redirects"])) == ("unchecked", "blocked", hops)
            assert ("status" in reply, "final_status" in reply) == (True, False)
    assert sorted(stranger.paths) == ["/hop", "/open"]
