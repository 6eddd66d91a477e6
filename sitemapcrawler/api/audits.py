"""`audit()`: runs an audit from a script or notebook, and reads its records.

The command `audit` runs in a child process (`child`) and writes the records to a folder: as JSON lines, which are read
one by one, and as Parquet for data frames. Nothing here imports Scrapy, and pyarrow, pandas and polars only on request.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType, NoneType
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import msgspec

from sitemapcrawler.api import child
from sitemapcrawler.feeds.folder import (
    FEEDS,
    FORMATS,
    INCOMPLETE,
    OF_EXTENSIONS,
    ON_DEMAND,
    PAGE,
    REPORT_FILES,
    SUMMARY,
    TABLES,
)
from sitemapcrawler.items import (
    AlternateRecord,
    AnswerRecord,
    ChangeRecord,
    FindingRecord,
    ImageRecord,
    NewsRecord,
    PageRecord,
    RenderedRecord,
    RobotsRecord,
    SitemapRecord,
    SummaryRecord,
    UrlEntry,
    UrlRecord,
    Verdict,
    VideoRecord,
)
from sitemapcrawler.replies.indexability import why_unread
from sitemapcrawler.rules.reach import places
from sitemapcrawler.urls.display import counted, inert, masked_argument

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

PROGRAM = "sitemapcrawler.cli"
JSON_LINES, PARQUET = FORMATS
FAILED, STOPPED, NOTHING_READ = 1, 3, 4
"""Exit codes of the command: a broken policy or lost results; it ended at a limit; no sitemap could be read."""
EXPRESSIONS = frozenset({"include", "exclude", "follow"})
"""Arguments that are one expression, in which a comma separates nothing."""
FLAGS = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL}
"""Flags of a compiled expression by their letters in its text."""
Record = TypeVar("Record")


class AuditError(RuntimeError):
    """Nothing was audited, or the results are lost. The message is one line."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code
        """Exit code of the command: 4 if no sitemap could be read; -N if signal N ended it."""


def audit(
    target: str | os.PathLike[str],
    *,
    out: str | os.PathLike[str] | None = None,
    settings: Mapping[str, object] | None = None,
    **arguments: object,
) -> AuditResult:
    """Audit a site, a sitemap or a file, like the command `sitemapcrawler audit`, and return the results.

    `target` is a site (`example.com`), a URL or a path. `out` is a folder to write to, with all files of the command;
    without it, the files are temporary and last as long as the result or one of its tables. `arguments` are those of a
    crawl, such as `verify="head"` (default: `get`, which requests every listed page), `sample=500` or `max_urls=9_000`;
    values are text, numbers, True or False, dates, lists of text, and regular expressions (RE2). `settings` are those
    of the crawl.

        audit = sitemapcrawler.audit("https://example.com", verify="head")
        print(audit.verdict, audit.summary.severities)
        broken = [url.loc for url in audit.urls if url.indexable is False]

    The crawl runs in a child process: it works beside a notebook's event loop and in a script without a main guard. It
    ends when this call is interrupted. One that ends early, at a limit such as `max_time`, has results too, with
    `summary.partial`, and one that breaks the policy, with `summary.breaches`.

    Raises ValueError, one line, for an invalid target, argument, setting or folder; nothing is written then. Raises
    AuditError if no sitemap could be read or the results cannot be written.
    """
    text = _target(target)
    if not isinstance(settings, (Mapping, NoneType)):
        raise ValueError(f"settings={settings!r}: accepted: a mapping of names to values")
    if not isinstance(out, (str, os.PathLike, NoneType)):
        raise ValueError(f"out={out!r}: accepted: the path of a folder")
    command = ["sitemapcrawler", "audit", "--no-progress", "--fail-on", "never"]
    chosen = {REPORT_FILES: _files(tables=out is not None), **(settings or {})}
    for name, value in chosen.items():
        command += ["-s", f"{name}={_setting(name, value)}"]
    for name, value in arguments.items():
        if value is not None:
            command += ["-a", f"{name}={_argument(name, value)}"]
    folder = child.TemporaryFolder()
    try:
        place = folder.path / "audit" if out is None else Path(os.fspath(out)).absolute()
        ended = child.run(PROGRAM, [*command, "--out", str(place), "--", text], folder.path)
        if ended.code == child.BAD_ARGUMENT:
            raise ValueError(re.sub("^--out ", "out=", ended.complaint))
        beside = place.with_name(f"{place.name}{INCOMPLETE}")
        lines = ended.output.splitlines()
        reports = [line for line in lines if line.startswith("Report: ")]
        if any(line.endswith(str(Path(beside.name, PAGE))) for line in reports):  # `place` holds the baseline
            place = beside
        breaks_policy = ended.code == FAILED and any(line.startswith("Policy  ") for line in lines)
        is_done = breaks_policy or ended.code in (0, STOPPED, NOTHING_READ)
        if not is_done or not (place / PAGE).is_file():
            raise AuditError(f"{_shown(text)}: {ended.complaint}", ended.code)
        result = AuditResult(text, place, folder if out is None else None, ended)
        if ended.code == NOTHING_READ:
            raise AuditError(f"{_shown(text)}: {result.verdict}{_why(result)}", ended.code)
    except BaseException:
        folder.remove()
        raise
    if out is not None:
        folder.remove()
    return result


def _files(tables: bool) -> list[str]:
    """Files of the folder besides the page and the summary; `tables`: those for people as well."""
    formats = FORMATS if find_spec("pyarrow") else (JSON_LINES,)
    return [*(TABLES if tables else ()), *(f"{name}.{format}" for name in FEEDS for format in formats)]


def _target(target: object) -> str:
    if not isinstance(target, (str, os.PathLike)):
        raise ValueError(f"target={target!r}: accepted: a site, a URL or a file")
    path = os.fspath(target)
    return os.fsdecode(path) if isinstance(path, bytes) else path


def _shown(target: str) -> str:
    return inert(masked_argument(target))


def _argument(name: str, value: object) -> str:
    """The text of an argument's value. Raises ValueError if it has none."""
    if name == "report":
        raise ValueError(f"argument report={value!r}: accepted: out, the folder of the report")
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, re.Pattern):
        return _with_flags(name, value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, (list, tuple, set, frozenset)) and all(isinstance(item, str) for item in value):
        if name in EXPRESSIONS:
            raise ValueError(f"argument {name}={value!r}: accepted: one expression, such as '/a/|/b/'")
        return ",".join(value)
    if isinstance(value, (str, int, float, os.PathLike)):
        return str(value)
    raise ValueError(f"argument {name}={value!r}: accepted: text, a number, True, False, a date, a list of texts")


def _with_flags(name: str, expression: re.Pattern[Any]) -> str:  # Any: of texts or of bytes
    """The text of a compiled expression and its flags. Raises ValueError for what RE2 cannot do."""
    if not isinstance(expression.pattern, str) or expression.flags & re.VERBOSE:
        raise ValueError(f"argument {name}={expression!r}: accepted: an expression of texts, without re.VERBOSE")
    flags = "".join(letter for letter, flag in FLAGS.items() if expression.flags & flag)
    return f"(?{flags}){expression.pattern}" if flags else expression.pattern


def _setting(name: str, value: object) -> str:
    """The text of a setting's value, as the command line takes it. Raises ValueError if it has none."""
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    if isinstance(value, dict):
        try:
            return json.dumps(value)
        except TypeError:
            raise ValueError(f"setting {name}: accepted: an object that JSON can hold") from None
    return str(value)


def _why(result: AuditResult) -> str:
    """Why nothing could be read, for a message."""
    error = why_unread(*([(one.status, one.error) for one in table] for table in (result.sitemaps, result.robots)))
    return f": {inert(error)}" if error else ""


class RecordTable(Generic[Record]):
    """Records of one type, in the order of the crawl.

    Iteration reads them one by one from a file, however many there are, and may be repeated. Data frames need pyarrow,
    which the extra `parquet` brings, and pandas or polars.
    """

    def __init__(
        self, name: str, kind: type[Record], folder: Path, temporary: child.TemporaryFolder | None = None
    ) -> None:
        """`folder`: where the files are; `temporary`: the same, if it is to be removed after the last table."""
        self._name = name
        self._kind = kind
        self._path = folder
        self._keep = temporary
        self._decode = msgspec.json.Decoder(UrlRecord if kind is UrlEntry else kind).decode

    def __iter__(self) -> Iterator[Record]:
        """Read the records; none if the audit wrote no such file, as for pages without the argument `links`."""
        if self._is_missing:
            return
        with (self._path / f"{self._name}.{JSON_LINES}").open("rb") as lines:
            for line in lines:
                record: object = self._decode(line)
                yield cast("Record", UrlEntry.convert(record) if isinstance(record, UrlRecord) else record)

    def __len__(self) -> int:
        """Return the number of records."""
        return self._count

    @property
    def _is_missing(self) -> bool:
        may_be = self._name in (*ON_DEMAND, *OF_EXTENSIONS) and self._path.is_dir()
        return may_be and not (self._path / f"{self._name}.{JSON_LINES}").is_file()

    @cached_property
    def _count(self) -> int:
        if self._is_missing:
            return 0
        with (self._path / f"{self._name}.{JSON_LINES}").open("rb") as lines:
            return sum(1 for _ in lines)

    def to_arrow(self) -> pyarrow.Table:
        """Return an Arrow table with all fields of docs/records.md; times are timestamps in UTC.

        Raises ImportError if pyarrow is not installed, or was not when the audit ran, and FileNotFoundError if the
        folder was removed.
        """
        _needed("pyarrow")
        if self._is_missing:
            empty: pyarrow.Table = import_module("sitemapcrawler.feeds.arrow").Columns(self._kind).table(())
            return empty
        if not (parquet := self._path / f"{self._name}.{PARQUET}").is_file():
            (self._path / f"{self._name}.{JSON_LINES}").stat()  # raises FileNotFoundError if the folder is gone
            raise ImportError(f"{NEEDED['pyarrow']}, before the audit")
        table: pyarrow.Table = import_module("pyarrow.parquet").read_table(parquet)
        return table

    def to_pandas(self) -> pandas.DataFrame:
        """Return a pandas DataFrame. Raises ImportError as `to_arrow` does, and if pandas is not installed."""
        _needed("pandas")
        frame: pandas.DataFrame = self.to_arrow().to_pandas()
        return frame

    def to_polars(self) -> polars.DataFrame:
        """Return a polars DataFrame. Raises ImportError as `to_arrow` does, and if polars is not installed."""
        frame: polars.DataFrame = _needed("polars").from_arrow(self.to_arrow())
        return frame

    def __repr__(self) -> str:
        return f"<RecordTable {self._name}: {counted(len(self), 'record', 'records')}>"


NEEDED = {
    "pyarrow": "Arrow tables and data frames need pyarrow (extra parquet): pip install pyarrow",
    "pandas": "to_pandas() needs pandas and pyarrow: pip install pandas pyarrow",
    "polars": "to_polars() needs polars and pyarrow: pip install polars pyarrow",
}
"""What to say of a package that is not installed."""


def _needed(package: str) -> ModuleType:
    """Import an optional package. Raises ImportError that says how to install it."""
    try:
        return import_module(package)
    except ImportError:
        raise ImportError(NEEDED[package]) from None


class AuditResult:
    """The results of an audit: its verdict and its records."""

    def __init__(self, target: str, folder: Path, temporary: child.TemporaryFolder | None, ended: child.Ended) -> None:
        self.target = target
        """What was audited, as given to `audit`."""
        self.folder = folder
        """Folder with the files; a temporary one unless `out` names it."""
        self.report = folder / PAGE
        """The report for people, a page of HTML."""
        self.log = ended.errors
        """Messages of the crawl, of level ERROR unless `settings` choose another."""
        self.summary: SummaryRecord = msgspec.json.decode((folder / SUMMARY).read_bytes(), type=SummaryRecord)
        """The summary record: counts by rule, severity and indexability; `partial` if the crawl ended early."""
        found = self.summary.verdict or Verdict()
        self.verdict = found.headline
        """The headline of the report, such as `Healthy` or `Needs repair`."""
        self.reasons = " ".join(map(inert, found.sentences))
        """The sentences below it."""
        self._keep = temporary
        self.urls = RecordTable("urls", UrlEntry, folder, temporary)
        """The listed URLs: `UrlEntry`s."""
        self.findings = RecordTable("findings", FindingRecord, folder, temporary)
        """The findings: `FindingRecord`s."""
        self.sitemaps = RecordTable("sitemaps", SitemapRecord, folder, temporary)
        """The sitemap files: `SitemapRecord`s."""
        self.robots = RecordTable("robots", RobotsRecord, folder, temporary)
        """The robots.txt files: `RobotsRecord`s."""
        self.pages = RecordTable("pages", PageRecord, folder, temporary)
        """The pages as links show them: `PageRecord`s; empty without the argument `links`."""
        self.answers = RecordTable("answers", AnswerRecord, folder, temporary)
        """What crawlers get for pages: `AnswerRecord`s; empty without the argument `fetch_as`."""
        self.rendered = RecordTable("rendered", RenderedRecord, folder, temporary)
        """What scripts make of pages: `RenderedRecord`s; empty without the argument `render`."""
        self.changes = RecordTable("changes", ChangeRecord, folder, temporary)
        """What has changed since the baseline: `ChangeRecord`s; empty without the argument `baseline`."""
        self.images = RecordTable("images", ImageRecord, folder, temporary)
        """The images of the listed pages: `ImageRecord`s."""
        self.videos = RecordTable("videos", VideoRecord, folder, temporary)
        """The videos of the listed pages: `VideoRecord`s."""
        self.news = RecordTable("news", NewsRecord, folder, temporary)
        """The news articles: `NewsRecord`s."""
        self.alternates = RecordTable("alternates", AlternateRecord, folder, temporary)
        """The language versions of the listed pages: `AlternateRecord`s."""

    def __repr__(self) -> str:
        counts = counted(self.summary.urls, "URL"), counted(self.summary.sitemaps, "sitemap")
        found = [*places(self.summary.severity_reach).values()] or ["nothing found"]
        return f"<AuditResult {_shown(self.target)}: {self.verdict}, {', '.join([*counts, *found])}>"
