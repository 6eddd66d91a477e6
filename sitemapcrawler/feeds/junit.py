"""The JUnit XML feed: findings as CI systems show the results of tests.

Written as a stream: the suite of a file when the file has been read, so that its counts are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any
from xml.sax.saxutils import escape, quoteattr

from scrapy.exporters import BaseItemExporter

from sitemapcrawler.feeds.findings import MAX_URL, OPEN_FILES, Places, findings_of
from sitemapcrawler.feeds.outlet import Outlet
from sitemapcrawler.items import UNREAD, FindingRecord, SitemapRecord, SummaryRecord
from sitemapcrawler.urls.display import inert

MAX_LINES = 100
"""Findings of one rule and file that are written one by one; CI systems hold the whole report in memory."""
FAILURES = ("error", "warning")
"""Severities that fail a test, the worst first."""
CRAWL = "crawl"
"""Name of the suite about the crawl itself."""
NO_FINDINGS = "no findings"
"""Name of the test of a file without any."""


class JUnitExporter(BaseItemExporter):
    """`junit`: a suite for each sitemap, in it a test for each rule that found something; other records are not
    written. Errors and warnings fail the test, what is worth knowing is its output. A file without findings has one
    test that passes, or is skipped where nothing could be read. The last suite is about the crawl itself.

    Keyword argument (`item_export_kwargs`) is `roots`, see `findings.Places`. `fields`, `encoding` (always UTF-8),
    `indent` and `export_empty_fields` change nothing.
    """

    def __init__(self, file: IO[bytes], roots: Mapping[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(dont_fail=True, **kwargs)
        self.outlet = Outlet(file, "utf-8", "strict")
        self._places = Places(roots)
        self._suites: dict[str, Suite] = {}
        self._crawl = Suite(CRAWL)

    def start_exporting(self) -> None:
        """Write the head. ValueError where text stands in the file already."""
        if self.outlet.appending:
            raise ValueError("junit cannot be appended to; use overwrite")
        self.outlet.write_text("<?xml version='1.0' encoding='UTF-8'?>\n<testsuites name='sitemapcrawler' time='0'>\n")

    def export_item(self, item: Any) -> None:
        """Take the findings of the item; the suite of a file that has been read is written."""
        for finding in findings_of(item):
            self._suite(finding.sitemap).add(finding)
        if isinstance(item, SitemapRecord) and item.sitemap:
            suite = self._suite(item.sitemap)
            if not suite.tests:
                reason = inert(item.error or item.outcome) if item.outcome in UNREAD else None
                suite.add_empty(NO_FINDINGS, reason)
            self._write(item.sitemap)
        elif isinstance(item, SummaryRecord):
            self._crawl.conclude(item)

    def finish_exporting(self) -> None:
        """Write what is left, the suite of the crawl, and the end."""
        for sitemap in list(self._suites):
            self._write(sitemap)
        self.outlet.write_text(f"{self._crawl}</testsuites>\n")
        self.outlet.finish()

    def _suite(self, sitemap: str | None) -> Suite:
        if not sitemap:
            return self._crawl
        if sitemap not in self._suites:
            if len(self._suites) >= OPEN_FILES:
                self._write(next(iter(self._suites)))
            self._suites[sitemap] = Suite(self._places.of(sitemap)[0])
        return self._suites[sitemap]

    def _write(self, sitemap: str) -> None:
        self.outlet.write_text(str(self._suites.pop(sitemap)))


class Suite:
    """The tests of one file, or of the crawl; as text it is a `testsuite`."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tests: dict[str, Case] = {}
        """By rule."""
        self._others: list[str] = []
        self._properties = ""
        self._skipped = self._errors = 0

    def add(self, finding: FindingRecord) -> None:
        """Count a finding in the test of its rule."""
        if finding.rule not in self.tests:
            self.tests[finding.rule] = Case(self.name, finding.rule)
        self.tests[finding.rule].add(finding)

    def add_empty(self, name: str, skipped: str | None = None) -> None:
        """Add a test that passes, or is skipped for this reason."""
        self._skipped += skipped is not None
        self._others.append(_test(self.name, name, "" if skipped is None else _element("skipped", message=skipped)))

    def conclude(self, summary: SummaryRecord) -> None:
        """Add what a crawl came to, and a test that fails where it ended early."""
        figures = {name: getattr(summary, name) for name in ("started", "elapsed_s", "sitemaps", "urls")}
        properties = (_element("property", name=name, value=value) for name, value in figures.items())
        self._properties = _element("properties", "".join(properties))
        partial = summary.partial
        error = "" if partial is None else _element("error", type="partial", message=inert(partial))
        self._errors += partial is not None
        self._others.append(_test(self.name, "reached its end", error))

    def __str__(self) -> str:
        tests = [*map(str, self.tests.values()), *self._others]
        if not tests:
            return ""
        failures = sum(test.severity in FAILURES for test in self.tests.values())
        counts = {"tests": len(tests), "failures": failures, "errors": self._errors, "skipped": self._skipped}
        content = "".join(f"{part}\n" for part in (self._properties, *tests) if part)
        return _element("testsuite", f"\n{content}", name=self.name, **counts, time=0) + "\n"


class Case:
    """What one rule found in one file; as text it is a `testcase`."""

    def __init__(self, place: str, rule: str) -> None:
        self._place = place
        self._rule = rule
        self._lines: list[str] = []
        self._count = 0
        self._first = ""
        self.severity = ""
        """The worst of its findings."""

    def add(self, finding: FindingRecord) -> None:
        """Count a finding; the first ones are kept in full."""
        self._count += 1
        if self._count <= MAX_LINES:
            self._lines.append(self._line(finding))
        self.severity = next((each for each in FAILURES if each in (self.severity, finding.severity)), finding.severity)
        self._first = self._first or inert(finding.message)

    def __str__(self) -> str:
        more = self._count - len(self._lines)
        text = escape("\n".join([*self._lines, *([f"and {more:,} more"] if more else [])]))
        if self.severity not in FAILURES:
            return _test(self._place, inert(self._rule), _element("system-out", text))
        message = self._first if self._count == 1 else f"{self._count:,} findings, the first: {self._first}"
        return _test(self._place, inert(self._rule), _element("failure", text, type=self.severity, message=message))

    def _line(self, finding: FindingRecord) -> str:
        places = (self._place, *(str(place) for place in (finding.line, finding.column) if place))
        url = f" ({inert(finding.url, MAX_URL)})" if finding.url and finding.url not in finding.message else ""
        return f"{':'.join(places)}: {inert(finding.severity)}: {inert(finding.message)}{url}"


def _test(place: str, name: str, content: str = "") -> str:
    return _element("testcase", content, classname=place, name=name, time=0)


def _element(tag: str, content: str = "", /, **attributes: object) -> str:
    """An element; the content is markup."""
    written = "".join(f" {key}={quoteattr(str(value))}" for key, value in attributes.items())
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"
