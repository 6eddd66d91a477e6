from __future__ import annotations

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces.extensions import Alternate, Image, News
from sitemapcrawler.terminal.inspect.inspection import MAX_VALUES, NO_CODE, Bounded, EntryCounts


def test_entries_are_counted_over_batches() -> None:
    tally = EntryCounts()
    tally.add([UrlRecord("https://e.com/1", lastmod="2024-05-01", lastmod_at="2024-05-01T00:00:00Z"), UrlRecord()])
    tally.add([UrlRecord(lastmod="yesterday")])
    assert (tally.urls, tally.dates.total, tally.undated, tally.unreadable) == (3, 1, 2, 1)


def test_objects_and_their_carriers_are_counted() -> None:
    tally = EntryCounts()
    tally.add([UrlRecord(images=[Image(), Image()]), UrlRecord(images=[Image()], news=News()), UrlRecord()])
    assert (tally.counts["images"], tally.carriers["images"]) == (3, 2)
    assert (tally.counts["news"], tally.carriers["news"], tally.counts["videos"]) == (1, 1, 0)


def test_languages_are_counted_as_written() -> None:
    tally = EntryCounts()
    tally.add([UrlRecord(alternates=[Alternate("en"), Alternate("EN"), Alternate(None)]), UrlRecord()])
    tally.add([UrlRecord(alternates=[Alternate("en")])])
    assert tally.languages.ranked() == [("en", 2), (NO_CODE, 1), ("EN", 1)]


def test_other_namespaces_are_counted_and_the_protocols_own_is_not() -> None:
    tally = EntryCounts()
    core = "http://www.google.com/schemas/sitemap/0.84"
    tally.add([UrlRecord(extra={"urn:shop": [], core: [], "": []}), UrlRecord(extra={"urn:shop": []})])
    assert tally.namespaces.ranked() == [("urn:shop", 2)]


def test_values_beyond_the_limit_are_counted_together() -> None:
    values = Bounded()
    values.add(str(number) for number in range(MAX_VALUES + 5))
    values.add(["0"])
    assert (len(values.counts), values.others, values.counts["0"]) == (MAX_VALUES, 5, 2)
