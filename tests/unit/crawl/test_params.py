"""The spider's arguments: what is taken, and the one line that refuses the rest."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler import urls
from sitemapcrawler.crawl import argument_values, params
from sitemapcrawler.crawl.argument_values import Start
from sitemapcrawler.crawl.params import ARGUMENTS, Argument, ArgumentError, Count, Params, Text, Use, declare
from sitemapcrawler.urls import Authority

NO_COUNTS = ("-1", "1.5", "1e3", "1,000", "\u0661", "ten", "9" * 5000, "9" * 13)
BEGUN_LISTS = ("['a.com'", "['a.com', 1]", "['a.com': 'b.com']", "[" * 9999 + "'a'", "['a.com'] + x")
ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()))


def refusal(**arguments: object) -> str:
    with pytest.raises(ArgumentError) as caught:
        Params.parse(arguments)
    return str(caught.value)


def starts(domain: str) -> list[tuple[str, ...]]:
    return [start.url_candidates for start in Params.parse({"domain": domain}).domain]


def listing(text: str) -> Callable[[str], str]:
    return lambda path: {"list.txt": text}[path]


def test_defaults() -> None:
    parsed = Params.parse({"domain": "e.com", "max_urls": None})
    assert parsed.domain == (Start(("https://e.com", "http://e.com")),)
    assert parsed.as_dict() == {"domain": "e.com"}
    assert (parsed.probe, parsed.max_depth, parsed.max_urls, parsed.select) == ("auto", 10, None, ())


@pytest.mark.parametrize(
    ("domain", "candidates"),
    [
        ("Example.com.", ("https://example.com", "http://example.com")),
        ("localhost:8080", ("https://localhost:8080", "http://localhost:8080")),
        ("m\u00fcnchen.de", ("https://xn--mnchen-3ya.de", "http://xn--mnchen-3ya.de")),
        ("127.0.0.1", ("https://127.0.0.1", "http://127.0.0.1")),
        ("[::1]:8000", ("https://[::1]:8000", "http://[::1]:8000")),
        ("e.com/shop/?x#y", ("https://e.com", "http://e.com")),
        ("http://e.com", ("http://e.com",)),
        ("HTTPS://E.com:443/any/path?q#f", ("https://e.com",)),
        ("https://e.com/robots.txt", ("https://e.com",)),
    ],
)
def test_domain_gives_the_origins_to_try(domain: str, candidates: tuple[str, ...]) -> None:
    assert starts(domain) == [candidates]


def test_domains_keep_their_order_and_count_once() -> None:
    assert starts(" b.com , a.com,b.com,B.COM., https://a.com/x,http://b.com") == [
        ("https://b.com", "http://b.com"),
        ("https://a.com", "http://a.com"),
        ("http://b.com",),
    ]


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        *((name, value, "is empty") for name, value in [("domain", ""), ("domain", "  ")]),
        *(("domain", value, "item '': is empty") for value in ("a.com,,b.com", "a.com,")),
        *(
            ("domain", value, "not a valid host and port")
            for value in ("/", "https://", "https:///path", "a b.com", "a.com:0", "a.com:65536", "::1", "*.a.com")
        ),
        ("domain", "ftp://a.com", "scheme 'ftp' is not crawled"),
        ("domain", "file:///etc", "scheme 'file' is not crawled"),
        *(("domain", value, "user name or password") for value in ("b.com,https://user:secret@a.com", "user@a.com")),
        *(("domain", value, "the argument sitemap") for value in ("https://a.com/sitemap.xml", "a.com/sitemap.xml.gz?x")),
        *(("domain", value, "has a control character") for value in ("a.com\nb.com", "a.com\0", "a.com\u2028")),
        *(
            ("sitemap", value, "no such file")
            for value in ("./missing.xml", "missing.xml", "/", f"/{'a' * 5000}", os.devnull, "file:///missing%00.xml",
                          "file://host/s.xml")
        ),
        *(("sitemap", url, "not a valid http or https URL") for url in ("ftp://e.com/s.xml", "https://e.com:99999/s.xml")),
        ("sitemap", "https://u:p@e.com/s.xml", "user name or password"),
        *(("sitemap", f"https://e.com/a.xml,{more}", "item '': is empty") for more in ("", ",https://e.com/b.xml")),
        ("sitemap", "@missing.txt", "cannot read 'missing.txt'"),
        ("sitemap", "https://e.com/\n", "has a control character"),
        *(
            ("since", value, "no such date or time; accepted: a date or time like 2024-05-01")
            for value in ("yesterday", "2024-13-01", "2024-02-30", "01/02/2024", "99999", "20x4", "0001-01-01T00:00+10:00")
        ),
        *((name, "9" * 13, "is too large") for name in ("max_urls", "max_depth", "max_time")),
        *((name, bad, "a whole number from 1") for name in ("max_urls", "max_sitemaps") for bad in ("0", *NO_COUNTS)),
        *(("max_depth", bad, "a whole number from 0") for bad in NO_COUNTS),
        *(("max_time", bad, "a number above 0") for bad in ("0", "0.0", "-1", "nan", "inf", "1h", ".", "1e12")),
        ("probe", "yes", "invalid value; accepted: auto, always, never"),
        *((name, bad, "accepted: ") for name, bad in (("only", "added"), ("force", "perhaps"), ("fresh", "2"), ("fresh", ""))),
        *(("domain", value, "is not text") for value in (True, ["e.com", 1], {"e.com": 1})),
        ("max_urls", True, "is not a number"),
        ("include", ["a", "b"], "is not text"),
        ("domain", [], "is empty"),
        *(("domain", text, "argument domain=") for text in BEGUN_LISTS),
        *(("policy", value, "accepted: ") for value in ("", "min-urls", "min-urls=", "=5", "min-lastmod-trust=3")),
    ],
)  # fmt: skip
def test_bad_value_is_refused(name: str, value: object, problem: str) -> None:
    text = refusal(**{"domain": "e.com", name: value})
    assert text.startswith(f"argument {name}")
    assert problem in text
    assert text.count("accepted: ") == 1
    assert name != "domain" or "accepted: hosts" in text


def test_list_file_holds_one_domain_a_line() -> None:
    text = "# ours\n\n a.com \r\nhttps://b.com/#top # theirs\n"
    parsed = Params.parse({"domain": "c.com,@list.txt"}, listing(text))
    assert [str(start) for start in parsed.domain] == ["c.com", "a.com", "https://b.com"]


def test_list_file_is_read_from_disk(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("\ufeffa.com\nm\u00fcnchen.de", "utf-8")
    assert len(starts(f"@{tmp_path / 'list.txt'}")) == 2


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "no such file"),
        (b"\xff\xfe", "not UTF-8 text"),
        (b"# nothing\n\n", "lists nothing"),
        (b"a.com\nb com\n", "item 'b com': not a valid host and port"),
        (b"a.com\n" * 9, "larger than 50 bytes"),
    ],
)
def test_list_file_that_cannot_be_used_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes | None, problem: str
) -> None:
    monkeypatch.setattr(argument_values, "MAX_LIST_BYTES", 50)
    if content is not None:
        (tmp_path / "list.txt").write_bytes(content)
    assert problem in refusal(domain=f"@{tmp_path / 'list.txt'}")
    assert "no such file" in refusal(domain=f"@{tmp_path}")


@pytest.mark.parametrize(
    ("sitemap", "expected"),
    [
        ("https://e.com/s.xml", ["https://e.com/s.xml"]),
        ("HTTP://E.com:8080/S.xml?a=1#part", ["http://E.com:8080/S.xml?a=1"]),
        ("e.com/s.xml", ["https://e.com/s.xml"]),
        ("localhost:8000/s.xml", ["https://localhost:8000/s.xml"]),
        ("localhost/s.xml", ["https://localhost/s.xml"]),
        ("[::1]:8000/s.xml", ["https://[::1]:8000/s.xml"]),
        ("https://e.com/my map.xml", ["https://e.com/my%20map.xml"]),
        ("https://e.com/s.xml?ids=1,2,3", ["https://e.com/s.xml?ids=1,2,3"]),
        ("https://e.com/a,b.xml, http://f.com/c", ["https://e.com/a,b.xml", "http://f.com/c"]),
        ("e.com/a.xml,f.com/b.xml", ["https://e.com/a.xml", "https://f.com/b.xml"]),
        ("https://e.com/s.xml,https://E.com:443/s.xml", ["https://e.com/s.xml"]),
    ],
)
def test_sitemap_urls(sitemap: str, expected: list[str]) -> None:
    assert list(Params.parse({"sitemap": sitemap}).sitemap) == expected


def test_sitemap_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dir").mkdir()
    names = ["a b.xml", "dir/c#d.xml.gz", "e.xml", "\u00e9.xml"]
    for name in names:
        (tmp_path / name).touch()
    text = f"a b.xml,{tmp_path}/dir/c#d.xml.gz,dir/../e.xml,file://localhost{tmp_path}/%C3%A9.xml,e.com/s.xml"
    parsed = Params.parse({"sitemap": text.replace("dir/..", "./dir/..")})
    assert parsed.named_files == {(tmp_path / name).as_uri() for name in names}
    assert parsed.named_authorities == {Authority("e.com", 443)}
    assert parsed.sitemap[-1] == "https://e.com/s.xml"


def test_sitemap_list_file_takes_urls_with_commas_and_fragments() -> None:
    text = "https://e.com/a,https://b.xml\nhttps://e.com/c.xml#x # comment\n"
    parsed = Params.parse({"sitemap": "@list.txt"}, listing(text))
    assert parsed.sitemap == ("https://e.com/a,https://b.xml", "https://e.com/c.xml")


def test_named_authorities_of_a_bare_host_are_both_ports() -> None:
    parsed = Params.parse({"domain": "a.com,b.com:8080,http://c.com,[::1]", "sitemap": "http://d.com:81/s.xml"})
    assert parsed.named_authorities == {
        Authority("a.com", 443),
        Authority("a.com", 80),
        Authority("b.com", 8080),
        Authority("c.com", 80),
        Authority("::1", 443),
        Authority("::1", 80),
        Authority("d.com", 81),
    }
    assert parsed.named_files == frozenset()


@pytest.mark.parametrize("expression", [r"(?i)/a[b]", re.compile("/a(?=b)", re.IGNORECASE)], ids=["RE2", "Python"])
def test_expression_is_compiled_and_searched(expression: object) -> None:
    parsed = Params.parse({"domain": "e.com", "include": expression})
    assert parsed.include is not None
    assert parsed.include.matches("https://e.com/AB")
    assert not parsed.include.matches("https://e.com/ac")
    assert parsed.as_dict()["include"] == getattr(expression, "pattern", expression)


@pytest.mark.parametrize("name", ["include", "exclude", "follow"])
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("(", "RE2: missing ): ("),
        ("*", "RE2: no argument for repetition operator: *"),
        ("(" * 5000, "RE2: missing ): "),
        (f"(?P<a>)(?P={'b' * 500})", "RE2: invalid perl operator: (?P"),
        (".{1000}" * 6, "RE2: pattern too large"),
        ("a(?=b)", "RE2: invalid perl operator: (?=; accepted: a regular expression in RE2 syntax"),
        (r"(a)\1", r"RE2: invalid escape sequence: \1; accepted: a regular expression in RE2 syntax"),
    ],
)
def test_bad_expression_is_refused(name: str, value: str, problem: str) -> None:
    text = refusal(domain="e.com", **{name: value})
    assert text.startswith(f"argument {name}=")
    assert problem in text
    assert len(text) < 400


@pytest.mark.parametrize(
    ("since", "expected"),
    [
        ("2024", datetime(2024, 1, 1, tzinfo=UTC)),
        ("2024-05", datetime(2024, 5, 1, tzinfo=UTC)),
        ("2024-05-02", datetime(2024, 5, 2, tzinfo=UTC)),
        ("2024-05-02T10:30", datetime(2024, 5, 2, 10, 30, tzinfo=UTC)),
        ("2024-05-02 10:30:15", datetime(2024, 5, 2, 10, 30, 15, tzinfo=UTC)),
        ("2024-05-02t10:30z", datetime(2024, 5, 2, 10, 30, tzinfo=UTC)),
        ("2024-05-02T00:30:00.5+02:00", datetime(2024, 5, 1, 22, 30, 0, 500_000, tzinfo=UTC)),
    ],
)
def test_since_is_a_moment_in_utc(since: str, expected: datetime) -> None:
    parsed = Params.parse({"domain": "e.com", "since": since})
    assert parsed.since == expected
    assert parsed.since is not None
    assert parsed.since.tzinfo is UTC


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        *((name, str(least), least) for name, least in (("max_urls", 1), ("max_sitemaps", 1), ("max_depth", 0))),
        *((name, " 50000 ", 50_000) for name in ("max_urls", "max_sitemaps", "max_depth")),
        ("max_time", "90", 90),
        ("max_time", "0.5", 0.5),
        *(("probe", probe, probe) for probe in ("auto", "always", "never")),
        ("max_urls", 5, 5),  # of those who use CrawlerProcess
        ("max_time", 1.5, 1.5),
        *(("fresh", value, True) for value in ("yes", "True", "on", "1", True)),
        *(("fresh", value, False) for value in ("no", "False", "0", False)),
    ],
)
def test_value_is_taken(name: str, value: object, meant: object) -> None:
    assert getattr(Params.parse({"domain": "e.com", name: value}), name) == meant


@pytest.mark.parametrize(
    "sites",
    [["a.com", "b.com"], ("a.com", "b.com"), "['a.com', 'b.com']", '["a.com", "b.com"]', "[ 'a.com','b.com' ]"],
)
def test_a_list_may_be_one_or_be_written_as_one(sites: object) -> None:
    assert Params.parse({"domain": sites}) == Params.parse({"domain": "a.com,b.com"})


def test_addresses_in_brackets_are_no_list() -> None:
    assert starts("[::1]:80,[::2]:80") == starts("[::1]:80") + starts("[::2]:80")


def test_unknown_argument_suggests_the_nearest_and_lists_all() -> None:
    text = refusal(domain="e.com", **{"max-url": "5"})
    assert text.startswith(
        "argument max-url='5': unknown, did you mean max_urls?; accepted: domain, sitemap, base_url,"
    )
    assert "did you mean domain?" in refusal(domains="e.com")


def test_domain_or_sitemap_is_required() -> None:
    assert refusal(max_urls="5").startswith(
        "argument domain: none of domain, sitemap and urls is given; accepted: hosts"
    )


def test_message_shows_a_long_or_dangerous_value_shortened_and_escaped() -> None:
    text = refusal(domain="\x1b[31m\u202e" + "x" * 10_000)
    shown = text.removeprefix("argument domain=").partition(": has a control")[0]
    assert shown.startswith("'\\x1b[31m\\u202exxx")
    assert shown.endswith("...'")
    assert len(shown) == params.MAX_SHOWN


def test_canonical_text_is_equal_for_jobs_that_ask_for_the_same() -> None:
    one = {"domain": "E.com,https://f.com/x", "since": "2024-05-01T02:00+02:00", "max_time": "5", "max_depth": "10"}
    other = {"domain": "e.com , https://f.com", "since": "2024-05-01", "max_time": "5.0", "probe": "auto", "_job": "1"}
    expected = {"domain": "e.com,https://f.com", "since": "2024-05-01T00:00:00+00:00", "max_time": "5.0"}
    assert Params.parse(one).as_dict() == Params.parse(other).as_dict() == expected


def test_canonical_text_differs_for_another_job() -> None:
    texts = [
        {"domain": "e.com"},
        {"domain": "https://e.com"},
        {"domain": "e.com:443"},
        {"domain": "e.com:80"},
        {"domain": "e.com", "include": "a"},
        {"domain": "e.com", "exclude": "a"},
        {"sitemap": "https://e.com/"},
    ]
    assert len({tuple(Params.parse(text).as_dict().items()) for text in texts}) == len(texts)


@given(st.lists(st.sampled_from(["e.com", "e.com:80", "e.com:443", "http://e.com", "[::1]", "[::1]:8000"]), min_size=1))
def test_canonical_domain_is_read_as_the_same_starts(items: list[str]) -> None:
    parsed = Params.parse({"domain": ",".join(items)})
    assert Params.parse({"domain": parsed.as_dict()["domain"]}) == parsed


@given(st.dictionaries(st.sampled_from([*ARGUMENTS]) | ANY_TEXT, ANY_TEXT))
def test_whatever_is_given_is_validated_or_refused_in_one_line(arguments: dict[str, str]) -> None:
    try:
        parsed = Params.parse(arguments, lambda _: "e.com")
    except ArgumentError as error:
        assert str(error).isprintable()
    else:
        assert parsed.domain or parsed.sitemap or parsed.urls
        assert all(isinstance(text, str) for pair in parsed.as_dict().items() for text in pair)


def test_every_argument_is_listed_with_default_and_help() -> None:
    assert {name: one.default_text for name, one in ARGUMENTS.items() if one.default_text} == {
        "offline": "no",
        "probe": "auto",
        "max_depth": "10",
        "agents": "search,ai",
        "verify": "off",
        "seed": "0",
        "verify_offsite": "no",
        "verify_assets": "no",
        "links": "no",
        "max_pages": "10000",
        "fresh": "no",
        "force": "no",
    }
    assert all(argument.help and argument.accepted for argument in ARGUMENTS.values())


# What crawlers get


def test_crawlers_to_fetch_as_are_named_in_any_case_and_once() -> None:
    parsed = Params.parse({"domain": "www.e.com", "fetch_as": "gptbot, SEARCH,Googlebot"})
    assert parsed.as_dict()["fetch_as"] == "GPTBot,search,Googlebot"
    assert Params.parse({"domain": "www.e.com", "as": "gptbot, SEARCH,Googlebot"}) == parsed
    assert [one.name for one in parsed.crawlers][:3] == ["GPTBot", "Googlebot", "Bingbot"]
    assert len(parsed.crawlers) == 9
    assert parsed.own_sites == {"e.com"}


# Verifying


def test_verifying_is_chosen_with_its_sample() -> None:
    chosen = {"domain": "e.com", "verify": "get", "sample": "2.50 %", "seed": "7", "verify_assets": "yes"}
    parsed = Params.parse(chosen)
    assert (parsed.verify, parsed.seed, parsed.verify_assets, parsed.verify_offsite) == ("get", 7, True, False)
    assert parsed.as_dict() == {**chosen, "domain": "e.com", "sample": "2.5%"}
    assert Params.parse({"domain": "e.com"}).verify == "off"


def test_list_stands_alone_and_is_verified(tmp_path: Path) -> None:
    path = tmp_path / "urls.txt"
    path.write_text("https://e.com/")
    parsed = Params.parse({"urls": f"@{path}"})
    assert (parsed.urls, parsed.verify) == (path.as_uri(), "head")
    assert parsed == Params.parse({"urls": str(path)})
    assert parsed.named_files == {path.as_uri()}
    assert Params.parse({"urls": str(path), "verify": "off"}).verify == "off"
    assert "a list cannot be combined with domain" in refusal(urls=str(path), domain="e.com")
    assert "no such file" in refusal(urls="@missing.txt")


# Jobs


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder of a job."""
    (tmp_path / "job").mkdir()
    return tmp_path / "job"


@pytest.mark.parametrize(
    ("held", "taken"),
    [
        (["audit.duckdb", "urls.parquet", "urls.jsonl"], "audit.duckdb"),
        (["urls.jsonl", "urls.parquet"], "urls.parquet"),
        (["urls.jsonl", "urls.csv"], "urls.jsonl"),
    ],
)
def test_baseline_is_the_best_that_a_folder_holds(folder: Path, held: list[str], taken: str) -> None:
    for name in held:
        (folder / name).touch()
    assert Params.parse({"domain": "e.com", "baseline": str(folder)}).baseline == str(folder / taken)


@pytest.mark.parametrize("name", ["other.duckdb", "a.parquet", "a.jsonl", "a.jsonl.gz"])
def test_baseline_may_be_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (folder / name).touch()
    monkeypatch.chdir(folder)
    parsed = Params.parse({"domain": "e.com", "baseline": name})
    assert parsed.baseline == str(folder / name), "wherever the next run is started"
    assert (parsed.only, parsed.force, parsed.fresh) == (None, False, False)


@pytest.mark.parametrize(
    ("held", "named", "problem"),
    [
        *(
            (name, name, "the name does not end with one of .duckdb, .parquet, .csv, .jsonl, .jsonl.gz")
            for name in ("a.json", "a.gz", "audit.duckdb.wal", "jsonl")
        ),
        ("", "missing", "no such file or folder"),
        ("", "", "the folder contains none of audit.duckdb, urls.parquet, urls.jsonl"),
    ],
)
def test_baseline_that_cannot_be_used_is_refused(folder: Path, held: str, named: str, problem: str) -> None:
    if held:
        (folder / held).touch()
    assert problem in refusal(domain="e.com", baseline=str(folder / named))


@pytest.mark.parametrize(("name", "value"), [("only", "changes"), ("force", "yes")])
def test_comparing_needs_a_baseline(folder: Path, name: str, value: str) -> None:
    text = refusal(domain="e.com", **{name: value})
    assert text == f"argument {name}={value!r}: has no effect without baseline; accepted: with baseline"
    (folder / "audit.duckdb").touch()
    assert Params.parse({"domain": "e.com", "baseline": str(folder), name: value})


def test_what_a_job_asks_for_is_the_same_in_the_next_run(folder: Path) -> None:
    (folder / "audit.duckdb").touch()
    asked = {"domain": "e.com", "verify": "get", "baseline": str(folder), "only": "changes"}
    first = Params.parse({**asked, "max_time": "60", "fresh": "yes", "force": "yes"})
    assert first.asks_for() == Params.parse(asked).asks_for()
    assert first.asks_for() == {**asked, "baseline": str(folder / "audit.duckdb")}
    assert first.as_dict()["fresh"] == first.as_dict()["force"] == "yes"


@pytest.mark.parametrize("other", [{"verify": "head"}, {"only": "changes"}, {"max_urls": "5"}, {"ignore": "page"}])
def test_another_job_asks_for_something_else(folder: Path, other: dict[str, str]) -> None:
    (folder / "audit.duckdb").touch()
    asked = {"domain": "e.com", "baseline": str(folder)}
    assert Params.parse({**asked, **other}).asks_for() != Params.parse(asked).asks_for()


# Files of this machine

TWO = "./a.xml,./b c.xml"


@pytest.fixture
def two(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    for name in ("a.xml", "b c.xml"):
        (tmp_path / name).touch()
    return TWO


@pytest.mark.parametrize(
    ("sitemap", "base_url", "places"),
    [
        (TWO, "https://e.com/maps/", ["https://e.com/maps/a.xml", "https://e.com/maps/b%20c.xml"]),
        (TWO, "https://e.com", ["https://e.com/a.xml", "https://e.com/b%20c.xml"]),
        (TWO, "e.com:8080", ["https://e.com:8080/a.xml", "https://e.com:8080/b%20c.xml"]),
        (TWO, "HTTP://E.com/#x", ["http://E.com/a.xml", "http://E.com/b%20c.xml"]),
        ("./a.xml,https://f.com/x.xml", "https://e.com/s.php?page=1", ["https://e.com/s.php?page=1", None]),
        (TWO, None, [None, None]),
    ],
)
def test_files_live_in_the_folder_of_the_base_url_and_one_at_it(
    two: str, sitemap: str, base_url: str | None, places: list[str | None]
) -> None:
    parsed = Params.parse({"sitemap": sitemap, **({"base_url": base_url} if base_url else {})})
    assert [parsed.place_of(url) for url in parsed.sitemap] == places
    assert parsed.named_authorities >= {urls.authority(place) for place in places if place}


def test_standard_input_has_a_usual_name_in_its_folder() -> None:
    assert Params(base_url="https://e.com/").place_of(urls.STANDARD_INPUT) == "https://e.com/sitemap.xml"


@pytest.mark.parametrize(
    ("arguments", "sites"),
    [
        ({"domain": "e.com,http://f.com:8080"}, ("e.com", "http://f.com:8080")),
        ({"sitemap": "https://e.com/a.xml,https://e.com/b.xml"}, ("https://e.com",)),
        ({"sitemap": "./a.xml", "base_url": "https://e.com/s.xml"}, ("https://e.com",)),
        ({"sitemap": "./a.xml"}, ()),
    ],
)
def test_sites_are_those_that_are_named(
    arguments: dict[str, str], sites: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.xml").touch()
    assert Params.parse(arguments).sites == sites


def test_files_of_the_base_dir_live_at_their_paths(two: str) -> None:
    (Path.cwd() / "sub dir").mkdir()
    (Path.cwd() / "sub dir" / "c.xml").touch()
    given = {"sitemap": f"{two},./sub dir/c.xml", "base_url": "https://e.com/x/", "base_dir": "."}
    parsed = Params.parse(given)
    assert parsed.place_of(parsed.sitemap[-1]) == "https://e.com/x/sub%20dir/c.xml"
    assert parsed.place_of(parsed.sitemap[0]) == "https://e.com/x/a.xml"
    inner = Params.parse({**given, "base_dir": "sub dir/"})
    assert inner.place_of(inner.sitemap[-1]) == "https://e.com/x/c.xml"
    assert inner.place_of(inner.sitemap[0]) == "https://e.com/x/a.xml", "a file elsewhere has its name added"


def test_offline_judges_no_robots_txt(two: str) -> None:
    assert Params.parse({"sitemap": two, "offline": "yes"}).judged_agents == []
    assert Params.parse({"sitemap": two, "offline": "no"}).judged_agents


@pytest.mark.usefixtures("browser")
@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"sitemap": TWO, "base_url": "https://e.com/s.xml"}, "2 files cannot live at one URL"),
        ({"sitemap": TWO, "base_url": "/public"}, "not a valid http or https URL"),
        ({"sitemap": TWO, "base_url": "https://me:secret@e.com/"}, "user name or password"),
        ({"sitemap": "https://e.com/s.xml", "base_url": "https://e.com/"}, "no local file is named"),
        ({"sitemap": TWO, "base_dir": "./nosuch"}, "no such folder"),
        ({"sitemap": TWO, "base_dir": "a.xml"}, "no such folder"),
        ({"sitemap": "https://e.com/s.xml", "base_dir": "."}, "no local file is named"),
        ({"sitemap": "./a.xml", "base_dir": ".", "base_url": "https://e.com/a.xml"}, "a URL ending in /"),
        ({"sitemap": TWO, "offline": "yes", "domain": "e.com"}, "this needs requests"),
        ({"offline": "yes", "sitemap": "./a.xml,https://e.com/s.xml"}, "this needs requests"),
        ({"sitemap": TWO, "offline": "yes", "verify": "head"}, "verify=head makes requests"),
        ({"sitemap": TWO, "offline": "yes", "render": "5"}, "argument render='5': makes requests"),
        ({"sitemap": TWO, "offline": "perhaps"}, "invalid value"),
        ({"fetch_as": "GPTBto"}, "did you mean GPTBot?; accepted: names of crawlers"),
        ({"fetch_as": "Google-Extended"}, "makes no requests: Googlebot fetches the pages"),
        ({"urls": "a.xml", "fetch_as": "GPTBot"}, "no site is named; accepted: with domain"),
        ({"as": "GPTBto"}, "did you mean GPTBot?; accepted: names of crawlers"),
        ({"as": "GPTBot", "fetch_as": "GPTBot"}, "unknown, did you mean fetch_as?"),
        ({"verify": "yes"}, "argument verify='yes': invalid value; accepted: off, head, get"),
        ({"sample": "5"}, "argument sample='5': has no effect without verify; accepted: with verify"),
        ({"verify_offsite": "yes"}, "argument verify_offsite='yes': has no effect without verify"),
        ({"verify": "head", "sample": "0"}, "argument sample='0': verifies nothing"),
        ({"verify": "head", "sample": "101%"}, "argument sample='101%': not a share"),
        ({"verify": "head", "sample": "many"}, "argument sample='many': neither a number nor a share"),
        ({"verify": "head", "seed": "3"}, "argument seed='3': has no effect without sample"),
        ({"verify": "head", "verify_assets": "7"}, "argument verify_assets='7': invalid value; accepted: yes, no"),
        ({"links": "yes"}, "verify=off does not read whole pages; accepted: with verify=get"),
        ({"links": "site", "verify": "head"}, "verify=head does not read whole pages; accepted: with verify=get"),
        ({"links": "yes", "verify": "get", "sample": "10%"}, "accepted: without sample"),
        ({"links": "all", "verify": "get"}, "accepted: no, yes, site"),
        ({"max_pages": "5"}, "accepted: with links=site"),
        ({"links": "yes", "verify": "get", "max_pages": "5"}, "accepted: with links=site"),
        ({"links": "no", "max_pages": "5"}, "accepted: with links=site"),
        ({"links": "site", "verify": "get", "max_pages": "0"}, "accepted: a whole number from 1"),
        ({"render": "0"}, "argument render='0': renders no page; accepted: a number such as 50, or a share such as 0.5%"),
        ({"render": "all"}, "argument render='all': neither a number nor a share"),
        ({"render_as": "Googlebot"}, "argument render_as='Googlebot': has no effect without render"),
        ({"render": "5", "render_as": "search"}, "argument render_as='search': names no crawler, or several"),
        ({"render": "5", "render_as": "none"}, "argument render_as='none': names no crawler, or several"),
    ],
)  # fmt: skip
def test_arguments_that_do_not_fit_are_refused_in_one_line(two: str, arguments: dict[str, str], problem: str) -> None:
    line = refusal(**({} if {"sitemap", "urls"} & {*arguments} else {"domain": "e.com"}) | arguments)
    assert problem in line
    assert len(line.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "site"),
    [
        ("sc-domain:example.com", "sc-domain:example.com"), ("sc-domain:Example.COM", "sc-domain:example.com"),
        ("https://example.com/", "https://example.com/"), ("https://example.com/shop/", "https://example.com/shop/"),
        ("example.com", None), ("https://example.com", None), ("sc-domain:", None), ("sc-domain:a/b", None),
        ("sc-domain:a b", None), ("ftp://example.com/", None), ("sc-domain:example.com:80", None),
        ("https://user:secret@example.com/", None),
    ],
)  # fmt: skip
def test_property_is_named_as_search_console_does(
    text: str, site: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(argument_values, "credentials", lambda: None)
    arguments = {"domain": "e.com", "gsc": text, "gsc_answers": str(tmp_path / "answers.jsonl")}
    if site is None:
        assert "is not the name of a property" in refusal(**arguments)
    else:
        assert Params.parse(arguments).gsc == site


# Arguments of plug-ins


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """An argument that is a list, and one of a run."""
    monkeypatch.setattr(params, "ARGUMENTS", ARGUMENTS.copy())
    monkeypatch.setattr(params, "_models", [Params])
    toys = Annotated[tuple[str, ...], Text(str.lower, argument_values.COMMA)]
    declare("toys", toys, ("ball",), "Toys to look for.", Argument("names"))
    declare("toy_loud", bool, False, "Log each toy.", Argument(use=Use.RUN))
    declare("toy_maker", str | None, None, "Maker of the toys.")


@pytest.mark.usefixtures("toy")
def test_declared_argument_is_parsed_and_part_of_the_job() -> None:
    parsed = Params.parse({"domain": "e.com", "toys": "Car, ball", "toy_loud": "yes"})
    assert (parsed["toys"], parsed["toy_loud"]) == (("car", "ball"), True)
    assert parsed.as_dict() == {"domain": "e.com", "toys": "car,ball", "toy_loud": "yes"}
    assert parsed.asks_for() == {"domain": "e.com", "toys": "car,ball"}
    assert Params.parse(parsed.as_dict()) == parsed


@pytest.mark.usefixtures("toy")
def test_declared_argument_has_its_default() -> None:
    parsed = Params.parse({"domain": "e.com"})
    assert (parsed["toys"], parsed["toy_loud"], parsed["toy_maker"], parsed["max_depth"]) == (
        ("ball",),
        False,
        None,
        10,
    )
    assert [params.ARGUMENTS[name].accepted for name in ("toys", "toy_loud", "toy_maker")] == [
        "names",
        "yes, no, true, false",
        "a text",
    ]
    assert Params.parse({"domain": "e.com", "toys": "ball"}).as_dict() == {"domain": "e.com"}


@pytest.mark.usefixtures("toy")
def test_argument_cannot_be_declared_twice() -> None:
    with pytest.raises(ValueError, match="two arguments are named max_urls"):
        declare("max_urls", Count, 7, "Something else.")
    declare("toy_loud", bool, False, "Log each toy.", Argument(use=Use.RUN))  # as a module that is loaded again does


@pytest.mark.parametrize("name", ["copy", "sites", "no name"])
def test_argument_cannot_have_the_name_of_a_method(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name of an argument"):
        declare(name, str, "", "Help.")
    assert name not in ARGUMENTS


@pytest.fixture
def browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sitemapcrawler.crawl.argument_values.lacking", lambda: None)


@pytest.mark.usefixtures("browser")
def test_pages_to_render_are_a_number_or_a_share_with_a_seed_of_their_own() -> None:
    parsed = Params.parse({"domain": "e.com", "render": "0.50%", "render_as": "googlebot", "seed": "7"})
    assert parsed.as_dict() == {"domain": "e.com", "render": "0.5%", "render_as": "Googlebot", "seed": "7"}
    assert Params.parse({"domain": "e.com", "render": 20}).as_dict()["render"] == "20"


@pytest.mark.parametrize(
    ("package", "path", "problem"),
    [
        (False, "", "needs another package: pip install 'scrapy-sitemapcrawler[render]'"),
        (True, "/nonexistent", "CHROME_PATH names no program: /nonexistent"),
    ],
)
def test_without_a_browser_or_its_driver_pages_are_not_rendered(
    monkeypatch: pytest.MonkeyPatch, package: bool, path: str, problem: str
) -> None:
    monkeypatch.setattr("sitemapcrawler.verification.browser.find_spec", lambda _: package or None)
    monkeypatch.setenv("CHROME_PATH", path)
    assert problem in refusal(domain="e.com", render="5")
