"""The spider's arguments as one validated model: parses strings into `Params` or raises a one-line ArgumentError.

Each field of `Params` declares an argument's parser, accepted values, help and default. The parsers are in
`argument_values`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from sitemapcrawler import urls
from sitemapcrawler.audit import argument_values as values
from sitemapcrawler.audit.argument_values import MAX_SHOWN, Start, read_list
from sitemapcrawler.feeds.folder import folder
from sitemapcrawler.feeds.setup import FeedNameParts
from sitemapcrawler.robots.agents import Agent, distinct, named
from sitemapcrawler.rules.choice import NONE
from sitemapcrawler.urls import Authority
from sitemapcrawler.urls.display import masked_url
from sitemapcrawler.verification.sampling import MAX_SEED, Sample

if TYPE_CHECKING:
    from scrapy import Spider


class ArgumentError(ValueError):
    """An invalid argument. The message is one line: name, value, problem, accepted values."""

    def __init__(self, name: str, value: object, problem: str, accepted: str) -> None:
        given = name if value is None else f"{values.quoted(name)[1:-1]}={values.quoted(value)}"
        super().__init__(f"argument {given}: {problem}; accepted: {accepted}")


@dataclass(frozen=True, slots=True)
class Argument:
    """The declaration of an argument."""

    name: str
    default: str
    """Default as a user would write it; empty if there is none."""
    help: str
    accepted: str
    parse: Callable[[str], object]
    """Parses a value, or one item of a list; raises ValueError if it is invalid."""
    separator: re.Pattern[str] | None = None
    """Separates the items of a list; None for a single value."""


def _argument(
    name: str,
    default: object,
    summary: str,
    accepted: str,
    parse: Callable[[str], object],
    separator: re.Pattern[str] | None = None,
) -> Any:
    written = "" if default is None else _canonical(default)
    argument = Argument(name, written, summary, accepted, parse, separator)
    return field(default=default, metadata={"argument": argument})


def _flag(name: str, summary: str) -> Any:
    return _argument(name, False, summary, ", ".join(values.ANSWERS), values.yes)


def _choice(name: str, default: str | None, summary: str, *accepted: str) -> Any:
    return _argument(name, default, summary, ", ".join(accepted), partial(values.choice, accepted=accepted))


def _number(name: str, default: int | None, summary: str, **bounds: int) -> Any:
    accepted = f"a whole number from {bounds.get('least', 1)}{f' to {most}' if (most := bounds.get('most')) else ''}"
    parse: Callable[..., object] = values.count
    return _argument(name, default, summary, accepted, partial(parse, **bounds) if bounds else parse)


def _canonical(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.isoformat()
    return value.pattern if isinstance(value, re.Pattern) else str(value)


_PAGES = "a regular expression, searched in page URLs"
UNNAMED = "sitemap.xml"
"""File name of standard input in the folder where it will live."""
OF_A_RUN = frozenset({"force", "fresh", "max_time", "report"})
"""Arguments that do not affect a job's results."""


@dataclass(frozen=True)
class Params:
    """Validated spider arguments; None for an optional one that was not given."""

    starts: tuple[Start, ...] = _argument(
        "domain",
        (),
        "the sites to discover",
        "hosts, host:port or http(s) URLs, separated by commas, or @list, a file with one a line",
        values.start,
        values.COMMA,
    )
    sitemaps: tuple[str, ...] = _argument(
        "sitemap",
        (),
        "sitemaps to read, without discovery",
        "http(s) URLs or files (./x.xml, /dir/x.gz, file:///dir/x), separated by commas, or @list, one a line",
        values.sitemap,
        values.COMMA_BEFORE_URL,
    )
    base_url: str | None = _argument(
        "base_url",
        None,
        "where a file of this machine will live, so that it is judged as if it were served there",
        "the http(s) URL of the file, or one that ends in / for its folder",
        values.base_url,
    )
    offline: bool = _flag("offline", "read files of this machine only, and ask nothing of any host")
    probe: str = _choice(
        "probe",
        "auto",
        "whether to try the common paths; auto does where robots.txt names no sitemap",
        *("auto", "always", "never"),
    )
    include: re.Pattern[str] | None = _argument(
        "include", None, "list only the pages that match", _PAGES, values.expression
    )
    exclude: re.Pattern[str] | None = _argument("exclude", None, "list no pages that match", _PAGES, values.expression)
    follow: re.Pattern[str] | None = _argument(
        "follow",
        None,
        "read only the children of indexes that match",
        "a regular expression, searched in sitemap URLs",
        values.expression,
    )
    since: datetime | None = _argument(
        "since",
        None,
        "list only pages with a lastmod at or after",
        "a date or time like 2024-05-01 or 2024-05-01T10:00:00+02:00, UTC without a zone",
        values.moment,
    )
    max_urls: int | None = _number("max_urls", None, "stop after so many pages")
    max_sitemaps: int | None = _number("max_sitemaps", None, "ask for so many sitemaps at most")
    max_depth: int = _number("max_depth", 10, "indexes above a file at most", least=0)
    max_time: float | None = _argument(
        "max_time", None, "stop after so many seconds", "a number above 0", values.seconds
    )
    agents: tuple[str, ...] = _argument(
        "agents",
        ("search", "ai"),
        "crawlers to judge robots.txt for",
        "names, and the groups search and ai, separated by commas, or none",
        values.agent,
        values.COMMA,
    )
    verify: str = _choice(
        "verify",
        "off",
        "ask every listed URL whether it works: head for its status, get to read the head of the page too",
        *("off", "head", "get"),
    )
    sample: Sample | None = _argument(
        "sample",
        None,
        "verify only so many of the URLs, drawn by chance",
        "a number such as 500, or a share such as 2.5%",
        Sample.parse,
    )
    seed: int = _number("seed", 0, "draw another sample", least=0, most=MAX_SEED)
    verify_offsite: bool = _flag("verify_offsite", "verify URLs on other hosts as well")
    verify_assets: bool = _flag(
        "verify_assets",
        "request images, video thumbnails and video files as well; whether robots.txt blocks them is judged without it",
    )
    urls: str | None = _argument(
        "urls",
        None,
        "a list of URLs to judge and verify, without sitemaps",
        "a text file with a URL a line, or a feed (.csv, .jsonl, .json, .parquet, also .gz), such as @urls.txt",
        values.list_file,
    )
    select: tuple[str, ...] = _argument(
        "select",
        (),
        "the rules to run, all without it",
        "ids and families of rules (docs/rules.md), separated by commas, or none",
        values.rule,
        values.COMMA,
    )
    ignore: tuple[str, ...] = _argument(
        "ignore", (), "rules not to run", "ids and families of rules, separated by commas", values.rule, values.COMMA
    )
    fresh: bool = _flag("fresh", "begin the job in JOBDIR anew, and forget what it has found")
    report: str | None = _argument(
        "report",
        None,
        "write the whole audit into a folder: feeds of each type of record, and a page that sums them up",
        "a new or an empty folder, or that of an earlier report, which is replaced",
        folder,
    )
    baseline: str | None = _argument(
        "baseline",
        None,
        "an earlier job to compare with: what was added, removed or changed",
        "the folder of a job or of a report, its database, or a feed of it (.jsonl, .parquet)",
        values.baseline,
    )
    only: str | None = _choice(
        "only", None, "write url records only where something has changed since the baseline", "changes"
    )
    force: bool = _flag("force", "compare with a baseline of another site, or of a job that was not finished")

    @classmethod
    def parse(cls, arguments: Mapping[str, object], read_text: Callable[[str], str] = read_list) -> Params:
        """Parse arguments as Scrapy passes them; raises ArgumentError.

        Names that start with `_` belong to the deployment and are ignored. `read_text` returns the text of an @file or
        raises OSError.
        """
        values: dict[str, Any] = {}
        for name, value in arguments.items():
            if name in _FIELDS:
                values[_FIELDS[name]] = _value(_DECLARED[name], value, read_text)
            elif not name.startswith("_"):
                near = difflib.get_close_matches(name[:MAX_SHOWN].lower(), _FIELDS, 1)
                problem = f"unknown{f', did you mean {near[0]}?' if near else ''}"
                raise ArgumentError(name, value, problem, ", ".join(_FIELDS))
        if "urls" in values:
            values.setdefault("verify", "head")  # a list of URLs is given to be verified
        params = cls(**values)
        params._check()
        return params

    def _check(self) -> None:
        """Raise ArgumentError for missing or conflicting arguments."""
        named = "domain" if self.starts else "sitemap" if self.sitemaps else None
        if named is None and self.urls is None:
            accepted = _DECLARED["domain"].accepted
            raise ArgumentError("domain", None, "neither domain nor sitemap nor urls is given", accepted)
        if named is not None and self.urls is not None:
            raise ArgumentError("urls", self.urls, f"a list has no {named} beside it", f"urls or {named}")
        given = self.as_dict()
        for name in ("sample", "seed", "verify_offsite", "verify_assets"):
            if self.verify == "off" and name in given:
                raise ArgumentError(name, given[name], "nothing is verified", "beside verify=head or verify=get")
        for name in ("only", "force"):
            if self.baseline is None and name in given:
                raise ArgumentError(name, given[name], "there is nothing to compare with", "beside baseline")
        if self.sample is None and self.seed:
            raise ArgumentError("seed", self.seed, "no sample is drawn", "beside sample")
        self._check_files()

    def _check_files(self) -> None:
        """Raise ArgumentError for conflicts between local files and other arguments."""
        files = [url for url in self.sitemaps if url.startswith("file:")]
        if self.base_url is not None and not files:
            raise ArgumentError("base_url", self.base_url, "no file of this machine is named", "beside sitemap=FILE")
        if self.base_url is not None and not self.base_url.endswith("/") and len(files) > 1:
            accepted = "a URL that ends in /, to which the name of each file is added"
            raise ArgumentError("base_url", self.base_url, f"{len(files)} files cannot live at one URL", accepted)
        if self.offline and (self.starts or self.urls is not None or len(files) < len(self.sitemaps)):
            raise ArgumentError("offline", "yes", "hosts are to be asked", "beside sitemap=FILE alone")
        if self.offline and self.verify != "off":
            raise ArgumentError("offline", "yes", f"verify={self.verify} asks hosts", "beside verify=off")

    @property
    def judged_agents(self) -> list[Agent]:
        """Agents to judge robots.txt for, without duplicates; empty with offline=yes."""
        names = () if self.offline else self.agents
        return distinct(agent for name in names if name != NONE for agent in named(name))

    def place_of(self, url: str) -> str | None:
        """URL where a named local file will live; None if unknown or not a local file."""
        if self.base_url is None or not url.startswith("file:"):
            return None
        if not self.base_url.endswith("/"):
            return self.base_url
        return self.base_url + (UNNAMED if url == urls.STANDARD_INPUT else url.rpartition("/")[2])

    @property
    def own_authorities(self) -> frozenset[Authority]:
        """Hosts and ports that the user named to be requested; for a bare host, both default ports.
        Credentials are sent only to these."""
        named = [url for start in self.starts for url in start.url_candidates]
        return frozenset(filter(None, map(urls.authority, [*named, *self.sitemaps])))

    @property
    def named_authorities(self) -> frozenset[Authority]:
        """`own_authorities` and the future host of a local file. These may have private addresses."""
        return self.own_authorities | frozenset(filter(None, [urls.authority(self.base_url or "")]))

    @property
    def named_files(self) -> frozenset[str]:
        return frozenset(url for url in (*self.sitemaps, self.urls or "") if url.startswith("file:"))

    def as_dict(self) -> dict[str, str]:
        """Canonical text of each argument that differs from its default; equal for equivalent jobs."""
        values = ((name, getattr(self, field)) for name, field in _FIELDS.items())
        return {name: _canonical(value) for name, value in values if value != _DEFAULTS[name]}

    def asks_for(self) -> dict[str, str]:
        """`as_dict` without the arguments that may differ between runs of a job."""
        return {name: text for name, text in self.as_dict().items() if name not in OF_A_RUN}


ARGUMENTS: tuple[Argument, ...] = tuple(field.metadata["argument"] for field in fields(Params))
"""All arguments, in the order of the documentation."""
_DECLARED = {argument.name: argument for argument in ARGUMENTS}
_FIELDS = {field.metadata["argument"].name: field.name for field in fields(Params)}
_DEFAULTS = {field.metadata["argument"].name: field.default for field in fields(Params)}


def _value(argument: Argument, value: object, read_text: Callable[[str], str]) -> object:
    if isinstance(value, bool) and argument.parse is values.yes:
        return value
    try:
        if argument.separator is None:
            return argument.parse(_text(value))
        text = _text(values.joined(value))
        return _list(_items(text, argument.separator, read_text), argument.parse, text)
    except ValueError as error:
        raise ArgumentError(argument.name, value, str(error), argument.accepted) from None


def _text(value: object) -> str:
    """The value as stripped text; scripts may also pass numbers."""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise ValueError("is no text")
    if values.CONTROL.search(str(value)):
        raise ValueError("has a control character")
    if not str(value).strip():
        raise ValueError("is empty")
    return str(value).strip()


def _items(text: str, separator: re.Pattern[str], read_text: Callable[[str], str]) -> Iterator[str]:
    for item in map(str.strip, separator.split(text)):
        if item.startswith("@"):
            yield from _lines(item[1:], read_text)
        else:
            yield item


def _lines(path: str, read_text: Callable[[str], str]) -> Iterator[str]:
    try:
        lines = [values.without_comment(line) for line in read_text(path).split("\n")]
    except OSError as error:
        raise ValueError(f"cannot read {values.quoted(path)}, {error.strerror or error}") from None
    except ValueError:
        raise ValueError(f"cannot read {values.quoted(path)}, no text in UTF-8") from None
    if not any(lines):
        raise ValueError(f"{values.quoted(path)} lists nothing")
    yield from filter(None, lines)


def _list(items: Iterator[str], parse: Callable[[str], Any], text: str) -> tuple[Any, ...]:
    found: dict[str, Any] = {}
    for item in items:
        try:
            value = parse(_text(item))
        except ValueError as error:
            if masked_url(text) != text:  # a comma inside a password is no separator
                raise ValueError(values.PASSWORD) from None
            raise ValueError(str(error) if item == text else f"item {values.quoted(item)}: {error}") from None
        # Two spellings of a site are the same if they start at the same origin.
        found.setdefault(urls.visit_key(value.url_candidates[0] if isinstance(value, Start) else value), value)
    return tuple(found.values())


def uri_params(params: dict[str, Any], spider: Spider) -> dict[str, Any]:
    """FEED_URI_PARAMS: values for `%(name)s` in feed URIs, made safe if the spider has our arguments."""
    return FeedNameParts(params) if isinstance(getattr(spider, "params", None), Params) else params
