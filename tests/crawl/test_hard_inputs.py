"""Hard inputs in a crawl: those that readers are compared by, as docs/comparison.md and bench/readers.md say, and a file for
each pitfall."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from bench.hard import HARD, PAGES, SITE, Input
from bench.local import serving
from bench.verdict import Found, score
from tests import hard_documents
from tests.crawl.crawling import ROOT, Crawl, crawl

BY_NAME = {given.name: given for given in HARD}
REPAIRED: dict[str, list[str]] = {
    "raw `&` in a URL, then a good URL": [f"{PAGES}/shop?a=1&b=2"],
    "`&eacute;` in a URL, then a good URL": [f"{PAGES}/caf\u00e9"],
    "undeclared `image:` prefix": [f"{PAGES}/good"],
    "entries without a root element": [f"{PAGES}/good", f"{PAGES}/second"],
    "missing `</url>`": [f"{PAGES}/good"],
    "URL in `<url>` itself, no `<loc>`": [f"{PAGES}/good"],
}
"""Entries that are read only after a repair; all others are not marked."""
TROUBLED = {
    "raw `&` in a URL, then a good URL": "recovered",
    "`&eacute;` in a URL, then a good URL": "recovered",
    "undeclared `image:` prefix": "recovered",
    "control character in a URL, then a good URL": "recovered",
    "file that ends in the middle of a URL": "truncated",
    "a PHP warning before the XML": "recovered",
    "a browser's message before the XML": "recovered",
    "two documents in one file": "recovered",
    "entries without a root element": "recovered",
    "missing `</url>`": "recovered",
    "URL in `<url>` itself, no `<loc>`": "recovered",
    "HTML instead of a sitemap": "failed",
    "an `<error>` with status 200": "failed",
    "status 204": "failed",
    "connection that breaks in a URL": "truncated",
}
"""Outcome of the file that robots.txt names, where it is not ok."""


@dataclass
class Visit:
    """The crawl over all inputs."""

    crawl: Crawl
    origins: dict[str, str]

    def of(self, name: str, kind: str) -> list[dict[str, object]]:
        """The records of one input."""
        start = f"{self.origins[name]}/"
        return [record for record in self.crawl.of_type(kind) if record["sitemap"].startswith(start)]


@pytest.fixture(scope="module")
def visit(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visit]:
    with serving(HARD) as origins:
        done = crawl(tmp_path_factory.mktemp("hard"), domain=",".join(origins), settings={"CONCURRENT_REQUESTS": 64})
        yield Visit(done, dict(zip(BY_NAME, origins, strict=True)))


@pytest.mark.parametrize("name", BY_NAME)
def test_hard_input_is_read_right(visit: Visit, name: str) -> None:
    urls = visit.of(name, "url")
    own = score(BY_NAME[name], visit.origins[name], Found(pages=[str(record["loc"]) for record in urls]))
    assert own.verdict == "right", own
    assert [record["loc"] for record in urls if record["recovered"]] == REPAIRED.get(name, [])
    path = visit.origins[name] + next(iter(BY_NAME[name].answers))
    [record] = [record for record in visit.of(name, "sitemap") if record["sitemap"] == path]
    assert record["outcome"] == TROUBLED.get(name, "ok")


def test_verdicts_tell_wrong_from_lost_and_crash() -> None:
    given = Input("two pages", {}, ("https://e.com/1", f"{SITE}/2"))
    verdicts = {
        "right": Found(pages=["http://site/2", "HTTPS://E.com/1", "https://e.com/1"]),
        "wrong": Found(pages=["http://site/2", "https://e.com/1", "https://e.com/1=2"]),
        "lost": Found(pages=["http://site/2"]),
        "crash": Found(pages=["http://site/2"], error="ValueError"),
    }
    assert [score(given, "http://site", found).verdict for found in verdicts.values()] == list(verdicts)


@pytest.mark.parametrize("document", ["docs/comparison.md", "bench/readers.md"])
def test_table_holds_the_hard_inputs(document: str) -> None:
    text = (ROOT / document).read_text("utf-8")
    rows = re.findall(r"^\| (.+?) \|(?: \d+ \|)? (right|wrong|lost|crash)\b", text, re.MULTILINE)
    ours = {name: verdict for name, verdict in rows if name in BY_NAME}
    assert set(ours.values()) == {"right"}
    if document == "docs/comparison.md":
        assert list(ours) == [given.name for given in HARD if given.short]


@pytest.fixture(scope="module")
def hard(tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    """A crawl of local files that will live at their URL."""
    folder = tmp_path_factory.mktemp("hard")
    (folder / "list.txt").write_text("".join(f"{hard_documents.FOLDER / name}\n" for name in hard_documents.CASES))
    return crawl(folder, sitemap="@list.txt", base_url=hard_documents.URL.rpartition("/")[0] + "/", offline="yes")


@pytest.mark.parametrize("name", hard_documents.CASES)
def test_hard_document_is_read_as_by_the_reader(hard: Crawl, name: str) -> None:
    case, url = hard_documents.CASES[name], (hard_documents.FOLDER / name).as_uri()
    file, rows = hard.sitemaps[url], [row for row in hard.of_type("url") if row["sitemap"] == url]
    assert (file["format"], file["outcome"], file["url_count"]) == (case.format, case.outcome, len(case.locs))
    assert [row["loc"] for row in rows if row["recovered"]] == case.repaired
    assert case.format == "xml-index" or [row["loc"] for row in rows] == case.locs
    assert set(case.rules) <= {rule for record in (file, *rows) for rule in record.get("issues", ())}
