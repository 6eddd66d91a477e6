"""The folder of a report, read back: its rows, and whether the figures of its page are those of the rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from sitemapcrawler.feeds.folder import (
    CACHE,
    CONTENTS,
    FEEDS,
    FORMATS,
    NAMES,
    OF_BASELINE,
    OF_EXTENSIONS,
    ON_DEMAND,
    PAGE,
    SUMMARY,
    TABLES,
)
from sitemapcrawler.items import EXTENSIONS, FindingRecord
from sitemapcrawler.jobs.report import most_each
from sitemapcrawler.report.model import FileProblems, Report
from sitemapcrawler.rules.facts.site import OF_FILES
from tests.crawl.crawling import read_feed
from tests.crawl.modelled import modelled
from tests.objects import as_row

SEVERITIES = ("error", "warning", "info")
FILES = NAMES - {
    CONTENTS, *TABLES, *(f"{feed}.{format}" for feed in (*ON_DEMAND, *OF_EXTENSIONS) for format in FORMATS)
} | {CACHE}  # fmt: skip
"""Files of any report."""
ALWAYS = {name for name in TABLES if name.partition(".")[0] not in (*ON_DEMAND, *OF_EXTENSIONS)}
"""Tables of any audit."""
Row = Mapping[str, Any]


def nested(urls: Sequence[Row], feed: str) -> list[dict[str, Any]]:
    """The objects in url records, as rows of their own feed."""
    [(kind, namespace)] = [item for item in EXTENSIONS.items() if item[1].field == feed]
    held = ((url, url.get(feed, [])) for url in urls)
    return [as_row(kind, url, one) for url, found in held for one in ([found] if namespace.single and found else found)]


def without_returns(row: Row) -> dict[str, Any]:
    """A row without what no url record says."""
    return {name: value for name, value in row.items() if name != "returns"}


@dataclass(frozen=True)
class Folder:
    """A report that a crawl with the prefix `modelled.WITHIN` has written."""

    path: Path

    @property
    def names(self) -> set[str]:
        """What stands in it."""
        return {path.name for path in self.path.iterdir()}

    @property
    def summary(self) -> dict[str, Any]:
        """The summary."""
        found: dict[str, Any] = json.loads((self.path / SUMMARY).read_bytes())
        return found

    def rows(self, feed: str) -> list[dict[str, Any]]:
        """The rows of a feed."""
        return read_feed(self.path / f"{feed}.jsonl")

    @property
    def of_objects(self) -> dict[str, list[dict[str, Any]]]:
        """The rows of the objects in the url records, by the feed that holds them."""
        found = {feed: nested(self.rows("urls"), feed) for feed in OF_EXTENSIONS}
        return {feed: rows for feed, rows in found.items() if rows}

    def listed(self) -> list[dict[str, Any]]:
        """Url records of what is listed now."""
        return [row for row in self.rows("urls") if row.get("change") != "removed"]

    @property
    def model(self) -> Report:
        """What its page shows."""
        return modelled(self.path / PAGE)

    def check(self) -> Report:
        """Fails where a file is missing, holds what it should not, or does not agree with the others; what its page
        shows."""
        model = self.model
        changes = {f"{OF_BASELINE}.{format}" for format in FORMATS} if "baseline" in model.arguments else set()
        files = FILES | changes | {f"{feed}.{format}" for feed in self.of_objects for format in FORMATS}
        assert self.names - {CONTENTS} == files
        assert self.summary["type"] == "summary"
        for feed, record in FEEDS.items():
            if feed in ON_DEMAND or f"{feed}.{FORMATS[0]}" not in files:
                continue
            rows = self.rows(feed)
            if feed in OF_EXTENSIONS:
                assert [without_returns(row) for row in rows] == self.of_objects[feed]
            assert {row["type"] for row in rows} <= {record().type}, feed
            assert len(rows) == pq.read_metadata(self.path / f"{feed}.parquet").num_rows, feed
        assert [*model.feeds, PAGE] == sorted(files - {CACHE}, key=[*model.feeds, PAGE].index)
        assert model.left_out == []
        self._check_counts(model)
        self._check_findings(model)
        self._check_reach(model)
        self._check_entries(model)
        self._check_changes(model)
        return model

    def _check_counts(self, model: Report) -> None:
        summary = model.summary
        assert summary.rules == self.summary.get("rules", {})
        assert summary.partial == self.summary.get("partial")
        assert summary.sitemaps == len(self.rows("sitemaps")) == len(model.files)
        assert summary.urls == len(self.listed())
        assert model.robots_count == len(self.rows("robots"))
        listed = [one.urls for one in model.robots]
        assert listed == sorted((row["urls"] for row in self.rows("robots")), reverse=True)

    def _check_findings(self, model: Report) -> None:
        rows = self.rows("findings")
        counted = {one.rule: one.count for one in model.rules}
        assert counted == model.summary.rules, counted.items() ^ model.summary.rules.items()
        assert [one.severity for one in model.rules] == sorted((r.severity for r in model.rules), key=SEVERITIES.index)
        most = most_each(Counter(row["rule"] for row in rows).values())
        for one in model.rules:
            told = [row for row in rows if row["rule"] == one.rule]
            assert one.count >= len(told) > 0, one
            assert {key(example) for example in one.examples} <= set(map(key, told)), one.rule
            assert len(one.examples) == min(len(told), most)
            assert one.what and one.why and one.source
        told_of = Counter((row.get("sitemap"), row["severity"]) for row in rows)
        for file in model.files:
            assert {name for name, number in problems(file).items() if number} >= {
                one for one in SEVERITIES if told_of[file.record.sitemap, one]
            }, file.record.sitemap
        heavy = [tuple(problems(file).values()) for file in model.files]
        assert heavy == sorted(heavy, reverse=True)

    def _check_reach(self, model: Report) -> None:
        """What each rule concerns is what the rows say. After a stop, they do not name rules on whole files."""
        unnamed = OF_FILES if model.summary.partial else ()
        listed = [(rule, row) for row in self.listed() for rule in row.get("issues", ())]
        marked = [(rule, row["sitemap"]) for row in self.rows("sitemaps") for rule in row.get("issues", ())]
        marked += [(rule, row["robots"]) for row in self.rows("robots") for rule in row.get("issues", ())]
        marked += [(row["rule"], row["sitemap"]) for row in self.rows("findings") if "sitemap" in row]
        marked += [(rule, row["sitemap"]) for rule, row in listed]
        for one in model.rules:
            if one.rule in unnamed:
                continue
            alone = {
                r["url"] for r in self.rows("findings") if r["rule"] == one.rule and "url" in r and "sitemap" not in r
            }
            urls = {row["loc"] for rule, row in listed if rule == one.rule} | alone
            assert one.reach.urls + one.reach.milder == len(urls), one.rule
            if not one.reach.milder:
                assert one.reach.entries == sum(rule == one.rule for rule, _ in listed), one.rule
                assert one.reach.files == len({file for rule, file in marked if rule == one.rule}), one.rule
            assert not one.reach.at_least
        assert {one.rule: one.reach for one in model.rules} == model.summary.reach

    def _check_entries(self, model: Report) -> None:
        listed = self.listed()
        months = Counter(row["lastmod_at"][:7] for row in listed if "lastmod_at" in row)
        assert list(model.months.items()) == sorted(months.items())
        assert model.other_months == 0
        assert model.undated == len(listed) - months.total()
        assert model.urls == len({row["loc"] for row in listed})
        answers = [(row["loc"], row["reply"]) for row in listed if "reply" in row]
        replies = [(loc, reply) for loc, reply in answers if "status" in reply or reply["kind"] != "unchecked"]
        statuses = {(loc, str(reply.get("status", reply["kind"]))) for loc, reply in replies}
        assert model.statuses == Counter(status for _, status in statuses)
        values = {(row["loc"], row["indexability"]) for row in listed if "indexability" in row} if answers else set()
        assert model.indexability == Counter(value for _, value in values)
        bad = {row["loc"] for row in listed if row.get("indexable") is False}
        assert [one.loc for one in model.not_indexable] == list(dict.fromkeys(one.loc for one in model.not_indexable))
        assert {one.loc for one in model.not_indexable} == bad
        if model.summary.not_indexable is not None:
            replied = [(row["loc"], row["reply"]) for row in listed]
            known = {loc for loc, reply in replied if reply.get("reason") in (None, "blocked") or "redirects" in reply}
            assert model.summary.not_indexable.bad == len(bad & known)

    def _check_changes(self, model: Report) -> None:
        rows = self.rows(OF_BASELINE) if "baseline" in model.arguments else []
        found = model.summary.changes
        assert (found is not None) is bool("baseline" in model.arguments and not model.summary.partial)
        assert {kind: len(records) for kind, records in model.changed.items()} == Counter(row["change"] for row in rows)
        listed = {row["loc"]: row["change"] for row in self.rows("urls") if "change" in row}
        assert found is None or found.added == Counter(listed.values())["added"]
        kinds = {row["loc"]: row["what_changed"] for row in self.rows("urls") if "what_changed" in row}
        assert found is None or found.what_changed == Counter(kinds.values())


def problems(file: FileProblems) -> dict[str, int]:
    """Findings by severity, the worst first."""
    return dict(zip(SEVERITIES, (file.errors, file.warnings, file.infos), strict=True))


def key(finding: FindingRecord | Row) -> tuple[Any, ...]:
    """What a finding is known by."""
    names = ("rule", "sitemap", "line", "url", "message")
    if isinstance(finding, FindingRecord):
        return tuple(getattr(finding, name) for name in names)
    return tuple(finding.get(name) for name in names)


def languages(rows: Sequence[Row]) -> Iterator[tuple[str, int, int]]:
    """(code, links, links to a listed page whose entry does not link back), for pages that list themselves and codes
    that are written as usual."""
    links = {row["loc"]: {one["href"] for one in row.get("alternates", ())} for row in rows}
    codes = sorted({one["hreflang"] for row in rows for one in row.get("alternates", ())})
    for code in codes:
        hrefs = [
            (row["loc"], one["href"]) for row in rows for one in row.get("alternates", ()) if one["hreflang"] == code
        ]
        unreturned = [one for one, other in hrefs if one != other and other in links and one not in links[other]]
        yield code, len(hrefs), len(unreturned)
