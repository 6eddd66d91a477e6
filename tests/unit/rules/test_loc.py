"""The rules on how the URL of an entry is written and what its words tell, beyond the files `loc-*` in `tests/data/bad`."""

from __future__ import annotations

import pytest

from sitemapcrawler.rules.facts.given import UrlFacts
from sitemapcrawler.rules.facts.replied import KINDS
from tests.unit.tables import cases

from .expecting import CORE, rules_of
from .judging import SUMMED_UP, judge
from .listing import file_at, listed, on_child, on_url, said_of

OURS = rules_of("loc")
HOME = "https://example.com"


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


def test_a_sitemap_in_an_odd_folder_has_its_entries_judged() -> None:
    assert found(f"{HOME}/a//b/c", sitemap=f"{HOME}/a//b/urls.txt") == [("loc-double-slash", "warning")]


@pytest.mark.parametrize("name", sorted(KINDS))
def test_each_name_is_found_and_told(name: str) -> None:
    assert found(f"{HOME}/{name}/") == [("loc-utility-page", "info")]
