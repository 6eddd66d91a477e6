"""Earlier crawls to compare with, made without a crawl: a database or a feed of records."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from sitemapcrawler.crawl.params import Params
from sitemapcrawler.envelopes import FileResult
from sitemapcrawler.feeds.exporters import CsvExporter, ParquetExporter
from sitemapcrawler.feeds.jsontext import JsonText, Rows
from sitemapcrawler.items import ReplyRecord, SitemapRecord, UrlRecord
from sitemapcrawler.jobs.comparing import Comparison
from sitemapcrawler.jobs.store import Store
from sitemapcrawler.jobs.store.baseline import Baseline
from sitemapcrawler.jobs.store.loading import Commit, FileRows, load
from sitemapcrawler.namespaces.extensions import Alternate, Image, News, Video
from tests.unit.feeds.exporting import export

HOME = "https://example.com"
A, B = f"{HOME}/a.xml", f"{HOME}/b.xml"
"""Files."""
T = TypeVar("T")


def page(path: str = "/page", sitemap: str = A, **fields: Any) -> UrlRecord:
    """An entry of a page of `HOME`."""
    return UrlRecord(loc=HOME + path, sitemap=sitemap, **fields)


def rich(path: str = "/page", **fields: Any) -> UrlRecord:
    """An entry with something in every field."""
    return page(
        path,
        **{
            "line": 3,
            "lastmod": "2024-05-01",
            "lastmod_at": "2024-05-01T00:00:00Z",
            "changefreq": "daily",
            "priority": 0.8,
            "images": [Image(loc=f"{HOME}/1.png", title="Größe\u2028\u0085\x0b\x1c 1 & \"2\" \\ '3'"), Image(loc="x")],
            "videos": [video("autoplay=1"), Video(title="plain", player_loc=f"{HOME}/player"), Video()],
            "news": News({"name": "Paper", "language": "en"}, "2024-05-01", "Title", extra=[{"name": "odd"}]),
            "alternates": [Alternate("de", f"{HOME}/de"), Alternate("x-default", f"{HOME}/")],
            "extra": {"urn:x": [tree("1"), {"name": "empty"}], "urn:a": [{"name": "other", "value": "[]"}]},
            "blocked_for": ["GPTBot"],
            "reply": reply(),
            **fields,
        },
    )


def video(autoplay: str) -> Video:
    """A video with attributes wherever one may have them."""
    return Video(
        title="Video",
        player_loc={"value": f"{HOME}/player", "autoplay": autoplay},
        restriction={"value": "DE AT", "relationship": "allow"},
        uploader={"value": "Me", "info": HOME},
        tag=["one", "two"],
        price=[{"value": "1.99", "currency": "EUR"}, {"value": "2"}],
        extra=[tree("0"), {"name": "flag"}],
    )


def tree(value: str) -> dict[str, Any]:
    """An element of another namespace."""
    inner = {"name": "inner", "value": "text", "attributes": {"a": "1", "B": "2"}}
    return {"name": "outer", "attributes": {"n": value}, "children": [inner, "between", {"name": "last"}]}


def reply(**fields: Any) -> ReplyRecord:
    """What asking for a page came to."""
    return ReplyRecord(
        **{
            "kind": "ok",
            "status": 200,
            "final_status": 200,
            "final_url": f"{HOME}/page",
            "attempts": 1,
            "elapsed_ms": 5,
            "noindex": False,
            "noindex_agents": ["Bingbot"],
            "canonical": f"{HOME}/page",
            "title": 'Größe & "Preis"',
            "h1": "Größe",
            "content_hash": "1-" + 32 * "0",
            **fields,
        }
    )


# ---- as users keep them


def job(folder: Path, records: Iterable[UrlRecord], **said: Any) -> Path:
    """The database of a finished job, of which `said` is said too."""
    store = Store.open(folder)
    group = Commit()
    by_file: dict[str, list[UrlRecord]] = {}
    for record in records:
        by_file.setdefault(record.sitemap, []).append(record)
    for sitemap, alike in by_file.items():
        file = FileRows(sitemap, store.spool(), store.spool(), store.spool(), FileResult(f"digest of {sitemap}"))
        file.urls.write(lines(alike), len(alike))
        file.record.write(lines([SitemapRecord(sitemap, format="xml-urlset", status=200)]), 1)
        group.add(file)
    load(store, 1, group)
    store.set(**{"state": "finished", "arguments": {"domain": HOME}, **said})
    store.close()
    return store.path


def jsonl(folder: Path, records: Sequence[UrlRecord]) -> Path:
    """A JSON lines feed, with records of other types around."""
    path = folder / "urls.jsonl"
    path.write_bytes(lines([SitemapRecord(A), *records, SitemapRecord(B)]))
    return path


def packed(folder: Path, records: Sequence[UrlRecord]) -> Path:
    """The same as gzip."""
    path = folder / "urls.jsonl.gz"
    path.write_bytes(gzip.compress(jsonl(folder, records).read_bytes()))
    return path


def parquet(folder: Path, records: Sequence[UrlRecord]) -> Path:
    """A Parquet feed."""
    path = folder / "urls.parquet"
    path.write_bytes(export(ParquetExporter, *records))
    return path


def table(folder: Path, records: Sequence[UrlRecord]) -> Path:
    """A CSV feed."""
    path = folder / "urls.csv"
    path.write_bytes(export(CsvExporter, *records))
    return path


KINDS: dict[str, Callable[[Path, Sequence[UrlRecord]], Path]] = {
    "database": job,
    "jsonl": jsonl,
    "jsonl.gz": packed,
    "parquet": parquet,
}
"""What a baseline with all fields may be."""


def lines(records: Sequence[Any]) -> bytes:
    """Records as JSON lines."""
    return JsonText(Rows()).lines(records)


# ---- beside the crawl of today


class Beside:
    """Works as `committing.Committer` does, at once."""

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` gives."""
        return work()


@contextmanager
def opened(path: Path) -> Iterator[Baseline]:
    """A baseline beside a new crawl that has everything to compare."""
    store = Store.temporary(beside=[path])
    try:
        found = Baseline(store, path)
        found.compare(True, True)
        yield found
    finally:
        store.close()


@contextmanager
def compared(path: Path, **arguments: Any) -> Iterator[Comparison]:
    """A new crawl beside a baseline: that of `HOME` with `verify=get`, unless arguments say otherwise."""
    store = Store.temporary(beside=[path])
    try:
        given = {"domain": HOME, "verify": "get", "baseline": str(path), **arguments}
        params = Params.parse({name: value for name, value in given.items() if value is not None})
        yield Comparison(store, params)
    finally:
        store.close()


async def judged(comparison: Comparison, *records: UrlRecord) -> list[tuple[str | None, list[str]]]:
    """(change, changed fields) of entries, which are judged file by file."""
    for sitemap in dict.fromkeys(record.sitemap for record in records):
        alike = [record for record in records if record.sitemap == sitemap]
        await comparison.judge(Beside(), sitemap, alike)  # type: ignore[arg-type]  # as much of a writer as is used
    return [(record.change, list(record.changed_fields)) for record in records]
