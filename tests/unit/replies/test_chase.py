"""Redirects, HEAD and GET, as a machine that is told answers. RFC 9110, 15.4 and 10.2.2; the Fetch standard."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.items import Hop
from sitemapcrawler.replies import MAX_REDIRECTS, Ask, Chase, Reason, ReplyKind, ReplyRecord
from sitemapcrawler.replies.chase import MAX_HEADER
from sitemapcrawler.replies.page import Content, Html, page_of, plain_headers, read_page
from tests.unit.rules.replying import made

URL = "https://e.com/dir/a"
HTML = {"content-type": ["text/html"]}


def to(location: str) -> dict[str, list[str]]:
    return {"location": [location]}


def ended(reply: Ask | ReplyRecord, kind: ReplyKind) -> ReplyRecord:
    assert isinstance(reply, ReplyRecord)
    assert (reply.kind, type(reply.kind)) == (kind, str)
    return reply


def begun(url: str = URL, head: bool = False) -> Chase:
    chase = Chase(url, head)
    assert chase.begin() == Ask(url, "HEAD" if head else "GET")
    return chase


def test_answer_200_is_ok_with_its_headers() -> None:
    headers = {
        "content-type": ["text/html"],
        "etag": ['"1"', '"2"'],
        "last-modified": ["Sun, 06 Nov 1994 08:49:37 GMT"],
    }
    assert begun().answered(200, headers, attempts=3, elapsed_ms=120) == made(ReplyKind.OK, final_status=200, final_url=URL, content_type="text/html", etag='"1"', last_modified="Sun, 06 Nov 1994 08:49:37 GMT",
        attempts=3, elapsed_ms=120,
    )  # fmt: skip


def test_long_headers_are_cut() -> None:
    long = {name: ["a" * 2 * MAX_HEADER] for name in ("content-type", "etag", "last-modified")}
    reply = ended(begun().answered(200, long), ReplyKind.OK)
    assert {len(value or "") for value in (reply.content_type, reply.etag, reply.last_modified)} == {MAX_HEADER}


@pytest.mark.parametrize("status", [201, 204, 206, 226])
def test_any_2xx_is_ok(status: int) -> None:
    ended(begun().answered(status, {}), ReplyKind.OK)


@pytest.mark.parametrize("status", [0, 100, 300, 304, 305, 306, 399, 404, 410, 429, 500, 503, 999])
def test_status_that_is_not_followed_is_an_http_error(status: int) -> None:
    reply = ended(begun().answered(status, to("/b")), ReplyKind.HTTP_ERROR)
    assert (reply.kind, reply.final_status, reply.final_url, reply.redirects) == (ReplyKind.HTTP_ERROR, status, URL, ())


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirect_is_followed(status: int) -> None:
    chase = begun()
    assert chase.answered(status, to("/b"), elapsed_ms=5) == Ask("https://e.com/b", "GET")
    reply = ended(chase.answered(200, {}, elapsed_ms=7), ReplyKind.REDIRECTED)
    assert (reply.final_url, reply.redirects) == ("https://e.com/b", (Hop(status, URL),))
    assert (reply.attempts, reply.elapsed_ms) == (2, 12)


LOCATIONS = {
    # RFC 9110, 10.2.2, and RFC 3986, 5.4
    "https://other.com/x": "https://other.com/x",
    "/b?c=d": "https://e.com/b?c=d",
    "b": "https://e.com/dir/b",
    "../b": "https://e.com/b",
    "?page=2": "https://e.com/dir/a?page=2",
    "//cdn.com/x": "https://cdn.com/x",
    "/b#part": "https://e.com/b#part",
    # browsers
    " \t/b ": "https://e.com/b",
    "/a b": "https://e.com/a%20b",
    "/a\tb": "https://e.com/ab",
    "\\\\other.com\\b": "https://other.com/b",
    "https:/other.com/b": "https://e.com/other.com/b",
    "HTTP://E.COM:80/b": "http://e.com/b",
    "https://bücher.example/ü": "https://xn--bcher-kva.example/%C3%BC",
    "https://例え.テスト/": "https://xn--r8jz45g.xn--zckzah/",
    "https://user:secret@e.com/b": "https://e.com/b",
    "/b?x=<y>": "https://e.com/b?x=%3Cy%3E",
    "/日本": "https://e.com/%E6%97%A5%E6%9C%AC",
}


@pytest.mark.parametrize(("location", "expected"), LOCATIONS.items())
def test_location_is_read_as_browsers_do(location: str, expected: str) -> None:
    assert begun().answered(302, to(location)) == Ask(expected, "GET")


def test_bytes_of_a_location_stay_what_they_are() -> None:
    latin = plain_headers([(b"Location", [b"/caf\xe9"])])
    assert begun().answered(302, latin) == Ask("https://e.com/caf%E9", "GET")
    assert begun().answered(302, plain_headers([(b"Location", ["/café".encode()])])) == Ask(
        "https://e.com/caf%C3%A9", "GET"
    )


@pytest.mark.parametrize(
    "headers",
    [
        {}, to(""), to("  "), to("http://"), to("https://[x"), to("http://e.com:99999/"), to("http://%zz/"),
        to("http://a!b.com/"), to("javascript:alert(1)"), to("file:///etc/passwd"), to("data:text/html,x"),
        to("ftp://e.com/"), to("mailto:a@e.com"), to("intent://x#Intent"),
    ],
)  # fmt: skip
def test_redirect_to_nowhere_is_an_http_error(headers: dict[str, list[str]]) -> None:
    reply = ended(begun().answered(301, headers), ReplyKind.HTTP_ERROR)
    assert (reply.final_status, reply.redirects) == (301, ())
    assert (reply.error or "").startswith("HTTP status 301: a redirect ")


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "ftp://e.com/", "", "/a", "http://"])
def test_listed_url_that_is_none_of_the_web_is_not_asked(url: str) -> None:
    reply = ended(Chase(url, head=True).begin(), ReplyKind.ADDRESS_REFUSED)
    assert (reply.final_url, reply.attempts, reply.elapsed_ms) == (url, None, None)


@pytest.mark.parametrize("location", [URL, "a", "#part", "https://E.com:443/dir/a#x", "https://u:p@e.com/dir/./a"])
def test_redirect_to_itself_is_a_loop(location: str) -> None:
    reply = ended(begun().answered(302, to(location)), ReplyKind.REDIRECT_LOOP)
    assert (reply.final_status, reply.final_url, reply.redirects) == (302, URL, (Hop(302, URL),))


@pytest.mark.parametrize("location", ["http://e.com/dir/a", "https://www.e.com/dir/a", "/dir/a/", "/dir/A", "/dir/a?"])
def test_redirect_to_another_spelling_is_no_loop(location: str) -> None:
    assert isinstance(begun().answered(301, to(location)), Ask)


def test_ten_redirects_are_followed_and_no_more() -> None:
    for location, kind, hops in (("", ReplyKind.REDIRECTED, 10), ("/more", ReplyKind.REDIRECT_LOOP, 11)):
        chase = begun()
        for number in range(MAX_REDIRECTS):
            assert chase.answered(302, to(f"/{number}")) == Ask(f"https://e.com/{number}", "GET")
        reply = ended(chase.answered(302 if location else 200, to(location)), kind)
        assert len(reply.redirects) == hops
        assert ("more than 10" in (reply.error or "")) is bool(location)


@pytest.mark.parametrize("status", [400, 403, 404, 405, 501])
def test_refused_head_is_asked_again_by_get_and_remembered(status: int) -> None:
    chase = begun(head=True)
    assert chase.answered(status, {}) == Ask(URL, "GET")
    reply = ended(chase.answered(200, {}), ReplyKind.OK)
    assert (reply.head_status, reply.attempts) == (status, 2)


@pytest.mark.parametrize("status", [401, 410, 429, 500, 503])
def test_other_status_to_head_stands(status: int) -> None:
    ended(begun(head=True).answered(status, {}), ReplyKind.HTTP_ERROR)


@pytest.mark.parametrize("kind", [ReplyKind.TIMEOUT, ReplyKind.RESET, ReplyKind.TRUNCATED])
def test_nothing_to_head_is_asked_again_by_get(kind: ReplyKind) -> None:
    chase = begun(head=True)
    assert chase.failed(kind, "nothing came", attempts=3) == Ask(URL, "GET")
    reply = ended(chase.answered(200, {}), ReplyKind.OK)
    assert (reply.head_status, reply.attempts) == (0, 4)


@pytest.mark.parametrize("kind", [ReplyKind.DNS, ReplyKind.TLS, ReplyKind.REFUSED])
def test_host_that_cannot_be_reached_is_not_asked_again(kind: ReplyKind) -> None:
    reply = begun(head=True).failed(kind, "no way", attempts=3)
    assert reply == made(kind, final_url=URL, error="no way", attempts=3)


Event = tuple[int, str] | ReplyKind
"""A status with a Location, or a failure."""
B = "https://e.com/b"
FIRST = (Hop(301, URL),)
COURSES: dict[str, tuple[bool, list[Event], list[Ask], ReplyRecord]] = {
    "an error behind a redirect": (
        False, [(301, "/b"), (404, "")], [Ask(B, "GET")],
        made(ReplyKind.HTTP_ERROR, final_status=404, final_url=B, error="HTTP status 404", redirects=FIRST, attempts=2),
    ),
    "a redirect to another scheme": (
        False, [(301, "/b"), (302, "ftp://u:secret@e.com/")], [Ask(B, "GET")],
        made(ReplyKind.HTTP_ERROR, final_status=302, final_url=B, redirects=FIRST, attempts=2,
            error="HTTP status 302: a redirect to ftp://***@e.com/, which is not http or https",
        ),
    ),
    "a failure behind a redirect": (
        False, [(301, "https://gone.com/"), ReplyKind.DNS], [Ask("https://gone.com/", "GET")],
        made(ReplyKind.DNS, final_url="https://gone.com/", error="why", redirects=FIRST, attempts=2),
    ),
    "a refused address behind a redirect": (
        False, [(301, "http://169.254.169.254/"), ReplyKind.ADDRESS_REFUSED], [Ask("http://169.254.169.254/", "GET")],
        made(ReplyKind.ADDRESS_REFUSED, final_url="http://169.254.169.254/", error="why", redirects=FIRST, attempts=1),
    ),
    "GET alone": (False, [(404, "")], [], made(ReplyKind.HTTP_ERROR, final_status=404, final_url=URL, error="HTTP status 404", attempts=1)),
    "HEAD and GET that agree": (
        True, [(404, ""), (404, "")], [Ask(URL, "GET")],
        made(ReplyKind.HTTP_ERROR, final_status=404, final_url=URL, error="HTTP status 404", attempts=2),
    ),
    "no answer to HEAD and none to GET": (
        True, [ReplyKind.TIMEOUT, ReplyKind.TIMEOUT], [Ask(URL, "GET")],
        made(ReplyKind.TIMEOUT, final_url=URL, error="why", attempts=2),
    ),
    "a failure of GET where HEAD was refused": (
        True, [(405, ""), ReplyKind.RESET], [Ask(URL, "GET")],
        made(ReplyKind.RESET, final_url=URL, error="why", head_status=405, attempts=2),
    ),
    "a redirect of GET where HEAD was refused goes on by GET": (
        True, [(403, ""), (301, "/b"), (200, "")], [Ask(URL, "GET"), Ask(B, "GET")],
        made(ReplyKind.REDIRECTED, final_status=200, final_url=B, redirects=FIRST, head_status=403, attempts=3),
    ),
    "a redirect of HEAD goes on by HEAD": (
        True, [(301, "/b"), (405, ""), (200, "")], [Ask(B, "HEAD"), Ask(B, "GET")],
        made(ReplyKind.REDIRECTED, final_status=200, final_url=B, redirects=FIRST, head_status=405, attempts=3),
    ),
}  # fmt: skip
"""Whether HEAD is tried, what comes, what is asked next, and what that comes to."""


def played(chase: Chase, events: Iterable[Event]) -> list[Ask | ReplyRecord]:
    """What a chase does after each event."""
    return [
        chase.failed(event, "why") if isinstance(event, ReplyKind) else chase.answered(event[0], to(event[1]))
        for event in events
    ]


@pytest.mark.parametrize(("head", "events", "asked", "reply"), COURSES.values(), ids=COURSES)
def test_course_of_a_chase(head: bool, events: list[Event], asked: list[Ask], reply: ReplyRecord) -> None:
    assert played(begun(head=head), events) == [*asked, reply]


def test_redirect_from_http_to_https_and_back_is_a_loop() -> None:
    asked, reply = played(begun("http://e.com/"), [(301, "https://e.com/"), (302, "http://e.com/#again")])
    assert asked == Ask("https://e.com/", "GET")
    reply = ended(reply, ReplyKind.REDIRECT_LOOP)
    assert [hop.status for hop in reply.redirects] == [301, 302]


@pytest.mark.parametrize("reason", list(Reason))
def test_what_is_left_out_keeps_its_hops(reason: Reason) -> None:
    chase = begun()
    chase.answered(302, to("/b"))
    assert chase.left_out(reason) == made(ReplyKind.UNCHECKED, reason=reason, redirects=(Hop(302, URL),), attempts=1)
    assert chase.failed(reason, "") == chase.left_out(reason)


@pytest.mark.parametrize("kind", [ReplyKind.TRUNCATED, ReplyKind.TOO_LARGE])
def test_body_that_is_not_whole(kind: ReplyKind) -> None:
    assert ended(begun().answered(200, HTML, cut=kind), kind).final_status == 200
    ended(begun().answered(500, HTML, cut=kind), ReplyKind.HTTP_ERROR)


def test_what_the_page_says_goes_into_the_reply() -> None:
    body = (
        b"<head><meta name=robots content=noindex><meta name=bingbot content=none><link rel=canonical href=/c></head>"
    )
    reply = ended(begun().answered(200, HTML, page=read_page(body, HTML, URL)), ReplyKind.OK)
    assert (reply.noindex, reply.noindex_agents, reply.canonical) == (True, ("bingbot",), "https://e.com/c")


def test_content_of_the_page_goes_into_the_reply() -> None:
    page = read_page(b"<title> Red\n shoes </title><h1>Shoes</h1>", HTML, URL)
    reply = ended(begun().answered(200, HTML, page=replace(page, content=Content(250, "1-0f", "0f"))), ReplyKind.OK)
    assert (reply.title, reply.h1) == ("Red shoes", "Shoes")
    assert (reply.words, reply.content_hash, reply.simhash) == (250, "1-0f", "0f")


def test_cut_page_without_title_leaves_title_and_content_null() -> None:
    page = read_page(b"<title></title><h1></h1>", HTML, URL, whole=False)
    reply = ended(begun().answered(200, HTML, page=page), ReplyKind.OK)
    assert (reply.title, reply.h1, reply.words, reply.content_hash, reply.simhash) == (None,) * 5


def test_only_a_page_that_was_read_may_be_indexed_if_it_says_nothing() -> None:
    denied = {"x-robots-tag": ["noindex"]}
    for page, noindex in (
        (read_page(b"<title>x</title>", HTML, URL), False),
        (page_of(Html(), HTML, URL), None),
        (page_of(Html(), denied, URL), True),
    ):
        assert ended(begun().answered(200, HTML, page=page), ReplyKind.OK).noindex is noindex


def answers() -> st.SearchStrategy[tuple[int, str]]:
    paths = st.sampled_from(["/a", "/b", "/c", "", "//x.com", "x:y", "?", "#", "http://e.com", "\\", "https://["])
    statuses = st.sampled_from([200, 301, 302, 303, 307, 308, 304, 403, 404, 405, 500]) | st.integers()
    return st.tuples(statuses, paths | st.text(max_size=30))


@given(
    st.text() | st.just(URL),
    st.booleans(),
    st.lists(answers() | st.sampled_from(list(ReplyKind)), min_size=30, max_size=30),
)
def test_every_chase_ends(url: str, head: bool, events: list[tuple[int, str] | ReplyKind]) -> None:
    chase = Chase(url, head)
    step = chase.begin()
    coming: Iterator[tuple[int, str] | ReplyKind] = iter(events)
    asked = []
    while isinstance(step, Ask):
        asked.append(step)
        event = next(coming)
        step = chase.failed(event, "x") if isinstance(event, ReplyKind) else chase.answered(event[0], to(event[1]))
    assert len(asked) == len(set(asked)) <= MAX_REDIRECTS + 2
    assert isinstance(step, ReplyRecord)
    assert len(step.redirects) <= MAX_REDIRECTS + 1
