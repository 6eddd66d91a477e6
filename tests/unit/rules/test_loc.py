"""The rules on how the URL of an entry is written and what its words tell, beyond the files `loc-*` in `tests/data/bad`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.entries import ChildRecord
from sitemapcrawler.reader.faults import Fault
from sitemapcrawler.rules import Of
from sitemapcrawler.rules.facts import suspects as telltales
from sitemapcrawler.rules.facts.given import ChildFacts, UrlFacts
from sitemapcrawler.rules.facts.suspects import find_telling, telling
from sitemapcrawler.rules.facts.utility_pages import KINDS
from sitemapcrawler.urls.grammar import Invalid, parse
from tests.unit.tables import cases

from .expecting import CORE, rules_of
from .judging import SUMMED_UP, judge
from .listing import RULES, file_at, listed, on_child, on_url, said_of

OURS = rules_of("loc")
HOME = "https://example.com"
PIECES = [
    "http", "https", "HTTPS", "ftp", "javascript", ":", "/", "//", "///", "?", "#", "[", "]", "@", "%", "%4", "%zz",
    "%2e", "%C3%A9", "..", ".", "\\", "example.com", "127.0.0.1", "::1", "localhost", ":80", ":99999", "é", "а.рф",
    "\u200c", "\u00a0", " ", "\n", "\t", "\x00", "\ud800", "xn--", "&amp;", "&#38;", "sid=", "token=1", ";jsessionid=",
    "e-mail=a@b", "sitemap.xml", "a" * 300,
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "rules"),
    [
        ("/" + "a" * 2027, []),
        ("/" + "a" * 2029 + "#b", ["loc-too-long", "loc-fragment"]),
        ("/a\x01b", ["loc-invalid-uri"]),
        (f".{'a' * 254}.com/", ["loc-invalid-uri"]),
    ],
    ids=["longest", "too-long", "control", "host"],
)
def test_a_url_that_no_file_of_bad_ones_holds(path: str, rules: list[str]) -> None:
    file = file_at()
    [record] = listed(file, HOME + path)
    assert [rule for rule in said_of(UrlFacts(record, file)) if rule != "loc-offsite"] == rules


@pytest.mark.parametrize(
    ("url", "words"), [("https://a@b@example.com/", "before the host"), ("https://example.com/\x7f", r"U\+007F")]
)
def test_urls_that_the_reader_mends_are_not_valid_as_written(url: str, words: str) -> None:
    with pytest.raises(Invalid, match=words):
        parse(url)


def test_a_secret_is_not_repeated_in_the_message() -> None:
    [finding] = judge(f"{HOME}/a?token=8f3c2a\n".encode())
    assert finding.rule == "loc-sensitive-parameter"
    assert "8f3c2a" not in finding.message + (finding.value or "")


@pytest.mark.parametrize("written", ["https://example.com/a#b", "https://example.com/%zz", "ftp://example.com/a"])
def test_an_entry_of_an_index_is_judged_alike(written: str) -> None:
    assert on_child(written) == on_url(written) != []


def test_a_relative_link_is_legal_in_atom() -> None:
    atom = '<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="a"/></entry></feed>'
    severities = {finding.rule: finding.severity for finding in judge(atom.encode())}
    assert severities["loc-relative"] == "info"


def test_white_space_around_a_url_is_for_information() -> None:
    text = f'<urlset xmlns="{CORE}"><url><!-- --><loc>\n https://example.com/a </loc></url></urlset>'
    [finding] = [finding for finding in judge(text.encode()) if finding.rule == "loc-whitespace"]
    assert finding.severity == "info"


def test_white_space_that_only_the_reader_sees_is_for_information() -> None:
    [check] = [rule.check for rule in RULES if rule.id == "loc-whitespace"]
    [message] = check(Fault("loc-whitespace", "whitespace around the URL", 7))
    assert (message.line, message.severity) == (7, "info")


@pytest.mark.parametrize("blank", ["\u00a0", "\u200b", "\u3000"])
def test_other_blanks_around_a_url_are_a_warning(blank: str) -> None:
    text = f'<urlset xmlns="{CORE}"><url><loc>https://example.com/a{blank}</loc></url></urlset>'
    [finding] = [finding for finding in judge(text.encode()) if finding.rule == "loc-whitespace"]
    assert (finding.severity, f"U+{ord(blank):04X}" in finding.message) == ("warning", True)


@pytest.mark.parametrize(
    "entry",
    [
        "<loc>https://example.com/caf~</loc>",
        "<loc>https://caf~.example.com/</loc>",
        "<loc>https://example.com/a</loc><image:image><image:loc>https://example.com/~.jpg</image:loc></image:image>",
        "<loc>https://example.com/a</loc><video:video><video:thumbnail_loc>https://example.com/~.jpg"
        "</video:thumbnail_loc><video:title>A</video:title><video:description>B</video:description>"
        "<video:content_loc>https://example.com/~.mp4</video:content_loc></video:video>",
    ],
)
def test_a_byte_that_is_not_utf_8_is_one_error(entry: str) -> None:
    spaces = "".join(f' xmlns:{name}="http://www.google.com/schemas/sitemap-{name}/1.1"' for name in ("image", "video"))
    data = f'<urlset xmlns="{CORE}"{spaces}>\n<url>{entry}</url>\n</urlset>'.encode().replace(b"~", b"\xe9")
    found = [finding for finding in judge(data) if finding.severity == "error"]
    assert [(finding.rule, finding.line, finding.message) for finding in found] == [
        ("doc-encoding-not-utf8", 2, "the byte E9 is not UTF-8")
    ]


def test_an_unreadable_character_that_is_written_as_such_is_no_valid_url() -> None:
    found = judge("https://example.com/caf\ufffd\n".encode())
    assert [finding.rule for finding in found if finding.severity == "error"] == ["loc-invalid-uri"]


@pytest.mark.parametrize(
    ("path", "is_text"),
    cases(
        (["product-#1.html", "learn/c#/", "learn/C#", "learn/c#/arrays?page=2", "learn/c#-guide", "no#1/reviews/",
          "no#1?page=2"], True),
        (["about#team", "about#", "#/route/", "#!/route.html", "a.pdf#page=2", "a#:~:text=ends/", "abc#"], False),
    ),
)  # fmt: skip
def test_a_hash_that_belongs_to_the_path_is_told_with_its_entry(path: str, is_text: bool) -> None:
    urls = f"https://example.com/a#b\nhttps://example.com/{path}\n"
    found = [one for one in judge(urls.encode(), choice=SUMMED_UP) if one.rule == "loc-fragment"]
    assert [one.message.endswith("write a # that belongs to the path as %23") for one in found] == (
        [True, False] if is_text else [False]
    )


def test_an_entry_that_was_left_out_is_told_with_its_line() -> None:
    text = f'<urlset xmlns="{CORE}">\n<url><loc>${{url}}</loc></url>\n<url><loc>https://<b/></loc></url>\n</urlset>'
    found = [(finding.rule, finding.line) for finding in judge(text.encode()) if finding.severity == "error"]
    assert found == [("loc-placeholder", 2), ("loc-invalid-uri", 3)]


def test_a_missing_value_in_place_of_the_site_is_an_error_of_its_own() -> None:
    entries = "\n".join(f"<url><loc>{loc}</loc></url>" for loc in ("None", "undefined/about", "nullable/a", "/null"))
    found = [
        (finding.rule, finding.line, finding.severity)
        for finding in judge(f'<urlset xmlns="{CORE}">\n{entries}\n</urlset>'.encode())
        if finding.severity != "info"
    ]
    assert sorted(found) == [
        ("loc-placeholder", 2, "error"),
        ("loc-placeholder", 3, "error"),
        ("loc-placeholder", 5, "warning"),
        ("loc-relative", 4, "error"),
        ("loc-relative", 5, "error"),
    ]


@given(
    st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=8).map("".join),
    st.none() | st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    st.sampled_from(["https://example.com/a/s.xml", "file:///s.xml", "http://[::1]/", "https://example.com"]),
)
def test_no_text_makes_a_rule_fail(loc: str, written: str | None, url: str) -> None:
    file = file_at(url)
    assert said_of(UrlFacts(UrlRecord(loc, written), file)) is not None
    file.list_child(ChildRecord(loc, written))
    assert said_of(ChildFacts(ChildRecord(loc, written), file)) is not None
    for rule in RULES:
        if Of.FILE in rule.of:
            list(rule.check(file))


TELLING = ("loc-placeholder", "loc-tracking-parameter", "loc-double-slash", "loc-asset", "loc-utility-page")
"""Rules on what a URL stands for, as far as its words tell."""


def found(*urls: str, sitemap: str = f"{HOME}/urls.txt") -> list[tuple[str, str]]:
    """Rule and severity of what the words of URLs tell, from the text of a file on."""
    findings = judge("".join(f"{url}\n" for url in urls).encode(), sitemap)
    return [(finding.rule, finding.severity) for finding in findings if finding.rule in TELLING]


def test_links_of_feeds_may_be_tracked() -> None:
    item = f"<item><link>{HOME}/a?utm_source=rss</link></item>"
    findings = judge(f'<rss version="2.0"><channel>{item}</channel></rss>'.encode())
    assert [finding.severity for finding in findings if finding.rule == "loc-tracking-parameter"] == ["info"]


def test_entries_beside_it_stay_clean() -> None:
    urls = [f"{HOME}/a/{number}" for number in range(3000)]
    assert found(*urls[:1500], f"{HOME}/a//b", f"{HOME}/cart", *urls[1500:]) == [
        ("loc-double-slash", "warning"),
        ("loc-utility-page", "info"),
    ]


def test_a_sitemap_in_an_odd_folder_has_its_entries_judged() -> None:
    assert found(f"{HOME}/a//b/c", sitemap=f"{HOME}/a//b/urls.txt") == [("loc-double-slash", "warning")]


@pytest.mark.parametrize("name", sorted(KINDS))
def test_each_name_is_found_and_told(name: str) -> None:
    assert found(f"{HOME}/{name}/") == [("loc-utility-page", "info")]


def test_without_re2_the_same_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    urls = [f"{HOME}/{path}" for path in ("a", "cart", "b//c", "a?gclid=1", "%7B%7Ba%7D%7D", "a.css", "None", "é", "b")]
    fast = find_telling(telling(), urls)
    monkeypatch.setattr(telltales, "re2", None)
    monkeypatch.setattr(telltales, "_search_for", telltales._search_for.__wrapped__)
    assert find_telling(telling(), urls) == fast == {*urls[1:7]}
