"""Redirects are followed hop by hop, each asked once, and never to where a crawl must not go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crawl.documents import page, robots
from tests.crawl.site_server import Reply, Route, SiteServer, by_method, garbage, moved
from tests.crawl.verified import PATIENT, Verified, verifying

KINDS: dict[str, Route] = {f"/by-{status}": moved("/target", status) for status in (301, 308, 304)}
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
LOCATIONS = {"/dir/relative": "target#part", "/raw-letter": "/\u00fc", "/no-port": "http://127.0.0.1:99999/", "/to-ftp": "ftp://127.0.0.1/x",
             "/to-file": "file:///etc/passwd"}  # fmt: skip
"""{path: its Location}. `unit/replies/test_chase.py` has the others."""
ENDS: dict[str, tuple[str, int, int | None, str, list[tuple[int, str]]]] = {
    "/by-301": ("redirected", 301, 200, "/target", [(301, "/by-301")]),
    "/by-308": ("redirected", 308, 200, "/target", [(308, "/by-308")]),
    "/by-304": ("http-error", 304, 304, "/by-304", []),
    "/one": ("redirected", 301, 200, "/target", [(301, "/one"), (308, "/shared")]),
    "/two": ("redirected", 302, 200, "/target", [(302, "/two"), (308, "/shared")]),
    "/shared": ("redirected", 308, 200, "/target", [(308, "/shared")]),
    "/to-missing": ("http-error", 302, 404, "/missing", [(302, "/to-missing")]),
    "/to-itself": ("redirect-loop", 302, 302, "/to-itself", [(302, "/to-itself")]),
    "/loop-a": ("redirect-loop", 302, 302, "/loop-b", [(302, "/loop-a"), (302, "/loop-b")]),
    "/loop-b": ("redirect-loop", 302, 302, "/loop-a#fragment", [(302, "/loop-b"), (302, "/loop-a#fragment")]),
    "/dir/relative": ("redirected", 302, 200, "/dir/target#part", [(302, "/dir/relative")]),
    "/raw-letter": ("redirected", 302, 200, "/%C3%BC", [(302, "/raw-letter")]),
    **{path: ("http-error", 302, 302, path, []) for path in ("/no-port", "/to-ftp", "/to-file", "/no-location")},
    "/to-stranger": ("address-refused", 302, None, "STRANGER/secret", [(302, "/to-stranger")]),
    "/to-local-name": ("address-refused", 302, None, "LOCAL/secret", [(302, "/to-local-name")]),
}
"""{path: kind, first and last status, final URL, hops}."""


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
    odd = {path: raw(location) for path, location in LOCATIONS.items()}
    odd |= {"/no-location": Reply("", 302), "/to-stranger": moved(stranger.url("/secret"))}
    odd |= {"/to-local-name": moved(stranger.url("/secret").replace("127.0.0.1", "localhost"))}
    pages = {**KINDS, **CHAINS, **odd, "/last": page()}
    folder = tmp_path_factory.mktemp("redirects")
    with verifying(folder, pages, stranger.url("/"), hidden=HIDDEN, settings=PATIENT, verify="head") as found:
        yield found


@pytest.mark.parametrize("path", ENDS)
def test_redirect_is_followed_to_its_end(visit: Verified, stranger: SiteServer, path: str) -> None:
    reply = visit.reply(path)
    kind, status, final_status, final_url, hops = ENDS[path]
    local = stranger.url("").replace("127.0.0.1", "localhost")
    final_url = visit.url(final_url).replace("STRANGER", stranger.url("")).replace("LOCAL", local)
    assert (reply["kind"], reply["status"], reply.get("final_status"), reply["final_url"]) == (
        kind, status, final_status, final_url,
    )  # fmt: skip
    assert visit.hops(path) == [(status, visit.url(hop)) for status, hop in hops]
    if kind == "address-refused":
        assert "not public" in reply["error"]
    elif kind == "http-error" and status == final_status == 302:
        assert "redirect" in reply["error"]


def test_each_hop_is_asked_once(visit: Verified) -> None:
    asked = Counter((exchange.method, exchange.path) for exchange in visit.site.exchanges)
    assert {request for request, count in asked.items() if count > 1} == set()
    assert visit.asked("/shared") == visit.asked("/target") == ["HEAD"]


def test_get_after_a_refused_head_goes_on_by_get(visit: Verified) -> None:
    assert visit.asked("/head-refused") == ["HEAD", "GET"]
    assert visit.asked("/behind") == ["GET"]
    reply = visit.reply("/head-refused")
    assert (reply["kind"], reply["head_status"], reply["attempts"]) == ("redirected", 405, 3)


def test_redirect_to_another_scheme_is_an_error(visit: Verified) -> None:
    findings = [one for one in visit.crawl.of_type("finding") if one.get("url") == visit.url("/to-ftp")]
    [error] = [one for one in findings if one["rule"] == "status-redirect" and one["severity"] == "error"]
    assert error["message"].startswith("HTTP status 302: a redirect to ftp:")
    assert "security-scheme-refused" not in visit.crawl.summary["rules"]


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
