"""IPv6 addresses that nobody named, tried in a URL, and behind a name.

Every address of these is on this machine, and a server listens there: with its network allowed it answers, so what keeps
a request away is the guard and nothing else.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from tests.crawl.crawling import launch, start
from tests.crawl.documents import page, robots, urlset
from tests.crawl.downloading import Outcome, run
from tests.crawl.site_server import Reply, Route, SiteServer
from tests.nameserver import NameServer, asking_it
from tests.namespace import add_address
from tests.security.commands import program, spider

pytestmark = pytest.mark.slow

LISTENING = {
    "::1": "loopback",
    "::": "unspecified",
    "::ffff:127.0.0.1": "mapped loopback",
    "::ffff:10.0.0.1": "mapped private",
    "::ffff:169.254.169.254": "mapped metadata",
    "::10.0.0.1": "IPv4-compatible",
    "64:ff9b::7f00:1": "NAT64 of loopback",
    "64:ff9b::a9fe:a9fe": "NAT64 of metadata",
    "64:ff9b:1::a00:1": "local NAT64",
    "2002:7f00:1::1": "6to4 of loopback",
    "2002:a00:1::1": "6to4 of private",
    "2001:0:7f00:1:0:ffff:f7f7:f7f7": "Teredo of a loopback server",
    "2001:0:808:808:0:ffff:80ff:fffe": "Teredo of a loopback client",
    "fc00::1": "unique local",
    "fd12:3456:789a::1": "unique local",
    "fd00:ec2::254": "metadata of AWS",
    "fd20:ce::254": "metadata of Google",
    "fec0::1": "site-local",
    "100::1": "discard",
    "2001:2::1": "benchmarking",
    "2001:10::1": "reserved",
    "2001:db8::1": "documentation",
    "3fff::1": "documentation",
    "4000::1": "not handed out",
    "5f00::1": "segment routing",
}
"""{refused address: what it is}"""
WRITTEN = {
    "[0:0:0:0:0:0:0:1]": "::1",
    "[0000:0000:0000:0000:0000:0000:0000:0001]": "::1",
    "[::0.0.0.1]": "::1",
    "[0::0]": "::",
    "[::FFFF:7F00:1]": "::ffff:127.0.0.1",
    "[0:0:0:0:0:ffff:127.0.0.1]": "::ffff:127.0.0.1",
    "[::ffff:0a00:0001]": "::ffff:10.0.0.1",
    "[64:FF9B::127.0.0.1]": "64:ff9b::7f00:1",
    "[2002:7F00:0001:0:0::1]": "2002:7f00:1::1",
    "[FD00:0EC2::0254]": "fd00:ec2::254",
}
"""{another spelling in a URL: the address}"""
NOWHERE = ("[fe80::1]", "[febf::1]", "[ff02::1]", "[ff0e::1]", "[::ffff:224.0.0.1]")
"""Literals that nothing can listen on."""
SCOPED = ("[fe80::1%lo]", "[fe80::1%25lo]", "[::1%25lo]", "[::1%lo]", "[ff02::1%25lo]")
"""Literals that need not be hosts at all, once they are escaped."""
EVERYTHING = {"SITEMAP_ALLOW_NETWORKS": "::/0,0.0.0.0/0"}
PUBLIC, PUBLIC6, UNREACHABLE6, SILENT6 = (
    "93.184.216.34",
    "2606:2800:220:1::1",
    "2606:2800:220:1::2",
    "2606:2800:220:1::3",
)
SETTINGS = {"RETRY_TIMES": 0, "DOWNLOAD_TIMEOUT": 20}
ROUTES: dict[str, Route] = {"/": "here"}


@pytest.fixture(scope="module", autouse=True)
def canary(alone: None) -> Iterator[SiteServer]:
    """A server on all addresses of this machine, of both families, which has all of `LISTENING`."""
    for number, address in enumerate(["10.0.0.1", "169.254.169.254", PUBLIC]):
        add_address(address, number + 1)
    for address in (*LISTENING, PUBLIC6, SILENT6):
        if not address.startswith("::ffff:") and address not in ("::", "::1"):
            add_address(address, 0)
    with SiteServer(ROUTES, host="::") as server, SiteServer(ROUTES, host="0.0.0.0", port=server.port) as four:
        server.four = four  # type: ignore[attr-defined]  # counted with it
        yield server


def seen(canary: SiteServer) -> int:
    four: SiteServer = canary.four  # type: ignore[attr-defined]  # set by its fixture
    return canary.connections + four.connections


def urls_of(canary: SiteServer) -> dict[str, str]:
    hosts = [*(f"[{address}]" for address in LISTENING), *WRITTEN, *NOWHERE, *SCOPED, *names()]
    return {f"{scheme} {host}": canary.url("/", host, scheme) for host in hosts for scheme in ("http", "https")}


def names() -> dict[str, list[str]]:
    """A name for each address."""
    found = {f"{number}.test": [address] for number, address in enumerate(LISTENING)}
    return found | {
        "linklocal.test": ["fe80::1%lo"],
        "multicast.test": ["ff02::1"],
        "scoped.test": ["fe80::1%lo", "::1"],
    }


def ask(folder: Path, canary: SiteServer, addresses: dict[str, list[str]], **settings: object) -> Outcome:
    requests = {name: {"url": canary.url("/", name)} for name in addresses}
    return run(folder, requests=requests, names=addresses, settings=SETTINGS | settings)


def test_no_ipv6_address_is_connected_to_in_any_spelling(canary: SiteServer, tmp_path: Path) -> None:
    before = seen(canary)
    requests = {name: {"url": url} for name, url in urls_of(canary).items()}
    outcome = run(tmp_path, requests=requests, names=names(), settings=SETTINGS)
    failed = {name: result["error"] for name, result in outcome.items() if result["error"] != "AddressForbidden"}
    assert failed.keys() <= {f"{scheme} {host}" for host in SCOPED for scheme in ("http", "https")}
    assert seen(canary) == before


def test_each_of_them_is_reached_where_its_network_is_allowed(canary: SiteServer, tmp_path: Path) -> None:
    hosts = [*(f"[{address}]" for address in LISTENING), *WRITTEN]
    requests = {host: {"url": canary.url("/", host)} for host in hosts}
    asked = {name: addresses for name, addresses in names().items() if name[0].isdigit()}
    requests |= {name: {"url": canary.url("/", name)} for name in asked}
    outcome = run(tmp_path, requests=requests, names=asked, settings=SETTINGS | EVERYTHING)
    assert {name: result.get("status") for name, result in outcome.items()} == dict.fromkeys(requests, 200)


PAIRS = (
    (PUBLIC6, "::1"), (PUBLIC, "::1"), (PUBLIC6, "127.0.0.1"), (PUBLIC, "10.0.0.1"), (PUBLIC6, "fd12:3456:789a::1"),
    (PUBLIC, "::ffff:10.0.0.1"), (PUBLIC6, "64:ff9b::7f00:1"), (UNREACHABLE6, "127.0.0.1"),
)  # fmt: skip
"""Addresses of a name, of which the second is not public."""


def test_name_with_public_and_private_addresses_is_refused_in_either_order(canary: SiteServer, tmp_path: Path) -> None:
    before = seen(canary)
    mixed = {f"first{at}.test": list(pair) for at, pair in enumerate(PAIRS)}
    mixed |= {f"last{at}.test": list(reversed(pair)) for at, pair in enumerate(PAIRS)}
    requests = {name: {"url": canary.url("/", name)} for name in mixed}
    named = [(name, canary.port) for name in mixed if name.startswith("last")]
    outcome = run(tmp_path, requests=requests, names=mixed, named=named, settings=SETTINGS)
    assert {name: result["error"] for name, result in outcome.items()} == dict.fromkeys(mixed, "AddressForbidden")
    for at, (_, private) in enumerate(PAIRS):
        messages = [outcome[f"{name}{at}.test"]["message"] for name in ("first", "last")]
        assert all(f"is at {private}, which is not public" in message for message in messages)
        assert "in the arguments" not in messages[0]
    assert seen(canary) == before
    allowed = ask(tmp_path, canary, mixed, **EVERYTHING)
    assert {name: result.get("status") for name, result in allowed.items()} == dict.fromkeys(mixed, 200)


def test_public_addresses_of_both_families_are_read(canary: SiteServer, tmp_path: Path) -> None:
    both = {
        "six.test": [PUBLIC6],
        "four.test": [PUBLIC],
        "both.test": [PUBLIC6, PUBLIC],
        "nat64.test": ["64:ff9b::5db8:d822"],
    }
    add_address("64:ff9b::5db8:d822", 0)
    outcome = ask(tmp_path, canary, both)
    assert {name: result.get("status") for name, result in outcome.items()} == dict.fromkeys(both, 200)


def test_unreachable_ipv6_address_falls_back_to_ipv4(canary: SiteServer, tmp_path: Path) -> None:
    with ExitStack() as stack:
        full = stack.enter_context(socket.create_server((SILENT6, 0), family=socket.AF_INET6, backlog=0))
        port = full.getsockname()[1]
        server = stack.enter_context(SiteServer(ROUTES, host=PUBLIC, port=port))
        for _ in range(3):  # what the queue holds; the next one is not answered
            waiting = stack.enter_context(socket.socket(socket.AF_INET6))
            waiting.setblocking(False)
            with suppress(BlockingIOError):
                waiting.connect((SILENT6, port))
        outcome = ask(tmp_path, server, {"silent.test": [SILENT6, PUBLIC], "unreachable.test": [UNREACHABLE6, PUBLIC],
                                         "closed.test": [PUBLIC6, PUBLIC]})  # fmt: skip
    assert {name: result.get("status") for name, result in outcome.items()} == {
        "silent.test": 200, "unreachable.test": 200, "closed.test": 200
    }  # fmt: skip


def test_host_with_an_ipv6_address_only_is_read_by_every_command_and_in_any_project(tmp_path: Path) -> None:
    with SiteServer(host=PUBLIC6) as site, NameServer({"only.test": [[PUBLIC6]], "inside.test": [["fec0::1"]]}):
        host = f"only.test:{site.server_address[1]}"
        inside = f"http://inside.test:{site.server_address[1]}/x"
        site.routes = {
            "/robots.txt": robots(f"http://{host}/sitemap.xml"),
            "/sitemap.xml": urlset(f"http://{host}/page", inside),
            "/page": Reply(page(), headers={"Content-Type": "text/html"}),
        }
        arguments = {"domain": f"http://{host}", "verify": "get", "verify_offsite": "yes"}
        within = asking_it(tmp_path, patience=5)
        done = start(tmp_path, settings=SETTINGS, within=within, **arguments).finish()
        inspected, validated, crawled = [
            launch(tmp_path, [*within, *command]).finish()
            for command in (
                program("inspect", f"http://{host}/sitemap.xml", settings=SETTINGS),
                program("validate", f"http://{host}", settings=SETTINGS),
                spider(tmp_path, domain=f"http://{host}"),
            )
        ]
    assert (done.code, done.locs()) == (0, [f"http://{host}/page", inside])
    assert [record["reply"]["kind"] for record in done.of_type("url")] == ["ok", "address-refused"]
    assert inspected.code == 0
    assert "URLs        2" in inspected.output
    assert f"http://{host}/sitemap.xml" in validated.output
    assert f"GOT 'http://{host}/page'" in crawled.output
    assert f"FAILED '{inside}' " in crawled.output
    assert {exchange.headers["host"] for exchange in site.exchanges} == {host}
