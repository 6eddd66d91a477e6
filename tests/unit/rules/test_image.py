"""The rules on images."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.rules.facts.objects import USUAL, flaw
from sitemapcrawler.rules.families.image import RETIRED
from sitemapcrawler.urls.grammar import BLANK, fault_of, form_of

from .expecting import ALL, BAD, places, rules_of
from .judging import judge

RULES = rules_of("image")
ROOT = (
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">'
)
GOOD = BAD.parent / "good" / "image-several.xml"


def found(body: str, *wanted: str, root: str = ROOT) -> list[tuple[str, int | None]]:
    return places(judge(f"{root}{body}</urlset>".encode()), ALL, wanted)


def listing(*locs: str, page: str = "https://example.com/a") -> str:
    """An entry with images, each on a line of its own from line 2 on."""
    images = "".join(f"\n<image:image><image:loc>{loc}</image:loc></image:image>" for loc in locs)
    return f"<url><loc>{page}</loc>{images}</url>"


def test_a_good_file_gives_nothing_not_even_for_information() -> None:
    data = GOOD.read_bytes()
    assert data.count(b"<image:image>") == 6
    assert places(judge(data), ALL, RULES) == []


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com/a.jpg",
        "HTTP://EXAMPLE.COM:8080/a.jpg",
        "https://example.com",
        "https://example.com/a.jpg?w=1&h=2#top",
        "https://example.com/caf%C3%A9.jpg",
        "https://example.com/café/画像.jpg",
        "https://bücher.example/a.jpg",
        "https://[2001:db8::1]/a.jpg",
        "https://example.com/a,b;c=(1)'!$*+@:.jpg",
        "https://user@example.com/a.jpg",
        "https://example.com/گل\u200cها.jpg",
    ],
)
def test_a_url_that_is_valid(url: str) -> None:
    assert flaw(url) is None


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("/a.jpg", "relative"),
        ("a.jpg", "relative"),
        ("//cdn.example.com/a.jpg", "relative"),
        ("www.example.com/a.jpg", "relative"),
        ("localhost:8080/a.jpg", "relative"),
        ("?image=1", "relative"),
        ("undefined", "relative"),
        ("{{ image }}", "relative"),
        ("/go?to=https://example.com/a.jpg", "relative"),
        ("data:image/png;base64,AAAA", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("ftp://example.com/a.jpg", "scheme"),
        ("file:///srv/a.jpg", "scheme"),
        ("C:\\images\\a.jpg", "scheme"),
        ("https://", "invalid"),
        ("https:///a.jpg", "invalid"),
        ("https:/example.com/a.jpg", "invalid"),
        ("https://example..com/a.jpg", "invalid"),
        ("https://example.com:99999/a.jpg", "invalid"),
        ("https://example.com/a b.jpg", "invalid"),
        ("https://example.com/a\n  b.jpg", "invalid"),
        ("https://example.com/a\u00a0b.jpg", "invalid"),
        ("https://example.com/a%2.jpg", "invalid"),
        ("https://example.com/100%", "invalid"),
        ("https://example.com/a\\b.jpg", "invalid"),
        ("https://example.com/<b>.jpg", "invalid"),
        ('https://example.com/"a".jpg', "invalid"),
        ("https://example.com/a|b.jpg", "invalid"),
        ("https://example.com/a[1].jpg", "invalid"),
        ("https://example.com/?a[]=1", "invalid"),
        ("https://example.com/\ufffd.jpg", "invalid"),
    ],
)
def test_a_url_that_is_not(url: str, kind: str) -> None:
    found = flaw(url)
    assert found is not None
    assert found.kind == kind


def test_a_placeholder_in_the_url_is_told_as_such() -> None:
    flawed = flaw("https://example.com/{id}.jpg")
    assert flawed is not None
    assert "a placeholder that was not filled in: '{id}.jpg'" in flawed.text


@given(st.from_regex(USUAL, fullmatch=True))
def test_a_usual_url_has_no_fault(url: str) -> None:
    assert fault_of(url) is None
    assert form_of(url) == "absolute"
    assert BLANK.search(url) is None


def test_each_of_several_images_has_its_own_line() -> None:
    body = listing("https://example.com/1.jpg", "/2.jpg", "https://example.com/3.jpg", "https://example.com/4 4.jpg")
    assert found(body) == [("image-loc-invalid", 5), ("image-loc-relative", 3)]


@pytest.mark.parametrize(
    ("image", "severity"),
    [
        ("https://example.com/summer sale.jpg", "warning"),
        ("https://example.com/a\u00a0b.jpg", "warning"),
        ("https://example.com?a b", "warning"),
        ("https://exam ple.com/a.jpg", "error"),
        ("https://example.com/a b|c.jpg", "error"),
        ("https://example.com/a|c.jpg", "error"),
    ],
)
def test_an_image_with_nothing_but_a_blank_in_it_is_a_warning(image: str, severity: str) -> None:
    findings = judge(f"{ROOT}{listing(image)}</urlset>".encode())
    assert [finding.severity for finding in findings if finding.rule == "image-loc-invalid"] == [severity]


def test_a_repeated_image_is_for_information() -> None:
    findings = judge(f"{ROOT}{listing('https://example.com/1.jpg', 'https://example.com/1.jpg')}</urlset>".encode())
    assert [finding.severity for finding in findings if finding.rule == "image-duplicate"] == ["info"]


def test_the_line_is_that_of_the_loc_inside_the_image() -> None:
    body = "<url><loc>https://example.com/a</loc>\n<image:image>\n<image:title>A</image:title>\n"
    assert found(body + "<image:loc>\n/a.jpg\n</image:loc></image:image></url>") == [("image-loc-relative", 4)]


@pytest.mark.parametrize(
    "loc",
    [
        "<image:loc/>",
        "<image:loc> \n </image:loc>",
        "<image:loc><![CDATA[ ]]></image:loc>",
        "<image:loc><!-- none --></image:loc>",
        "<image:title>A</image:title>",
        "",
    ],
)
def test_an_image_without_content_in_its_loc(loc: str) -> None:
    assert found(f"<url><loc>https://example.com/a</loc>\n<image:image>{loc}</image:image></url>") == [
        ("image-loc-missing", 2)
    ]


def test_a_loc_without_prefix_is_named_in_the_message() -> None:
    body = "<url><loc>https://example.com/a</loc><image:image><loc>https://example.com/a.jpg</loc></image:image></url>"
    [message] = [finding.message for finding in judge(f"{ROOT}{body}</urlset>".encode()) if finding.rule in RULES]
    assert message == "an image without <image:loc> (there is a <loc> of another namespace)"


def test_elements_inside_a_loc_are_what_the_schema_names() -> None:
    body = "<image:image>\n<image:loc><image:x>https://example.com/a.jpg</image:x></image:loc></image:image>"
    assert found(f"<url><loc>https://example.com/a</loc>{body}</url>", *RULES) == [("xml-schema-violation", 2)]


def test_a_namespace_that_is_not_exact_is_judged_all_the_same() -> None:
    root = ROOT.replace("http://www.google.com/schemas/sitemap-image", "https://www.google.com/schemas/sitemap-image")
    assert found(listing("/a.jpg"), root=root) == [("image-loc-relative", 2), ("xml-ext-namespace-wrong", 1)]


def test_any_prefix_will_do() -> None:
    body = listing("/a.jpg").replace("image:", "i:")
    assert found(body, root=ROOT.replace("xmlns:image", "xmlns:i")) == [("image-loc-relative", 2)]


def test_one_invalid_url_listed_twice_is_not_called_a_duplicate_too() -> None:
    invalid = "https://example.com/a b.jpg"
    assert {rule for rule, _ in found(listing(invalid, invalid))} == {"image-loc-invalid"}


def test_relative_url_is_a_duplicate_of_the_absolute_one() -> None:
    assert found(listing("/a.jpg", "/a.jpg"), "image-duplicate") == [
        ("image-duplicate", 3),
        ("image-loc-relative", 2),
        ("image-loc-relative", 3),
    ]
    assert ("image-duplicate", 3) in found(listing("https://example.com/a.jpg", "a.jpg"), "image-duplicate")
    assert "image-duplicate" not in dict(found(listing("/a.jpg", "/b/a.jpg"), "image-duplicate"))


def test_the_same_image_on_two_pages_is_no_duplicate() -> None:
    image = "https://example.com/logo.png"
    assert found(listing(image) + listing(image, page="https://example.com/b"), *RULES) == []


def test_an_image_that_is_listed_often_is_told_once_with_its_number() -> None:
    body = listing(*["https://example.com/logo.png"] * 4)
    [finding] = [finding for finding in judge(f"{ROOT}{body}</urlset>".encode()) if finding.rule == "image-duplicate"]
    assert (finding.line, finding.value) == (3, "https://example.com/logo.png")
    assert "4 times" in finding.message


@pytest.mark.parametrize(
    ("image", "fires"),
    [
        ("https://example.com/a", True),
        ("https://example.com/a#main", True),
        ("https://example.com/a.jpg", False),
        ("https://example.com/a?image=1", False),
    ],
)
def test_an_image_that_is_the_page(image: str, fires: bool) -> None:
    assert found(listing(image)) == ([("image-loc-equals-page", 2)] if fires else [])


@pytest.mark.parametrize(
    ("images", "line"),
    [
        (["https://www.example.com/a.jpg"], None),
        (["https://example.com:8443/a.jpg", "http://example.com/b.jpg"], None),
        (["https://example.com/a.jpg", "https://cdn.example.com/b.jpg", "https://cdn.example.net/c.jpg"], 3),
        (["/a.jpg", "https://cdn.example.net/a.jpg"], 3),
    ],
)
def test_images_on_another_host(images: list[str], line: int | None) -> None:
    places = [place for place in found(listing(*images), "image-offsite") if place[0] == "image-offsite"]
    assert places == ([("image-offsite", line)] if line else [])


def test_a_thousand_images_are_allowed() -> None:
    assert found(listing(*(f"https://example.com/{number}.jpg" for number in range(1000)))) == []


@pytest.mark.slow
def test_thousands_of_bad_images_are_found_one_by_one() -> None:
    findings = judge(f"{ROOT}{listing(*(f'/{number}.jpg' for number in range(10_000)))}</urlset>".encode())
    lines = [finding.line for finding in findings if finding.rule == "image-loc-relative"]
    assert lines == list(range(2, 10_002))


def test_retired_elements_are_told_once_for_an_entry() -> None:
    body = "<url><loc>https://example.com/a</loc>" + "".join(
        f"\n<image:image><image:loc>https://example.com/{name}.jpg</image:loc><image:{name}>A</image:{name}></image:image>"
        for name in RETIRED
    )
    [finding] = [finding for finding in judge(f"{ROOT}{body}</url></urlset>".encode()) if finding.rule in RULES]
    assert (finding.rule, finding.severity, finding.line) == ("image-deprecated-tag", "info", 2)
    assert all(f"<image:{name}>" in finding.message for name in RETIRED)


def test_images_of_a_feed_are_not_judged_by_these_rules() -> None:
    item = "<item><link>https://example.com/a</link><media:content medium='image' url='/a.jpg'/></item>"
    text = f"<rss version='2.0' xmlns:media='http://search.yahoo.com/mrss/'><channel>{item}</channel></rss>"
    assert [finding for finding in judge(text.encode()) if finding.rule in RULES] == []


def test_what_a_recovered_entry_lost_is_not_called_missing() -> None:
    body = "<url><loc>https://example.com/a</loc><image:image><image:title>A & B</image:title><image:loc>/a"
    findings = judge(f"{ROOT}{body}</url></urlset>".encode())
    assert findings
    assert "image-loc-missing" not in {finding.rule for finding in findings}
