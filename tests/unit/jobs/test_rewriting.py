"""Rows of `urls` that are written again."""

from __future__ import annotations

from sitemapcrawler.jobs.rewriting import ROWS_AT_ONCE, NewValues, rewrite
from sitemapcrawler.jobs.store import Store


def test_rows_rewritten_twice_in_a_transaction_keep_order_and_values(store: Store) -> None:
    many = ROWS_AT_ONCE + ROWS_AT_ONCE // 2
    store.execute(
        "INSERT INTO urls (loc, sitemap, line) SELECT 'https://e.com/' || i, (i % 3)::VARCHAR || '.xml', i "
        f"FROM range({many}) t(i)"
    )
    with store.transaction():
        for title in ("first", "second"):
            for table, parity in (("frequencies", 0), ("segments", 1)):
                store.execute(
                    f"CREATE TEMP TABLE {table} AS SELECT rowid AS row, sitemap, '{title}' AS changed "
                    f"FROM urls WHERE line % 2 = {parity} AND sitemap <> '2.xml'"
                )
            frequencies = NewValues("frequencies", {"changefreq": "coalesce(frequencies.changed, u.changefreq)"})
            rewrite(store, [frequencies, NewValues("segments", {"segment": "coalesce(segments.changed, u.segment)"})])
    for file in range(3):
        rows = store.execute("SELECT line, changefreq, segment FROM urls WHERE sitemap = ?", [f"{file}.xml"])
        second = [("second", None), (None, "second")] if file < 2 else [(None, None)] * 2
        assert rows == [(n, *second[n % 2]) for n in range(file, many, 3)]
