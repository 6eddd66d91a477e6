"""The spider's arguments as one validated model: parses strings into `Params` or raises a one-line ArgumentError.

Each field of `Params` declares an argument: parser, accepted values, help, default and use. `arguments` describes a
declaration; the parsers are in `argument_values`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any

from sitemapcrawler import urls
from sitemapcrawler.crawl import argument_values as values
from sitemapcrawler.crawl.argument_values import MAX_SHOWN, Start, read_list
from sitemapcrawler.crawl.arguments import (
    ARGUMENTS,
    Argument,
    ArgumentError,
    Beside,
    Use,
    canonical,
    choice,
    declare,
    flag,
    names_of,
    number,
)
from sitemapcrawler.feeds.folder import folder
from sitemapcrawler.robots.agents import Agent, distinct, named
from sitemapcrawler.rules.choice import NONE
from sitemapcrawler.urls import Authority
from sitemapcrawler.urls.expressions import SYNTAX, Expression
from sitemapcrawler.verification.sampling import MAX_SEED, Sample

__all__ = ["ARGUMENTS", "Argument", "ArgumentError", "Params", "Use", "choice", "declare", "flag", "names_of", "number"]


def _field(argument: Argument) -> Any:  # Any: the field states the type of its value
    """Declare an argument as a field."""
    declare(argument)
    return field(default=argument.default, metadata={"argument": argument.name})


def _differs(value: object, default: object) -> bool:
    return value != default


def _limiting(argument: Argument, narrows: Callable[[Any, Any], bool] = _differs) -> Any:  # Any: as for `_field`
    """Declare an argument as a field, of which any value but the default leaves something out, or some `narrows`."""
    return _field(replace(argument, narrows=narrows))


_PAGES = f"{SYNTAX}, searched in page URLs"
ALL = "all"
"""Value of `findings`."""
UNNAMED = "sitemap.xml"
"""File name of standard input in the folder where it will live."""
LINKS = ("no", "yes", "site")
VERIFYING_BY = ("off", "head", "get")
"""Values of `verify`; each finds more than the one before."""
MAX_PAGES = 10_000
"""Unlisted pages, found by links or in lists, that are requested at most unless the user says otherwise."""
VERIFYING = Beside("verify", "nothing is verified", "with verify=head or verify=get")
SAMPLING = Beside("sample", "no sample is drawn", "with sample")
LINKING = Beside("links", "no unlisted pages are fetched", "with links=site, or with compare and verify")
COMPARING = Beside("baseline", "there is nothing to compare with", "with baseline")


@dataclass(frozen=True)
class Params:
    """Validated spider arguments; None for an optional one that was not given."""

    starts: tuple[Start, ...] = _field(
        Argument(
            "domain",
            (),
            "sites whose sitemaps are discovered",
            "hosts, host:port or http(s) URLs, separated by commas, or @list, a file with one per line",
            values.start,
            values.COMMA,
            Use.TARGET | Use.PAGES | Use.FILES,
        )
    )
    sitemaps: tuple[str, ...] = _field(
        Argument(
            "sitemap",
            (),
            "sitemaps to read without discovery",
            "http(s) URLs or files (./x.xml, /dir/x.gz, file:///dir/x), separated by commas, or @list, one per line",
            values.sitemap,
            values.COMMA_BEFORE_URL,
            Use.TARGET | Use.PAGES | Use.FILES | Use.ONE_SITE,
        )
    )
    base_url: str | None = _field(
        Argument(
            "base_url",
            None,
            "URL where a local file will live; it is judged as if it were served there",
            "the http(s) URL of the file, or of its folder if it ends in /",
            values.base_url,
            use=Use.ONE_SITE,
        )
    )
    base_dir: str | None = _field(
        Argument(
            "base_dir",
            None,
            "local folder that will live at base_url; sitemaps of indexes are searched in it",
            "a local folder",
            values.directory,
            use=Use.ONE_SITE,
        )
    )
    offline: bool = _field(flag("offline", "read local files only and make no request", Use.ONE_SITE))
    probe: str = _limiting(
        choice(
            "probe",
            "auto",
            "try the common paths; auto: if robots.txt names no sitemap, up to the first sitemap",
            ("auto", "always", "never"),
            Use.PAGES | Use.FILES,
        ),
        lambda value, default: value == "never",
    )
    include: Expression | None = _limiting(
        Argument("include", None, "list only pages that match", _PAGES, values.expression, use=Use.PAGES)
    )
    exclude: Expression | None = _limiting(
        Argument("exclude", None, "leave out pages that match", _PAGES, values.expression, use=Use.PAGES)
    )
    follow: Expression | None = _limiting(
        Argument(
            "follow",
            None,
            "read only children of indexes that match",
            f"{SYNTAX}, searched in sitemap URLs",
            values.expression,
            use=Use.PAGES,
        )
    )
    since: datetime | None = _limiting(
        Argument(
            "since",
            None,
            "list only pages with a lastmod at or after this time",
            "a date or time like 2024-05-01 or 2024-05-01T10:00:00+02:00, UTC without a zone",
            values.moment,
            use=Use.PAGES,
        )
    )
    max_urls: int | None = _limiting(number("max_urls", None, "stop after this number of pages", Use.PAGES))
    max_sitemaps: int | None = _limiting(
        number("max_sitemaps", None, "request at most this number of sitemaps", Use.PAGES | Use.FILES)
    )
    max_depth: int = _limiting(
        number("max_depth", 10, "read at most this number of nested indexes", Use.PAGES | Use.FILES, least=0),
        lambda value, default: value < default,
    )
    max_time: float | None = _limiting(
        Argument(
            "max_time",
            None,
            "stop after this number of seconds",
            "a number above 0",
            values.seconds,
            use=Use.PAGES | Use.RUN,
            schema={"type": "number", "exclusiveMinimum": 0},
        )
    )
    agents: tuple[str, ...] = _limiting(
        Argument(
            "agents",
            ("search", "ai"),
            "crawlers to judge robots.txt for",
            "names and the groups search and ai, separated by commas, or none",
            values.agent,
            values.COMMA,
        ),
        lambda value, default: not {*default} <= {*value},
    )
    verify: str = _limiting(
        choice(
            "verify",
            "off",
            "request every listed URL: head for its status, get to read the head of the page too",
            VERIFYING_BY,
        ),
        lambda value, default: VERIFYING_BY.index(value) < VERIFYING_BY.index(default),
    )
    sample: Sample | None = _limiting(
        Argument(
            "sample",
            None,
            "verify only a random sample of the URLs",
            "a number such as 500, or a share such as 2.5%",
            Sample.parse,
            beside=(VERIFYING,),
        ),
        lambda value, default: not value.is_whole,
    )
    seed: int = _field(
        number(
            "seed",
            0,
            "number that selects the sample; the same seed draws the same URLs",
            Use.AUDIT,
            VERIFYING,
            SAMPLING,
            least=0,
            most=MAX_SEED,
        )
    )
    verify_offsite: bool = _field(flag("verify_offsite", "verify URLs on other hosts too", Use.AUDIT, VERIFYING))
    verify_assets: bool = _field(
        flag(
            "verify_assets",
            "request images, video thumbnails and video files too; whether robots.txt blocks them is always judged",
            Use.AUDIT,
            VERIFYING,
        )
    )
    links: str = _field(
        choice(
            "links",
            "no",
            "read the links of pages: yes for the pages that are listed, site to fetch those that links lead to, too",
            LINKS,
            Use.ONE_SITE,
        )
    )
    compare: tuple[str, ...] = _field(
        Argument(
            "compare",
            (),
            "lists of URLs from elsewhere: report what they have and no sitemap lists, and the other way round",
            "files, separated by commas: exports of crawlers, Search Console or GA4, access logs, CSV, JSON, Parquet",
            values.compared,
            use=Use.ONE_SITE,
        )
    )
    max_pages: int = _field(number("max_pages", MAX_PAGES, "fetch so many unlisted pages at most", Use.ONE_SITE))
    urls: str | None = _field(
        Argument(
            "urls",
            None,
            "list of URLs to judge and verify, without sitemaps",
            "a text file with one URL per line, or a feed (.csv, .jsonl, .json, .parquet, also .gz), such as @urls.txt",
            values.list_file,
            use=Use.TARGET | Use.ONE_SITE,
        )
    )
    select: tuple[str, ...] = _limiting(
        Argument(
            "select",
            (),
            "rules to run (default: all)",
            "ids and families of rules, separated by commas, or none",
            values.rule,
            values.COMMA,
        )
    )
    ignore: tuple[str, ...] = _limiting(
        Argument(
            "ignore",
            (),
            "rules not to run",
            "ids and families of rules, separated by commas",
            values.rule,
            values.COMMA,
        )
    )
    findings: str | None = _field(
        choice(
            "findings",
            None,
            "list all findings, not only the first of each rule and file (SITEMAP_FINDINGS_PER_RULE)",
            (ALL,),
        )
    )
    fresh: bool = _field(flag("fresh", "discard the job in JOBDIR and start over", Use.RUN | Use.ONE_SITE))
    report: str | None = _field(
        Argument(
            "report",
            None,
            "write the whole audit into a folder: an HTML report and feeds of each record type",
            "a new or empty folder, or that of an earlier report, which is replaced",
            folder,
            use=Use.RUN | Use.ONE_SITE,
        )
    )
    baseline: str | None = _field(
        Argument(
            "baseline",
            None,
            "earlier job to compare with: what was added, removed or changed",
            "the folder of a job or of a report, its database, or a feed of it (.jsonl, .parquet)",
            values.baseline,
            use=Use.COMPARISON | Use.FILES | Use.ONE_SITE,
        )
    )
    only: str | None = _field(
        choice(
            "only",
            None,
            "write only url records that have changed since the baseline",
            ("changes",),
            Use.COMPARISON | Use.FILES | Use.ONE_SITE,
            COMPARING,
        )
    )
    force: bool = _field(
        flag(
            "force",
            "accept a baseline of another site or of an unfinished job",
            Use.RUN | Use.ONE_SITE,
            COMPARING,
        )
    )
    added: Mapping[str, object] = field(default_factory=dict)
    """{name: value} of the given arguments that plug-ins declare."""

    @classmethod
    def parse(cls, arguments: Mapping[str, object], read_text: Callable[[str], str] = read_list) -> Params:
        """Parse arguments as Scrapy passes them; raises ArgumentError.

        Names that start with `_` belong to the deployment and are ignored. `read_text` returns the text of an @file or
        raises OSError.
        """
        values: dict[str, Any] = {}  # Any: the fields state the types
        added: dict[str, object] = {}
        for name, value in arguments.items():
            if name in ARGUMENTS:
                fields, key = (values, _FIELDS[name]) if name in _FIELDS else (added, name)
                fields[key] = ARGUMENTS[name].value_of(value, read_text)
            elif not name.startswith("_"):
                near = difflib.get_close_matches(name[:MAX_SHOWN].lower(), ARGUMENTS, 1)
                problem = f"unknown{f', did you mean {near[0]}?' if near else ''}"
                raise ArgumentError(name, value, problem, ", ".join(ARGUMENTS))
        if "urls" in values:
            values.setdefault("verify", "head")  # a list of URLs is given to be verified
        params = cls(**values, added=added)
        params._check()
        return params

    def _check(self) -> None:
        """Raise ArgumentError for missing or conflicting arguments."""
        named = "domain" if self.starts else "sitemap" if self.sitemaps else None
        if named is None and self.urls is None:
            accepted = ARGUMENTS["domain"].accepted
            raise ArgumentError("domain", None, "neither domain nor sitemap nor urls is given", accepted)
        if named is not None and self.urls is not None:
            raise ArgumentError("urls", self.urls, f"a list has no {named} beside it", f"urls or {named}")
        given = self.as_dict()
        for name, text in given.items():
            for other, problem, accepted in ARGUMENTS[name].beside:
                if other not in given:
                    raise ArgumentError(name, text, problem, accepted)
        self._check_links()
        self._check_files()

    def _check_links(self) -> None:
        """Raise ArgumentError for arguments with which the links of pages are not read, or not of all pages, or lists
        are not compared."""
        if self.compare and self.urls is not None:
            raise ArgumentError("compare", ",".join(self.compare), "urls takes the place of sitemaps", "without urls")
        fetches = self.links == "site" or (bool(self.compare) and self.verify != "off")
        if not fetches and "max_pages" in self.as_dict():
            raise ArgumentError("max_pages", self.max_pages, LINKING.problem, LINKING.accepted)
        if self.links == "no":
            return
        if self.verify != "get":
            problem = f"verify={self.verify} reads no page to its end"
            raise ArgumentError("links", self.links, problem, "with verify=get")
        if self.sample is not None:
            raise ArgumentError(
                "links", self.links, "a sample of pages links to no more than a sample", "without sample"
            )

    def _check_files(self) -> None:
        """Raise ArgumentError for conflicts between local files and other arguments."""
        files = [url for url in self.sitemaps if url.startswith("file:")]
        if self.base_url is not None and not files:
            raise ArgumentError("base_url", self.base_url, "no local file is named", "with sitemap=FILE")
        if self.base_dir is not None and not files:
            raise ArgumentError("base_dir", self.base_dir, "no local file is named", "with sitemap=FILE")
        if self.base_url is not None and self.base_dir is not None and not self.base_url.endswith("/"):
            accepted = "a URL that ends in /, to which the path of each file is added"
            raise ArgumentError("base_url", self.base_url, "a folder cannot live at the URL of a file", accepted)
        if self.base_url is not None and not self.base_url.endswith("/") and len(files) > 1:
            accepted = "a URL that ends in /, to which the name of each file is added"
            raise ArgumentError("base_url", self.base_url, f"{len(files)} files cannot live at one URL", accepted)
        if self.offline and (self.starts or self.urls is not None or len(files) < len(self.sitemaps)):
            raise ArgumentError("offline", "yes", "requests would be needed", "with sitemap=FILE only")
        if self.offline and self.verify != "off":
            raise ArgumentError("offline", "yes", f"verify={self.verify} makes requests", "with verify=off")

    @property
    def judges(self) -> bool:
        """True if rules run, or the results of verification are judged."""
        return self.select != (NONE,) or self.verify != "off"

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
        if self.base_dir is not None and url.startswith(folder := f"{urls.file_url(self.base_dir).rstrip('/')}/"):
            return self.base_url + url.removeprefix(folder)
        return self.base_url + (UNNAMED if url == urls.STANDARD_INPUT else url.rpartition("/")[2])

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites that the user named, as in `domain`; of named sitemaps the origins; of a local file that of its
        future place."""
        origins = map(urls.origin, (*self.sitemaps, self.base_url or ""))
        return tuple(dict.fromkeys([*map(str, self.starts), *filter(None, origins)]))

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

    def __getitem__(self, name: str) -> object:
        """Value of an argument, also of one that a plug-in declares; its default if it was not given."""
        return getattr(self, _FIELDS[name]) if name in _FIELDS else self.added.get(name, ARGUMENTS[name].default)

    def as_dict(self) -> dict[str, str]:
        """Canonical text of each argument that differs from its default; equal for equivalent jobs."""
        values = ((name, argument.default, self[name]) for name, argument in ARGUMENTS.items())
        return {name: canonical(value) for name, default, value in values if value != default}

    def asks_for(self, free: Use = Use.RUN) -> dict[str, str]:
        """`as_dict` without the arguments that may differ, by default between runs of a job."""
        return {name: text for name, text in self.as_dict().items() if not free & ARGUMENTS[name].use}

    @property
    def of_files(self) -> AbstractSet[str]:
        """Names of the arguments that decide which files are read, but not how their entries are judged."""
        return frozenset(names_of(Use.FILES))

    @property
    def of_comparison(self) -> AbstractSet[str]:
        """Names of the arguments that choose the baseline; they may differ once a job is finished."""
        return frozenset(names_of(Use.COMPARISON))


_FIELDS = {field.metadata["argument"]: field.name for field in fields(Params) if field.metadata}
"""{argument: field}."""
