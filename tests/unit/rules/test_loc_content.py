"""The rules on what a URL stands for, as far as its words tell."""

from __future__ import annotations

import pytest

from sitemapcrawler.rules.facts import suspects as telltales
from sitemapcrawler.rules.facts.suspects import KINDS, find_telling
from tests.unit.tables import cases

from .judging import judge

OURS = ("loc-placeholder", "loc-tracking-parameter", "loc-double-slash", "loc-asset", "loc-utility-page")
HOME = "https://example.com"


def found(*urls: str, sitemap: str = f"{HOME}/urls.txt") -> list[tuple[str, str]]:
    """Rule and severity of all that our rules find, from the text of a file on."""
    findings = judge("".join(f"{url}\n" for url in urls).encode(), sitemap)
    return [(finding.rule, finding.severity) for finding in findings if finding.rule in OURS]


@pytest.mark.parametrize(
    ("path", "rule", "severity"),
    cases(
        (["/blog/{{slug}}", "/blog/%7b%7bslug%7d%7d", "/blog/%7Bslug%7D", "/${base}/a", "/%24%7Bbase%7D/a",
          "/a?page={%page%}", "/a?page=%5Bobject+Object%5D", "/blog/%5Bslug%5D", "/docs/%5B...path%5D?a=b",
          "/users/:id/edit"], "loc-placeholder", "error"),
        (["/undefined", "/null/a", "/a/None.html", "/a?id=NaN", "/a?b=1&id=null"], "loc-placeholder", "warning"),
        (["/a?UTM_Source=b", "/a?b=1&fbclid=2#c", "/a?msclkid=1&gclid=2"], "loc-tracking-parameter", "warning"),
        (["//a", "/a//", "/a//web/https://example.net/b"], "loc-double-slash", "warning"),
        (["/a.CSS", "/a.css?v=2", "/app.js", "/static/js/node.js", "/jquery-3.7.1.min.js", "/a.3f9a0c1e.js",
          "/fonts/a.woff2", "/manifest.json", "/robots.txt", "/LLMS.txt", "/shop/llms-full.txt?v=1",
          "/.well-known/security.txt", "/feed.xml", "/blog/RSS.XML", "/blog/index.rss", "/api/products.json",
          "/api/v1/products.JSON?page=2"], "loc-asset", "warning"),
        (["/Login.aspx", "/de-AT/kasse/", "/customer/account/login/", "/index.php/checkout/cart/",
          "/%D0%BA%D0%BE%D1%80%D0%B7%D0%B8%D0%BD%D0%B0", "/search/?q=a%2Fb", "/404"], "loc-utility-page", "info"),
        (["/shop/checkout/onepage/"], "", ""),
    ),
)  # fmt: skip
def test_what_words_tell(path: str, rule: str, severity: str) -> None:
    assert found(HOME + path) == ([(rule, severity)] if rule else [])


@pytest.mark.parametrize(
    "path",
    [
        "/docs/Web/JavaScript/Reference/Global_Objects/undefined", "/tags/null", "/wiki/None", "/none",
        "/undefined-behaviour", "/a?null=1", "/a?filter=%7B%22a%22%3A1%7D",
        "/%7B3F2504E0-4F89-11D3-9A0C-0305E82C3301%7D", "/a?size%5B%5D=1", "/wiki/%5BABC%5D", "/wiki/Talk:id",
        "/wiki/:de:Haus", "/a?q=utm_source", "/a?scid=1&glide=2", "/web/2020/https://example.net//a",
        "/web/2020/https%3A//example.net/", "/a?b=//c", "/tags/node.js", "/learn/Vue.js", "/whitepaper.pdf",
        "/wiki/File:Map.png", "/css", "/world.map/a", "/blog/shopping-cart", "/docs/api/login", "/guides/checkout",
        "/research", "/search-engines", "/search/label/shoes", "/recherche", "/merci", "/fiat/500", "/carts", "/", "",
    ],
)  # fmt: skip
def test_words_that_tell_nothing(path: str) -> None:
    assert found(HOME + path) == []


@pytest.mark.parametrize(
    "mark",
    ["{{slug}}", "{slug}", "[slug]", "[[...slug]]", "p-{id}.html", "?id={page_id}", "{0}", "%s", "?id=%d"],
)
def test_a_placeholder_that_is_not_valid_in_a_url_is_one_error(mark: str) -> None:
    findings = judge(f"{HOME}/blog/{mark}\n".encode())
    assert [(finding.rule, finding.severity) for finding in findings] == [("loc-placeholder", "error")]


@pytest.mark.parametrize("path", ["/wiki/%5BObject%20Pascal%5D", "/tag/object+storage", "/label/NaN", "/users/None"])
def test_a_word_that_is_what_the_page_is_about_is_no_placeholder(path: str) -> None:
    assert found(HOME + path) == []


@pytest.mark.parametrize(
    "path",
    [
        "/basket", "/en/backend", "/docs/files/package.json", "/guide/tsconfig.json", "/docs/api/config.json",
        "/wiki/Robots.txt", "/robots.txt/", "/robots.txt-generator", "/terms.txt", "/feed", "/a?b=/robots.txt",
    ],
)  # fmt: skip
def test_names_of_ordinary_pages(path: str) -> None:
    assert found(HOME + path) == []


def test_links_of_feeds_may_be_tracked() -> None:
    item = f"<item><link>{HOME}/a?utm_source=rss</link></item>"
    findings = judge(f'<rss version="2.0"><channel>{item}</channel></rss>'.encode())
    assert [finding.severity for finding in findings if finding.rule == "loc-tracking-parameter"] == ["info"]


def test_entries_beside_it_stay_clean() -> None:
    urls = [f"{HOME}/a/{number}" for number in range(3000)]
    assert found(*urls[:1500], f"{HOME}/a//b", f"{HOME}/cart", *urls[1500:]) == [
        ("loc-double-slash", "warning"),
        ("loc-utility-page", "info"),
    ]


def test_a_sitemap_in_an_odd_folder_has_its_entries_judged() -> None:
    assert found(f"{HOME}/a//b/c", sitemap=f"{HOME}/a//b/urls.txt") == [("loc-double-slash", "warning")]


@pytest.mark.parametrize("name", sorted(KINDS))
def test_each_name_is_found_and_told(name: str) -> None:
    assert found(f"{HOME}/{name}/") == [("loc-utility-page", "info")]


def test_without_re2_the_same_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    urls = [f"{HOME}/{path}" for path in ("a", "cart", "b//c", "a?gclid=1", "%7B%7Ba%7D%7D", "a.css", "None", "é", "b")]
    fast = find_telling(urls)
    monkeypatch.setattr(telltales, "re2", None)
    monkeypatch.setattr(telltales, "_SEARCH", telltales._telling())
    assert find_telling(urls) == fast == {*urls[1:7]}
