"""A sitemap that names more hosts than a process may have connections."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crawl.crawling import LOOPBACK, start
from tests.crawl.documents import urlset
from tests.crawl.site_server import SiteServer
from tests.security.hosts import Hosts

pytestmark = pytest.mark.slow

MANY = 300
DESCRIPTORS = 200
"""Files and connections of the crawl's process."""


def test_many_hosts_take_few_connections_and_little_memory(tmp_path: Path) -> None:
    settings = {**LOOPBACK, "SITEMAP_MAX_ROBOTS": 100}
    limited = ["prlimit", f"--nofile={DESCRIPTORS}"]
    with SiteServer() as site, Hosts() as hosts:
        answering = [hosts.new(home="<title>Here</title>") for _ in range(MANY)]
        unknown = [f"http://{number}.example" for number in range(MANY)]
        site.routes["/s.xml"] = urlset(
            *(f"{origin}/" for pair in zip(answering, unknown, strict=True) for origin in pair)
        )
        arguments = {"sitemap": site.url("/s.xml"), "verify": "head", "verify_offsite": "yes"}
        done = start(tmp_path, settings=settings, within=limited, **arguments).finish()
    assert done.code == 0
    assert done.summary["replies"] == {"ok": MANY, "dns": MANY}
    assert done.summary["peak_mb"] < 300
