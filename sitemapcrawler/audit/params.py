"""The spider's arguments as one validated model: texts in, `Params` out, or one line that says what is wrong.

An argument is one field of `Params`: parser, accepted values, help and default stand there and nowhere else. A parser
takes a text and returns the value, or raises ValueError with what is wrong about it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, field, fields
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from sitemapcrawler import urls
from sitemapcrawler.audit import argument_values as values
from sitemapcrawler.audit.argument_values import MAX_SHOWN, Start, read_list
from sitemapcrawler.feeds.folder import folder
from sitemapcrawler.robots.agents import Agent, distinct, named
from sitemapcrawler.rules.choice import NONE
from sitemapcrawler.urls import Authority
from sitemapcrawler.urls.display import masked_url
from sitemapcrawler.verification.sampling import MAX_SEED, Sample


class ArgumentError(ValueError):
    """An argument that cannot be used. The text is one line: name, value, what is wrong, what is accepted."""

    def __init__(self, name: str, value: object, problem: str, accepted: str) -> None:
        given = name if value is None else f"{values.shown(name)[1:-1]}={values.shown(value)}"
        super().__init__(f"argument {given}: {problem}; accepted: {accepted}")


class Argument(NamedTuple):
    """An argument as documentation and commands list it."""

    name: str
    default: str
    """As it would be written; empty without one."""
    help: str
    accepted: str


def _argument(
    name: str,
    summary: str,
    accepted: str,
    parse: Callable[[str], object],
    separator: re.Pattern[str] | None = None,
) -> dict[str, Any]:
    """Declare an argument; with a `separator` it is a list, of which `parse` reads one item."""
    return {"name": name, "help": summary, "accepted": accepted, "parse": parse, "separator": separator}


_PAGES = "a regular expression, searched in page URLs"
_PROBES = ("auto", "always", "never")
_METHODS = ("off", "head", "get")
_ONLY = ("changes",)
UNNAMED = "sitemap.xml"
"""Name of what comes by standard input, in the folder where it will live."""
OF_A_RUN = frozenset({"force", "fresh", "max_time", "report"})
"""Arguments that say nothing of what a job is to find."""


@dataclass(frozen=True)
class Params:
    """Validated spider arguments; None where an argument without default was not given."""

    starts: tuple[Start, ...] = field(
        default=(),
        metadata=_argument(
            "domain",
            "the sites to discover",
            "hosts, host:port or http(s) URLs, separated by commas, or @list, a file with one a line",
            values.start,
            values.COMMA,
        ),
    )
    sitemaps: tuple[str, ...] = field(
        default=(),
        metadata=_argument(
            "sitemap",
            "sitemaps to read, without discovery",
            "http(s) URLs or files (./x.xml, /dir/x.gz, file:///dir/x), separated by commas, or @list, one a line",
            values.sitemap,
            values.COMMA_BEFORE_URL,
        ),
    )
    base_url: str | None = field(
        default=None,
        metadata=_argument(
            "base_url",
            "where a file of this machine will live, so that it is judged as if it were served there",
            "the http(s) URL of the file, or one that ends in / for its folder",
            values.base_url,
        ),
    )
    offline: bool = field(
        default=False,
        metadata=_argument(
            "offline",
            "read files of this machine only, and ask nothing of any host",
            ", ".join(values.ANSWERS),
            values.yes,
        ),
    )
    probe: str = field(
        default="auto",
        metadata=_argument(
            "probe",
            "whether to try the common paths; auto does where robots.txt names no sitemap",
            ", ".join(_PROBES),
            partial(values.choice, accepted=_PROBES),
        ),
    )
    include: re.Pattern[str] | None = field(
        default=None, metadata=_argument("include", "list only the pages that match", _PAGES, values.expression)
    )
    exclude: re.Pattern[str] | None = field(
        default=None, metadata=_argument("exclude", "list no pages that match", _PAGES, values.expression)
    )
    follow: re.Pattern[str] | None = field(
        default=None,
        metadata=_argument(
            "follow",
            "read only the children of indexes that match",
            "a regular expression, searched in sitemap URLs",
            values.expression,
        ),
    )
    since: datetime | None = field(
        default=None,
        metadata=_argument(
            "since",
            "list only pages with a lastmod at or after",
            "a date or time like 2024-05-01 or 2024-05-01T10:00:00+02:00, UTC without a zone",
            values.moment,
        ),
    )
    max_urls: int | None = field(
        default=None, metadata=_argument("max_urls", "stop after so many pages", "a whole number from 1", values.count)
    )
    max_sitemaps: int | None = field(
        default=None,
        metadata=_argument("max_sitemaps", "ask for so many sitemaps at most", "a whole number from 1", values.count),
    )
    max_depth: int = field(
        default=10,
        metadata=_argument(
            "max_depth", "indexes above a file at most", "a whole number from 0", partial(values.count, least=0)
        ),
    )
    max_time: float | None = field(
        default=None, metadata=_argument("max_time", "stop after so many seconds", "a number above 0", values.seconds)
    )

    agents: tuple[str, ...] = field(
        default=("search", "ai"),
        metadata=_argument(
            "agents",
            "crawlers to judge robots.txt for",
            "names, and the groups search and ai, separated by commas, or none",
            values.agent,
            values.COMMA,
        ),
    )

    verify: str = field(
        default="off",
        metadata=_argument(
            "verify",
            "ask every listed URL whether it works: head for its status, get to read the head of the page too",
            ", ".join(_METHODS),
            partial(values.choice, accepted=_METHODS),
        ),
    )
    sample: Sample | None = field(
        default=None,
        metadata=_argument(
            "sample",
            "verify only so many of the URLs, drawn by chance",
            "a number such as 500, or a share such as 2.5%",
            Sample.parse,
        ),
    )
    seed: int = field(
        default=0,
        metadata=_argument(
            "seed",
            "draw another sample",
            f"a whole number from 0 to {MAX_SEED}",
            partial(values.count, least=0, most=MAX_SEED),
        ),
    )
    verify_offsite: bool = field(
        default=False,
        metadata=_argument(
            "verify_offsite", "verify URLs on other hosts as well", ", ".join(values.ANSWERS), values.yes
        ),
    )
    verify_assets: bool = field(
        default=False,
        metadata=_argument(
            "verify_assets",
            "request images, video thumbnails and video files as well; "
            "whether robots.txt blocks them is judged without it",
            ", ".join(values.ANSWERS),
            values.yes,
        ),
    )
    urls: str | None = field(
        default=None,
        metadata=_argument(
            "urls",
            "a list of URLs to judge and verify, without sitemaps",
            "a text file with a URL a line, or a feed (.csv, .jsonl, .json, .parquet, also .gz), such as @urls.txt",
            values.list_file,
        ),
    )

    select: tuple[str, ...] = field(
        default=(),
        metadata=_argument(
            "select",
            "the rules to run, all without it",
            "ids and families of rules (docs/rules.md), separated by commas, or none",
            values.rule,
            values.COMMA,
        ),
    )
    ignore: tuple[str, ...] = field(
        default=(),
        metadata=_argument(
            "ignore", "rules not to run", "ids and families of rules, separated by commas", values.rule, values.COMMA
        ),
    )

    fresh: bool = field(
        default=False,
        metadata=_argument(
            "fresh", "begin the job in JOBDIR anew, and forget what it has found", ", ".join(values.ANSWERS), values.yes
        ),
    )

    report: str | None = field(
        default=None,
        metadata=_argument(
            "report",
            "write the whole audit into a folder: feeds of each type of record, and a page that sums them up",
            "a new or an empty folder, or that of an earlier report, which is replaced",
            folder,
        ),
    )
    baseline: str | None = field(
        default=None,
        metadata=_argument(
            "baseline",
            "an earlier job to compare with: what was added, removed or changed",
            "the folder of a job or of a report, its database, or a feed of it (.jsonl, .parquet)",
            values.baseline,
        ),
    )
    only: str | None = field(
        default=None,
        metadata=_argument(
            "only",
            "write url records only where something has changed since the baseline",
            ", ".join(_ONLY),
            partial(values.choice, accepted=_ONLY),
        ),
    )
    force: bool = field(
        default=False,
        metadata=_argument(
            "force",
            "compare with a baseline of another site, or of a job that was not finished",
            ", ".join(values.ANSWERS),
            values.yes,
        ),
    )

    @classmethod
    def parse(cls, arguments: Mapping[str, object], read_text: Callable[[str], str] = read_list) -> Params:
        """Read arguments as Scrapy gives them; raises ArgumentError. Names that begin with `_` are a deployment's.

        `read_text` gives the text of an @file, or raises OSError.
        """
        declared = {argument.metadata["name"]: argument for argument in fields(cls)}
        values: dict[str, Any] = {}
        for name, value in arguments.items():
            if name in declared:
                values[declared[name].name] = _value(declared[name], value, read_text)
            elif not name.startswith("_"):
                raise _unknown(name, value)
        if "urls" in values:
            values.setdefault("verify", "head")  # a list is there to be verified
        params = cls(**values)
        params._check(declared)
        return params

    def _check(self, declared: Mapping[str, Field[Any]]) -> None:
        """ArgumentError for arguments that do not fit each other."""
        named = "domain" if self.starts else "sitemap" if self.sitemaps else None
        if named is None and self.urls is None:
            accepted = declared["domain"].metadata["accepted"]
            raise ArgumentError("domain", None, "neither domain nor sitemap nor urls is given", accepted)
        if named is not None and self.urls is not None:
            raise ArgumentError("urls", self.urls, f"a list has no {named} beside it", f"urls or {named}")
        for name in ("sample", "seed", "verify_offsite", "verify_assets"):
            if self.verify == "off" and getattr(self, name) != declared[name].default:
                value = _canonical(getattr(self, name))
                raise ArgumentError(name, value, "nothing is verified", "beside verify=head or verify=get")
        for name in ("only", "force"):
            if self.baseline is None and (value := getattr(self, name)):
                raise ArgumentError(name, _canonical(value), "there is nothing to compare with", "beside baseline")
        if self.sample is None and self.seed:
            raise ArgumentError("seed", self.seed, "no sample is drawn", "beside sample")
        self._check_files()

    def _check_files(self) -> None:
        """ArgumentError for arguments about files of this machine where other things are named."""
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
        """The crawlers that robots.txt is judged for, each once; none without a network."""
        names = () if self.offline else self.agents
        return distinct(agent for name in names if name != NONE for agent in named(name))

    def place_of(self, url: str) -> str | None:
        """URL at which a named file will live; None where that is not said, and for what is on the web."""
        if self.base_url is None or not url.startswith("file:"):
            return None
        if not self.base_url.endswith("/"):
            return self.base_url
        return self.base_url + (UNNAMED if url == urls.STANDARD_INPUT else url.rpartition("/")[2])

    @property
    def own_authorities(self) -> frozenset[Authority]:
        """Hosts and ports that the user named to be asked: both default ports of a bare host, and its own of a URL.
        They alone are sent credentials."""
        named = [url for start in self.starts for url in start.url_candidates]
        return frozenset(filter(None, map(urls.authority, [*named, *self.sitemaps])))

    @property
    def named_authorities(self) -> frozenset[Authority]:
        """The same, and where a file of this machine will live: what may have a private address."""
        return self.own_authorities | frozenset(filter(None, [urls.authority(self.base_url or "")]))

    @property
    def named_files(self) -> frozenset[str]:
        """`file:` URLs of the files that the user named."""
        named = (*self.sitemaps, self.urls or "")
        return frozenset(url for url in named if url.startswith("file:"))

    def as_dict(self) -> dict[str, str]:
        """Canonical text of each argument that is not at its default: equal for two jobs that ask for the same."""
        given = {
            argument.metadata["name"]: (getattr(self, argument.name), argument.default) for argument in fields(self)
        }
        return {name: _canonical(value) for name, (value, default) in given.items() if value != default}

    def asks_for(self) -> dict[str, str]:
        """The same without what may differ from one run of a job to the next."""
        return {name: text for name, text in self.as_dict().items() if name not in OF_A_RUN}


def _value(argument: Field[Any], value: object, read_text: Callable[[str], str]) -> object:
    parse, separator, accepted = (argument.metadata[key] for key in ("parse", "separator", "accepted"))
    if isinstance(value, bool) and parse is values.yes:
        return value
    try:
        if separator is None:
            return parse(_text(value))
        text = _text(values.joined(value))
        return _list(_items(text, separator, read_text), parse, text)
    except ValueError as error:
        raise ArgumentError(argument.metadata["name"], value, str(error), accepted) from None


def _text(value: object) -> str:
    """`value` without blanks around it; numbers are taken as well, since scripts may pass them."""
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
            yield from _listed(item[1:], read_text)
        else:
            yield item


def _listed(path: str, read_text: Callable[[str], str]) -> Iterator[str]:
    try:
        lines = [values.without_comment(line) for line in read_text(path).split("\n")]
    except OSError as error:
        raise ValueError(f"cannot read {values.shown(path)}, {error.strerror or error}") from None
    except ValueError:
        raise ValueError(f"cannot read {values.shown(path)}, no text in UTF-8") from None
    if not any(lines):
        raise ValueError(f"{values.shown(path)} lists nothing")
    yield from filter(None, lines)


def _list(items: Iterator[str], parse: Callable[[str], Any], text: str) -> tuple[Any, ...]:
    found: dict[str, Any] = {}
    for item in items:
        try:
            value = parse(_text(item))
        except ValueError as error:
            if masked_url(text) != text:  # whose commas are no separators
                raise ValueError(values.PASSWORD) from None
            raise ValueError(str(error) if item == text else f"item {values.shown(item)}: {error}") from None
        # Two ways to name a site are one where they begin at the same origin.
        found.setdefault(urls.visit_key(value.url_candidates[0] if isinstance(value, Start) else value), value)
    return tuple(found.values())


def _unknown(name: str, value: object) -> ArgumentError:
    known = [argument.name for argument in ARGUMENTS]
    near = difflib.get_close_matches(name[:MAX_SHOWN].lower(), known, 1)
    return ArgumentError(name, value, f"unknown{f', did you mean {near[0]}?' if near else ''}", ", ".join(known))


def _canonical(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, datetime):
        return value.isoformat()
    return value.pattern if isinstance(value, re.Pattern) else str(value)


ARGUMENTS = tuple(
    Argument(
        argument.metadata["name"],
        "" if argument.default is None else _canonical(argument.default),
        argument.metadata["help"],
        argument.metadata["accepted"],
    )
    for argument in fields(Params)
)
"""Every argument, in the order of the documentation."""
