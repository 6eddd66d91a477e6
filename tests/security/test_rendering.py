"""Rendered pages whose scripts reach for what nobody named: the browser itself connects to nothing."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest

from tests.crawl.browsers import NEEDS_CHROMIUM
from tests.crawl.crawling import Crawl, start
from tests.crawl.documents import robots, urlset
from tests.crawl.site_server import Reply, SiteServer, moved
from tests.nameserver import NameServer, asking_it
from tests.namespace import add_address

pytestmark = [pytest.mark.slow, NEEDS_CHROMIUM]

PUBLIC, METADATA, PRIVATE, LOOPBACK = "93.184.216.34", "169.254.169.254", "10.0.0.1", "127.0.0.1"
NAMES = {
    "public.test": [[PUBLIC]],
    "home.test": [[LOOPBACK]],
    "metadata.test": [[METADATA]],
    "later.test": [[PUBLIC], [LOOPBACK]],
    **{f"{name}.test": [[PUBLIC]] for name in ("prefetch", "preconnect", "socket", "stun", "transport")},
}
SILENT = ("prefetch.test", "preconnect.test", "socket.test", "stun.test", "transport.test")
"""Names that only the browser could look up."""
AUTH = "user:secret"
ASKING = """
const port = %(port)s, found = [];
const note = (name, promise) => promise.then(answer => answer.text()).then(text => found.push(name + text)).catch(() => 0)
    .then(() => { document.title = found.sort().join(" ") || "nothing"; });
for (const host of %(hosts)s) {
    const url = `http://${host}:${port}`;
    note(host, fetch(url + "/fetch"));
    fetch(url + "/opaque", {mode: "no-cors"}).catch(() => 0);
    fetch(url + "/post", {method: "POST", mode: "no-cors", body: "x"}).catch(() => 0);
    fetch(url + "/keepalive", {keepalive: true, method: "POST", mode: "no-cors"}).catch(() => 0);
    const request = new XMLHttpRequest();
    request.open("GET", url + "/xhr");
    request.onerror = () => 0;
    request.send();
    import(url + "/module").catch(() => 0);
    navigator.sendBeacon(url + "/beacon", "x");
}
note("redirect", fetch("/go/loopback"));
note("file", fetch("file:///etc/passwd"));
note("login", fetch(`http://public.test:${port}/login`));
"""
MARKUP = """
for (const host of %(hosts)s) {
    const url = `http://${host}:%(port)s`;
    const add = (tag, attributes) => document.head.append(Object.assign(document.createElement(tag), attributes));
    for (const rel of ["stylesheet", "prefetch", "preload", "modulepreload", "prerender", "icon", "manifest", "preconnect"])
        add("link", {rel, href: url + "/" + rel, as: "script"});
    add("script", {src: url + "/script"});
    const html = `<img src="${url}/image"><iframe src="${url}/frame"></iframe><object data="${url}/object"></object>
        <embed src="${url}/embed"><video src="${url}/video"></video><audio src="${url}/audio"></audio>
        <svg><image href="${url}/svg"></image></svg><div style="background:url(${url}/css)">x</div>
        <iframe srcdoc="<img src=${url}/srcdoc><script>fetch('${url}/inner')<" + "/script>"></iframe>
        <iframe src="data:text/html,<img src=${url}/data>"></iframe>`;
    document.body.insertAdjacentHTML("beforeend", html);
    add("style", {textContent: `@import "${url}/import"; @font-face { font-family: x; src: url(${url}/font) } body { font-family: x }`});
    add("script", {type: "speculationrules", textContent: JSON.stringify({prefetch: [{urls: [url + "/speculation"]}]})});
    const frame = document.createElement("iframe");
    frame.src = URL.createObjectURL(new Blob([`<img src="${url}/blob">`], {type: "text/html"}));
    document.body.append(frame);
}
document.head.insertAdjacentHTML("beforeend", '<link rel="dns-prefetch" href="//prefetch.test"><link rel="preconnect" href="//preconnect.test">');
"""
CHANNELS = """
for (const host of %(hosts)s) {
    const place = `${host}:%(port)s`;
    const attempts = [
        () => new WebSocket(`ws://${place}/socket`),
        () => new WebSocket(`ws://socket.test:%(port)s/socket`),
        () => new EventSource(`http://${place}/events`),
        () => new WebTransport(`https://transport.test:%(port)s/transport`),
        () => navigator.serviceWorker.register("/worker.js"),
        () => new Worker("/worker.js"),
        () => new SharedWorker("/worker.js"),
        () => new Worker(URL.createObjectURL(new Blob([`fetch("http://${place}/worker"); new WebSocket("ws://${place}/ws")`]))),
        () => {
            const peer = new RTCPeerConnection({iceServers: [
                {urls: [`stun:${host}:%(udp)s`, "stun:stun.test:%(udp)s"]},
                {urls: [`turn:${host}:%(udp)s?transport=udp`, `turn:${place}?transport=tcp`], username: "u", credential: "c"},
            ]});
            peer.createDataChannel("x");
            peer.createOffer().then(offer => peer.setLocalDescription(offer));
        },
    ];
    for (const attempt of attempts) { try { const made = attempt(); made && made.catch && made.catch(() => 0); } catch { } }
}
"""
CLICKS = """
for (const host of %(hosts)s) {
    const place = `${host}:%(port)s`;
    window.open(`http://${place}/popup`);
    Object.assign(document.createElement("a"), {href: "/page", ping: `http://${place}/ping`, target: "_blank"}).click();
    document.body.insertAdjacentHTML("beforeend", `<form action="http://${place}/form" method=post target=_blank></form>`);
    document.forms[document.forms.length - 1].submit();
}
alert("stop"); confirm("stop"); print();
"""
LEAVING = {
    "/leave/location": 'location = "http://{host}:{port}/location";',
    "/leave/replace": 'setTimeout(() => location.replace("http://{host}:{port}/replace"), 100);',
    "/leave/refresh": "</script><meta http-equiv=refresh content='0;url=http://{host}:{port}/refresh'><script>",
    "/leave/loop": "location.reload();",
    "/leave/long": 'location = "http://user:secret@{host}:{port}/" + "x".repeat(1e6);',
    "/leave/download": 'Object.assign(document.createElement("a"), {{href: "http://{host}:{port}/x", download: "x"}}).click();',
}
MADE = {
    "/fetch",
    "/opaque",
    "/xhr",
    "/module",
    "/script",
    "/login",
    "/preload",
    "/modulepreload",
    "/worker",
    "/by-worker",
}
"""What a public server may be asked for: by the crawl."""


@dataclass
class Attacked:
    crawl: Crawl
    site: SiteServer
    public: SiteServer
    canaries: list[SiteServer]
    datagrams: list[socket.socket]
    names: NameServer

    def record(self, path: str) -> dict[str, Any]:
        [record] = [one for one in self.crawl.of_type("rendered") if one["url"] == self.site.url(path)]
        return record


def page(script: str) -> Reply:
    markup = f"<!doctype html><title>Page</title><h1>Page</h1><body><p>Words of a page.<script>{script}</script>"
    policy = "report-uri http://169.254.169.254/report; default-src * 'unsafe-inline' data: blob:"
    return Reply(markup, headers={"Content-Type": "text/html", "Content-Security-Policy-Report-Only": policy})


@pytest.fixture(scope="module")
def attacked(alone: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacked]:
    for number, address in enumerate((PUBLIC, METADATA, PRIVATE), 1):
        add_address(address, number)
    folder = tmp_path_factory.mktemp("rendering")
    with ExitStack() as stack:
        public = stack.enter_context(SiteServer(host=PUBLIC))
        port = public.server_address[1]
        canaries = [
            stack.enter_context(SiteServer(host=host, port=port)) for host in (LOOPBACK, METADATA, PRIVATE, "::1")
        ]
        datagrams = [stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) for _ in range(2)]
        datagrams[0].bind((LOOPBACK, 0))
        udp = datagrams[0].getsockname()[1]
        datagrams[1].bind((PUBLIC, udp))
        site = stack.enter_context(SiteServer(host="127.0.0.2"))
        names = stack.enter_context(NameServer(NAMES))
        hosts = json.dumps([LOOPBACK, METADATA, PRIVATE, "[::1]", "2130706433", "localhost", *list(NAMES)[:4]])
        told = {"hosts": hosts, "port": port, "udp": udp}
        pages = {
            "/asking": page(ASKING % told), "/markup": page(MARKUP % told), "/channels": page(CHANNELS % told),
            "/clicks": page(CLICKS % told),
            **{path: page(script.format(host=LOOPBACK, port=port)) for path, script in LEAVING.items()},
        }  # fmt: skip
        public.otherwise = Reply(
            "PUBLIC", headers={"Access-Control-Allow-Origin": "*", "Content-Type": "text/javascript"}
        )
        public.routes["/opaque"] = Reply("PUBLIC")
        site.routes = {
            "/robots.txt": robots(site.url("/sitemap.xml")),
            "/sitemap.xml": urlset(*map(site.url, pages)),
            "/go/loopback": moved(f"http://127.0.0.1:{port}/went"),
            "/worker.js": Reply(
                f"fetch('http://{PUBLIC}:{port}/by-worker')", headers={"Content-Type": "text/javascript"}
            ),
            **pages,
        }
        settings = {"RETRY_TIMES": 0, "DOWNLOAD_TIMEOUT": 10, "SITEMAP_MAX_ROBOTS": 50, "SITEMAP_AUTH": AUTH}
        crawl = start(folder, settings=settings, within=asking_it(folder), domain=site.url(), render=20).finish()
        yield Attacked(crawl, site, public, canaries, datagrams, names)


def test_nothing_inside_is_connected_to(attacked: Attacked) -> None:
    assert attacked.crawl.code == 0, attacked.crawl.log
    assert [canary.connections for canary in attacked.canaries] == [0, 0, 0, 0]


def test_no_datagram_leaves_the_browser(attacked: Attacked) -> None:
    for receiver in attacked.datagrams:
        receiver.setblocking(False)
        with pytest.raises(BlockingIOError):
            receiver.recv(1)


def test_the_browser_looks_up_no_name(attacked: Attacked) -> None:
    assert {name: attacked.names.asked[name] for name in SILENT} == dict.fromkeys(SILENT, 0)
    assert attacked.names.asked["public.test"] > 0


def test_a_public_server_hears_of_the_crawl_alone(attacked: Attacked) -> None:
    asked = {one.path for one in attacked.public.exchanges} - {"/robots.txt"}
    assert asked <= MADE
    assert asked >= {"/fetch", "/xhr", "/login"}
    assert {one.headers["user-agent"].partition("/")[0] for one in attacked.public.exchanges} == {"sitemapcrawler"}
    assert {one.method for one in attacked.public.exchanges} == {"GET"}


def test_page_reads_what_is_public_and_nothing_else(attacked: Attacked) -> None:
    told = attacked.record("/asking")["rendered_title"]
    assert "public.testPUBLIC" in told and "loginPUBLIC" in told
    assert [
        host for host in (LOOPBACK, METADATA, PRIVATE, "redirect", "file", "home.test", "metadata.test") if host in told
    ] == []


def test_login_stays_with_the_host_that_was_named(attacked: Attacked) -> None:
    assert all("authorization" in one.headers for one in attacked.site.exchanges)
    assert [one.path for one in attacked.public.exchanges if "authorization" in one.headers] == []


@pytest.mark.parametrize("path", ["/asking", "/markup", "/channels", "/clicks"])
def test_page_is_rendered_all_the_same(attacked: Attacked, path: str) -> None:
    assert (attacked.record(path)["result"], attacked.record(path)["h1"]) == ("rendered", "Page")


@pytest.mark.parametrize("path", LEAVING)
def test_page_that_leads_elsewhere_stays_where_it_is(attacked: Attacked, path: str) -> None:
    record = attacked.record(path)
    assert record["result"] == "redirected"
    assert record["note"].startswith("a script or refresh leads to 'http://")
    assert "secret" not in record["note"]
    assert len(record["note"]) < 500
    assert attacked.site.paths.count(path) == 1
