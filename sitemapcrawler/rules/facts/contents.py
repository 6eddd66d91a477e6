"""Parts of the content of pages that change by themselves, learned from all pages that two crawls have read."""

from __future__ import annotations

from sitemapcrawler.replies.page.content import PART_SIZE, PARTS

BITS = 8 * PART_SIZE
TEMPLATE = f">> {BITS * (len(PARTS) - 1)}"
"""SQL that turns a hash into the hash of the template."""
DOUBTFUL = ("prose", "prices")
"""Parts whose change on nearly all pages is a new template, or a sale."""
MIN_PAGES = 8
"""Pages of a template that are enough to learn from. Those of rarer ones are taken together."""
SHARE = 0.5
"""Share of the pages of a template at which a part changes by itself: authors edit fewer between two crawls."""
MIN_DOUBTFUL, DOUBTFUL_SHARE = 20, 0.95


def number(column: str) -> str:
    """SQL for the hash in a `content_hash` as a number; null if it has another form."""
    return f"try_cast('0x' || split_part({column}, '-', 2) AS UHUGEINT)"


def version(column: str) -> str:
    """SQL for the version of a `content_hash`."""
    return f"try_cast(split_part({column}, '-', 1) AS UTINYINT)"


def volatile(pairs: str) -> str:
    """SQL for what is compared of pages, by `template`: `compared`, a mask of a hash without the parts that change by
    themselves, and `certain`, the same without those whose change may be of the template.

    `pairs`: SQL for the two hashes of each page, `now` and `before`, as numbers.
    """
    masks = {part: (2**BITS - 1) << BITS * place for place, part in enumerate(reversed(PARTS))}
    masks.pop(PARTS[0])
    every = sum(masks.values())
    changed = {part: f"count(*) FILTER (differing & {mask}::UHUGEINT <> 0)" for part, mask in masks.items()}

    def among(parts: list[str], least: int, share: float) -> str:
        told = (
            f"CASE WHEN count(*) >= {least} AND {changed[part]} >= {share} * count(*) "
            f"THEN {masks[part]} ELSE 0 END::UHUGEINT"
            for part in parts
        )
        return " + ".join(told)

    ignored = among([part for part in masks if part not in DOUBTFUL], MIN_PAGES, SHARE)
    doubtful = among(list(DOUBTFUL), MIN_DOUBTFUL, DOUBTFUL_SHARE)
    return f"""
        WITH pages AS (
            SELECT now {TEMPLATE} AS template, xor(now, before) AS differing,
                   count(*) OVER (PARTITION BY now {TEMPLATE}) >= {MIN_PAGES} AS is_own
            FROM ({pairs})
        ), learned AS (
            SELECT CASE WHEN is_own THEN template END AS own, {every}::UHUGEINT - ({ignored}) AS compared,
                   {doubtful} AS doubtful
            FROM pages GROUP BY own)
        SELECT DISTINCT template, compared, compared - doubtful AS certain
        FROM pages p JOIN learned l ON l.own IS NOT DISTINCT FROM CASE WHEN p.is_own THEN p.template END"""
