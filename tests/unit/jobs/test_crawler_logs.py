"""Access logs in the database of a job: formats, hostile lines, and what they say of crawlers and listed pages."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from sitemapcrawler.items import ComparedList, CrawlerFetches
from sitemapcrawler.jobs import coverage, crawler_logs
from sitemapcrawler.jobs.coverage import Lists
from sitemapcrawler.jobs.index_status import IndexStatuses
from sitemapcrawler.jobs.links import LinkScope
from sitemapcrawler.jobs.rewriting import rewrite
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.reader.lists import files_of
from sitemapcrawler.robots.addresses import read_ranges

HOME = "https://www.example.com/"
SITEMAP = f"{HOME}sitemap.xml"
GOOGLEBOT = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
OURS, FAKE = "66.249.66.1", "203.0.113.9"


def _raise(error: Exception) -> None:
    raise error


class Loaded:
    """A log, compared with a sitemap that lists these paths."""

    def __init__(
        self, store: Store, folder: Path, log: bytes | str, *paths: str, ranges: str = "", name: str = ""
    ) -> None:
        self.store = store
        data = log if isinstance(log, bytes) else log.encode()
        (folder / (name or "access.log")).write_bytes(data)
        store.execute("INSERT INTO sitemaps (sitemap) VALUES (?)", [SITEMAP])
        for line, path in enumerate(paths, 1):
            store.execute(
                "INSERT INTO urls (loc, sitemap, line, lastmod_at, blocked_for) VALUES (?, ?, ?, ?, ?)",
                [HOME + path, SITEMAP, line, "2026-05-02", ["GPTBot"] if path.startswith("private") else []],
            )
        if ranges:
            (folder / "googlebot.txt").write_text(ranges)
        known = read_ranges([str(folder / "googlebot.txt")] if ranges else [])
        self.lists = Lists(
            store, LinkScope([HOME], None, max_pages=0), [folder / "access.log*"], known, IndexStatuses(store)
        )  # type: ignore[arg-type]  # no robots.txt is asked
        [self.total] = self.lists.load()
        self.lists.compare([self.total], None)
        self.found: dict[str, CrawlerFetches] = self.lists.fetches()

    @property
    def compared(self) -> set[str]:
        """Paths of the pages that anybody got."""
        return {url.removeprefix(HOME) for (url,) in self.store.execute("SELECT url FROM compared")}


def line(
    path: str, agent: str = GOOGLEBOT, time: str = "01/May/2026:10:00:00 +0000", status: int = 200, ip: str = OURS
) -> str:
    """A line in the combined format."""
    return f'{ip} - - [{time}] "GET {path} HTTP/1.1" {status} 512 "-" "{agent}"\n'


def cloudflare(path: str, **fields: Any) -> str:
    made = {
        "ClientIP": OURS, "ClientRequestHost": "www.example.com", "ClientRequestMethod": "GET",
        "ClientRequestScheme": "https", "ClientRequestURI": path, "ClientRequestUserAgent": GOOGLEBOT,
        "EdgeResponseStatus": 200, "EdgeStartTimestamp": "2026-05-01T10:00:00Z",
    }  # fmt: skip
    return json.dumps(made | fields) + "\n"


def caddy(path: str, time: object = 1777629600.5, **request: Any) -> str:
    made = {"remote_ip": FAKE, "client_ip": OURS, "host": "www.example.com", "method": "GET", "uri": path}
    headers = {"User-Agent": [GOOGLEBOT]}
    return json.dumps({"ts": time, "request": made | {"headers": headers} | request, "status": 200}) + "\n"


def chosen(**fields: str) -> str:
    return json.dumps({"remote_addr": OURS, "status": "200", "http_user_agent": GOOGLEBOT} | fields) + "\n"


W3C = (
    "date", "time", "c-ip", "cs-method", "cs(Host)", "cs-uri-stem", "sc-status", "cs(User-Agent)", "cs-uri-query",
    "x-host-header", "cs-protocol",
)  # fmt: skip


def cloudfront(stem: str, query: str = "-") -> Sequence[str]:
    agent = GOOGLEBOT.replace(" ", "%20")
    return (
        "2026-05-01", "10:00:00", OURS, "GET", "d1.cloudfront.net", stem, "200", agent, query, "www.example.com",
        "https",
    )  # fmt: skip


FORMATS = {
    "combined": line("/a?b=1&c=2"),
    "ISO 8601": line("/a?b=1&c=2", time="2026-05-01T12:00:00+02:00"),
    "seconds": line("/a?b=1&c=2", time="1777629600.123"),
    "behind a proxy": line("/a?b=1&c=2", ip=FAKE).replace("\n", f' "{OURS}, {FAKE}"\n'),
    "behind no proxy": line("/a?b=1&c=2").replace("\n", ' "-"\n'),
    "proxies in front": line("/a?b=1&c=2", ip=f"{OURS}, {FAKE}"),
    "from a container": "2026-05-01T10:00:00.1Z stdout F " + line("/a?b=1&c=2"),
    "from syslog": "May  1 10:00:00 www nginx: " + line("/a?b=1&c=2"),
    "from a process": "May  1 10:00:00 www haproxy[14389]: " + line("/a?b=1&c=2"),
    "Docker": json.dumps({"log": line("/a?b=1&c=2"), "stream": "stdout", "time": "2026-05-01T10:00:01Z"}) + "\n",
    "Filebeat": json.dumps({"@timestamp": "2026-05-01T10:00:01Z", "message": line("/a?b=1&c=2").strip()}) + "\n",
    "in another zone": line("/a?b=1&c=2", time="01/May/2026:12:00:00 +0200"),
    "virtual host": "www.example.com:443 " + line("/a?b=1&c=2"),
    "absolute URL": line(f"{HOME}a?b=1&c=2"),
    "HTTP/3": line("/a?b=1&c=2").replace("HTTP/1.1", "HTTP/3.0"),
    "Cloudflare": cloudflare("/a?b=1&c=2"),
    "Cloudflare, seconds": cloudflare("/a?b=1&c=2", EdgeStartTimestamp=1777629600),
    "Cloudflare, nanoseconds": cloudflare("/a?b=1&c=2", EdgeStartTimestamp=1777629600 * 10**9),
    "Caddy": caddy("/a?b=1&c=2"),
    "Caddy, text": caddy("/a?b=1&c=2", "2026-05-01T12:00:00.5+02:00"),
    "Traefik": json.dumps(
        {
            "ClientAddr": f"{OURS}:4711",
            "ClientHost": OURS,
            "RequestHost": "www.example.com",
            "RequestMethod": "GET",
            "RequestPath": "/a?b=1&c=2",
            "RequestScheme": "https",
            "DownstreamStatus": 200,
            "OriginStatus": 200,
            "StartUTC": "2026-05-01T10:00:00.000000001Z",
            "request_User-Agent": GOOGLEBOT,
            "time": "2026-05-01T10:00:01Z",
        }
    )
    + "\n",
    "AWS Application Load Balancer": "h2 2026-05-01T10:00:00.356787Z app/www/cb87d24460bf11ec "
    f'{OURS}:62611 172.16.1.1:443 0.006 0.008 0.000 200 200 498 1485 "GET https://www.example.com:443/a?b=1&c=2 HTTP/2.0" '
    f'"{GOOGLEBOT}" ECDHE-RSA-AES128-GCM-SHA256 TLSv1.2 arn:aws:tg/1 "Root=1-58337281" "www.example.com" "arn:aws:acm" 1 '
    '2026-05-01T10:00:00.342000Z "forward" "-" "-" "172.16.1.1:443" "200" "-" "-"\n',
    "AWS classic load balancer": f"2026-05-01T10:00:00.198480Z ELB {OURS}:57383 - -1 -1 -1 200 0 0 0 "
    f'"GET https://www.example.com:443/a?b=1&c=2 HTTP/1.1" "{GOOGLEBOT}" - -\n',
    "Google Cloud": json.dumps(
        {
            "httpRequest": {
                "requestMethod": "GET",
                "requestUrl": f"{HOME}a?b=1&c=2",
                "status": 200,
                "userAgent": GOOGLEBOT,
                "remoteIp": OURS,
            },
            "timestamp": "2026-05-01T10:00:00.123456Z",
        }
    )
    + "\n",
    "Azure Front Door": json.dumps(
        {
            "time": "2026-05-01T10:00:00Z",
            "category": "FrontDoorAccessLog",
            "properties": {
                "httpMethod": "GET",
                "httpStatusCode": "200",
                "requestUri": "https://www.example.com:443/a?b=1&c=2",
                "userAgent": GOOGLEBOT,
                "clientIp": OURS,
            },
        }
    )
    + "\n",
    "Azure Application Gateway": json.dumps(
        {
            "timeStamp": "2026-05-01T10:00:00+00:00",
            "properties": {
                "clientIP": OURS,
                "httpMethod": "GET",
                "requestUri": "/a",
                "requestQuery": "b=1&c=2",
                "userAgent": GOOGLEBOT,
                "httpStatus": 200,
                "host": "10.0.0.4",
                "originalHost": "www.example.com",
            },
        }
    )
    + "\n",
    "Vercel": json.dumps(
        {
            "id": "1573817250283254651097202070",
            "source": "lambda",
            "timestamp": 1777629600283,
            "path": "/a",
            "proxy": {
                "timestamp": 1777629600172,
                "method": "GET",
                "host": "www.example.com",
                "path": "/a?b=1&c=2",
                "userAgent": [GOOGLEBOT],
                "statusCode": 200,
                "clientIp": OURS,
            },
        }
    )
    + "\n",
    "Akamai": json.dumps(
        {
            "UA": "Mozilla%2F5.0%20(compatible%3B%20Googlebot%2F2.1%3B%20+http:%2F%2Fwww.google.com%2Fbot.html)",
            "cliIP": OURS,
            "proto": "HTTPS",
            "queryStr": "b=1&c=2",
            "reqHost": "www.example.com",
            "reqMethod": "GET",
            "reqPath": "/a",
            "reqTimeSec": "1777629600.123",
            "statusCode": "200",
        }
    )
    + "\n",
    "Envoy": json.dumps(
        {
            "start_time": "2026-05-01T10:00:00.961Z",
            "method": "GET",
            "path": "/a?b=1&c=2",
            "authority": "www.example.com",
            "response_code": 200,
            "user_agent": GOOGLEBOT,
            "downstream_remote_address": f"{OURS}:0",
        }
    )
    + "\n",
    "nginx": chosen(time_local="01/May/2026:12:00:00 +0200", request="GET /a?b=1&c=2 HTTP/1.1"),
    "nginx behind a proxy": chosen(
        remote_addr=FAKE,
        http_x_forwarded_for=OURS,
        time_local="01/May/2026:12:00:00 +0200",
        request="GET /a?b=1&c=2 HTTP/1.1",
    ),
    "nginx, by part": chosen(time_iso8601="2026-05-01T10:00:00+00:00", request_method="GET", request_uri="/a?b=1&c=2"),
    "nginx, seconds": chosen(
        msec="1777629600.123", request="GET /a?b=1&c=2 HTTP/2.0", uri="/a", host="www.example.com"
    ),
    "Apache": chosen(time="[01/May/2026:10:00:00 +0000]", request="GET /a?b=1&c=2 HTTP/1.1"),
    "Fastly": json.dumps(
        {
            "timestamp": "2026-05-01T10:00:00+0000",
            "client_ip": OURS,
            "host": "www.example.com",
            "url": "/a?b=1&c=2",
            "request_method": "GET",
            "request_user_agent": GOOGLEBOT,
            "response_status": 200,
        }
    )
    + "\n",
    "CloudFront": "#Version: 1.0\n#Fields: " + " ".join(W3C) + "\n" + "\t".join(cloudfront("/a", "b=1&c=2")) + "\n",
    "IIS": "#Software: Microsoft Internet Information Services 10.0\n#Fields: date time s-ip cs-method cs-uri-stem "
    "cs-uri-query s-port cs-username c-ip cs(User-Agent) cs(Referer) sc-status sc-substatus sc-win32-status time-taken\n"
    f"2026-05-01 10:00:00 10.0.0.1 GET /a b=1&c=2 443 - {OURS} {GOOGLEBOT.replace(' ', '+')} - 200 0 0 15\n",
    "IIS behind a proxy": "#Fields: date time cs-method cs-uri-stem cs-uri-query c-ip cs(User-Agent) sc-status "
    f"X-Forwarded-For\n2026-05-01 10:00:00 GET /a b=1&c=2 {FAKE} {GOOGLEBOT.replace(' ', '+')} 200 {OURS},+{FAKE}\n",
    "CloudFront, JSON": json.dumps(dict(zip(W3C, cloudfront("/a", "b=1&c=2"), strict=True))) + "\n",
}


@pytest.mark.parametrize(
    ("name", "form"),
    [
        *((name, "plain") for name in FORMATS),
        *(("combined", form) for form in ("gzip", "crlf")),
        *((name, "crlf") for name in ("Cloudflare", "CloudFront", "IIS")),
    ],
)
def test_formats(tmp_path: Path, store: Store, name: str, form: str) -> None:
    text = FORMATS[name].replace("\n", "\r\n") if form == "crlf" else FORMATS[name]
    data = gzip.compress(text.encode()) if form == "gzip" else text.encode()
    loaded = Loaded(store, tmp_path, data, "a?b=1&c=2", "b", ranges="66.249.64.0/19")
    found = loaded.found["googlebot"]
    assert (found.verified, found.fetched, found.not_fetched, found.pretended) == (True, 1, 1, 0)
    assert found.last is not None
    assert found.last.startswith("2026-05-01T10:00:00")
    assert loaded.compared == {"a?b=1&c=2"}
    assert loaded.total.unread == loaded.total.offsite == 0


@pytest.mark.parametrize(
    ("others", "other", "compared", "unread"),
    [
        ("date time c-ip cs-method cs-uri-stem cs(User-Agent) sc-status", "{ip} GET /b {agent} 200", {"a", "b"}, 0),
        ("date time cs-method cs-uri-stem sc-status c-ip", "GET /b 200 {ip}", {"a", "b"}, 0),
        ("date time cs-method c-ip cs(User-Agent) sc-status", "GET {ip} {agent} 200", {"a"}, 1),
    ],
    ids=["in another order", "without user agents", "without URLs"],
)
def test_columns_that_change_in_a_log_of_iis(
    others: str, other: str, compared: set[str], unread: int, tmp_path: Path, store: Store
) -> None:
    agent = GOOGLEBOT.replace(" ", "+")
    names = "#Fields: date time cs-method cs-uri-stem cs-uri-query c-ip cs(User-Agent) sc-status\n"
    row = f"2026-05-01 10:00:00 GET /a - {OURS} {agent} 200\n"
    last = f"#Fields: {others}\n2026-05-01 11:00:00 {other.format(ip=OURS, agent=agent)}\n"
    loaded = Loaded(store, tmp_path, (names + row + names + row + last).encode(), "a", "b")
    assert (loaded.compared, loaded.total.rows, loaded.total.unread) == (compared, 3, unread)


HOSTILE: dict[str, tuple[bytes, str]] = {
    "quotes as Apache writes them": (b'GET /a\\"b HTTP/1.1', "a%22b"),
    "quotes as nginx writes them": (b"GET /a\\x22b HTTP/1.1", "a%22b"),
    "a backslash at the end": (b"GET /a\\\\ HTTP/1.1", "a%5C"),
    "an escaped letter": (b"GET /%61 HTTP/1.1", "a"),
    "UTF-8": ("GET /caf\u00e9 HTTP/1.1".encode(), "caf%C3%A9"),
    "no version": (b"GET /a", "a"),
    "two slashes": (b"GET //evil.example/a HTTP/1.1", "/evil.example/a"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_unusual_requests_are_of_the_page_that_they_name(tmp_path: Path, store: Store, name: str) -> None:
    request, path = HOSTILE[name]
    log = line("/other").encode() + line("/x").encode().replace(b"GET /x HTTP/1.1", request)
    found = Loaded(store, tmp_path, log, path).found["googlebot"]
    assert (found.requests, found.fetched) == (2, 1)


NO_REQUESTS: dict[str, bytes] = {
    "bytes that are no UTF-8": line("/a").encode().replace(b"/a", b"/a\xff\xfe"),
    "TLS on the wrong port": line("/a").encode().replace(b"GET /a HTTP/1.1", b"\\x16\\x03\\x01"),
    "a request with blanks": line("/a b c").encode(),
    "no status": line("/a").encode().replace(b" 200 ", b" - "),
    "a cut line": line("/a").encode()[:50],
    "NUL": b"\x00\x00\x00\n",
    "a huge URL": line("/a" + "x" * 100_000).encode(),
    "text": b"not a log\n",
    "a star": line("*").encode(),
}


@pytest.mark.parametrize("name", NO_REQUESTS)
def test_damaged_lines_are_counted_and_cost_no_other_line(tmp_path: Path, store: Store, name: str) -> None:
    good = line("/good").encode()
    loaded = Loaded(store, tmp_path, good + NO_REQUESTS[name].rstrip(b"\n") + b"\n" + good, "a", "good")
    found = loaded.found["googlebot"]
    assert (loaded.total.rows, loaded.total.unread, found.fetched, found.requests) == (3, 1, 1, 2)
    assert loaded.compared == {"good"}


@pytest.mark.parametrize("agent", ["", "-", "x" * 100_000, '\\"Googlebot-News\\"', "MyGooglebot/1", "curl/8"])
def test_other_user_agents_are_no_crawler_of_the_table(tmp_path: Path, store: Store, agent: str) -> None:
    loaded = Loaded(store, tmp_path, line("/a", agent), "a")
    assert loaded.found.keys() <= {"googlebot-news"}
    assert loaded.compared == {"a"}


def test_json_that_is_broken_or_of_another_kind_is_counted(tmp_path: Path, store: Store) -> None:
    log = cloudflare("/a") + '{"broken\n{"ClientRequestURI": 7}\n[]\n' + cloudflare("/b", EdgeStartTimestamp=-1)
    loaded = Loaded(store, tmp_path, log, "a", "b")
    assert (loaded.total.rows, loaded.total.unread, loaded.found["googlebot"].fetched) == (5, 3, 1)
    assert loaded.compared == {"a", "b"}  # a request without a time is one of nobody in particular


def test_messages_of_the_server_may_stand_before_its_requests(tmp_path: Path, store: Store) -> None:
    log = json.dumps({"level": "info", "ts": 1777629600.5, "msg": "serving initial configuration"}) + "\n"
    loaded = Loaded(store, tmp_path, "{broken\n" + log + caddy("/a"), "a")
    assert (loaded.total.format, loaded.total.unread, loaded.found["googlebot"].fetched) == ("Caddy log", 2, 1)


def test_requests_for_other_sites_are_left_out(tmp_path: Path, store: Store) -> None:
    log = cloudflare("/a") + cloudflare("/a", ClientRequestHost="shop.example")
    loaded = Loaded(store, tmp_path, log, "a")
    assert (loaded.total.offsite, loaded.found["googlebot"].requests) == (1, 1)


def test_visits_are_rows_of_the_list_and_the_others_are_left_out(tmp_path: Path, store: Store) -> None:
    log = (
        line("/a?gclid=1", "Mozilla/5.0") + line("/style.css?v=2") + line("/gone", status=404) + line("/a", status=304)
    )
    log += (
        line("/form").replace("GET", "POST") + f'{FAKE} - - [01/May/2026:10:00:00 +0000] "GET /common HTTP/1.0" 200 -\n'
    )
    loaded = Loaded(store, tmp_path, log, "a", "gone")
    assert loaded.compared == {"a", "common"}
    assert (loaded.total.rows, loaded.total.left_out, loaded.total.urls, loaded.total.listed) == (6, 3, 2, 1)
    assert store.execute("SELECT loc FROM uncompared") == []


def test_rotated_files_are_one_list(tmp_path: Path, store: Store) -> None:
    (tmp_path / "access.log.1.gz").write_bytes(gzip.compress(line("/b", time="30/Apr/2026:10:00:00 +0000").encode()))
    loaded = Loaded(store, tmp_path, line("/a"), "a", "b")
    total: ComparedList = loaded.total
    assert (total.name, total.rows, total.since, total.until) == (
        "access.log*", 2, "2026-04-30T10:00:00Z", "2026-05-01T10:00:00Z",
    )  # fmt: skip
    assert loaded.found["googlebot"].fetched == 2


def test_rotated_files_may_be_empty_or_have_no_request_of_a_page(tmp_path: Path, store: Store) -> None:
    (tmp_path / "access.log.1").write_bytes(b"")
    (tmp_path / "access.log.2.gz").write_bytes(gzip.compress(b""))
    (tmp_path / "access.log.3").write_text(line("/b").replace("GET /b HTTP/1.1", "-"))
    (tmp_path / "access.log.4").write_text(line("/b").replace("GET /b HTTP/1.1", r"\x16\x03\x01"))
    loaded = Loaded(store, tmp_path, line("/a"), "a")
    assert (loaded.total.rows, loaded.total.unread, loaded.found["googlebot"].fetched) == (3, 2, 1)


def test_a_file_that_is_cut_counts_up_to_there(tmp_path: Path, store: Store) -> None:
    lines = [line(f"/{at}") for at in range(20_000)]
    data = gzip.compress("".join(lines).encode())
    loaded = Loaded(store, tmp_path, data[: len(data) // 2], "0", "19999")
    assert loaded.found["googlebot"].fetched == 1
    assert 0 < loaded.total.rows < 20_000


def test_addresses_tell_a_crawler_from_others_under_its_name(tmp_path: Path, store: Store) -> None:
    log = line("/a") + line("/b", ip=FAKE) + line("/b", ip=FAKE) + line("/a", "GPTBot/1.2", ip=FAKE)
    found = Loaded(store, tmp_path, log, "a", "b", ranges="66.249.64.0/19").found
    assert (found["googlebot"].fetched, found["googlebot"].pretended, found["googlebot"].requests) == (1, 2, 1)
    assert (found["gptbot"].verified, found["gptbot"].fetched) == (None, 1)


def test_sums_by_crawler(tmp_path: Path, store: Store) -> None:
    may = [f"{day:02d}/May/2026:10:00:00 +0000" for day in range(10)]
    log = "".join([
        line("/a", time=may[1]), line("/a", time=may[4]), line("/b", time=may[8], status=404), line("/c", time=may[1]),
        line("/unlisted", time=may[9]), line("/robots.txt", time=may[2]), line("/sitemap.xml", time=may[3]),
        line("/private", "GPTBot/1.2", may[5]), line("/a?utm_source=x", "GPTBot/1.2", may[5]),
        line("/a", "bingbot/2.0", may[6], 500), line("/a", "bingbot/2.0", may[7], 200),
    ])  # fmt: skip
    loaded = Loaded(store, tmp_path, log, "a", "b", "c", "private")
    google = loaded.found["googlebot"]
    assert (google.requests, google.fetched, google.not_fetched, google.errors, google.denied) == (7, 3, 1, 1, 0)
    assert (google.last, google.robots, google.sitemaps) == ("2026-05-08T10:00:00Z", 1, 1)
    assert (google.robots_last, google.sitemaps_last) == ("2026-05-02T10:00:00Z", "2026-05-03T10:00:00Z")
    assert google.days == 4.0  # two for /a, six for /b; /c was not requested since
    assert (loaded.found["gptbot"].denied, loaded.found["gptbot"].fetched) == (1, 1)
    assert loaded.found["bingbot"].errors == 0  # the last answer counts
    files = store.execute("SELECT crawler, listed, fetched, errors, requests FROM fetched_files ORDER BY crawler")
    assert files == [("bingbot", 4, 1, 0, 0), ("googlebot", 4, 3, 1, 1), ("gptbot", 4, 1, 0, 0)]
    problems = store.execute("SELECT kind, crawler, loc, status FROM fetched_problems ORDER BY kind")
    assert problems == [("denied", "gptbot", f"{HOME}private", 200), ("error", "googlebot", f"{HOME}b", 404)]


def test_request_on_the_day_of_a_change_counts_only_after_it(tmp_path: Path, store: Store) -> None:
    store.execute(
        "INSERT INTO urls (loc, sitemap, line, lastmod_at) VALUES (?, ?, 1, '2026-05-01 15:00:00')",
        [f"{HOME}changed", SITEMAP],
    )
    log = line("/changed", time="01/May/2026:10:00:00 +0000") + line("/changed", time="11/May/2026:10:00:00 +0000")
    assert Loaded(store, tmp_path, log).found["googlebot"].days == 10


def test_robots_txt_that_cannot_be_read_denies_no_request(tmp_path: Path, store: Store) -> None:
    store.execute("INSERT INTO robots (robots, outcome) VALUES (?, 'unreachable')", [f"{HOME}robots.txt"])
    log = line("/private", "GPTBot/1.2") + line("/private/x", "GPTBot/1.2", status=404)
    loaded = Loaded(store, tmp_path, log, "private", "private/x")
    assert loaded.found["gptbot"].denied == 0
    assert store.execute("SELECT kind, loc FROM fetched_problems") == [("error", f"{HOME}private/x")]


def test_entries_have_the_last_request_of_each_crawler_the_latest_first(tmp_path: Path, store: Store) -> None:
    agents = {"bingbot/2.0": "2026-05-03T10:00:00Z", GOOGLEBOT: "2026-05-04T10:00:00Z", "GPTBot/1.2": "no time"}
    log = "".join(
        cloudflare("/a", ClientRequestUserAgent=agent, EdgeStartTimestamp=time) for agent, time in agents.items()
    )
    loaded = Loaded(store, tmp_path, log, "a", "b")
    with store.transaction():
        rewrite(store, [loaded.lists.fetched()])
    times = {"Googlebot": "2026-05-04T10:00:00Z", "Bingbot": "2026-05-03T10:00:00Z"}
    [(first, found), *rest] = store.execute("SELECT loc, fetched FROM urls ORDER BY rowid")
    assert (first, list(found.items())) == (f"{HOME}a", list(times.items()))
    assert rest == [(f"{HOME}b", None)]


def test_log_is_read_once_though_its_pages_need_more_memory(
    tmp_path: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    insert, short = store.insert_rows, [duckdb.OutOfMemoryException("failed to pin block")]
    monkeypatch.setattr(store, "insert_rows", lambda *rows: _raise(short.pop()) if short else insert(*rows))
    monkeypatch.setattr(store, "give_more_memory", lambda: True)
    monkeypatch.setattr(coverage, "files_of", lambda path: [read.append(path) or name for name in files_of(path)])
    assert Loaded(store, tmp_path, line("/a"), "a").total.listed == 1
    assert (len(read), short) == (1, [])


def test_lists_that_are_no_logs_say_nothing_of_crawlers(tmp_path: Path, store: Store) -> None:
    assert Loaded(store, tmp_path, f"url,views\n{HOME}a,1\n", "a").found == {}


def test_urls_for_which_duckdb_has_one_hash_are_told_apart(tmp_path: Path, store: Store) -> None:
    paths = ["shop/category-35/product-0000335.html", "shop/category-85/product-0000385.html"]
    [(alike,)] = store.execute("SELECT hash(?) = hash(?)", [f"/{path}" for path in paths])
    assert alike, "hash() tells them apart by now"
    loaded = Loaded(store, tmp_path, "".join(line(f"/{path}") for path in paths), *paths)
    assert loaded.found["googlebot"].fetched == 2
    assert loaded.compared == {*paths}


def test_of_several_answers_in_one_second_the_highest_status_is_the_last(tmp_path: Path, store: Store) -> None:
    log = line("/a", status=404) + line("/a", status=200)
    assert Loaded(store, tmp_path, log, "a").found["googlebot"].errors == 1


def test_lines_behind_many_comments_count(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crawler_logs, "AT_ONCE", 2)
    log = line("/a") + "# rotated\n\n" * 6 + line("/b")
    loaded = Loaded(store, tmp_path, log, "a", "b")
    assert (loaded.compared, loaded.total.rows, loaded.total.unread) == ({"a", "b"}, 2, 0)
