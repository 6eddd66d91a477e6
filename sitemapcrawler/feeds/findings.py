"""Feed formats of findings for code hosts and CI systems: JUnit XML and SARIF.

A SARIF log lists the rules first, then the results as they come, and facts about the crawl at the end. A JUnit suite
starts with its counts, and the rules on the whole site run last, so all suites are written at the end. Source:
https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/sarif-v2.1.0-errata01-os-complete.html
"""

from __future__ import annotations

import hashlib
import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import IO
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

import msgspec

from sitemapcrawler.envelopes import FindingBatch, NotedBatch
from sitemapcrawler.feeds.exporters import RecordExporter
from sitemapcrawler.feeds.scratch import spool
from sitemapcrawler.feeds.storages import Outlet
from sitemapcrawler.items import UNREAD, Breach, FindingRecord, SitemapRecord, SummaryRecord, records
from sitemapcrawler.reader.dates import iso
from sitemapcrawler.rules import Rule, all_rules
from sitemapcrawler.rules.catalogue import markdown
from sitemapcrawler.rules.registry import Severity
from sitemapcrawler.urls.display import MAX_URL, inert
from sitemapcrawler.version import __version__

_IN_URI = string.punctuation.translate(str.maketrans("", "", '"#<>\\^`{|}[]'))
"""Punctuation that needs no escape in a URI without fragment (RFC 3986, 2), including the `%` of escapes."""
_STRAY_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
_LITERAL_HOST = re.compile(r"\w+://(?:[^/?#@]*@)?\[[0-9A-Fa-f:.]+\]")
MAX_LINES = 100
"""Findings listed per rule and file; CI systems load the whole report into memory."""
FAILURES = ("error", "warning")
"""Severities that fail a test, worst first."""
CRAWL = "crawl"
"""Name of the suite on the crawl itself."""
POLICY = "policy"
"""Name of what is about the policy, in place of a rule."""
NO_FINDINGS = "no findings"
"""Name of the test of a file without findings."""
SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
LEVELS = {"error": "error", "warning": "warning", "info": "note"}
"""SARIF level by severity (3.27.10)."""
PROBLEMS = {"error": "error", "warning": "warning", "info": "recommendation"}
"""GitHub's `problem.severity`, which orders results. Source:
https://docs.github.com/en/code-security/reference/code-scanning"""
MAX_DESCRIPTION = 1024
"""Maximum characters of a rule's description. Source: as for PROBLEMS."""
SRCROOT = "%SRCROOT%"
"""Base of relative paths, by convention (3.14.14)."""
COUNTS = ("domains", "sitemaps", "urls", "rules", "severities", "reach", "severity_reach", "skipped")
"""Summary fields that the run repeats as properties."""
_SEMANTIC = re.compile(r"\d+\.\d+\.\d+(?:[-+][\w.+-]+)?")


def findings_of(item: object) -> list[FindingRecord]:
    """Return the findings of an item, in order; fast for entries and files without any. Rows of a list are left out:
    the finding that sums them up is there."""
    if isinstance(item, FindingBatch) or (isinstance(item, NotedBatch) and not item.judged):
        return []
    return [record for record in records(item) if isinstance(record, FindingRecord)]


class Places:
    """Paths of sitemaps as code hosts resolve them: relative to the folder in which the crawl was started.

    `roots`: {URL prefix: path that replaces it}; the longest prefix wins. `{"https://example.com/": "public/"}` maps
    the URLs of a site to its source files, `{"https://": ""}` turns all https URLs into paths.
    """

    def __init__(self, roots: Mapping[str, str] | None = None, folder: Path | None = None) -> None:
        self._here = (folder or Path.cwd()).as_uri().rstrip("/") + "/"
        self._roots = sorted({self._here: "", **(roots or {})}.items(), key=lambda root: -len(root[0]))

    def relative(self, finding: FindingRecord) -> FindingRecord:
        """Return the finding with a message and a value that name files relative to the folder, as locations do."""
        message = finding.message.replace(f"'{self._here}", "'")
        value = finding.value and finding.value.removeprefix(self._here)
        if (message, value) == (finding.message, finding.value):
            return finding
        return replace(finding, message=message, value=value)

    def reference(self, url: str) -> tuple[str, bool]:
        """Return the URI reference of a sitemap, and whether it is relative to the folder."""
        url = url.partition("#")[0]
        path = self._path(url).lstrip("/")[:MAX_URL]
        if path:
            return _reference(path, ":"), True
        return _reference(url[:MAX_URL]), False

    def _path(self, url: str) -> str:
        for beginning, path in self._roots:
            if url.startswith(beginning):
                return path + url[len(beginning) :]
        return ""


class Fingerprints:
    """Identity of findings across crawls: rule, file, and listed URL or value, but not the line. Digits of a value are
    ignored, since sizes and counts change. Equal findings are numbered in the order in which they come."""

    def __init__(self) -> None:
        self._numbers = spool("CREATE TABLE numbers (digest PRIMARY KEY, number) WITHOUT ROWID")

    def fingerprint(self, finding: FindingRecord, uri: str) -> str:
        """Return `hash:number`, GitHub's format."""
        about = finding.url or re.sub(r"\d", "", finding.value or "")
        identity = "\0".join((finding.rule, uri, about)).encode("utf-8", "surrogatepass")
        digest = hashlib.sha256(identity).digest()[:8]
        (number,) = self._numbers.execute("SELECT number FROM numbers WHERE digest = ?", (digest,)).fetchone() or (0,)
        self._numbers.execute("REPLACE INTO numbers VALUES (?, ?)", (digest, number + 1))
        return f"{digest.hex()}:{number + 1}"


def _reference(text: str, escaped: str = "") -> str:
    """Convert a text to a URI reference; characters that are not allowed, and those of `escaped`, are
    percent-encoded."""
    address = _LITERAL_HOST.match(text)
    start = address[0] if address else ""
    kept = "".join(set(_IN_URI).difference(escaped))
    return start + _STRAY_PERCENT.sub("%25", quote(text[len(start) :], safe=kept, errors="surrogatepass"))


class FindingsExporter(RecordExporter):
    """Base class of formats that hold findings only. The command `validate` accepts each of them."""

    record_types = (FindingRecord,)
    has_fields = False

    @classmethod
    def check_options(cls, options: Mapping[str, object]) -> None:
        """Raise ValueError unless `roots` is the only option and maps URLs to folders."""
        if unknown := sorted(options.keys() - {"roots"}):
            raise ValueError(f"{unknown[0]} is not known; accepted: roots")
        roots = options.get("roots") or {}
        if not isinstance(roots, Mapping) or not all(isinstance(part, str) for root in roots.items() for part in root):
            example = {"https://example.com/": "public/"}
            raise ValueError(f"roots {roots!r} is not an object of texts, such as {example}")


class JUnitExporter(FindingsExporter):
    """`junit`: one suite per sitemap, with one test per rule that reports findings; other records are not written.

    Errors and warnings fail the test; `info` findings are its output. A file without findings has one test, which
    passes, or is skipped if the file could not be read. The last suite is about the crawl itself. Suites are sorted by
    URL. Files that `roots` gives one path have their URLs as names.

    Keyword argument (`item_export_kwargs`): `roots`, see `findings.Places`. `fields`, `encoding` (always UTF-8),
    `indent` and `export_empty_fields` have no effect.
    """

    suffix = "junit"

    def __init__(self, file: IO[bytes], roots: Mapping[str, str] | None = None, **kwargs: object) -> None:
        super().__init__(dont_fail=True, **kwargs)
        self.outlet = Outlet(file, "utf-8", "strict")
        self._places = Places(roots)
        self._rows = spool("CREATE TABLE rows (sitemap, name, rule, severity, message, line)")
        self._crawl = Suite(CRAWL)

    def start_exporting(self) -> None:
        """Write the start of the document. Raises ValueError if the file is not empty."""
        if self.outlet.appending:
            raise ValueError("junit cannot be appended to; use overwrite")
        self.outlet.write_text("<?xml version='1.0' encoding='UTF-8'?>\n<testsuites name='sitemapcrawler' time='0'>\n")

    def export_item(self, item: object) -> None:
        """Store the item's findings, and whether a file was read."""
        for finding in map(self._places.relative, findings_of(item)):
            row = (inert(finding.rule), inert(finding.severity), inert(finding.message), _line(finding))
            if finding.sitemap:
                self._add(finding.sitemap, *row)
            else:
                self._crawl.add(*row)
        if isinstance(item, SitemapRecord) and item.sitemap:
            unread = inert(item.error or item.outcome) if item.outcome in UNREAD else None
            self._add(item.sitemap, None, None, unread, None)
        elif isinstance(item, SummaryRecord):
            self._crawl.conclude(item)

    def finish_exporting(self) -> None:
        """Write all suites, the one on the crawl last."""
        shared = "SELECT name FROM rows GROUP BY name HAVING count(DISTINCT sitemap) > 1"
        names = {name for (name,) in self._rows.execute(shared)}
        rows = self._rows.execute("SELECT * FROM rows ORDER BY sitemap, rowid")
        for (sitemap, name), found in groupby(rows, key=itemgetter(0, 1)):
            suite = Suite(inert(sitemap.decode("utf-8", "surrogatepass"), MAX_URL) if name in names else name)
            unread = None
            for _, _, rule, severity, message, line in found:
                if rule is None:
                    unread = message
                else:
                    suite.add(rule, severity, message, line)
            if not suite.tests:
                suite.add_empty(NO_FINDINGS, unread)
            self.outlet.write_text(str(suite))
        self._rows.close()
        self.outlet.write_text(f"{self._crawl}</testsuites>\n")

    def _add(self, sitemap: str, *row: str | None) -> None:
        """Store a finding, or with `rule` None what is known of the file."""
        key, name = sitemap.encode("utf-8", "surrogatepass"), self._places.reference(sitemap)[0]
        self._rows.execute("INSERT INTO rows VALUES (?, ?, ?, ?, ?, ?)", (key, name, *row))


class Suite:
    """Tests of one file, or of the crawl; `str()` returns a `testsuite` element."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.tests: dict[str, Case] = {}
        """Tests by rule id."""
        self._others: list[str] = []
        self._properties = ""
        self._skipped = self._errors = self._broken = 0

    def add(self, rule: str, severity: str, message: str, line: str) -> None:
        """Add a finding; `line`: from `_line`."""
        if rule not in self.tests:
            self.tests[rule] = Case(self.name, rule)
        self.tests[rule].add(severity, message, line)

    def add_empty(self, name: str, skipped: str | None = None) -> None:
        """Add a test that passes, or is skipped for the given reason."""
        self._skipped += skipped is not None
        self._others.append(_test(self.name, name, "" if skipped is None else _element("skipped", message=skipped)))

    def conclude(self, summary: SummaryRecord) -> None:
        """Add the result of the crawl, a test that fails if it ended early, and one that is skipped if a file limits
        it."""
        figures = {name: getattr(summary, name) for name in ("started", "elapsed_s", "sitemaps", "urls")}
        figures |= {f"{severity}s": reach.place for severity, reach in summary.severity_reach.items()}
        properties = (_element("property", name=name, value=value) for name, value in figures.items())
        self._properties = _element("properties", "".join(properties))
        partial = summary.partial
        error = "" if partial is None else _element("error", type="partial", message=inert(partial))
        self._errors += partial is not None
        self._others.append(_test(self.name, "reached its end", error))
        if summary.limited_by:
            self.add_empty("has no limits", inert(summary.limited_by))
        self._add_policy(summary.breaches)

    def _add_policy(self, breaches: Sequence[Breach] | None) -> None:
        """Add a test that fails for each broken limit, or one that passes; none without a policy."""
        if breaches is not None and not breaches:
            self.add_empty(POLICY)
        for breach in breaches or ():
            failure = _element("failure", type=Severity.ERROR, message=inert(breach.message))
            self._others.append(_test(self.name, inert(f"{POLICY} {breach.limit}".rstrip()), failure))
            self._broken += 1

    def __str__(self) -> str:
        tests = [*map(str, self.tests.values()), *self._others]
        if not tests:
            return ""
        failures = self._broken + sum(test.severity in FAILURES for test in self.tests.values())
        counts = {"tests": len(tests), "failures": failures, "errors": self._errors, "skipped": self._skipped}
        content = "".join(f"{part}\n" for part in (self._properties, *tests) if part)
        return _element("testsuite", f"\n{content}", name=self.name, **counts, time=0) + "\n"


class Case:
    """Findings of one rule in one file; `str()` returns a `testcase` element."""

    def __init__(self, place: str, rule: str) -> None:
        self._place = place
        self._rule = rule
        self._lines: list[str] = []
        self._count = 0
        self._first = ""
        self.severity = ""
        """Worst severity of its findings."""

    def add(self, severity: str, message: str, line: str) -> None:
        """Add a finding; only the first `MAX_LINES` are listed."""
        self._count += 1
        if self._count <= MAX_LINES:
            self._lines.append(f"{self._place}{line}")
        self.severity = next((each for each in FAILURES if each in (self.severity, severity)), severity)
        self._first = self._first or message

    def __str__(self) -> str:
        more = self._count - len(self._lines)
        text = escape("\n".join([*self._lines, *([f"and {more:,} more"] if more else [])]))
        if self.severity not in FAILURES:
            return _test(self._place, self._rule, _element("system-out", text))
        message = self._first if self._count == 1 else f"{self._count:,} findings, the first: {self._first}"
        return _test(self._place, self._rule, _element("failure", text, type=self.severity, message=message))


def _line(finding: FindingRecord) -> str:
    """What a line says behind the name of the file."""
    place = "".join(f":{place}" for place in (finding.line, finding.column) if place)
    return f"{place}: {inert(finding.severity)}: {inert(finding.message)}{_url(finding)}"


def _url(finding: FindingRecord) -> str:
    """The listed URL in brackets; empty if the message names it."""
    return f" ({inert(finding.url, MAX_URL)})" if finding.url and finding.url not in finding.message else ""


def _test(place: str, name: str, content: str = "") -> str:
    return _element("testcase", content, classname=place, name=name, time=0)


def _element(tag: str, content: str = "", /, **attributes: object) -> str:
    """Return an XML element; the content is markup."""
    written = "".join(f" {key}={quoteattr(str(value))}" for key, value in attributes.items())
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


class SarifExporter(FindingsExporter):
    """`sarif`: a SARIF 2.1.0 log of one run, one result per line; other records are not written.

    Keyword argument (`item_export_kwargs`): `roots`, see `findings.Places`. `fields`, `encoding` (always UTF-8),
    `indent` and `export_empty_fields` have no effect. A finding without a file becomes a notification of the run,
    because GitHub rejects all results if one has no location.
    """

    suffix = "sarif"

    def __init__(self, file: IO[bytes], roots: Mapping[str, str] | None = None, **kwargs: object) -> None:
        super().__init__(dont_fail=True, **kwargs)
        self.outlet = Outlet(file, "utf-8", "strict")
        self._places = Places(roots)
        self._seen = Fingerprints()
        self._notifications: list[dict[str, object]] = []
        self._summary: SummaryRecord | None = None
        self._separator = b"\n"

    def start_exporting(self) -> None:
        """Write the rules. Raises ValueError if the file is not empty."""
        if self.outlet.appending:
            raise ValueError("sarif cannot be appended to; use overwrite")
        rules: dict[str, Rule] = {}
        for rule in all_rules():  # a rule that takes several kinds of facts is registered for each
            rules.setdefault(rule.id, rule)
        self._index = {id: index for index, id in enumerate(rules)}
        driver = {"name": "sitemapcrawler", "version": __version__, "rules": list(map(descriptor, rules.values()))}
        if _SEMANTIC.fullmatch(__version__):
            driver["semanticVersion"] = __version__
        run = {
            "tool": {"driver": driver},
            "columnKind": "unicodeCodePoints",
            "originalUriBaseIds": {SRCROOT: {"description": {"text": "The folder the crawl was started in."}}},
        }
        head = msgspec.json.encode({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})
        self.outlet.write_utf8(head.removesuffix(b"}]}") + b',"results":[')

    def export_item(self, item: object) -> None:
        found = map(self._places.relative, findings_of(item))
        results = [result for finding in found if (result := self._result(finding))]
        if results:
            text = b",\n".join(map(msgspec.json.encode, results))
            self.outlet.write_utf8(self._separator + text)
            self._separator = b",\n"
        if isinstance(item, SummaryRecord):
            self._summary = item

    def finish_exporting(self) -> None:
        """Write the facts about the crawl, and the end of the log."""
        tail: dict[str, object] = {"invocations": [self._invocation()]}
        if self._summary:
            tail["properties"] = {name: _plain(getattr(self._summary, name)) for name in COUNTS}
        self.outlet.write_utf8(b"\n]," + msgspec.json.encode(tail).removeprefix(b"{") + b"]}\n")

    def _result(self, finding: FindingRecord) -> dict[str, object] | None:
        if not finding.sitemap:
            self._notifications.append(self._notification(finding))
            return None
        uri, relative = self._places.reference(finding.sitemap)
        result: dict[str, object] = {"ruleId": inert(finding.rule)}
        if finding.rule in self._index:
            result["ruleIndex"] = self._index[finding.rule]
        result |= {
            "level": LEVELS.get(finding.severity, "warning"),
            "message": _text(finding.message or finding.rule),
            "locations": [_location(finding, {"uri": uri, **({"uriBaseId": SRCROOT} if relative else {})})],
            "partialFingerprints": {"primaryLocationLineHash": self._seen.fingerprint(finding, uri)},
        }
        if finding.value is not None:
            result["properties"] = {"value": inert(finding.value)}
        return result

    def _notification(self, finding: FindingRecord) -> dict[str, object]:
        rule: dict[str, object] = {"id": inert(finding.rule)}
        if finding.rule in self._index:
            rule["index"] = self._index[finding.rule]
        message = _text(f"{finding.message or finding.rule}{_url(finding)}")
        return {"level": LEVELS.get(finding.severity, "warning"), "message": message, "associatedRule": rule}

    def _invocation(self) -> dict[str, object]:
        partial = self._summary.partial if self._summary else None
        invocation: dict[str, object] = {"executionSuccessful": partial is None, **_times(self._summary)}
        told = [] if partial is None else [{"level": "warning", "message": _text(f"The crawl ended early: {partial}")}]
        told += [
            {"level": "error", "message": _text(str(breach)), "descriptor": {"id": POLICY}}
            for breach in (self._summary.breaches or () if self._summary else ())
        ]
        if told:
            invocation["toolExecutionNotifications"] = told
        limits = self._summary.limited_by if self._summary else None
        limited = [{"level": "warning", "message": {"text": f"Limited by {inert(limits)}"}}] if limits else []
        if notifications := [*self._notifications, *limited]:
            invocation["toolConfigurationNotifications"] = notifications
        return invocation


def descriptor(rule: Rule) -> dict[str, object]:
    """Return the `reportingDescriptor` of a rule (3.49)."""
    text, reason = rule.documentation, rule.why
    full = f"{rule.what} {reason[:1].upper()}{reason[1:]}".strip()
    is_url = rule.source.startswith(("http://", "https://"))
    source = f"Source: <{rule.source}>" if is_url else f"Source: {rule.source}"
    page = rule.address or (rule.source if is_url else "")
    return {
        "id": rule.id,
        "name": "".join(word.capitalize() for word in rule.id.split("-")),
        "shortDescription": {"text": inert(rule.title and f"{rule.title}.", MAX_DESCRIPTION)},
        "fullDescription": {"text": inert(full, MAX_DESCRIPTION)},
        "help": {"text": f"{text}\n\nSource: {rule.source}", "markdown": f"{markdown(rule)}\n\n{source}"},
        **({"helpUri": page} if page else {}),
        "defaultConfiguration": {"level": LEVELS[rule.severity]},
        "properties": {"tags": [rule.family], "problem.severity": PROBLEMS[rule.severity]},
    }


def _text(text: str) -> dict[str, str]:
    # A backslash keeps viewers from turning untrusted text into a link (3.11.6).
    return {"text": inert(text).replace("](", "]\\(")}


def _location(finding: FindingRecord, artifact: dict[str, str]) -> dict[str, object]:
    physical: dict[str, object] = {"artifactLocation": artifact}
    if finding.line is not None and finding.line > 0:
        region = physical["region"] = {"startLine": finding.line}
        if finding.column is not None and finding.column > 0:
            region["startColumn"] = finding.column
    if not finding.url:
        return {"physicalLocation": physical}
    listed = {"fullyQualifiedName": inert(finding.url, MAX_URL), "kind": "resource"}
    return {"physicalLocation": physical, "logicalLocations": [listed]}


def _times(summary: SummaryRecord | None) -> dict[str, str]:
    if summary is None or not summary.started:
        return {}
    ended = datetime.fromisoformat(summary.started) + timedelta(seconds=summary.elapsed_s)
    return {"startTimeUtc": summary.started, "endTimeUtc": iso(ended)}


def _plain(value: object) -> object:
    return [inert(text) for text in value] if isinstance(value, list) else value
