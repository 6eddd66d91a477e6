"""What is wrong with single entries, for lists: of rules whose one finding on a file sums up different values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sitemapcrawler.rules.facts.site import Table, row_of
from sitemapcrawler.rules.facts.site_links import CONTENTS, LINK_ENDS, TARGET_FAULTS, TargetFault
from sitemapcrawler.urls.display import quoted


@dataclass(frozen=True, slots=True)
class RowDetail:
    """How a rule's details are found."""

    needs: Table
    """Table that the query reads."""
    rows: str
    """SQL for `row` (of `urls`), `other` (the URL to name) and `what` (a value, perhaps null)."""
    text: Callable[[str, str | None], str]
    """Makes of the URL and the value the message of the entry."""


def _of_targets(fault: TargetFault) -> RowDetail:
    """The first faulty language version of each entry."""
    rows = f"""
        SELECT l.row, o.loc AS other, {fault.what} AS what
        FROM temp.site_link_ends l JOIN urls o ON o.rowid = {row_of("l.target")}
        WHERE l.source <> l.target AND {fault.wrong}
        QUALIFY row_number() OVER (PARTITION BY l.row ORDER BY l.position) = 1"""
    return RowDetail(LINK_ENDS, rows, fault.text)


DUPLICATES = f"""
    SELECT {row_of("d.page")} AS row, o.loc AS other, NULL::VARCHAR AS what
    FROM (SELECT page, min(page) OVER (PARTITION BY site, hash) AS first FROM temp.site_contents) d
    JOIN urls o ON o.rowid = {row_of("d.first")}
    WHERE d.page <> d.first"""
"""SQL for pages with the same text as an earlier one. It leaves out near duplicates."""

ROW_DETAILS: Mapping[str, RowDetail] = {
    **{rule: _of_targets(fault) for rule, fault in TARGET_FAULTS.items()},
    "page-duplicate-content": RowDetail(CONTENTS, DUPLICATES, lambda url, _: f"has the same text as {quoted(url)}"),
}
"""By rule."""
