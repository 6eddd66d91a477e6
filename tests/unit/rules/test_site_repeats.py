"""Rules on what many pages of a site share: one page under two URLs, one image or video on very many pages."""

from __future__ import annotations

import pytest

from sitemapcrawler.items import UrlRecord
from sitemapcrawler.namespaces.extensions import Image, Video

from .sites import HOME, A, B, Site, page

OURS = {"cross-same-page", "image-repeated", "video-repeated"}


def told(*records: UrlRecord) -> list[tuple[str, str, str | None]]:
    """Rule, severity and URL of what our rules find."""
    return [(one.rule, one.severity, one.url) for one in Site(*records).findings() if one.rule in OURS]


PAIRS: dict[tuple[str, str], str | None] = {
    ("/", "/index.html"): "warning", ("/de/", "/de/index.php"): "warning", ("/a/", "/a/Default.aspx"): "warning",
    ("/a/", "/a/default.aspx"): "warning", ("/about", "/about.html"): "info", ("/about", "/about.htm"): "info",
    ("/about", "/about.php"): "info", ("/about", "/about.jsp"): "info", ("/about", "/about.asp"): "info",
    ("/", "/.html"): None, ("/about/", "/about.html"): None, ("/about", "/contact.html"): None,
    ("/?page=a", "/?page=a.html"): None, ("/index", "/index.html"): None,
}  # fmt: skip
"""Severity of listing two paths of a host."""
FILES = {"one": (A, A), "two": (A, B)}
"""Files that list the paths of a pair."""


@pytest.fixture(scope="module")
def severities() -> dict[str | None, str]:
    """{URL: severity} of the findings on all pairs, in one file and in two, each on a host of its own."""
    pages = [
        page(f"https://{where}{number}.example{path}", sitemap)
        for number, pair in enumerate(PAIRS)
        for where, files in FILES.items()
        for path, sitemap in zip(pair, files, strict=True)
    ]
    return {one.url: one.severity for one in Site(*pages).findings() if one.rule == "cross-same-page"}


@pytest.mark.parametrize("where", FILES)
@pytest.mark.parametrize(("number", "pair"), [*enumerate(PAIRS)])
def test_one_page_under_two_urls(
    number: int, pair: tuple[str, str], where: str, severities: dict[str | None, str]
) -> None:
    one, other = (f"https://{where}{number}.example{path}" for path in pair)
    assert (severities.get(one), severities.get(other)) == (None, PAIRS[pair])


def test_the_other_url_is_named() -> None:
    [found] = [one for one in Site(page("/"), page("/index.html")).findings() if one.rule == "cross-same-page"]
    assert (found.value, found.sitemap) == (f"{HOME}/", A)


def with_image(number: int, image: str) -> UrlRecord:
    return page(f"/{number}", images=[Image(image), Image(f"{HOME}/{number}.jpg")])


def test_an_image_of_very_many_pages() -> None:
    same = [with_image(number, f"{HOME}/no-image.png") for number in range(50)]
    assert told(*same) == [("image-repeated", "info", f"{HOME}/0")]
    assert told(*same[1:]) == []


@pytest.mark.slow
def test_an_image_of_a_small_share_of_the_pages() -> None:
    pages = [with_image(number, f"{HOME}/{'logo.png' if number < 50 else f'x{number}.png'}") for number in range(501)]
    assert told(*pages) == []
    assert told(*pages[:500]) == [("image-repeated", "info", f"{HOME}/0")]


def test_an_image_that_an_entry_lists_often_counts_once() -> None:
    assert told(page("/a", images=[Image(f"{HOME}/a.png")] * 60)) == []


def test_all_entries_of_a_repeated_image_are_marked() -> None:
    site = Site(*(with_image(number, "logo") for number in range(50)), with_image(50, "own"))
    assert site.marked()["image-repeated"] == {("a.xml", f"/{number}") for number in range(50)}


def test_a_video_of_very_many_pages() -> None:
    video = Video(content_loc=f"{HOME}/about-us.mp4")
    assert told(*(page(f"/{number}", videos=[video]) for number in range(60))) == [
        ("video-repeated", "info", f"{HOME}/0")
    ]
    assert told(*(page(f"/{number}", videos=[Video()]) for number in range(60))) == []
