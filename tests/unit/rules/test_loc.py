"""The rules on how the URL of an entry is written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.entries import ChildRecord
from sitemapcrawler.reader.faults import Fault
from sitemapcrawler.rules import Needs
from sitemapcrawler.rules.facts.given import ChildFacts, UrlFacts
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
    "path",
    [
        "", "/", "/a/b.html?a=1&b=2", "/a;v=1,2/b", "/~user/(a)!$&'*+,=:@", "/caf%C3%A9/%d0%b0",
        "/.well-known/change-password", "/..a/b../...", "/?url=//a//b", "/?url=https://example.net/?a=b", "/?a=/?b",
        "/100%25", "/?q=a+b", "/" + "a" * 2027, "/?sid=12", "/?session=spring",
        "/?author=joe&keyword=x&monkey=1&side=left", "/?email=weekly", "/a:b", "/sessions/1?id=2",
    ],
)  # fmt: skip
def test_a_legal_url_gives_nothing_not_even_for_information(path: str) -> None:
    assert on_url(HOME + path) == []


@pytest.mark.parametrize(
    ("written", "rules"),
    [
        ("/a", ["loc-relative"]), ("a/b", ["loc-relative"]), ("?a=1", ["loc-relative"]), ("../a", ["loc-relative"]),
        ("example.com/a", ["loc-relative"]), ("localhost:3000/a", ["loc-relative"]),
        ("https//example.com/a", ["loc-relative"]), ("/a#b", ["loc-relative", "loc-fragment"]),
        ("//other.example/a", ["loc-protocol-relative"]), ("mailto:a@example.com", ["loc-bad-scheme"]),
        ("tel:5550100", ["loc-bad-scheme"]), ("htps://example.com/", ["loc-bad-scheme"]),
        ("file:///etc/passwd", ["loc-bad-scheme"]), ("HTTPS://example.com/a", []),
        ("\u200b\ufeffhttps://example.com/a", ["loc-whitespace"]), ("ht\n  tps://example.com/a", ["loc-whitespace"]),
        ("https://example.com/a b#c", ["loc-whitespace", "loc-fragment"]),
        ("https://example.com/a\u200bb", ["loc-whitespace"]), ("https://example.com/a\u200cb", ["loc-non-ascii"]),
        ("https://example.com/é\u00a0", ["loc-whitespace", "loc-non-ascii"]),
        ("https://example.com/" + "a" * 2029 + "#b", ["loc-too-long", "loc-fragment"]),
        ("https://example.com/#", ["loc-fragment"]), ("https://example.com/?a=&lt;b", ["loc-double-escaped"]),
        ("https://example.com/a%2E%2e", []), ("https://example.com/%2E/a", ["loc-dot-segments"]),
    ],
)  # fmt: skip
def test_what_is_told_of_a_url(written: str, rules: list[str]) -> None:
    assert on_url(written) == rules


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/%zz#a?PHPSESSID=1", "https://example.com/a|b#c", "https://other.example/{a}",
        "http://user:secret@exa mple.com:1/../#a", "https://" + "a" * 254 + ".com/", "https://example.com/?a=1#b#c",
        "https://", "https:///a", "http://1.2.3.256/", "http://[::1", "https://example.com/a\x01b",
        "https://example.com/\ue000",
    ],
)  # fmt: skip
def test_an_invalid_url_is_told_once(url: str) -> None:
    file = file_at()
    [record] = listed(file, url)
    assert list(said_of(UrlFacts(record, file), ("error", "warning"))) == ["loc-invalid-uri"]


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://example.com/100%", "'%' in its path"), ("https://example.com/?a=%zz", "'%zz' in its query"),
        ("https://example.com/a[b", "%5B"), ("https://example.com/#a#b", "second #"),
        ("https://example.com/\x7f", "U+007F"), ("https://", "host is missing"), ("https:a", "// and a host"),
        ("https://a@b@example.com/", "in front of the host"), ("https://exa_mple..com/", "'exa_mple..com' is no host"),
        ("https://example.com:0/", "'example.com:0' is no host"), ("http://1.2.3.256/", "to a browser"),
    ],
)  # fmt: skip
def test_the_reason_of_an_invalid_url(url: str, words: str) -> None:
    with pytest.raises(Invalid, match=words.replace("[", r"\[").replace("+", r"\+").replace("?", r"\?")):
        parse(url)


@pytest.mark.parametrize(
    ("url", "severity"),
    cases(
        (["https://example.com/a[b", "https://example.com/?size[]=1&a|b", "https://example.com/a#b|c"], "warning"),
        (["https://example.com/a|b^c", "https://example.com/{a}[b]", "https://example.com/100%|",
          "https://[example].com/a", "https://exam|ple.com/", "https://example.com/a[b#c#d"], "error"),
    ),
)  # fmt: skip
def test_brackets_and_bars_alone_are_a_warning(url: str, severity: str) -> None:
    found = [finding for finding in judge(f"{url}\n".encode()) if finding.rule == "loc-invalid-uri"]
    assert [finding.severity for finding in found] == [severity]


@pytest.mark.parametrize(
    ("tail", "rule"),
    cases(
        (["/a;jsessionid=1A2B", "/a;v=1;JSESSIONID=1A2B?x=y", "/?a=1&PHPSESSID=9a3f1c",
          "/?sid=0123456789abcdef0123456789abcdef", "/?ASPSESSIONIDQQ=ABC", "/?session_id=1",
          "/?CFID=1&CFTOKEN=2"], "loc-session-id"),
        (["/?session=1f2e3d4c", "/?access_token=1", "/?X-Amz-Security-Token=1", "/?password=1",
          "/?e-mail=joe@example.net", "/?user_email=joe%40example.net", "/?api_key=1;a=2"], "loc-sensitive-parameter"),
        (["/?a[]=1"], "loc-invalid-uri"),
    ),
)  # fmt: skip
def test_what_parameters_tell(tail: str, rule: str) -> None:
    assert on_url(HOME + tail) == [rule]


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
    [message] = check(Fault("loc-whitespace", "white space around the URL", 7))
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
    assert [one.message.endswith("a # that belongs to the path is written %23") for one in found] == (
        [True, False] if is_text else [False]
    )


def test_an_entry_that_was_left_out_is_told_with_its_line() -> None:
    text = f'<urlset xmlns="{CORE}">\n<url><loc>${{url}}</loc></url>\n<url><loc>https://<b/></loc></url>\n</urlset>'
    found = [(finding.rule, finding.line) for finding in judge(text.encode()) if finding.severity == "error"]
    assert found == [("loc-placeholder", 2), ("loc-invalid-uri", 3)]


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
        if Needs.FILE in rule.needs:
            list(rule.check(file))
