"""What servers answer in place of a robots.txt, and what is written to hurt: a defined verdict, bounded time and memory."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.robots import BatchVerdicts, Content, Policy, parse_agents
from sitemapcrawler.robots.text import MAX_BYTES, MAX_SITEMAP_BYTES

from .saying import ROBOTS, at, decided, policy

RULES = "User-agent: *\nDisallow: /a\nAllow: /a/b\nSitemap: https://example.com/s.xml\n"
PAGE = "<!DOCTYPE html>\n<html><body>\n<p>Disallow: /</p>\nSitemap: https://example.com/s.xml\n</body></html>\n"
AGENTS = parse_agents("search,ai")


@pytest.mark.parametrize(
    ("body", "content"),
    [
        *((body, Content.EMPTY) for body in (b"", b" \r\n\t\n", b"\xef\xbb\xbf")),
        *((body, Content.MARKUP) for body in (PAGE.encode(), PAGE.encode("utf-16"), b"\xef\xbb\xbf\n  <html>")),
        (b'<?xml version="1.0"?><urlset/>', Content.MARKUP),
        *((body, Content.JSON) for body in (b'{"error": "not found"}', b'[{"a": 1}]', b"{}")),
        *((body, Content.BINARY) for body in (gzip.compress(RULES.encode() * 50), bytes(range(256)) * 8, b"\0" * 4096)),
        *((text.encode(), Content.TEXT) for text in (RULES, "User-agent: *\nDisallow: /a<b>\n", "Not found")),
        (b"[robots]\nUser-agent: *\n", Content.TEXT),
        ("# \u0432\u0441\u0435\u043c\n".encode("cp1251") * 50, Content.TEXT),
    ],
)
def test_content_is_recognised_and_denies_nothing_by_itself(body: bytes, content: Content) -> None:
    robots = policy(body)
    assert robots.facts.content is content
    assert robots.allows(at("/"), "foobot")


def test_parseable_rules_in_a_page_are_followed_as_the_rfc_has_it() -> None:
    assert not policy("<pre>\nUser-agent: *\nDisallow: /a\n</pre>\n").allows(at("/a"), "foobot")


@pytest.mark.parametrize(
    ("encoding", "name", "bom"),
    [
        ("utf-8", "utf-8", False),
        ("utf-8-sig", "utf-8", True),
        ("utf-16", "utf-16-le", True),
        ("utf-16-le", "utf-16-le", False),
        ("utf-16-be", "utf-16-be", False),
    ],
)
def test_encodings_are_told_apart(encoding: str, name: str, bom: bool) -> None:
    robots = policy((RULES + "Disallow: /\u30c4\n").encode(encoding))
    assert (robots.facts.encoding, robots.facts.bom, robots.facts.not_utf8) == (name, bom, None)
    assert decided(robots, "/a/c") == (False, 2)
    assert decided(robots, "/a/b") == (True, 3)
    assert decided(robots, "/\u30c4") == (False, 5)
    assert robots.names("https://example.com/s.xml")


def test_bytes_that_are_no_utf8_are_themselves_and_their_line_is_known() -> None:
    robots = policy(b"User-agent: *\nDisallow: /caf\xe9\nSitemap: https://example.com/\xe9.xml\n\xe9\xe8: \xea\n")
    assert robots.facts.not_utf8 == 2
    assert not robots.allows(at("/caf%E9"), "foobot")
    assert robots.allows(at("/caf\xe9"), "foobot")
    assert robots.sitemaps[0].url == "https://example.com/%E9.xml"
    assert robots.notes[0].text == "%E9%E8: %EA"


@pytest.mark.parametrize(
    "text",
    ["\0User-agent: *\0\nDisallow:\0/a\0\n", "\u00a0User-agent\t:\u00a0*\u00a0\n \t Disallow\u00a0: /a\v\f\n"],
    ids=["nulls", "blanks of all kinds"],
)
def test_nulls_and_blanks_around_names_and_values(text: str) -> None:
    assert decided(policy(text), "/a") == (False, 2)


def test_size_may_be_known_without_the_rest_of_the_body() -> None:
    robots = Policy.from_response(ROBOTS, 200, b"User-agent: *\nDisallow: /a\nDisallow: /b", size=50_000_000)
    assert robots.facts.size == 50_000_000
    assert robots.facts.too_large
    assert robots.facts.cut_at == 3
    assert [robots.allows(at(path), "foobot") for path in ("/a", "/b")] == [False, True]


def test_file_of_one_endless_line_says_nothing() -> None:
    robots = policy(b"User-agent: *\nDisallow: /" + b"a" * 3_000_000)
    assert robots.allows(at("/aaa"), "foobot")
    assert robots.facts.cut_at == 2


@pytest.mark.slow
def test_fifty_megabytes_take_the_memory_of_the_limit() -> None:
    body = b"User-agent: *\nDisallow: /a\nNo: line\n" * 1_500_000
    tracemalloc.start()
    robots = policy(body)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert robots.facts.size == len(body)
    assert robots.facts.cut_at is not None
    assert not robots.allows(at("/a"), "foobot")
    assert peak < 40 * MAX_SITEMAP_BYTES


def lines_of(size: int, line: Iterator[str]) -> str:
    made, length = [], 0
    while length < size:
        made.append(next(line))
        length += len(made[-1])
    return "".join(made[:-1])


HOSTILE = {
    "100,000 rules": "User-agent: *\n" + "Allow:/\n" * 10_000 + "Disallow:\n" * 40_000,
    "prefixes": "User-agent: *\n" + lines_of(MAX_BYTES, (f"Disallow:/{number:x}\n" for number in range(10**6))),
    "nested prefixes": "User-agent: *\n" + "".join(f"Disallow:/{'a' * number}\n" for number in range(1, 990)),
    "wildcards": "User-agent: *\n"
    + lines_of(MAX_BYTES // 3, (f"Disallow:/*{number:x}*b\n" for number in range(10**6))),
    "stars": "User-agent: *\n" + f"Disallow: /{'*a' * 8_000}b\n" * 25,
    "stars at the end": "User-agent: *\n" + f"Disallow: /a{'*' * 16_000}b\n" * 25,
    "escaped delimiters": "User-agent: *\n" + f"Disallow: /{'*%2F' * 150}\n" * 150,
    "agents": "".join(f"User-agent:{number:x}\n" for number in range(7_000)) + "Disallow:/a\n" * 5_000,
    "agents again and again": "User-agent: *\nUser-agent: *\nAllow: /\n" * 4_000,
    "groups": "".join(f"User-agent:{number:x}\nDisallow:/\n" for number in range(5_000)),
    "groups that overlap": "".join(f"User-agent:{number:x}\n" for number in range(3_000))
    + "Disallow:/a\n" * 5_000
    + "".join(f"User-agent:{number:x}\nDisallow:/\n" for number in range(2_000)),
    "sitemaps": "Sitemap:/a\n" * 15_000,
    "blanks": "User-agent: *\nDisallow:" + " " * 400_000 + "/a\n",
    "colons": ":" * 400_000 + "\n" + "a" * 16_000 + " b" * 200_000,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_is_read_and_judged(name: str) -> None:
    robots = policy(HOSTILE[name])
    assert robots.facts.content is Content.TEXT
    assert len(robots.denying_groups()) <= len(robots.groups)
    batch = [at(f"/aaa/{number}/b") for number in range(5)] + [at("/" + "a" * 2_000), at("/" + "*a%2F" * 100)]
    judge = BatchVerdicts(robots, AGENTS[:2])
    assert judge.judge(batch) == [
        tuple(each.name for each in judge.agents if not robots.allows(url, each)) for url in batch
    ]


@pytest.mark.slow
def test_judging_a_hostile_file_does_not_compare_each_url_with_each_rule() -> None:
    judge = BatchVerdicts(policy(HOSTILE["prefixes"]), AGENTS)
    assert judge.judge([at(f"/zz/{number}") for number in range(5_000)]) == [()] * 5_000


PIECES = (
    "User-agent: *", "Disallow: /", "Sitemap: x", ":", " ", "\0", "#", "\r", "\n", "\ufeff", "\xe9", "Crawl-delay: 1",
)  # fmt: skip
written = st.lists(st.sampled_from(PIECES)).map("".join)
encoded = st.builds(lambda text, encoding: text.encode(encoding, "replace"), written, st.sampled_from(("utf-8", "utf-16", "latin-1")))  # fmt: skip


@given(st.binary(max_size=300) | encoded, st.text(max_size=20))
def test_no_bytes_raise(body: bytes, rest: str) -> None:
    robots = policy(body)
    for url in (rest, at(f"/{rest}")):
        assert robots.verdict(url, "foobot").allowed in {True, False}
        assert len(BatchVerdicts(robots, AGENTS[:3]).judge([url])) == 1
    assert [robots.names(sitemap.url) for sitemap in robots.sitemaps] == [True] * len(robots.sitemaps)
    assert robots.timing("foobot").crawl_delay in {None, 1.0}
