"""The rules on images, beyond the files `image-*` in `tests/data/bad`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.rules.facts.objects import USUAL
from sitemapcrawler.urls.grammar import BLANK, fault_of, form_of

from .expecting import ALL, BAD, places, rules_of
from .judging import judge

RULES = rules_of("image")
ROOT = (
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">'
)
GOOD = BAD.parent / "good" / "image-several.xml"


def found(body: str, *wanted: str) -> list[tuple[str, int | None]]:
    return places(judge(f"{ROOT}{body}</urlset>".encode()), ALL, wanted)


def listing(*locs: str, page: str = "https://example.com/a") -> str:
    """An entry with images, each on a line of its own from line 2 on."""
    images = "".join(f"\n<image:image><image:loc>{loc}</image:loc></image:image>" for loc in locs)
    return f"<url><loc>{page}</loc>{images}</url>"


def test_a_good_file_gives_nothing_not_even_for_information() -> None:
    data = GOOD.read_bytes()
    assert data.count(b"<image:image>") == 6
    assert places(judge(data), ALL, RULES) == []


@given(st.from_regex(USUAL, fullmatch=True))
def test_a_usual_url_has_no_fault(url: str) -> None:
    assert fault_of(url) is None
    assert form_of(url) == "absolute"
    assert BLANK.search(url) is None


def test_the_same_image_on_two_pages_is_no_duplicate() -> None:
    image = "https://example.com/logo.png"
    assert found(listing(image) + listing(image, page="https://example.com/b"), *RULES) == []


def test_a_thousand_images_are_allowed() -> None:
    assert found(listing(*(f"https://example.com/{number}.jpg" for number in range(1000)))) == []


def test_thousands_of_bad_images_are_found_one_by_one() -> None:
    findings = judge(f"{ROOT}{listing(*(f'/{number}.jpg' for number in range(3000)))}</urlset>".encode())
    lines = [finding.line for finding in findings if finding.rule == "image-loc-relative"]
    assert lines == list(range(2, 3002))


def test_images_of_a_feed_are_not_judged_by_these_rules() -> None:
    item = "<item><link>https://example.com/a</link><media:content medium='image' url='/a.jpg'/></item>"
    text = f"<rss version='2.0' xmlns:media='http://search.yahoo.com/mrss/'><channel>{item}</channel></rss>"
    assert [finding for finding in judge(text.encode()) if finding.rule in RULES] == []


def test_what_a_recovered_entry_lost_is_not_called_missing() -> None:
    body = "<url><loc>https://example.com/a</loc><image:image><image:title>A & B</image:title><image:loc>/a"
    findings = judge(f"{ROOT}{body}</url></urlset>".encode())
    assert findings
    assert "image-loc-missing" not in {finding.rule for finding in findings}
