"""Google's news namespace."""

from __future__ import annotations

import pytest

from sitemapcrawler.namespaces.extensions import NEWS, NEWS_EXTENSION, News
from tests.unit.namespaces.entry import element, page

ARTICLE = (
    "<news:news><news:publication><news:name>The Paper</news:name><news:language>en</news:language></news:publication>"
    "<news:publication_date>2024-05-01</news:publication_date><news:title>A &amp; B</news:title>{}</news:news>"
)
RETIRED = ("access", "genres", "keywords", "stock_tickers", "geo_locations")


def test_every_element_retired_ones_included() -> None:
    found = page(ARTICLE.format("".join(f"<news:{name}> {name}</news:{name}>" for name in RETIRED))).news
    publication = {"name": "The Paper", "language": "en"}
    assert found == News(publication, "2024-05-01", "A & B", *RETIRED)


def test_every_field_of_the_record_is_read() -> None:
    assert {*News.__slots__} == {*NEWS_EXTENSION.fields, "extra"}


def test_a_publication_with_more_than_its_two_parts_is_kept_whole() -> None:
    found = page(
        '<news:news><news:publication id="1"><news:name>a</news:name><news:name>b</news:name></news:publication></news:news>'
    ).news
    assert found is not None
    assert found.publication == {"name": "a"}
    (tree,) = found.extra
    assert tree["attributes"] == {"id": "1"}
    assert [child["value"] for child in tree["children"]] == ["a", "b"]


@pytest.mark.parametrize(
    "inside",
    [
        "<news:name>1</news:name><news:name>2</news:name>", '<news:name k="v">1</news:name>', "text<news:name/>",
        "<news:name><news:b/></news:name>", '<x:name xmlns:x="u">1</x:name>', "The Paper",
    ],
)  # fmt: skip
def test_a_publication_that_holds_more_is_kept_whole_as_well(inside: str) -> None:
    found = page(f"<news:news><news:publication>{inside}</news:publication></news:news>").news
    assert found is not None
    assert [tree["name"] for tree in found.extra] == ["publication"]


def test_a_second_article_is_not_lost() -> None:
    record = page(ARTICLE.format("") + "<news:news><news:title>Second</news:title></news:news>")
    assert record.news is not None
    assert record.news.title == "A & B"
    assert record.extra == {NEWS: [{"name": "news", "children": [{"name": "title", "value": "Second"}]}]}


def test_an_empty_article_is_one() -> None:
    assert page("<news:news/>").news == News()


def test_another_element_of_the_namespace_is_no_article() -> None:
    assert NEWS_EXTENSION.object_of(element("<news:title>a</news:title>")) is None
