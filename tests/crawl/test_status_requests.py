"""With verify=head each URL is asked once, and by GET too where a server refuses HEAD."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.constants import constants
from tests.crawl.crawling import crawl
from tests.crawl.documents import index, page, urlset
from tests.crawl.site_server import Exchange, Reply, Route, SiteServer, by_method, reset, stalled
from tests.crawl.verified import PATIENT, SITEMAP, Verified, verifying

REFUSALS = (404, 405)
ONLY_GET: dict[str, Route] = {f"/no-head-{status}": by_method(Reply("", status), page()) for status in REFUSALS}
NEITHER: dict[str, Route] = {f"/neither-{status}": Reply("", status) for status in REFUSALS}
FINAL = (410, 500)
"""Statuses that HEAD is believed."""
HEAD_IS_ENOUGH: dict[str, Route] = {f"/final-{status}": by_method(Reply("", status), page()) for status in FINAL}
SILENT: dict[str, Route] = {"/head-reset": by_method(reset(), page()), "/head-stalled": by_method(stalled(), page())}
CUT_OFF = ("/head-reset", "/get-silent", "/neither-answers")
"""Connections that end before an answer: Twisted asks again by itself where they had served before (RFC 9110, 9.2.2)."""


def with_body(exchange: Exchange) -> None:
    """HEAD answered as if it were GET, against RFC 9110, 9.3.2."""
    body = b"HTTP/1.1 500 Poison\r\nContent-Length: 0\r\n\r\n" * 9
    exchange.head(Content_Length=len(body))
    exchange.send(body)


ODD: dict[str, Route] = {
    "/get-fails": by_method(page(), Reply("", 500)),
    "/get-differs": by_method(Reply("", 404), Reply("", 410)),
    "/get-silent": by_method(Reply("", 405), reset()),
    "/neither-answers": reset(),
    "/head-has-body": with_body,
    "/typed": Reply(
        b"%PDF",
        headers={
            "Content-Type": "application/pdf",
            "ETag": '"1"',
            "Last-Modified": "Mon, 01 Jan 2024 00:00:00 GMT",
            "X-Robots-Tag": "noindex, bingbot: noindex",
        },
    ),
    "/created": Reply("", 201),
    "/nothing": Reply(b"", 204),
    "/query?b=2&a=1": page(),
    "/%C3%A4%20b": page(),
}
PAGES = {"/": page(), **ONLY_GET, **NEITHER, **HEAD_IS_ENOUGH, **SILENT, **ODD, "/last": page()}


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Verified]:
    settings = PATIENT | {"DOWNLOAD_TIMEOUT": 5}
    with verifying(tmp_path_factory.mktemp("head"), PAGES, settings=settings, verify="head") as found:
        yield found


def test_each_url_is_asked_once(visit: Verified) -> None:
    asked = Counter((exchange.method, exchange.path) for exchange in visit.site.exchanges)
    assert {path for _, path in asked} == {*PAGES, "/robots.txt", SITEMAP}
    assert {path for (_, path), count in asked.items() if count > 1} <= set(CUT_OFF)


def test_page_that_answers_head_is_not_asked_by_get(visit: Verified) -> None:
    assert visit.asked("/") == ["HEAD"]
    reply = visit.reply("/")
    assert (reply["kind"], reply["status"], reply["final_url"]) == ("ok", 200, visit.url("/"))
    assert reply["attempts"] == 1
    assert not {"head_status", "redirects", "error", "reason", "noindex"} & reply.keys()


@pytest.mark.parametrize("status", REFUSALS)
def test_refused_head_is_followed_by_get(visit: Verified, status: int) -> None:
    path = f"/no-head-{status}"
    reply = visit.reply(path)
    assert visit.asked(path) == ["HEAD", "GET"]
    assert (reply["kind"], reply["status"], reply["head_status"], reply["attempts"]) == ("ok", 200, status, 2)


@pytest.mark.parametrize("status", REFUSALS)
def test_get_that_agrees_with_head_leaves_no_difference(visit: Verified, status: int) -> None:
    path = f"/neither-{status}"
    reply = visit.reply(path)
    assert visit.asked(path) == ["HEAD", "GET"]
    assert (reply["kind"], reply["status"], reply["attempts"]) == ("http-error", status, 2)
    assert "head_status" not in reply


@pytest.mark.parametrize("path", SILENT)
def test_head_without_an_answer_is_followed_by_get(visit: Verified, path: str) -> None:
    reply = visit.reply(path)
    assert list(dict.fromkeys(visit.asked(path))) == ["HEAD", "GET"]
    assert (reply["kind"], reply["status"], reply["head_status"]) == ("ok", 200, 0)


@pytest.mark.parametrize("status", FINAL)
def test_other_errors_are_believed(visit: Verified, status: int) -> None:
    path = f"/final-{status}"
    assert visit.asked(path) == ["HEAD"]
    assert (visit.reply(path)["kind"], visit.reply(path)["status"]) == ("http-error", status)
    assert str(status) in visit.reply(path)["error"]


def test_get_has_the_last_word(visit: Verified) -> None:
    differs = visit.reply("/get-differs")
    assert (differs["status"], differs["head_status"]) == (410, 404)
    silent = visit.reply("/get-silent")
    assert (silent["kind"], silent["head_status"]) == ("reset", 405)
    assert "status" not in silent
    neither = visit.reply("/neither-answers")
    assert (neither["kind"], neither["attempts"], neither.get("head_status")) == ("reset", 2, None)
    assert visit.asked("/get-fails") == ["HEAD"]


def test_body_sent_to_head_is_no_answer_to_another_request(visit: Verified) -> None:
    assert visit.reply("/head-has-body")["status"] == 200
    assert {visit.reply(path)["kind"] for path in ("/typed", "/created", "/nothing", "/last")} == {"ok"}


def test_headers_are_told(visit: Verified) -> None:
    reply = visit.reply("/typed")
    assert reply["content_type"] == "application/pdf"
    assert reply["etag"] == '"1"'
    assert reply["last_modified"] == "Mon, 01 Jan 2024 00:00:00 GMT"
    assert (reply["noindex"], reply["noindex_agents"]) == (True, ["bingbot"])


def test_answer_without_content_is_no_page(visit: Verified) -> None:
    assert visit.reply("/nothing")["soft_404"] == "an answer without content"


def test_counts_of_the_crawl(visit: Verified) -> None:
    by_kind = Counter(record["reply"]["kind"] for record in visit.crawl.of_type("url"))
    assert visit.crawl.summary["replies"] == dict(by_kind)
    assert visit.crawl.sitemaps[visit.url(SITEMAP)]["replies"] == dict(by_kind)
    bad = visit.crawl.summary["bad"]
    good = by_kind["ok"] - 1  # a soft 404
    assert (bad["checked"], bad["bad"], bad["population"]) == (len(PAGES), len(PAGES) - good, len(PAGES))
    assert bad["low"] == bad["share"] == bad["high"]
    assert visit.crawl.code == 0


# ---- the same URL again


class Together:
    """Answers when several requests are there, so that the first one listed is the last one answered."""

    def __init__(self, parties: int) -> None:
        self._there = threading.Barrier(parties)
        self._others = threading.Semaphore(0)

    def last(self, exchange: Exchange) -> None:
        """Answer after all others."""
        self._there.wait(30)
        for _ in range(self._there.parties - 1):
            assert self._others.acquire(timeout=30)
        exchange.head(Content_Length=0)

    def other(self, exchange: Exchange) -> None:
        """Answer when all are there."""
        self._there.wait(30)
        exchange.head(Content_Length=0)
        self._others.release()


def test_url_is_asked_once_however_often_it_is_listed(site: SiteServer, tmp_path: Path) -> None:
    paths = ["/a", "/b", "/c", "/a", "/d", "/A", "/a?q", "/moved", "/a"]
    site.routes = {**dict.fromkeys(paths, page()), "/moved": Reply("", 301, {"Location": "/b"})}
    locs = [*map(site.url, paths), f"{site.url('/a')}#part", site.url("/c").replace("http:", "HTTP:")]
    locs.append(site.url("/a").replace("//", "//user:secret@"))
    site.routes |= {"/1.xml": urlset(*locs), "/2.xml": urlset(*reversed(locs)), "/index.xml": index("/1.xml", "/2.xml")}
    done = crawl(tmp_path, settings=PATIENT, sitemap=site.url("/index.xml"), verify="head")
    asked = Counter(path for path in site.paths if not path.endswith(".xml"))
    assert asked == dict.fromkeys(["/a", "/b", "/c", "/d", "/A", "/a?q", "/moved"], 1)
    replies = {record["loc"]: record["reply"] for record in done.of_type("url")}
    assert all(record["reply"] == replies[record["loc"]] for record in done.of_type("url"))
    assert len(done.of_type("url")) == 2 * len(locs)
    assert replies[f"{site.url('/a')}#part"]["elapsed_ms"] == replies[site.url("/a")]["elapsed_ms"]
    assert replies[site.url("/moved")]["final_url"] == site.url("/b")
    assert done.summary["bad"]["checked"] == len(asked)


def test_records_stay_in_document_order(site: SiteServer, tmp_path: Path) -> None:
    batches = [[f"/{batch}/{number}" for number in range(4)] for batch in range(3)]
    for batch in batches:
        answers = Together(len(batch))
        site.routes |= dict.fromkeys(batch, answers.other) | {batch[0]: answers.last}
    paths = [path for batch in batches for path in batch]
    site.routes[SITEMAP] = urlset(*map(site.url, paths))
    settings = PATIENT | constants({"crawl.reading.BATCH_SIZE": 4})
    done = crawl(tmp_path, settings=settings, sitemap=site.url(SITEMAP), verify="head")
    assert done.locs() == list(map(site.url, paths))
    assert done.summary["replies"] == {"ok": 12}
