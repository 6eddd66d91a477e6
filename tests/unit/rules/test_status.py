"""The rules on statuses, redirects and failures of listed URLs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.items import Hop, UrlRecord
from sitemapcrawler.replies import Reason, ReplyKind, ReplyRecord
from sitemapcrawler.replies.soft404 import NO_CONTENT
from sitemapcrawler.rules.facts.replied import is_home
from tests.unit.tables import cases

from .replying import (
    REPLIES,
    SITEMAP,
    URL,
    Told,
    error,
    facts,
    failed,
    findings,
    made,
    message,
    moved,
    ok,
    told,
    told_of_file,
)

HOP = (Hop(301, URL),)


def test_a_page_that_works_has_no_finding() -> None:
    assert told(facts(ok(elapsed_ms=300))) == {}


@pytest.mark.parametrize(
    ("status", "rule"),
    [
        (400, "status-4xx"), (401, "status-401"), (403, "status-403"), (404, "status-404"),
        (410, "status-410"), (451, "status-4xx"), (500, "status-5xx"), (503, "status-5xx"), (600, "status-5xx"),
        (999, "status-5xx"),
    ],
)  # fmt: skip
def test_an_error_is_one_finding_also_behind_redirects(status: int, rule: str) -> None:
    assert told(facts(error(status))) == {rule: "error"}
    behind = facts(error(status, redirects=HOP, final_url="https://example.com/b"))
    assert told(behind) == {rule: "error"}
    assert f"HTTP status {status}, after 1 redirect, at 'https://example.com/b'" in message(behind, rule)


LOOP = made(
    ReplyKind.REDIRECT_LOOP, final_status=301, final_url=URL, redirects=HOP * 3, error=f"redirects lead back to {URL}"
)
REFUSED = made(ReplyKind.ADDRESS_REFUSED, final_url="http://10.0.0.1/", error="10.0.0.1 is not public", redirects=HOP)


@pytest.mark.parametrize(
    ("reply", "rule", "severity", "words"),
    [
        (error(503), "status-5xx", "error", "HTTP status 503: the server is overloaded, or under maintenance"),
        (error(500), "status-5xx", "error", "HTTP status 500: the server failed"),
        (error(402), "status-402", "info", "search engines may get another answer"),
        (error(429, attempts=4), "status-429", "warning", "after 4 requests"),
        *((error(status), "status-redirect", "error", "") for status in (300, 301, 304)),
        (LOOP, "status-redirect-loop", "error", ""),
        (ReplyRecord(reason=Reason.BLOCKED, redirects=HOP), "status-redirect", "warning",
         "was not requested: robots.txt forbids it for this crawl"),
        (REFUSED, "security-address-refused", "warning", "after 1 redirect"),
    ],
)  # fmt: skip
def test_what_is_told_of_a_reply(reply: ReplyRecord, rule: str, severity: str, words: str) -> None:
    assert told(facts(reply)) == {rule: severity}
    assert words in message(facts(reply), rule)


@pytest.mark.parametrize(
    ("kind", "rules"),
    [
        (ReplyKind.TIMEOUT, {"status-timeout": "error"}), (ReplyKind.DNS, {"status-dns": "error"}),
        (ReplyKind.TLS, {"status-tls": "error"}), (ReplyKind.REFUSED, {"status-connection": "error"}),
        (ReplyKind.RESET, {"status-connection": "error"}), (ReplyKind.TRUNCATED, {"status-truncated": "warning"}),
        (ReplyKind.TOO_LARGE, {"status-truncated": "warning"}),
    ],
)  # fmt: skip
def test_no_answer_is_one_finding(kind: ReplyKind, rules: Told) -> None:
    assert told(facts(failed(kind))) == rules
    assert told(facts(failed(kind, redirects=HOP))) == rules


@pytest.mark.parametrize(
    ("loc", "reply", "rule"),
    [
        (URL, moved("https://example.com/b"), "status-redirect"),
        (URL, moved("https://www.example.com/a"), "status-redirect"),
        ("http://example.com/", moved("https://example.com/"), "status-redirect"),
        ("https://example.com/index.html", moved("https://example.com/"), "status-redirect"),
        ("https://example.com/", moved("https://example.com/de/"), "status-redirect"),
        (URL, moved("https://example.com/?from=a"), "status-redirect"),
        (URL, moved("https://example.com/b", 301, 302), "status-redirect-chain"),
        (URL, moved("https://www.example.com/b", *[301] * 10), "status-redirect-chain"),
        (URL, moved("https://example.net/a"), "status-redirect-offsite"),
        ("http://old.example.net/a", moved("https://www.example.com/a"), "status-redirect"),
        ("http://old.example.net/a", moved("https://example.org/a"), "status-redirect-offsite"),
        (URL, moved("https://example.net/", 301, 301), "status-redirect-offsite"),
        (URL, moved("https://example.com/"), "status-redirect-to-home"),
        (URL, moved("https://www.example.com", 301, 302), "status-redirect-to-home"),
        *(
            (URL, moved(f"https://example.com/{path}"), "status-redirect-to-home")
            for path in ("de-at/", "de", "index.html", "home", "home/", "de/index.html", "de_AT/home")
        ),
        *(
            (URL, moved(f"https://example.com/{path}"), "status-redirect")
            for path in ("zz/index.html", "de-zz/", "dehome", "home/a", "de/a", "de/home-garden")
        ),
        ("https://example.com/home", moved("https://example.com/"), "status-redirect"),
        ("https://example.com/de/index.html", moved("https://example.com/de/"), "status-redirect"),
        ("https://example.com/?p=7", moved("https://example.com/"), "status-redirect-to-home"),
        (URL, moved("https://example.com/Account/Login?ReturnUrl=%2Fa", 302), "status-redirect-to-login"),
        (URL, moved("https://sso.example.net/wp-login.php"), "status-redirect-to-login"),
        *(
            (URL, moved(f"https://id.example.com{path}", 302, 302), "status-redirect-to-login")
            for path in (
                "/idp/profile/SAML2/Redirect/SSO?execution=e1s1", "/tenant/saml2?SAMLRequest=fZ", "/adfs/ls/?wa=wsignin1.0",
                "/common/oauth2/v2.0/authorize?client_id=a", "/realms/a/protocol/openid-connect/auth?client_id=a", "/login.do",
                "/Shibboleth.sso/WAYF?target=a", "/login/start", "/login/index.php", "/u/login/password?state=a",
                "/account/signin?next=%2Fa", "/auth/realms/x/protocol/openid-connect/auth?client_id=a",
            )
        ),
        (URL, moved("https://example.com/author"), "status-redirect"),
        (URL, moved("https://example.com/help/login/tips"), "status-redirect"),
        (URL, moved("https://example.com/login/help?lang=de"), "status-redirect"),
        (URL, moved("https://example.com/docs/oauth2/scopes"), "status-redirect"),
        ("https://example.com/sso/prices", moved("https://example.com/oauth2/authorize?client_id=a"), "status-redirect-to-login"),
        ("https://example.com/login", moved("https://example.com/de/login/"), "status-redirect"),
    ],
)  # fmt: skip
def test_a_redirect_is_one_finding_of_the_rule_that_says_most(loc: str, reply: ReplyRecord, rule: str) -> None:
    assert told(facts(reply, UrlRecord(loc, sitemap=SITEMAP))) == {rule: "warning"}


@pytest.mark.parametrize(
    ("url", "home"),
    cases(
        (["https://example.com", "https://example.com/index.php#top", "https://example.com/en"], True),
        (["https://example.com/xq/", "https://example.com/en/a", "https://example.com/?page=2", "http://["], False),
    ),
)  # fmt: skip
def test_a_home_page(url: str, home: bool) -> None:
    assert is_home(url) is home


def test_a_redirect_says_how_and_where_to() -> None:
    asked = facts(moved("https://example.com/b", 308))
    assert message(asked, "status-redirect") == "redirects (308, permanent) to 'https://example.com/b'"
    asked = facts(moved("https://example.com/b", 302, noindex=True))
    assert message(asked, "status-redirect") == (
        "redirects (302, temporary) to 'https://example.com/b', and that page is noindex"
    )
    asked = facts(moved("https://example.com/c", 301, 302))
    assert message(asked, "status-redirect-chain") == (
        "2 redirects (301 at 'https://example.com/a', 302 at 'https://example.com/a1') to 'https://example.com/c'"
    )


def test_a_long_chain_is_not_told_in_full() -> None:
    text = message(facts(moved("https://example.com/c", *[301] * 10)), "status-redirect-chain")
    assert text.startswith("10 redirects (301 at ")
    assert text.count(" at ") == 4


@pytest.mark.parametrize("reason", list(Reason))
def test_what_was_not_asked_has_no_finding(reason: Reason) -> None:
    assert told(facts(ReplyRecord(reason=reason))) == {}


def test_a_scheme_that_is_refused_is_told_unless_a_rule_on_the_url_has() -> None:
    refused = made(ReplyKind.ADDRESS_REFUSED, final_url="ftp://example.com/a", error="not an http or https URL")
    assert told(facts(refused)) == {"security-scheme-refused": "warning"}
    record = UrlRecord("ftp://example.com/a", issues=["loc-bad-scheme"])
    assert told(facts(refused, record)) == {}


@pytest.mark.parametrize(
    ("reply", "soft_404", "rules"),
    [
        (ok(), "'Page not found', and nothing else", {"status-soft-404": "warning"}),
        (ok(final_status=204), NO_CONTENT, {"status-soft-404": "warning"}),
        (moved("https://example.com/b", final_status=205), NO_CONTENT, {"status-soft-404": "warning"}),
        (ok(final_status=206), None, {}),
        (moved("https://example.com/error"), "redirected to where all are", {"status-soft-404": "warning"}),
        (moved("https://example.com/"), "redirected to where all are", {"status-redirect-to-home": "warning"}),
        (moved("https://example.net/"), "redirected to where all are", {"status-soft-404": "warning"}),
    ],
)
def test_a_page_that_is_none(reply: ReplyRecord, soft_404: str | None, rules: Told) -> None:
    assert told(facts(reply, soft_404=soft_404)) == rules


@pytest.mark.parametrize(
    ("content_type", "rules"),
    cases(
        (["application/pdf", "application/json; charset=utf-8"], {"status-non-html": "info"}),
        (["application/xhtml+xml", "TEXT/HTML", 'text/html; title="a, b"', "", None], {}),
        (["text/html,charset=utf-8", "text/html charset=utf-8", "html", "*/*"], {"status-content-type": "info"}),
        (["text/html, application/pdf"], {"status-content-type": "info", "status-non-html": "info"}),
    ),
)  # fmt: skip
def test_what_is_no_html(content_type: str | None, rules: Told) -> None:
    assert told(facts(ok(content_type=content_type))) == rules
    assert told(facts(error(404, content_type=content_type))) == {"status-404": "error"}


@pytest.mark.parametrize(
    ("elapsed_ms", "attempts", "rules"),
    [(1_800, 1, {}), (1_801, 1, {"status-slow": "info"}), (3_000, 2, {}), (4_000, 2, {"status-slow": "info"})],
)
def test_a_slow_page_is_told_by_one_request(elapsed_ms: int, attempts: int, rules: Told) -> None:
    assert told(facts(ok(elapsed_ms=elapsed_ms, attempts=attempts))) == rules


@pytest.mark.parametrize(
    ("reply", "text"),
    [
        (ok(head_status=405), "HEAD got 405, GET got 200"),
        (ok(head_status=0), "HEAD got no answer, GET got 200"),
        (moved("https://example.com/b", 301, head_status=404), "HEAD got 404, GET got 301, then 200"),
        (failed(ReplyKind.TIMEOUT, head_status=404), "HEAD got 404, GET got no answer"),
        (error(500, head_status=400), "HEAD got 400, GET got 500"),
        (ReplyRecord(reason=Reason.BLOCKED, redirects=HOP, head_status=405), "HEAD got 405, GET got 301"),
    ],
)
def test_head_and_get_that_differ(reply: ReplyRecord, text: str) -> None:
    assert message(facts(reply), "status-head-get-mismatch") == text


@pytest.mark.parametrize(
    ("replies", "dirty"),
    cases(
        ([{}, {"sampled_out": 50, "blocked": 3}, {"ok": 99, "http_error": 1},
          {"ok": 98, "stopped": 5, "blocked": 5, "off_site": 5},
          {"ok": 40, "http_error": 1, "sampled_out": 10_000}], False),
        ([{"ok": 98, "http_error": 1, "redirected": 1}, {"redirected": 1},
          {"ok": 900, "http_error": 100, "sampled_out": 10_000}], True),
    ),
)  # fmt: skip
def test_the_share_of_dirt(replies: dict[str, int], dirty: bool) -> None:
    assert ("status-dirt-ratio" in {one.rule for one in told_of_file(**replies)}) is dirty


def test_dirt_is_counted() -> None:
    [found] = told_of_file(ok=960, redirected=30, http_error=10, blocked=7)
    assert found.message == (
        "40 of 1,000 checked URLs did not answer 200 (30 redirected, 10 http-error); 1 % is tolerated"
    )
    assert found.severity == "info"  # each has a finding of its own
    [found, _] = told_of_file(ok=960, redirected=30, http_error=10, sampled_out=5_000)
    assert (found.rule, found.severity) == ("status-dirt-ratio", "warning")


def test_a_sample_says_what_it_tells() -> None:
    [found] = told_of_file(ok=500, sampled_out=9_500)
    assert (found.rule, found.severity) == ("status-sampled", "info")
    assert found.message.startswith("500 of 10,000 URLs were checked (random sample); did not answer 200: 0.0 %")
    [found] = told_of_file(sampled_out=20)
    assert found.message == "0 of 20 URLs were checked (random sample)"


@given(REPLIES, st.none() | st.text(), st.text())
def test_no_reply_makes_a_rule_fail_and_none_has_two_faults(reply: ReplyRecord, soft_404: str | None, loc: str) -> None:
    record = UrlRecord(loc, sitemap=SITEMAP, lastmod="2026-01-05", lastmod_at="2026-01-05T00:00:00Z")
    found = findings(facts(reply, record, soft_404=soft_404))
    assert "internal-rule-failed" not in {one.rule for one in found}
    assert sum(one.severity != "info" and not one.rule.startswith("lastmod-") for one in found) <= 1


@given(st.dictionaries(st.sampled_from([*ReplyKind, *Reason]), st.integers(0, 50_000)))
def test_no_counts_make_a_rule_fail(replies: dict[str, int]) -> None:
    assert {one.rule for one in told_of_file(**replies)} <= {"status-dirt-ratio", "status-sampled"}
