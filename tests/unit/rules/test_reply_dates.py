"""The rules that compare lastmod with the page and with its Last-Modified header."""

from __future__ import annotations

import pytest

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.reader.dates import utc
from sitemapcrawler.replies import ReplyRecord
from tests.unit.tables import cases

from .replying import SELF, SITEMAP, URL, Told, error, facts, message, moved, ok, page, told

HEADER, PAGE = {"lastmod-vs-last-modified-header": "warning"}, {"lastmod-vs-page-date": "warning"}
MAY_1 = "Fri, 01 May 2026 10:00:00 GMT"
FETCHED = "Mon, 01 Jun 2026 11:59:00 GMT"


def entry(lastmod: str | None) -> UrlRecord:
    return UrlRecord(URL, sitemap=SITEMAP, lastmod=lastmod, lastmod_at=utc(lastmod) if lastmod else None)


def changed(*dates: str, name: str = "article:modified_time") -> str:
    return SELF + "".join(f'<meta property="{name}" content="{date}">' for date in dates)


@pytest.mark.parametrize(
    ("lastmod", "header", "rules"),
    cases(
        (["2026-05-01", "2026-05-01T10:00:00Z", "2026-05-02T09:59:00Z", "2026-04-30", None, "soon", "2026-02-30",
          "2099-01-01", "1970-01-01", "Tue, 03 Mar 2026 09:00:00 +0000"], MAY_1, {}),
        (["2026-05-02T10:01:00Z", "2026-03-01", "2026-05-20"], MAY_1, HEADER),
        (["2026-03-01"], FETCHED, {}),
        (["2026-03-01"], "Tue, 02 Jun 2026 10:00:00 GMT", {}),
        (["2026-03-01"], "Thu, 01 Jan 1970 00:00:00 GMT", {}),
        (["2026-03-01"], "yesterday", {}),
        (["2026-03-01"], None, {}),
    ),
)  # fmt: skip
def test_lastmod_and_the_header(lastmod: str | None, header: str | None, rules: Told) -> None:
    assert told(facts(ok(last_modified=header), entry(lastmod))) == rules


def test_the_message_says_which_is_newer() -> None:
    text = message(facts(ok(last_modified=MAY_1), entry("2026-03-01")), *HEADER)
    assert text == (
        f"lastmod '2026-03-01' and the Last-Modified header {MAY_1!r} are more than a day apart; the latter is newer"
    )
    text = message(facts(ok(last_modified=MAY_1), entry("2026-05-20")), *HEADER)
    assert text.endswith("; lastmod is newer")


@pytest.mark.parametrize(
    ("headers", "rules"),
    [
        ({"age": ["2685720"]}, {}),  # seconds from MAY_1 to the request, but for some
        ({"age": ["3600"]}, HEADER),
        ({"age": ["9" * 40]}, HEADER),
        ({"date": [MAY_1]}, {}),
        ({"date": [FETCHED]}, HEADER),
        ({"date": ["0001-01-01"]}, {}),
        ({"date": []}, HEADER),
    ],
)
def test_a_header_that_is_the_time_of_the_cache_says_nothing(headers: dict[str, list[str]], rules: Told) -> None:
    assert told(facts(ok(last_modified=MAY_1), entry("2026-03-01"), headers=headers)) == rules


@pytest.mark.parametrize(
    ("lastmod", "dates", "rules"),
    [
        ("2026-03-01", ["2026-03-01T08:00:00Z"], {}), ("2026-03-01", ["2021-07-09"], PAGE),
        ("2021-07-09", ["2026-03-01"], PAGE), ("2026-03-01", ["2021-07-09", "2026-03-01"], {}),
        ("2026-03-01", ["2026-06-01T11:58:00Z"], {}), ("2026-03-01", ["some day"], {}),
    ],
)  # fmt: skip
def test_lastmod_and_the_page(lastmod: str, dates: list[str], rules: Told) -> None:
    assert told(facts(record=entry(lastmod), page=page(changed(*dates)))) == rules


def test_the_date_of_publication_is_none_of_change() -> None:
    published = page(changed("2021-07-09", name="article:published_time"))
    assert told(facts(record=entry("2026-03-01"), page=published)) == {}


@pytest.mark.parametrize(("date", "rules"), [("2026-03-01", {}), ("2021-07-09", PAGE), ("some day", HEADER)])
def test_the_page_has_the_word_before_its_server(date: str, rules: Told) -> None:
    asked = facts(ok(last_modified=MAY_1), entry("2026-03-01"), page=page(changed(date)))
    assert told(asked) == rules


@pytest.mark.parametrize(
    ("reply", "soft_404"),
    [
        (error(404, last_modified=MAY_1), None),
        (moved("https://example.com/b", last_modified=MAY_1), None),
        (ok(last_modified=MAY_1), "'Page not found'"),
    ],
)
def test_only_the_listed_page_is_compared(reply: ReplyRecord, soft_404: str | None) -> None:
    asked = facts(reply, entry("2026-03-01"), page=page(changed("2021-07-09")), soft_404=soft_404)
    assert not told(asked).keys() & {*HEADER, *PAGE}
    assert told(asked)
