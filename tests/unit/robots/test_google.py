"""Google's published cases.

SPEC: the tables of https://developers.google.com/crawling/docs/robots-txt/robots-txt-spec; PARSER: what the tests of
github.com/google/robotstxt hold, in tables of our own. Where Google does otherwise than the RFC, the RFC's way is tested,
and the case says so.
"""

from __future__ import annotations

import pytest

from sitemapcrawler.robots import NoteKind, parse_agents
from sitemapcrawler.robots.text import MAX_LINE

from .saying import at, decided, policy, rules

FISH = ("/fish", "/fish.html", "/fish/salmon.html", "/fishheads", "/fishheads/yummy.html", "/fish.html?id=anything")
NO_FISH = ("/Fish.asp", "/catfish", "/?id=fish", "/desert/fish")
MATCHING = {
    "/": (("/", "/bar", "/fish?x"), ()),
    "/*": (("/", "/bar", "/fish?x"), ()),
    "/$": (("/",), ("/bar", "/?x", "/index.html")),
    "/fish": (FISH, NO_FISH),
    "/fish*": (FISH, NO_FISH),
    "/fish/": (
        ("/fish/", "/fish/salmon", "/fish/?salmon", "/fish/salmon.html", "/fish/?id=anything"),
        ("/fish", "/fish.html", "/animals/fish/", "/Fish/Salmon.html", "/Fish/Salmon.asp"),
    ),
    "/*.php": (
        (
            "/index.php", "/filename.php", "/folder/filename.php", "/folder/filename.php?parameters",
            "/folder/any.php.file.html", "//folder/any.php.file.html", "/filename.php/", "/index?f=filename.php/",
        ),
        ("/", "/php/", "/index?php", "/windows.PHP"),
    ),
    "/*.php$": (
        ("/filename.php", "/folder/filename.php"),
        ("/filename.php?parameters", "/filename.php/", "/filename.php5", "/php/", "/filename?php", "/aaaphpaaa", "//windows.PHP"),
    ),
    "/fish*.php": (("/fish.php", "/fishheads/catfish.php?parameters"), ("/Fish.PHP", "/fish.ph", "/a/fish.php")),
}  # fmt: skip
"""SPEC, URL matching based on path values: pattern -> paths that it matches, and paths that it does not."""


@pytest.mark.parametrize("pattern", MATCHING)
def test_spec_path_matching(pattern: str) -> None:
    allowing, denying = rules("Disallow: /", f"Allow: {pattern}"), rules(f"Disallow: {pattern}")
    matching, others = MATCHING[pattern]
    assert [path for path in (*matching, *others) if allowing.allows(at(path), "foobot")] == list(matching)
    assert [path for path in (*matching, *others) if not denying.allows(at(path), "foobot")] == list(matching)


@pytest.mark.parametrize(
    ("agent", "group"),
    [
        ("Googlebot-News", "googlebot-news"),
        ("Googlebot", "googlebot"),
        ("Googlebot-Image", "googlebot"),  # no group of its own
        ("Otherbot", "*"),
        ("Google-Extended", "*"),
        ("AdsBot-Google", None),
    ],
)
def test_spec_order_of_precedence_of_agents(agent: str, group: str | None) -> None:
    text = (
        "user-agent: googlebot-news\nDisallow: /a\n\nuser-agent: *\nDisallow: /b\n\nuser-agent: googlebot\nDisallow: /c"
    )
    assert policy(text).verdict(at("/"), agent).group == group


@pytest.mark.parametrize(("agent", "denied"), [("a", "/c"), ("b", "/d"), ("e", "/g"), ("f", "/g"), ("h", None)])
def test_spec_grouping_of_lines(agent: str, denied: str | None) -> None:
    text = "user-agent: a\ndisallow: /c\n\nuser-agent: b\ndisallow: /d\n\nuser-agent: e\nuser-agent: f\ndisallow: /g\n\nuser-agent: h\n"
    robots = policy(text)
    assert [path for path in ("/c", "/d", "/g") if not robots.allows(at(path), agent)] == ([denied] if denied else [])


def test_spec_rules_that_are_no_standard_do_not_part_a_group() -> None:
    robots = policy("user-agent: a\nsitemap: https://example.com/sitemap.xml\n\nuser-agent: b\ndisallow: /\n")
    assert not robots.allows(at("/"), "a")
    assert not robots.allows(at("/"), "b")
    (note,) = robots.notes
    assert (note.kind, note.line) == (NoteKind.JOINED, 4)


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("user-agent: FooBot\ndisallow: /\n", False),
        ("foo: FooBot\nbar: /\n", True),
        ("user-agent FooBot\ndisallow /\n", False),
        ("user agent: FooBot\ndissallow: /\n", False),
        ("useragent: FooBot\ndisalow: /\n", False),
        ("user-agent: FooBot\ndissalow: /\n", False),
        ("user-agent: FooBot\ndiasllow: /\n", False),
        ("user-agent: FooBot\ndisallaw: /\n", False),
        ("user-agent: FooBot\ndisallow / or so\n", True),
        ("", True),
    ],
)
def test_parser_line_syntax(text: str, allowed: bool) -> None:
    assert policy(text).allows(at("/x/y"), "FooBot") is allowed


@pytest.mark.parametrize(
    ("value", "token"),
    [
        ("FOO BAR", "foo"),
        ("Foo/2.1", "foo"),
        ("Foo*", "foo"),
        ("Foo, Bar", "foo"),
        ("Foo(x)", "foo"),
        ("*", "*"),
        ("* ", "*"),
        ("* all of them", "*"),
        ("*bot", None),
        ("*/*", None),
        ("/foo", None),
        ("", None),
        ("360Spider", "360spider"),  # Google takes letters only: no crawler of Google's has digits
        ("archive.org_bot", "archive.org_bot"),
    ],
)
def test_parser_user_agent_is_read_up_to_the_first_foreign_character(value: str, token: str | None) -> None:
    robots = policy(f"user-agent: {value}\ndisallow: /\n")
    assert list(robots.groups) == ([token] if token else [])
    clean = token == value.strip().lower()
    assert [note.kind for note in robots.notes] == ([] if clean else [NoteKind.BAD_AGENT])


SLASH = ("Allow: /allowed-slash/index.html", "Disallow: /")


@pytest.mark.parametrize(
    ("lines", "path", "allowed"),
    [
        # the longest match
        (("disallow: /x/page.html", "allow: /x/"), "/x/page.html", False),
        (("allow: /x/page.html", "disallow: /x/"), "/x/page.html", True),
        (("allow: /x/page.html", "disallow: /x/"), "/x/", False),
        (("disallow: ", "allow: "), "/x/page.html", True),
        (("disallow: /", "allow: /"), "/x/page.html", True),
        (("disallow: /x", "allow: /x/"), "/x", False),
        (("disallow: /x", "allow: /x/"), "/x/", True),
        (("disallow: /x/page.html", "allow: /x/page.html"), "/x/page.html", True),
        (("allow: /page", "disallow: /*.html"), "/page.html", False),
        (("allow: /page", "disallow: /*.html"), "/page", True),
        (("allow: /x/page.", "disallow: /*.html"), "/x/page.html", True),
        (("allow: /x/page.", "disallow: /*.html"), "/x/y.html", False),
        (("allow: /folder", "disallow: /folder"), "/folder/page", True),
        (("allow: /$", "disallow: /"), "/", True),
        (("allow: /$", "disallow: /"), "/page.htm", False),
        (("Disallow: /foo/bar/quz", "Allow: /foo/*/qux"), "/foo/quz", True),
        (("Disallow: /foo/bar/quz", "Allow: /foo/*/qux"), "/foo//quz", True),
        (("Disallow: /foo/bar$", "Allow: /foo/bar/qux"), "/foo/bar", False),
        (("Disallow: /foo/bar$", "Allow: /foo/bar/qux"), "/foo/bar/", True),
        (("Disallow: /foo/bar$", "Allow: /foo/bar/qux"), "/foo/bar/baz", True),
        (("# Disallow: /", "Disallow: /foo/quz#qux", "Allow: /"), "/foo/bar", True),
        (("# Disallow: /", "Disallow: /foo/quz#qux", "Allow: /"), "/foo/quz", False),
        # an index page stands for its folder, and weighs its own octets and the end
        (SLASH, "/allowed-slash/", True),
        (SLASH, "/allowed-slash/index.htm", False),
        (SLASH, "/allowed-slash/index.html", True),
        (SLASH, "/allowed-slash/other", False),
        (SLASH, "/anyother-url", False),
        (("Allow: /x/index.html", "Disallow: /x/*"), "/x/", True),
        (("Allow: /x/index.html", "Disallow: /x/**"), "/x/", False),
    ],
)
def test_parser_decides(lines: tuple[str, ...], path: str, allowed: bool) -> None:
    assert rules(*lines).allows(at(path), "foobot") is allowed


def test_parser_line_is_cut_where_google_cuts_it() -> None:
    kept = "/x/" + "a" * (MAX_LINE - len("disallow: /x/") - 1)
    robots = rules(f"disallow: {kept}/qux")
    assert robots.allows(at("/fux"), "foobot")
    assert not robots.allows(at(f"{kept}/fux"), "foobot")
    (note,) = robots.notes
    assert (note.kind, note.line, len(note.text)) == (NoteKind.TOO_LONG, 2, 200)


COUNTED = ("User-Agent: foo", "Allow: /some/path", "User-Agent: bar", "", "", "Disallow: /")


@pytest.mark.parametrize(
    "text",
    [
        *(end.join([*COUNTED, *last]) for end in ("\n", "\r\n", "\r") for last in ([], [""])),
        "User-Agent: foo\nAllow: /some/path\r\nUser-Agent: bar\n\r\n\nDisallow: /",
    ],
)
def test_parser_counts_lines_of_every_kind(text: str) -> None:
    assert decided(policy(text), "/", "bar") == (False, 6)


@pytest.mark.parametrize(
    ("start", "read"),
    [(b"\xef\xbb\xbf", True), (b"", True), (b"\xef\xbb", True), (b"\xef", True), (b"\xef\x11\xbf", False)],
)
def test_parser_byte_order_mark_is_no_part_of_the_first_line(start: bytes, read: bool) -> None:
    robots = policy(start + b"User-Agent: foo\nDisallow: /\n")
    assert robots.allows(at("/"), "foo") is not read
    assert robots.facts.bom is (start[:1] == b"\xef")


BOTH, NEITHER, GOOGLE, OTHERS = (False, False), (True, True), (False, True), (True, False)


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("User-agent: *\nDisallowed: /x", GOOGLE),
        ("User-agent: *\nDISALLOW-all: /x", GOOGLE),
        ("User-agent: *\nDisallow pages: /x", GOOGLE),
        ("User-agents: *\nDisallow: /x", GOOGLE),
        ("User-agent-name: *\nDisallow: /x", GOOGLE),
        ("User agents: *\nDisallow: /x", GOOGLE),
        ("User-agent: *\nDisallow: /\nAllowed: /x", OTHERS),
        ("User-agent: *\nDisalow: /x", BOTH),
        ("User-agent: *\nDisallow /x", BOTH),
        ("User-agent: *\nDissallowed /x", GOOGLE),
        ("User-agent *\nDisallow: /x", BOTH),
        ("User agent *\nDisallow: /x", OTHERS),
        ("User-agent: * all\nDisallow: /x", BOTH),
        ("User-agent: *\xa0\nDisallow: /x", OTHERS),
        ("User-agent: *\u2028all\nDisallow: /x", NEITHER),
        ("User-agent: *\nDisallow /x x:y", NEITHER),
        ("User-agent: *\nPre-disallow: /x", NEITHER),
        ("User-agent: *\n\xa0Disallow: /x", OTHERS),
        ("User-agent: *\nDisallow: /x\xa0", OTHERS),
        ("User-agent: *\nDisallow: /x\0yz", GOOGLE),
        ("User-agent: *\n\0Disallow: /x", OTHERS),
        ("User-agent: *\n\ufeffDisallow: /x", NEITHER),
        ("\ufeff\ufeffUser-agent: *\nDisallow: /x", NEITHER),
        ("User-agent: *\nDisallow: /x\ufeff", NEITHER),
        ("User-agent: *\n" + " " * MAX_LINE + "Disallow: /x", OTHERS),
    ],
)
def test_field_names_that_google_and_others_read_differently(text: str, allowed: tuple[bool, bool]) -> None:
    robots = policy(text)
    assert (robots.allows(at("/x"), "Googlebot"), robots.allows(at("/x"), "Bingbot")) == allowed
    assert robots.allows(at("/x"), "Google-Extended") is allowed[0]
    assert robots.allows(at("/x"), "foobot") is allowed[1]


@pytest.mark.parametrize("name", ["Googlebot", "Googlebot2", "Googlebot.com", "googlebot/2.1", "GOOGLEBOT Mobile"])
def test_product_token_of_google_ends_at_the_first_other_character(name: str) -> None:
    assert not policy(f"User-agent: {name}\nDisallow: /x").allows(at("/x"), "Googlebot")


def test_google_reads_at_most_so_many_octets_of_a_line() -> None:
    path = "/" + "\u00e9" * (MAX_LINE // 2 - len("disallow: /") // 2)
    robots = policy(f"User-agent: *\ndisallow: {path}abc")
    assert not robots.allows(at(path), "Googlebot")
    assert robots.allows(at(path), "Bingbot")


def test_usual_file_is_read_once() -> None:
    robots = policy("# all\nUser-agent: *\nUser-agent: foo-bot # x\nDisallow: /x$\nAllow:\nSitemap: /a\nCrawl-delay: 3")
    assert robots.parsed_by_google is None


def test_google_only_agents_are_known() -> None:
    known = {agent.name: agent for agent in parse_agents("AdsBot-Google,Mediapartners-Google,Googlebot-Image")}
    assert [agent.bound_by_star for agent in known.values()] == [False, False, True]
