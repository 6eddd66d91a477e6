"""Index status of rows of URL Inspection, in the forms that programs write."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.items import IndexStatus
from sitemapcrawler.reader.index_status import MAX_REASON, StatusReader
from sitemapcrawler.reader.lists import UNREAD, read_export

A = "https://example.com/a"
CRAWLED = "Crawled - currently not indexed"
STATUS = IndexStatus("NEUTRAL", CRAWLED, "https://example.com/b", "2026-11-01T10:00:00Z")
ANSWER = {
    "inspectionResultLink": "https://search.google.com/search-console/inspect?id=x",
    "indexStatusResult": {
        "verdict": "NEUTRAL", "coverageState": CRAWLED, "robotsTxtState": "ALLOWED",
        "indexingState": "INDEXING_ALLOWED", "lastCrawlTime": "2026-11-01T10:00:00Z", "pageFetchState": "SUCCESSFUL",
        "googleCanonical": "https://example.com/b", "userCanonical": A, "crawledAs": "MOBILE",
        "referringUrls": [A], "sitemap": ["https://example.com/sitemap.xml"],
    },
    "mobileUsabilityResult": {"verdict": "PASS"},
}  # fmt: skip
INSPECTED = {"inspectionUrl": A, "inspectionResult": ANSWER}
FORMS = {
    "answers as JSON lines": json.dumps(INSPECTED),
    "answers as an array": json.dumps([INSPECTED], indent=2),
    "answers with another name of the URL": json.dumps({"loc": A, "inspectionResult": ANSWER}),
    "the inner object alone": json.dumps({"url": A, "indexStatusResult": ANSWER["indexStatusResult"]}),
    "names of the API": json.dumps({"url": A, **ANSWER["indexStatusResult"]}),  # type: ignore[dict-item]  # a dict
    "flattened answers": "inspectionUrl,inspectionResult.indexStatusResult.verdict,"
    "inspectionResult.indexStatusResult.coverageState,inspectionResult.indexStatusResult.googleCanonical,"
    "inspectionResult.indexStatusResult.lastCrawlTime,inspectionResult.mobileUsabilityResult.verdict\n"
    f"{A},NEUTRAL,{CRAWLED},https://example.com/b,2026-11-01T10:00:00Z,PASS\n",
    "names with underscores": "url,verdict,coverage_state,google_canonical,last_crawl_time\n"
    f"{A},neutral,{CRAWLED},https://example.com/b,2026-11-01 10:00:00\n",
    "Screaming Frog": "Address,Summary,Coverage,Last Crawl,Crawled As,Crawl Allowed,Page Fetch,Indexing Allowed,"
    "User-Declared Canonical,Google-Selected Canonical\n"
    f"{A},URL is not on Google,{CRAWLED},2026-11-01 11:00:00 +01:00,Mobile,Yes,Successful,Yes,{A},https://example.com/b\n",
    "names in capitals": "INSPECTIONURL,VERDICT,COVERAGESTATE,GOOGLECANONICAL,LASTCRAWLTIME\n"
    f"{A},NEUTRAL,{CRAWLED},https://example.com/b,2026-11-01T10:00:00Z\n",
    "our own feed": "loc,google_verdict,google_reason,google_canonical,google_last_crawl\n"
    f"{A},NEUTRAL,{CRAWLED},https://example.com/b,2026-11-01T10:00:00Z\n",
}


def statuses(text: str) -> list[IndexStatus | None]:
    return [row.status for row in read_export(io.BytesIO(text.encode())).rows]


@pytest.mark.parametrize("form", FORMS)
def test_row_of_url_inspection_has_its_status(form: str) -> None:
    [row] = read_export(io.BytesIO(FORMS[form].encode())).rows
    assert (row.url, row.status) == (A, STATUS)


@pytest.mark.parametrize(
    ("cells", "status"),
    [
        ({"verdict": "PASS", "coverage state": "Submitted and indexed"}, IndexStatus("PASS", "Submitted and indexed")),
        ({"summary": "URL is on Google, but has Issues", "coverage": ""}, IndexStatus("PARTIAL")),
        ({"verdict": "VERDICT_UNSPECIFIED", "coverage state": "Gecrawlt"}, IndexStatus(None, "Gecrawlt")),
        ({"last crawled": "2026-11-01"}, IndexStatus(last_crawl="2026-11-01T00:00:00Z")),
        ({"coverage state": CRAWLED, "last crawl time": "never"}, IndexStatus(None, CRAWLED)),
        ({"coverage state": CRAWLED, "last crawl time": "1970-01-01T00:00:00Z"}, IndexStatus(None, CRAWLED)),
        ({"coverage state": CRAWLED, "google canonical": "Inspected URL"}, IndexStatus(None, CRAWLED)),
        ({"coverage state": f" {CRAWLED}\n"}, IndexStatus(None, CRAWLED)),
        ({"coverage state": "x" * 1000}, IndexStatus(None, "x" * MAX_REASON)),
        ({"coverage state": "\ud800"}, IndexStatus(None, "?")),
        ({"coverage state": None, "verdict": "nan"}, None),
        ({"inspectionresult": {}}, None),
        ({"inspectionresult": "PASS"}, None),
    ],
)
def test_values_that_are_missing_wrong_or_long(cells: dict[str, object], status: IndexStatus | None) -> None:
    assert StatusReader().status(cells) == status


@pytest.mark.parametrize("column", ["summary", "coverage", "verdict", "Last Crawl"])
def test_column_that_other_lists_may_have_alone_is_no_status(column: str) -> None:
    assert statuses(f"url,{column}\n{A},PASS\n") == [None]


def test_broken_rows_cost_themselves_alone() -> None:
    text = "\n".join([json.dumps(INSPECTED), '{"inspectionUrl":', json.dumps({"inspectionResult": ANSWER})])
    rows = list(read_export(io.BytesIO(f"{text}\n{json.dumps(INSPECTED)}\n".encode())).rows)
    assert [(row.url, row.status) for row in rows] == [(A, STATUS), (UNREAD, None), (UNREAD, None), (A, STATUS)]


def test_answers_without_the_url_of_their_requests_are_refused() -> None:
    with pytest.raises(ValueError, match="has no column with URLs; its columns are 'inspectionResult'"):
        statuses(json.dumps({"inspectionResult": ANSWER}))


values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text() | st.sampled_from(["PASS", CRAWLED, A, "2026-11-01"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(sorted(StatusReader.columns)), values, max_size=6))
def test_any_cells_give_a_status_or_none(cells: dict[str, Any]) -> None:
    found = StatusReader().status(cells)
    assert found is None or found != IndexStatus()
    if found is not None:
        assert found.verdict in (None, "PASS", "PARTIAL", "FAIL", "NEUTRAL")
        assert "\n" not in (found.reason or "")
