"""One crawl over many sites, each with a situation of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.crawl.crawling import Crawl, crawl
from tests.crawl.site_server import SiteServer

Program = Callable[[SiteServer], None]
"""Gives a server its pages."""


@dataclass
class Sites:
    """Sites that one crawl visited, by name."""

    crawl: Crawl
    servers: dict[str, SiteServer]

    @property
    def starts(self) -> str:
        """All sites, as the argument `domain`."""
        return ",".join(server.url() for server in self.servers.values())

    def of(self, name: str, kind: str = "sitemap") -> list[dict[str, Any]]:
        """The records of a site of one type, in order."""
        start, key = self.servers[name].url("/"), "robots" if kind == "robots" else "sitemap"
        return [record for record in self.crawl.of_type(kind) if record.get(key, "").startswith(start)]

    def findings(self, name: str) -> list[dict[str, Any]]:
        """The findings that name a site."""
        place = self.servers[name].place
        texts = ("sitemap", "url", "message")
        return [one for one in self.crawl.of_type("finding") if any(place in (one.get(text) or "") for text in texts)]

    def record(self, name: str, path: str) -> dict[str, Any]:
        """The record of one sitemap of a site."""
        return self.crawl.sitemaps[self.servers[name].url(path)]

    def found(self, name: str) -> list[tuple[str, str]]:
        """Path and way of finding of each sitemap of a site, in order."""
        start = self.servers[name].url()
        return [(record["sitemap"].removeprefix(start), record["found_by"]) for record in self.of(name)]

    def locs(self, name: str) -> list[str]:
        """The pages that the sitemaps of a site list, in order."""
        return [record["loc"] for record in self.of(name, "url")]


@contextmanager
def visited(folder: Path, programs: Mapping[str, Program], path: str = "", **arguments: Any) -> Iterator[Sites]:
    """The sites after one crawl over all of them; they serve until the end.

    `path`: the sitemap of each site; without it they are crawled as domains. `arguments`: as for `crawl`.
    """
    with ExitStack() as stack:
        servers = {name: stack.enter_context(SiteServer()) for name in programs}
        for name, program in programs.items():
            program(servers[name])
        arguments["sitemap" if path else "domain"] = ",".join(server.url(path) for server in servers.values())
        yield Sites(crawl(folder, **arguments), servers)
