"""Rows of `urls` that are written again."""

from __future__ import annotations

from sitemapcrawler.jobs.rewriting import ROWS_AT_ONCE, rewrite
from sitemapcrawler.jobs.store import Store


def test_rows_rewritten_twice_in_a_transaction_keep_order_and_values(store: Store) -> None:
    many = ROWS_AT_ONCE + ROWS_AT_ONCE // 2
    store.execute(
        "INSERT INTO urls (loc, sitemap, line) SELECT 'https://e.com/' || i, (i % 3)::VARCHAR || '.xml', i "
        f"FROM range({many}) t(i)"
    )
    with store.transaction():
        for title in ("first", "second"):
            store.execute("CREATE OR REPLACE TEMP TABLE files AS SELECT unnest(['0.xml', '1.xml']) AS sitemap")
            store.execute(
                f"CREATE OR REPLACE TEMP TABLE changed AS SELECT rowid AS row, '{title}' AS changed "
                "FROM urls WHERE line % 2 = 0"
            )
            rewrite(store, "files", "changed", "coalesce(m.changed, u.changefreq) AS changefreq")
    for file in range(3):
        rows = store.execute("SELECT line, changefreq FROM urls WHERE sitemap = ?", [f"{file}.xml"])
        assert rows == [(n, "second" if n % 2 == 0 and file < 2 else None) for n in range(file, many, 3)]
