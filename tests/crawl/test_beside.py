"""Lists of pages beside the sitemap: llms.txt, and the files that robots.txt names."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.crawl.crawling import Crawl, crawl
from tests.crawl.documents import robots, urlset
from tests.crawl.site_server import NOT_FOUND, Reply, SiteServer
from tests.crawl.verified import html

LLMS = """\
# Museum

> A museum by the river. [Not a list](/about), but a link.

## Visit

- [Prices](/prices): what it costs
- [Old prices](/prices-2019)
- [Guide](guide.md "Guide")
- [Secret](/secret)
- [Hours](/hours) and ![image](/image.png)
- [Elsewhere](https://other.example/page)

```
[code](/code)
```
"""
RSL = """<rsl xmlns="https://rslstandard.org/rsl">
<content url="/*"/><content url='/gone?a=1&amp;b=2' server="x"/></rsl>"""
MAP = """<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url contentType="structuredData/schema.org"><loc>BASE/schema.json</loc></url></urlset>"""


def publish(site: SiteServer) -> None:
    lines = "License: /license.xml\nSchemamap: /map.xml\nLicense: /lost.xml\n"
    site.routes = {
        "/robots.txt": robots(site.url("/a.xml")) + lines.replace(" /", f" {site.url('/')}").encode(),
        "/a.xml": urlset(site.url("/about"), site.url("/prices")),
        "/llms.txt": Reply(LLMS, headers={"Content-Type": "text/plain; charset=utf-8"}),
        "/license.xml": Reply(RSL, headers={"Content-Type": "application/rsl+xml"}),
        "/map.xml": Reply(MAP.replace("BASE", site.url()), headers={"Content-Type": "application/xml"}),
        "/lost.xml": NOT_FOUND,
        **{
            path: html("", body=f"<h1>{path}</h1>")
            for path in ("/about", "/prices", "/hours", "/guide.md", "/schema.json")
        },
        "/secret": html('<meta name="robots" content="noindex">'),
    }


def told(done: Crawl, site: SiteServer) -> dict[str, Counter[str]]:
    """{rule: messages} of this family."""
    found: dict[str, Counter[str]] = {}
    for one in done.of_type("finding"):
        if one["rule"].startswith("beside-") and one["sitemap"].startswith(site.url("/")):
            assert one["severity"] == "info"
            place = f"{one['sitemap'].removeprefix(site.url())}:{one.get('line', '')}"
            found.setdefault(one["rule"], Counter())[f"{place} {one['message'].replace(site.url(), '')}"] += 1
    return found


def test_files_of_a_site(site: SiteServer, tmp_path: Path) -> None:
    publish(site)
    done = crawl(tmp_path, domain=site.url(), verify="get")
    assert told(done, site) == {
        "beside-dead-link": Counter(
            {
                "/llms.txt:8 '/prices-2019' answers 404": 1,
                "/license.xml:2 '/gone?a=1&b=2' answers 404": 1,
                "/lost.xml: robots.txt names this RSL file, which answers 404": 1,
            }
        ),
        "beside-noindex-link": Counter({"/llms.txt:10 '/secret' is noindex": 1}),
        "beside-not-listed": Counter({"/llms.txt:11 '/hours' is in no sitemap": 1}),
        "beside-html": Counter(
            {
                "/llms.txt:9 '/guide.md' is an HTML page by its Content-Type, not a text file": 1,
                "/map.xml:2 '/schema.json' is an HTML page by its Content-Type, not a text file": 1,
            }
        ),
    }
    asked = Counter(exchange.path for exchange in site.exchanges)
    assert {path: asked[path] for path in ("/llms.txt", "/about", "/prices", "/hours")} == dict.fromkeys(
        ("/llms.txt", "/about", "/prices", "/hours"), 1
    )
    assert asked["/code"] == asked["/image.png"] == 0


def test_page_in_place_of_the_file_and_one_that_robots_forbids(
    site: SiteServer, other: SiteServer, tmp_path: Path
) -> None:
    publish(site)
    site.routes["/llms.txt"] = html("", body="<h1>Not found</h1>")
    publish(other)
    other.routes["/robots.txt"] = robots(other.url("/a.xml"), rules=["Disallow: /llms.txt"])
    done = crawl(tmp_path, domain=f"{site.url()},{other.url()}", verify="get")
    assert told(done, site)["beside-html"]["/llms.txt: llms.txt: an HTML page instead of the file"] == 1
    assert told(done, other) == {}
    assert "/llms.txt" not in {exchange.path for exchange in other.exchanges}


@pytest.mark.parametrize(
    "arguments",
    [{"verify": "off"}, {"verify": "get", "probe": "never"}, {"verify": "get", "ignore": "beside"}],
    ids=["no pages", "probe=never", "no such rules"],
)
def test_crawl_that_requests_no_such_file(site: SiteServer, tmp_path: Path, arguments: dict[str, Any]) -> None:
    publish(site)
    done = crawl(tmp_path, domain=site.url(), **arguments)
    assert told(done, site) == {}
    assert not {"/llms.txt", "/license.xml", "/map.xml"} & {exchange.path for exchange in site.exchanges}
