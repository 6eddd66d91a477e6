"""The spider's arguments as one pydantic model: `Params.parse` validates them or raises a one-line ArgumentError.

Each field of `Params` is an argument: its type, its default, and an `Argument` with help, accepted values and use.
`arguments` has the types, `argument_values` the parsers of texts.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from operator import lt, ne
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model, field_validator

from sitemapcrawler import urls
from sitemapcrawler.crawl import argument_values as values
from sitemapcrawler.crawl.argument_values import MAX_SHOWN, Start, read_list
from sitemapcrawler.crawl.arguments import (
    AboveZero,
    Argument,
    ArgumentError,
    Count,
    FromZero,
    Problem,
    ReadText,
    Text,
    Use,
    canonical,
    plain,
)
from sitemapcrawler.feeds.folder import folder
from sitemapcrawler.policy import KEYS, MAX_LIMITS, Limit, unknown_segments
from sitemapcrawler.robots.agents import Agent, distinct, named, requesting
from sitemapcrawler.rules.choice import NONE
from sitemapcrawler.urls import Authority
from sitemapcrawler.urls.expressions import SYNTAX, Expression
from sitemapcrawler.urls.segments import MAX_SEGMENTS, OTHER, PATTERNS, Segment
from sitemapcrawler.verification.sampling import Sample

__all__ = ["ARGUMENTS", "Argument", "ArgumentError", "Count", "Params", "Text", "Use", "declare", "names_of"]

ALL = "all"
"""Value of `findings`."""
UNNAMED = "sitemap.xml"
"""File name of standard input in the folder where it will live."""
VERIFYING_BY = ("off", "head", "get")
"""Values of `verify`; each finds more than the one before."""
MAX_PAGES = 10_000
"""Unlisted pages, found by links or in lists, that are requested at most unless the user says otherwise."""
SITES = "hosts, host:port or http(s) URLs, separated by commas, or @list, a file with one per line"
SITEMAPS = "http(s) URLs or files (./x.xml, /dir/x.gz, file:///dir/x), separated by commas, or @list, one per line"
IN_PAGES = f"{SYNTAX}, searched in page URLs"
IN_SITEMAPS = f"{SYNTAX}, searched in sitemap URLs"
DATE = "a date or time like 2024-05-01 or 2024-05-01T10:00:00+02:00, UTC without a zone"
LISTS = "files, separated by commas: exports of crawlers, Search Console or GA4, access logs, CSV, JSON, Parquet"
RANGES = (
    "files with address ranges, separated by commas, named after the crawler or as the operator's file: @googlebot.json"
)
CHANNELS = "addresses of Apprise such as slack://..., separated by commas, or @list, a file with one per line"
FROM_ELSEWHERE = "SITEMAP_TARGET_FROM_ELSEWHERE"
"""Setting in which `mcp` passes that the user has not named the target: it must be at a public address, and gets no
login."""
HIDDEN = "***"
"""In place of a secret value."""
AS, FETCH_AS = "as", "fetch_as"
"""A short name of an argument, which Python has as a keyword."""
RULES = "ids and families of rules, separated by commas"

Pattern = Annotated[Expression, Text(values.expression)]
Rules = Annotated[tuple[str, ...], Text(values.rule, values.COMMA)]


class Params(BaseModel):
    """The validated arguments; None for an optional one that was not given."""

    model_config = ConfigDict(title="Arguments", frozen=True, use_attribute_docstrings=True)

    domain: Annotated[tuple[Start, ...], Text(values.start, values.COMMA), Argument(SITES, Use.TARGET | Use.PAGES)] = ()
    """Sites whose sitemaps are discovered."""
    sitemap: Annotated[
        tuple[str, ...],
        Text(values.sitemap, values.COMMA_BEFORE_URL),
        Argument(SITEMAPS, Use.TARGET | Use.PAGES | Use.ONE_SITE),
    ] = ()
    """Sitemaps to read without discovery."""
    base_url: Annotated[
        Annotated[str, Text(values.base_url)] | None,
        Argument("the http(s) URL of the file, or of its folder if it ends in /", Use.ONE_SITE),
    ] = None
    """URL where a local file will live; rules judge it as if it were served there."""
    base_dir: Annotated[Annotated[str, Text(values.directory)] | None, Argument("a local folder", Use.ONE_SITE)] = None
    """Local folder that will live at base_url; sitemaps that indexes list are looked up in it."""
    offline: Annotated[bool, Argument(use=Use.ONE_SITE)] = False
    """Read local files only and make no request."""
    probe: Annotated[
        Literal["auto", "always", "never"], Argument(use=Use.PAGES, narrows=lambda new, _: new == "never")
    ] = "auto"
    """Try the common paths; auto: only if robots.txt names no sitemap, and until one is found."""
    include: Annotated[Pattern | None, Argument(IN_PAGES, Use.PAGES, narrows=ne)] = None
    """List only pages that match."""
    exclude: Annotated[Pattern | None, Argument(IN_PAGES, Use.PAGES, narrows=ne)] = None
    """Leave out pages that match."""
    follow: Annotated[Pattern | None, Argument(IN_SITEMAPS, Use.PAGES, narrows=ne)] = None
    """Read only children of indexes that match."""
    since: Annotated[Annotated[datetime, Text(values.moment)] | None, Argument(DATE, Use.PAGES, narrows=ne)] = None
    """List only pages with a lastmod at or after this time."""
    max_urls: Annotated[Count | None, Argument(use=Use.PAGES, narrows=ne)] = None
    """Stop after this number of pages."""
    max_sitemaps: Annotated[Count | None, Argument(use=Use.PAGES, narrows=ne)] = None
    """Request at most this number of sitemaps."""
    max_depth: Annotated[FromZero, Argument(use=Use.PAGES, narrows=lt)] = 10
    """Read at most this number of nested indexes."""
    max_time: Annotated[AboveZero | None, Argument(use=Use.PAGES | Use.RUN, narrows=ne)] = None
    """Stop after this number of seconds."""
    agents: Annotated[
        tuple[str, ...],
        Text(values.agent, values.COMMA),
        Argument(
            "names and the groups search and ai, separated by commas, or none",
            narrows=lambda new, old: not {*old} <= {*new},
        ),
    ] = ("search", "ai")
    """Crawlers to check robots.txt for."""
    verify: Annotated[
        Literal["off", "head", "get"],
        Argument(narrows=lambda new, old: VERIFYING_BY.index(new) < VERIFYING_BY.index(old)),
    ] = "off"
    """Request every listed URL: head for its status, get to read the page too."""
    sample: Annotated[
        Annotated[Sample, Text(Sample.parse)] | None,
        Argument(
            "a number such as 500, or a share such as 2.5%",
            needs=("verify",),
            narrows=lambda new, _: not new.is_whole,
        ),
    ] = None
    """Verify only a random sample of the URLs."""
    seed: Annotated[FromZero, Argument(needs=("verify", "sample"))] = 0
    """Number that selects the sample; the same seed selects the same URLs."""
    verify_offsite: Annotated[bool, Argument(needs=("verify",))] = False
    """Verify URLs on other hosts too."""
    verify_assets: Annotated[bool, Argument(needs=("verify",))] = False
    """Request images, video thumbnails and video files, and the robots.txt of their hosts, too."""
    links: Annotated[Literal["no", "yes", "site"], Argument(use=Use.ONE_SITE)] = "no"
    """Read the links of pages: yes reads those of listed pages, site also fetches the pages that they lead to."""
    compare: Annotated[tuple[str, ...], Text(values.compared), Argument(LISTS, Use.ONE_SITE)] = ()
    """Lists of URLs from other sources: report pages that only they or only the sitemaps have."""
    crawler_addresses: Annotated[
        tuple[str, ...], Text(values.address_files), Argument(RANGES, Use.ONE_SITE, needs=("compare",))
    ] = ()
    """Verify crawlers in access logs by the address ranges of their operators."""
    gsc: Annotated[
        Annotated[str, Text(values.search_property)] | None,
        Argument(
            "sc-domain:example.com or https://example.com/, as Search Console names it",
            Use.RUN | Use.ONE_SITE,
            needs=("gsc_answers",),
        ),
    ] = None
    """Ask Search Console for the index status of listed URLs of this property, up to 2,000 a day."""
    gsc_answers: Annotated[
        Annotated[str, Text(values.answers_file)] | None,
        Argument("a file, which is created or extended", Use.RUN | Use.ONE_SITE, needs=("gsc",)),
    ] = None
    """Keep the answers in this file, so that the next run asks for other URLs."""
    gsc_sample: Annotated[Count | None, Argument(use=Use.RUN | Use.ONE_SITE, needs=("gsc",))] = None
    """Ask for a random sample of this many URLs (default: those with the most clicks and the newest lastmod first)."""
    max_pages: Annotated[Count, Argument(use=Use.ONE_SITE)] = MAX_PAGES
    """Fetch at most this number of unlisted pages."""
    fetch_as: Annotated[
        tuple[str, ...],
        Text(values.crawler, values.COMMA),
        Argument("names of crawlers and the groups search and ai, separated by commas", Use.ONE_SITE),
    ] = ()
    """Request five pages per host as these crawlers would, and compare the answers; only for your own sites."""
    render: Annotated[
        Annotated[Sample, Text(values.sample_to_render)] | None,
        Argument("a number such as 50, or a share such as 0.5%", Use.ONE_SITE),
    ] = None
    """Render this number or share of listed pages in a browser, and compare them with the server's HTML."""
    render_as: Annotated[
        Annotated[str, Text(values.crawler_of_robots)] | None,
        Argument("the name of a crawler, such as Googlebot", Use.ONE_SITE, needs=("render",)),
    ] = None
    """Load no script or data that robots.txt disallows for this crawler."""
    urls: Annotated[
        Annotated[str, Text(values.list_file)] | None,
        Argument(
            "a text file with one URL per line, or a feed or export with a column of URLs (CSV, JSON, JSON lines, "
            "Parquet, also as gzip), such as @urls.txt",
            Use.TARGET | Use.ONE_SITE,
        ),
    ] = None
    """List of URLs to check and verify, without sitemaps."""
    select: Annotated[Rules, Argument(f"{RULES}, or none", narrows=ne)] = ()
    """Rules to run (default: all)."""
    ignore: Annotated[Rules, Argument(RULES, narrows=ne)] = ()
    """Rules not to run."""
    findings: Annotated[Literal["all"] | None, Argument()] = None
    """List all findings, not only the first of each rule and file (SITEMAP_FINDINGS_PER_RULE)."""
    segments: Annotated[
        tuple[Segment, ...],
        Text(Segment.parse, values.COMMA),
        Argument(f"name=pattern, separated by commas; {PATTERNS}", Use.RUN | Use.ONE_SITE),
    ] = ()
    """Count parts of the site by name; a URL belongs to the first segment that matches."""
    policy: Annotated[
        tuple[Limit, ...],
        Text(Limit.parse, values.COMMA),
        Argument(f"limit=value or segment.limit=value, separated by commas; {', '.join(KEYS)}", Use.RUN | Use.ONE_SITE),
    ] = ()
    """Fail the run if a limit is broken, or cannot be checked."""
    fresh: Annotated[bool, Argument(use=Use.RUN | Use.ONE_SITE)] = False
    """Discard the job in JOBDIR and start over."""
    report: Annotated[
        Annotated[str, Text(folder)] | None,
        Argument("a new or empty folder, or that of an earlier report, which it replaces", Use.RUN | Use.ONE_SITE),
    ] = None
    """Write the whole audit into a folder: an HTML report and a feed of each record type."""
    notify: Annotated[
        tuple[str, ...],
        Text(values.channel, values.COMMA_BEFORE_CHANNEL, is_secret=True),
        Argument(CHANNELS, Use.RUN | Use.ONE_SITE, needs=("report",)),
    ] = ()
    """Send a message to these channels if there is something new."""
    baseline: Annotated[
        Annotated[str, Text(values.baseline)] | None,
        Argument(
            "the folder of a job or of a report, its database, or a feed of it (.jsonl, .csv, .parquet)",
            Use.COMPARISON | Use.ONE_SITE,
        ),
    ] = None
    """Earlier job to compare with: what was added, removed or changed."""
    only: Annotated[
        Literal["changes"] | None,
        Argument(use=Use.COMPARISON | Use.ONE_SITE, needs=("baseline",)),
    ] = None
    """Write only url records that have changed since the baseline."""
    force: Annotated[bool, Argument(use=Use.RUN | Use.ONE_SITE, needs=("baseline",))] = False
    """Accept a baseline of another site or of an unfinished job."""

    @classmethod
    def parse(cls, arguments: Mapping[str, object], read_text: ReadText = read_list) -> Params:
        """Parse arguments as Scrapy passes them; raises ArgumentError.

        None stands for an argument that is not given. Names that start with `_` belong to the deployment and are
        ignored. `read_text` returns the text of an @file or raises OSError.
        """
        given = {name: value for name, value in arguments.items() if value is not None and name[:1] != "_"}
        if "urls" in given:
            given.setdefault("verify", "head")  # a list of URLs is given to be verified
        params = cls.read(given, read_text)
        params._check()
        return params

    @classmethod
    def read(cls, given: Mapping[str, object], read_text: ReadText = read_list) -> Params:
        """Parse each argument, whatever the others are; raises ArgumentError."""
        if AS in given and FETCH_AS not in given:
            given = {FETCH_AS if name == AS else name: value for name, value in given.items()}
        for name in [name for name in given if name not in ARGUMENTS]:
            near = difflib.get_close_matches(name[:MAX_SHOWN].lower(), ARGUMENTS, 1)
            near += [known for known in ARGUMENTS if name.lower() in known.split("_")]
            problem = f"unknown{f', did you mean {near[0]}?' if near else ''}"
            raise ArgumentError(name, given[name], problem, ", ".join(ARGUMENTS))
        try:
            return _models[-1].model_validate(given, context={"read_text": read_text})
        except ValidationError as error:
            found = Problem.of(error)
            argument = ARGUMENTS[found.name]
            value = None if argument.is_secret else given[found.name]
            raise ArgumentError(found.name, value, found.text, argument.accepted, found.line) from None

    @field_validator("*", mode="before")
    @classmethod
    def _plain(cls, value: object) -> object:
        return plain(value) if isinstance(value, str) else value

    def _check(self) -> None:
        """Raise ArgumentError for missing or conflicting arguments."""
        given = self.as_dict()
        for name, problem, accepted in self._conflicts(given):
            raise ArgumentError(name, given.get(name), problem, accepted)

    def _conflicts(self, given: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
        """Yield the arguments that do not go with the others, each with the problem and what is accepted."""
        named = "domain" if self.domain else "sitemap" if self.sitemap else None
        if named is None and self.urls is None:
            yield "domain", "none of domain, sitemap and urls is given", ARGUMENTS["domain"].accepted
        if named is not None and self.urls is not None:
            yield "urls", f"a list cannot be combined with {named}", f"urls or {named}"
        for name in given:
            for other in ARGUMENTS[name].needs:
                if other not in given and not (name == "seed" and self.render is not None):
                    yield name, f"has no effect without {other}", f"with {other}"
        if self.fetch_as and not self.own_authorities:
            yield "fetch_as", "no site is named", "with domain, or with a sitemap on the web"
        if len(self.segments) > MAX_SEGMENTS:
            yield "segments", f"{len(self.segments):,} patterns", f"up to {MAX_SEGMENTS}"
        if len(self.policy) > MAX_LIMITS:
            yield "policy", f"{len(self.policy):,} limits", f"up to {MAX_LIMITS}"
        known = {OTHER, *(one.name for one in self.segments)}
        if unknown := unknown_segments(self.policy, known if self.segments else ()):
            names = ", ".join(sorted(known)) if self.segments else "with segments, such as segments=shop=/shop/"
            yield "policy", f"no segment is named {unknown[0]}", names
        yield from self._conflicts_of_links(given)
        yield from self._conflicts_of_files()

    def _conflicts_of_links(self, given: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
        if self.compare and self.urls is not None:
            yield "compare", "urls replaces sitemaps", "without urls"
        fetches = self.links == "site" or (bool(self.compare) and self.verify != "off")
        if "max_pages" in given and not fetches:
            yield "max_pages", "no unlisted pages are fetched", "with links=site, or with compare and verify"
        if self.links != "no" and self.verify != "get":
            yield "links", f"verify={self.verify} does not read whole pages", "with verify=get"
        if self.links != "no" and self.sample is not None:
            yield "links", "a sample has only a sample of the links", "without sample"

    def _conflicts_of_files(self) -> Iterator[tuple[str, str, str]]:
        files = [url for url in self.sitemap if url.startswith("file:")]
        for name in ("base_url", "base_dir"):
            if getattr(self, name) is not None and not files:
                yield name, "no local file is named", "with sitemap=FILE"
        if self.base_url is not None and not self.base_url.endswith("/"):
            if self.base_dir is not None:
                accepted = "a URL ending in /, to which each file's path is added"
                yield "base_url", "a folder cannot live at a file's URL", accepted
            if len(files) > 1:
                accepted = "a URL ending in /, to which each file's name is added"
                yield "base_url", f"{len(files)} files cannot live at one URL", accepted
        if self.offline and (self.domain or self.urls is not None or len(files) < len(self.sitemap)):
            yield "offline", "this needs requests", "with sitemap=FILE only"
        if self.offline and self.render is not None:
            yield "render", "makes requests", "without offline"
        if self.offline and self.verify != "off":
            yield "offline", f"verify={self.verify} makes requests", "with verify=off"

    @property
    def judges(self) -> bool:
        """True if rules run, or the results of verification are judged."""
        return self.select != (NONE,) or self.verify != "off"

    @property
    def judged_agents(self) -> list[Agent]:
        """Agents to judge robots.txt for, without duplicates; empty with offline=yes."""
        names = () if self.offline else self.agents
        return distinct(agent for name in names if name != NONE for agent in named(name))

    @property
    def crawlers(self) -> list[Agent]:
        """Crawlers in whose names pages are requested, without duplicates."""
        return distinct(crawler for name in self.fetch_as for crawler in requesting(name))

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
        origins = map(urls.origin, (*self.sitemap, self.base_url or ""))
        return tuple(dict.fromkeys([*map(str, self.domain), *filter(None, origins)]))

    @property
    def own_authorities(self) -> frozenset[Authority]:
        """Hosts and ports that the user named to be requested; for a bare host, both default ports.
        Credentials are sent only to these."""
        named = [url for start in self.domain for url in start.url_candidates]
        return frozenset(filter(None, map(urls.authority, [*named, *self.sitemap])))

    @property
    def own_sites(self) -> frozenset[str]:
        """`own_authorities` as sites: with and without `www.`."""
        named = [url for start in self.domain for url in start.url_candidates]
        return frozenset(filter(None, map(urls.site_of, [*named, *self.sitemap])))

    @property
    def named_authorities(self) -> frozenset[Authority]:
        """`own_authorities` and the future host of a local file. These may have private addresses."""
        return self.own_authorities | frozenset(filter(None, [urls.authority(self.base_url or "")]))

    @property
    def named_files(self) -> frozenset[str]:
        return frozenset(url for url in (*self.sitemap, self.urls or "") if url.startswith("file:"))

    def __getitem__(self, name: str) -> object:
        """Value of an argument, also of one that a plug-in declares; its default if it was not given."""
        return getattr(self, name, ARGUMENTS[name].default)

    def as_dict(self) -> dict[str, str]:
        """Canonical text of each argument that differs from its default; equal for equivalent jobs. Without secrets."""
        given = ((name, argument.default, self[name]) for name, argument in ARGUMENTS.items())
        return {
            name: HIDDEN if ARGUMENTS[name].is_secret else canonical(value)
            for name, default, value in given
            if value != default
        }

    def asks_for(self, free: Use = Use.RUN) -> dict[str, str]:
        """`as_dict` without the arguments that may differ, by default between runs of a job."""
        return {name: text for name, text in self.as_dict().items() if not free & ARGUMENTS[name].use}

    @property
    def of_comparison(self) -> AbstractSet[str]:
        """Names of the arguments that choose the baseline; they may differ once a job is finished."""
        return frozenset(names_of(Use.COMPARISON))


ARGUMENTS: dict[str, Argument] = {}
"""All arguments by name, in the order of the documentation; those of plug-ins are last."""
_models = [Params]
"""Our model, and one more for each argument that a plug-in has declared, with those before."""


PLAIN = Argument()
"""An argument of the audit that accepts what its type says."""


def _enter(model: type[Params]) -> None:
    schema = model.model_json_schema()["properties"]
    ARGUMENTS.update((name, Argument.of(field, schema[name])) for name, field in model.model_fields.items())


_enter(Params)


def declare(
    name: str,
    kind: Any,  # Any: a type
    default: object,
    help: str,
    argument: Argument = PLAIN,
) -> None:
    """Add an argument to those of the spider. Raises ValueError if the name is taken, or is no identifier."""
    if not name.isidentifier() or (hasattr(Params, name) and name not in Params.model_fields):
        raise ValueError(f"{name!r} cannot be the name of an argument")
    field = (Annotated[kind, argument], Field(default, description=help))
    fields: dict[str, Any] = {name: field}  # Any: keywords of create_model
    model = create_model("Params", __base__=_models[-1], __module__=__name__, **fields)
    known = _models[-1].model_fields.get(name)
    if known is None:
        _enter(model)
        _models.append(model)
    elif repr(known) != repr(model.model_fields[name]):  # a module may be loaded twice
        raise ValueError(f"two arguments are named {name}")


def attributes(spider: object, names: Iterable[str]) -> dict[str, object]:
    """{argument: value} of those that are attributes of a spider or its class. Methods are left out."""
    values = {name: getattr(spider, name, None) for name in names}
    return {name: value for name, value in values.items() if value is not None and not callable(value)}


def names_of(use: Use) -> tuple[str, ...]:
    """Names of the arguments with this use, in the order of the documentation."""
    return tuple(name for name, argument in ARGUMENTS.items() if use in argument.use)
