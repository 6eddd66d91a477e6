"""The rules on what listed pages say of themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.items import Target, UrlRecord
from sitemapcrawler.namespaces.extensions import Alternate, News
from sitemapcrawler.replies import Reason, ReplyKind, ReplyRecord
from sitemapcrawler.replies.page import (
    PAGE_LIMIT,
    Canonical,
    Denial,
    Html,
    PageDate,
    PageFacts,
    Place,
    Refresh,
    page_of,
    read_page,
)
from tests.unit.tables import cases

from .replying import (
    REPLIES,
    SELF,
    SITEMAP,
    URL,
    URLS,
    Told,
    error,
    facts,
    failed,
    findings,
    message,
    moved,
    ok,
    page,
    told,
)


def robots(content: str, name: str = "robots") -> str:
    return f'{SELF}<meta name="{name}" content="{content}">'


def link(href: str) -> str:
    return f'<link rel="canonical" href="{href}">'


def test_a_good_page_has_no_finding() -> None:
    assert told(facts(page=page(f"<title>A</title>{SELF}"))) == {}


@pytest.mark.parametrize(
    ("head", "headers", "rules"),
    [
        (robots("noindex"), {}, {"page-noindex-meta": "error"}),
        (robots("NONE"), {}, {"page-noindex-meta": "error"}),
        (robots("noindex") + "<meta name=googlebot content=noindex>", {}, {"page-noindex-meta": "error"}),
        (robots("index, follow"), {}, {}),
        (robots("nofollow, noarchive"), {}, {}),
        (SELF, {"x_robots_tag": "noindex"}, {"page-noindex-header": "error"}),
        (SELF, {"x_robots_tag": "nofollow"}, {}),
        (robots("noindex"), {"x_robots_tag": "noindex"}, {"page-noindex-meta": "error"}),
        (SELF, {"x_robots_tag": "unavailable_after: 2010-05-01"}, {"page-noindex-header": "error"}),
        (SELF, {"x_robots_tag": "unavailable_after: 2999-07-01"}, {}),
        (SELF, {"x_robots_tag": "unavailable_after: some day"}, {}),
        (robots("noindex", "googlebot"), {}, {"page-noindex-for-googlebot-only": "warning"}),
        (robots("noindex", "bingbot"), {}, {"page-noindex-for-googlebot-only": "warning"}),
        (SELF, {"x_robots_tag": "googlebot: noindex"}, {"page-noindex-for-googlebot-only": "warning"}),
        (SELF, {"x_robots_tag": "gptbot: noindex"}, {"page-noindex-for-googlebot-only": "info"}),
        (robots("noindex", "googlebot-news"), {}, {"page-noindex-for-googlebot-only": "info"}),
    ],
)
def test_noindex(head: str, headers: dict[str, str], rules: Told) -> None:
    assert told(facts(page=page(head, **headers))) == rules


def test_noindex_in_both_places_names_both() -> None:
    asked = facts(page=page(robots("noindex"), x_robots_tag="noindex"))
    assert message(asked, "page-noindex-meta").endswith("'noindex', and so does the X-Robots-Tag header")


def test_an_article_that_is_denied_to_google_news() -> None:
    record = UrlRecord(URL, sitemap=SITEMAP, news=News())
    asked = facts(record=record, page=page(robots("noindex", "googlebot-news")))
    assert told(asked) == {"page-noindex-for-googlebot-only": "warning"}


@pytest.mark.parametrize(("more", "rules"), [(0, {}), (PAGE_LIMIT, {"page-too-long": "info"})], ids=["short", "long"])
def test_page_that_googlebot_reads_in_part(more: int, rules: Told) -> None:
    body = f"<html><head>{SELF}</head><body><p>Text</p>{' ' * more}</body></html>".encode()
    assert told(facts(page=read_page(body, {"content-type": ["text/html"]}, URL))) == rules


def test_links_that_scripts_open() -> None:
    links = "<a onclick=\"go('/a')\">A</a><a href='javascript:go(2)'>B</a>"
    asked = facts(page=page(f"{SELF}</head><body>{links}"))
    assert told(asked) == {"page-links-uncrawlable": "info"}
    example = "'<a onclick=\"go(\\'/a\\')\">'"
    assert message(asked, "page-links-uncrawlable") == f"2 links that crawlers cannot follow, such as {example}"


def test_by_head_the_headers_are_told_and_nothing_is_missing() -> None:
    headers = {"x-robots-tag": ["noindex"]}
    assert told(facts(page=page_of(Html(), headers, URL))) == {"page-noindex-header": "error"}
    assert told(facts(page=page_of(Html(), {}, URL))) == {}


@pytest.mark.parametrize(
    ("reply", "soft_404", "rules"),
    [
        (ok(), "'Page not found'", {"status-soft-404": "warning"}),
        (moved("https://example.com/login"), None, {"status-redirect-to-login": "warning"}),
        (error(404), None, {"status-404": "error"}),
        (ReplyRecord(reason=Reason.STOPPED), None, {}),
    ],
)
def test_a_page_that_is_not_the_listed_one_is_not_judged(reply: ReplyRecord, soft_404: str | None, rules: Told) -> None:
    head = robots("noindex") + "<meta http-equiv=refresh content='0; url=/c'>" + link("/b")
    assert told(facts(reply, page=page(head), soft_404=soft_404)) == rules


@pytest.mark.parametrize(
    ("refresh", "rules"),
    cases(
        (["0; url=/b", "5; URL='https://example.net/'"], {"page-meta-refresh": "warning"}),
        (["300", "300; url=https://example.com/a", "300; url=#top", "never"], {}),
    ),
)  # fmt: skip
def test_a_meta_refresh(refresh: str, rules: Told) -> None:
    assert told(facts(page=page(f'{SELF}<meta http-equiv="refresh" content="{refresh}">'))) == rules


@pytest.mark.parametrize(
    ("canonical", "rules"),
    cases(
        (["https://example.com/b", "https://example.net/a", "https://example.com/a?page=1",
          "/b"], {"page-canonical-other": "error"}),
        (["http://example.com/a", "https://www.example.com/a", "https://example.com/a/",
          "https://example.com/A"], {"page-canonical-other": "warning"}),
        (["https://EXAMPLE.com:443/a#top", "https://example.com/%61"], {}),
        (["/a", "//example.com/a"], {"page-canonical-relative": "warning"}),
        (["javascript:void(0)", ""], {"page-canonical-missing": "info"}),
    ),
)  # fmt: skip
def test_a_canonical(canonical: str, rules: Told) -> None:
    assert told(facts(page=page(link(canonical)))) == rules


def test_escapes_that_a_request_adds_make_no_other_page() -> None:
    listed, asked = "https://example.com/caf\xe9?q=a|b", "https://example.com/caf%C3%A9?q=a%7Cb"
    for canonical in (listed, asked):
        record = UrlRecord(listed, sitemap=SITEMAP)
        assert told(facts(ok(final_url=asked), record, page=page(link(canonical), asked))) == {}


def test_the_canonical_of_a_link_header() -> None:
    header = '<https://example.com/b>; rel="canonical"'
    asked = facts(page=page("", link=header))
    assert told(asked) == {"page-canonical-other": "error"}
    assert message(asked, "page-canonical-other").endswith("'https://example.com/b' (Link header)")
    assert told(facts(page=page(SELF, link=header))) == {"page-canonical-multiple": "warning"}


@pytest.mark.parametrize(
    ("head", "rules"),
    [
        (SELF + SELF, {}),
        (SELF + link("https://example.com:443/a#x"), {}),
        (SELF + link("https://example.com/b"), {"page-canonical-multiple": "warning"}),
        (link("/b") + link("/c"), {"page-canonical-multiple": "warning"}),
        (SELF + link("/a"), {"page-canonical-relative": "warning"}),
        (SELF + "<div></div>" + link("https://example.com/b"), {}),
    ],
)
def test_several_canonicals(head: str, rules: Told) -> None:
    assert told(facts(page=page(head))) == rules


@pytest.mark.parametrize(
    ("reply", "rules"),
    cases(
        ([ok(final_url="https://example.com/b"), error(429), ReplyRecord(reason=Reason.OFF_SITE),
          None], {"page-canonical-other": "error"}),
        ([ok(final_url="https://example.com/b", final_status=204), error(404), error(503), failed(ReplyKind.DNS),
          moved(URL)], {"page-canonical-to-non-200": "error"}),
    ),
)  # fmt: skip
def test_the_reply_to_a_canonical(reply: ReplyRecord | None, rules: Told) -> None:
    asked = facts(page=page(link("https://example.com/b")), canonical=reply)
    assert told(asked) == rules
    assert "'https://example.com/b'" in findings(asked)[0].message


@pytest.mark.parametrize(
    ("indexability", "reason", "rule", "words"),
    [
        ("ok", None, "page-canonical-other", "canonical: 'https://example.com/b'"),
        ("noindex", None, "page-canonical-not-indexable", "has noindex"),
        ("soft 404", None, "page-canonical-not-indexable", "is an error page with a success status"),
        ("canonicalised", None, "page-canonical-not-indexable", "names another canonical itself"),
        ("blocked", "blocked", "page-canonical-not-indexable", "is blocked by robots.txt"),
        ("not checked", "blocked", "page-canonical-other", "which robots.txt does not allow this crawl to request"),
        ("not checked", "off-site", "page-canonical-other", "on another site, which was not requested"),
        ("page not read", None, "page-canonical-other", "canonical: 'https://example.com/b'"),
    ],
)
def test_what_a_canonical_was_verified_to_be(indexability: str, reason: str | None, rule: str, words: str) -> None:
    target = Target("https://example.com/b", reason=reason, indexability=indexability)
    asked = facts(record=UrlRecord(URL, sitemap=SITEMAP, target=target), page=page(link("https://example.com/b")))
    assert told(asked) == {rule: "error"}
    assert findings(asked)[0].message.endswith(words)


@pytest.mark.parametrize(
    ("codes", "rule"),
    [
        (("fr", "de"), "page-canonical-other-language"), (("de-AT", "de-DE"), "page-canonical-other"),
        (("x-default", "de"), "page-canonical-other"), ((None, "de"), "page-canonical-other"), (("de", None), "page-canonical-other"),
    ],
)  # fmt: skip
def test_canonical_in_another_language(codes: tuple[str | None, str | None], rule: str) -> None:
    pages = zip(codes, (URL, "https://example.com/b"), strict=True)
    record = UrlRecord(URL, sitemap=SITEMAP, alternates=[Alternate(code, to) for code, to in pages if code])
    asked = facts(record=record, page=page(link("https://example.com/b")))
    assert [found for found in told(asked) if found.startswith("page-canonical")] == [rule]
    assert ("its version for de" in message(asked, rule)) is (rule == "page-canonical-other-language")


def test_no_canonical() -> None:
    assert told(facts(page=page("<title>A</title>"))) == {"page-canonical-missing": "info"}
    behind = facts(page=page(f"<div></div>{SELF}"))
    assert message(behind, "page-canonical-missing").endswith("is after the end of the head, which <div> ended")
    whole = page("<title>A</title>")
    cut = read_page(b"<html><head><title>A</title>", {"content-type": ["text/html"]}, URL, whole=False)
    pdf = read_page(b"%PDF", {"content-type": ["application/pdf"]}, URL)
    assert whole.complete
    assert told(facts(page=cut)) == told(facts(page=pdf)) == told(facts(page=None)) == {}


@pytest.mark.parametrize(
    ("lang", "alternates", "differs"),
    [
        ("en", [("de", URL)], True), ("en-US", [("de-AT", URL), ("fr", URL)], True),
        ("de", [("de", URL), ("en", "https://example.com/en")], False), ("de-CH", [("de-AT", URL)], False),
        ("de_DE", [("de", URL)], False), ("nb", [("no", URL)], False), ("he", [("iw", URL)], False),
        ("deu", [("de", URL)], False), ("de", [("deu", URL)], False), ("fil", [("tl", URL)], False),
        ("en", [("de", "https://example.com/de")], False), ("en", [("x-default", URL)], False),
        ("en", [("xx-yy-zz", URL)], False), ("english", [("de", URL)], False), ("", [("de", URL)], False),
        ("en", [("de", "/a")], True), ("en", [], False),
    ],
)  # fmt: skip
def test_the_language_of_a_page(lang: str, alternates: list[tuple[str, str]], differs: bool) -> None:
    record = UrlRecord(URL, sitemap=SITEMAP, alternates=[Alternate(code, href) for code, href in alternates])
    body = f'<html lang="{lang}"><head>{SELF}</head><body>'.encode()
    read = read_page(body, {"content-type": ["text/html"]}, URL)
    assert told(facts(record=record, page=read)) == ({"page-lang-vs-hreflang": "info"} if differs else {})


OTHER, MISSING = "page-hreflang-contradicts", "page-hreflang-incomplete"


@pytest.mark.parametrize(
    ("listed", "named", "rules"),
    [
        ("en=/a de=/de", "en=/a de=/de", {}),
        ("en=/a de=/de", "", {}),
        ("", "en=/a de=/de", {}),
        ("en-GB=/a", "en_gb=/a", {}),
        ("en=/a de=/d%65", "EN=https://example.com/a de=/de#top", {}),
        ("en=/a de=/de", "en=/a de=/german", {OTHER: "warning"}),
        ("en=/a de=/de", "en=/b de=/german", {OTHER: "warning"}),
        ("en=/a de=/de de=/german", "en=/a de=/german", {}),
        ("en=/a de=/de fr=/fr", "en=/a de=/de", {MISSING: "info"}),
        ("en=/a de=/de", "en=/a de=/de x-default=/", {MISSING: "info"}),
        ("en=/a de=/de", "en=/b fr=/fr", {OTHER: "warning", MISSING: "info"}),
    ],
)
def test_language_versions_of_page_and_sitemap(listed: str, named: str, rules: Told) -> None:
    entry, page_ = ([one.split("=") for one in text.split()] for text in (listed, named))
    links = "".join(f'<link rel="alternate" hreflang="{code}" href="{href}">' for code, href in page_)
    alternates = [Alternate(code, f"https://example.com{href}") for code, href in entry]
    record = UrlRecord(URL, sitemap=SITEMAP, alternates=alternates)
    assert told(facts(record=record, page=page(SELF + links))) == rules


@pytest.mark.parametrize(
    ("header", "rules"),
    [
        ('<https://example.com/german>; rel="alternate"; hreflang="de"', {OTHER: "warning", MISSING: "info"}),
        ('</a>; rel=alternate; hreflang=en, </de>; rel="x Alternate"; hreflang="DE"', {}),
        ('</german>; rel="preload"; hreflang="de", </german>; rel="alternate"; media="print"', {}),
    ],
)
def test_language_versions_of_a_header_count_too(header: str, rules: Told) -> None:
    alternates = [Alternate("en", URL), Alternate("de", "https://example.com/de")]
    record = UrlRecord(URL, sitemap=SITEMAP, alternates=alternates)
    assert told(facts(record=record, page=page(SELF, link=header))) == rules


PAGES = st.builds(
    PageFacts,
    URLS,
    st.booleans(),
    st.none() | st.just("utf-8"),
    lang=st.none() | st.text(max_size=10) | st.just("en"),
    denials=st.lists(
        st.builds(Denial, st.sampled_from(["", "googlebot", "a b"]), st.sampled_from(Place), st.text(), st.none() | st.text())
    ).map(tuple),
    canonicals=st.lists(st.builds(Canonical, URLS, st.none() | URLS, st.sampled_from(Place)), max_size=4).map(tuple),
    refresh=st.none() | st.builds(Refresh, st.integers(0, 9), st.none() | URLS),
    dates=st.lists(
        st.builds(
            PageDate,
            st.sampled_from(["modified", "published"]),
            st.sampled_from(["2026-05-01", "0001-01-01", "9999-12-31", "0001-01-01T00:00:00+14:00"]) | st.text(max_size=9),
            st.just("json-ld"),
        )
    ).map(tuple),
    broken_by=st.none() | st.text(max_size=5),
)  # fmt: skip
ALTERNATES = st.lists(st.builds(Alternate, st.none() | st.text(max_size=5), st.none() | URLS), max_size=3)
DATES = st.sampled_from(["2026-01-05", "0001-01-01", "9999-12-31", "2026"]) | st.text(max_size=12)
HEADERS = st.dictionaries(
    st.sampled_from(["date", "age"]),
    st.lists(st.sampled_from(["0", "9" * 30, "0001-01-01", "Mon, 01 Jun 2026 11:00:00 GMT"]) | st.text(max_size=9)),
)


@pytest.mark.slow
@given(st.just(ok()) | REPLIES, PAGES, URLS, ALTERNATES, DATES, HEADERS, st.none() | REPLIES)
def test_no_page_makes_a_rule_fail(
    reply: ReplyRecord,
    read: PageFacts,
    loc: str,
    alternates: list[Alternate],
    lastmod: str,
    headers: dict[str, list[str]],
    canonical: ReplyRecord | None,
) -> None:
    record = UrlRecord(loc, sitemap=SITEMAP, lastmod=lastmod, lastmod_at="2026-01-05T00:00:00Z", alternates=alternates)
    targets = {alternate.href or "": reply for alternate in alternates}
    found = findings(facts(reply, record, page=read, headers=headers, canonical=canonical, targets=targets))
    rules = [one.rule for one in found]
    assert "internal-rule-failed" not in rules
    assert len([rule for rule in rules if rule.startswith("page-canonical")]) <= 1
    assert len([rule for rule in rules if rule.startswith("page-noindex")]) <= 1
    assert len([rule for rule in rules if rule.startswith("lastmod-vs")]) <= 1
