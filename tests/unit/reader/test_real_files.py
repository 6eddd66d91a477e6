"""Public files as found, next to the repository: kind and count of each, and why ours differ where they do."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.unit.reader import oracle
from tests.unit.reader.reading import Reading, read

FOLDER = Path(__file__).resolve().parents[4] / "shared" / "real"
FORMATS = {
    "urlset": "xml-urlset",
    "urlset-gz": "xml-urlset",
    "hreflang": "xml-urlset",
    "image": "xml-urlset",
    "video": "xml-urlset",
    "news": "xml-urlset",
    "index": "xml-index",
    "index-gz": "xml-index",
    "text": "text",
    "rss": "rss",
    "atom": "atom",
    "robots": "unknown",
    "otherxml": "unknown",
    "template": "unknown",
}
"""What the reader calls each kind of the manifest. robots.txt is no sitemap: discovery reads it."""
ROBOTS = "the manifest counts Sitemap: lines; discovery reads robots.txt, the reader calls it no sitemap"
DIFFERENT = {
    "03-urlset.xml": ("xml-urlset", 215, "one of the entries has an empty loc, which is reported and left out"),
    "55-robots.txt": ("unknown", 0, ROBOTS),
    "56-robots.txt": ("unknown", 0, ROBOTS),
    "57-robots.txt": ("unknown", 0, ROBOTS),
    "59-fragment-bad.xml": ("xml-urlset", 4, "entries without a root: recovered, which a strict parser does not try"),
    "60-template.xml": ("xml-urlset", 0, "the root stands behind template code; its entries are templates, not URLs"),
}
"""File -> our format, our count, and why it is not that of the manifest."""
NOT_OK = {
    "15-urlset-bad.xml": ("recovered", 0, "xsi: is used in the root and not declared; the entry itself is whole"),
    "17-urlset-bad.xml": ("truncated", 0, "the file ends behind its last whole entry, without </urlset>"),
    "40-video-bad.xml": ("recovered", 1, "a raw ampersand"),
    "41-video-bad.xml": ("recovered", 1, "a raw ampersand"),
    "46-news-bad.xml": ("recovered", 1, "a raw ampersand"),
    "55-robots.txt": ("failed", 0, "robots.txt is no sitemap"),
    "56-robots.txt": ("failed", 0, "robots.txt is no sitemap"),
    "57-robots.txt": ("failed", 0, "robots.txt is no sitemap"),
    "58-robots.txt": ("failed", 0, "robots.txt is no sitemap"),
    "59-fragment-bad.xml": ("recovered", 4, "entries without a root are all marked"),
    "60-template.xml": ("failed", 0, "a template that nobody filled in"),
}
"""File -> outcome, entries marked recovered, and why it is not plainly ok."""
COUNTED = {"image:image": "images", "video:video": "videos", "news:news": "news", "xhtml:link": "alternates"}
"""What the manifest counts -> the name of our count."""

if not FOLDER.is_dir():
    pytest.skip(f"the real files are not there: {FOLDER}", allow_module_level=True)

with (FOLDER / "MANIFEST.tsv").open(newline="") as manifest:
    ROWS = {row["file"]: row for row in csv.DictReader(manifest, delimiter="\t", quoting=csv.QUOTE_NONE)}


def real(name: str, size: int | None = None) -> Reading:
    return read((FOLDER / name).read_bytes(), size)


def test_every_file_of_the_folder_is_in_the_manifest() -> None:
    files = {path.name for path in FOLDER.iterdir()} - {"MANIFEST.tsv", "README.md"}
    assert files == set(ROWS)
    assert set(DIFFERENT) | set(NOT_OK) <= files


@pytest.mark.parametrize("name", ROWS)
def test_kind_and_count_are_those_of_the_manifest(name: str) -> None:
    document = real(name).document
    expected = (FORMATS[ROWS[name]["kind"]], int(ROWS[name]["entries"]))
    found = (document.format, document.url_count)
    if name in DIFFERENT:
        assert found == DIFFERENT[name][:2]
        assert found != expected, "no difference: take it off the table"
    else:
        assert found == expected


@pytest.mark.parametrize("name", ROWS)
def test_outcome_and_marks(name: str) -> None:
    reading = real(name)
    outcome, recovered, _ = NOT_OK.get(name, ("ok", 0, ""))
    assert (reading.document.outcome, len(reading.recovered)) == (outcome, recovered)
    assert (reading.document.error is None) is (outcome == "ok")


@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if "=" in row["extensions"]])
def test_namespace_objects_are_all_there(name: str) -> None:
    counts = real(name).document.counts
    parts = dict(part.split("=") for part in ROWS[name]["extensions"].split("; "))
    expected = {field: int(parts.get(element, 0)) for element, field in COUNTED.items()}
    assert asdict(counts) == {**expected, "extra": {}}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, row in ROWS.items() if row["root"] in ("urlset", "sitemapindex")])
def test_entries_and_lines_are_those_that_lxml_reads(name: str) -> None:
    body = (FOLDER / name).read_bytes()
    text = (gzip.decompress(body) if name.endswith(".gz") else body).decode("utf-8-sig")
    root = oracle.tree(text)
    if root is None:
        assert ROWS[name]["well_formed"] == "no"
        return
    expected = [(entry.facts.loc, entry.facts.lastmod, entry.line) for entry in oracle.listed(root)]
    records = real(name).records
    assert [(record.loc_raw or record.loc, record.lastmod, record.line) for record in records] == expected


@pytest.mark.parametrize("name", ROWS)
def test_no_string_is_lost_on_the_way_to_a_feed(name: str) -> None:
    for record in real(name).records:
        assert json.dumps(asdict(record), ensure_ascii=False).encode()
        assert record.loc.startswith(("http://", "https://"))


def test_what_a_broken_file_says_is_repaired_right() -> None:
    (video,) = real("40-video-bad.xml").records[0].videos
    assert any("&" in str(value) for value in asdict(video).values())
    assert "&amp;" not in repr(asdict(video))
