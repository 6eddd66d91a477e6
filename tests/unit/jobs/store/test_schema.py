"""Records as columns, and back: what went in as a line of a feed comes out as the same row."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sitemapcrawler.items import FindingRecord, Hop, ReplyRecord, SitemapRecord, UrlRecord
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.schema import RECORDS, columns, json_object, literal, tables
from sitemapcrawler.namespaces.extensions import Alternate, Image, News, Video
from tests.unit.jobs.store.making import LARGEST, lines, of

BRIEFLY = settings(max_examples=20, phases=[Phase.explicit, Phase.reuse, Phase.generate])
"""An example asks the database several times: to look for the smallest one would take minutes."""
TEXTS = ["", "'", '"', "\\", "\\u0041", "\n", "\u2028", "\x00", "\x7f", "é", "😀", "\ufffd", "null", "[", "--", "a\\"]


def there_and_back(store: Store, table: str, records: list[Any]) -> tuple[list[Any], list[Any]]:
    """Rows of records, and those that come out of a table, as (name, value) in order: a number or an escape may be
    written in another way."""
    written = lines(records)
    store.execute(f"DELETE FROM {table}")
    spool = store.spool()
    spool.write(written, len(records))
    store.insert(table, [spool])
    spool.discard()
    found = [line for some in store.lines(table) for line in some]
    return list(map(row, written.splitlines())), list(map(row, found))


def row(line: bytes | str) -> Any:
    """The (name, value) pairs of a line."""
    return json.loads(line, object_pairs_hook=list)


@pytest.mark.slow
@pytest.mark.parametrize("table", RECORDS)
@given(data=st.data())
@BRIEFLY
def test_any_record_comes_back(opened: Store, table: str, data: st.DataObject) -> None:
    records = data.draw(st.lists(of(RECORDS[table]), max_size=3))
    before, after = there_and_back(opened, table, records)
    assert after == before


def everywhere(text: str) -> UrlRecord:
    """A record with a text wherever one may stand."""
    return UrlRecord(
        text, sitemap=text, images=[Image(loc=text), Image()], news=News(publication={text: text}, title=text),
        alternates=[Alternate(text, text, attributes={text: text, "x": ""})],
        extra={text: [{"name": text, "children": [text, {"name": text, "value": text}]}]},
        blocked_for=[text], reply=ReplyRecord(redirects=[Hop(301, text)], noindex_agents=[text]), issues=[text],
    )  # fmt: skip


SAME = [
    *(everywhere(text) for text in TEXTS),
    *(UrlRecord(loc) for loc in ("\\ud800", "\\\\ud800", "\U0001f600")),
    *(
        UrlRecord("a", priority=number)
        for number in (0.0, -0.0, 0.1, 1.5, 1e-7, 5e-324, 1e15, 1e16, 1e22, 1e300, 1 / 3)
    ),
    *(UrlRecord("a", line=number) for number in (0, -1, LARGEST, -LARGEST)),
    *(
        UrlRecord("a", videos=[Video(player_loc=player, tag=["x"])])
        for player in (None, "https://e.com/p", {"value": "https://e.com/p", "autoplay": "ap=1"})
    ),
]


def test_texts_numbers_and_players_come_back(store: Store) -> None:
    before, after = there_and_back(store, "urls", SAME)
    assert after == before


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-05-01T10:00:00Z", datetime(2024, 5, 1, 10)),
        ("2024-05-01T10:00:00.500000Z", datetime(2024, 5, 1, 10, microsecond=500_000)),
        ("2024-05-01T10:00:59.000001Z", datetime(2024, 5, 1, 10, 0, 59, 1)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1)),
        ("9999-12-31T23:59:59.999999Z", datetime(9999, 12, 31, 23, 59, 59, 999_999)),
    ],
)
def test_time_is_a_timestamp_and_comes_back_as_text(store: Store, text: str, moment: datetime) -> None:
    before, after = there_and_back(store, "urls", [UrlRecord("a", lastmod_at=text)])
    assert after == before
    assert store.execute("SELECT lastmod_at FROM urls") == [(moment,)]


def test_text_that_is_no_time_costs_no_row(store: Store) -> None:
    there_and_back(store, "urls", [UrlRecord("a", lastmod="soon", lastmod_at="soon"), UrlRecord("b", lastmod_at="")])
    assert store.execute("SELECT loc, lastmod, lastmod_at FROM urls") == [("a", "soon", None), ("b", None, None)]


@pytest.mark.parametrize(("denied", "kept"), [(None, None), ([], []), (["GPTBot"], ["GPTBot"])])
def test_nobody_and_not_judged_are_told_apart(store: Store, denied: list[str] | None, kept: list[str] | None) -> None:
    before, after = there_and_back(store, "urls", [UrlRecord("a", blocked_for=denied)])
    assert after == before
    assert store.execute("SELECT blocked_for FROM urls") == [(kept,)]


def test_what_a_row_leaves_out_is_null(store: Store) -> None:
    there_and_back(store, "urls", [UrlRecord("a", images=[], lastmod=None, reply=ReplyRecord("ok", noindex=False))])
    found = store.execute("SELECT images, lastmod, extra, recovered, reply.redirects, reply.noindex FROM urls")
    assert found == [(None, None, None, False, None, False)]


def test_values_are_found_by_name(store: Store) -> None:
    file = SitemapRecord("https://e.com/s.xml", hops=[Hop(301, "https://e.com/")], replies={"ok": 2})
    file.counts.images = 7
    there_and_back(store, "sitemaps", [file])
    found = store.execute("SELECT hops[1].status, replies['ok'], counts.images FROM sitemaps")
    assert found == [(301, 2, 7)]


def test_half_a_surrogate_pair_is_replaced(store: Store) -> None:
    there_and_back(store, "urls", [UrlRecord("https://e.com/\ud800", line=3), UrlRecord("b")])
    found = store.execute("SELECT loc, line FROM urls ORDER BY rowid")
    assert found == [("https://e.com/\ufffd", 3), ("b", None)]


def test_order_is_that_of_the_lines(store: Store) -> None:
    records = [UrlRecord(f"https://e.com/{number}", line=number) for number in range(5000)]
    before, after = there_and_back(store, "urls", records)
    assert after == before


@pytest.mark.parametrize("table", RECORDS)
def test_columns_are_the_fields_without_the_type(table: str) -> None:
    held = columns(RECORDS[table])
    assert "type" not in held
    assert list(tables()[table])[: len(held)] == list(held)


def test_types_follow_from_the_hints() -> None:
    held = columns(UrlRecord)
    assert {name: held[name] for name in ("loc", "line", "priority", "recovered", "issues", "extra", "lastmod_at")} == {
        "loc": "VARCHAR",
        "line": "BIGINT",
        "priority": "DOUBLE",
        "recovered": "BOOLEAN",
        "issues": "VARCHAR[]",
        "extra": "JSON",
        "lastmod_at": "TIMESTAMP",
    }
    assert held["alternates"].startswith('STRUCT("hreflang" VARCHAR') and held["alternates"].endswith(")[]")
    assert columns(SitemapRecord)["replies"] == "MAP(VARCHAR, BIGINT)"


def test_some_fields_are_an_object_without_what_is_null(store: Store) -> None:
    there_and_back(store, "findings", [FindingRecord("a-b", "error", "it's", value='"')])
    sql = json_object(FindingRecord, ["rule", "line", "value"])
    assert store.execute(f"SELECT {sql} FROM findings") == [('{"rule":"a-b","value":"\\""}',)]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00")))
def test_literal_is_the_text(opened: Store, text: str) -> None:
    assert opened.execute(f"SELECT {literal(text)}") == [(text,)]
