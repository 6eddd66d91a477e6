"""The rules on news articles, beyond the files `news-*` in `tests/data/bad`."""

from __future__ import annotations

import pytest

from sitemapcrawler.namespaces.extensions import NEWS as NAMESPACE
from sitemapcrawler.rules.families.news import MAX_ARTICLES
from tests.unit.tables import cases

from .expecting import ALL, places, rules_of
from .judging import judge

RULES = rules_of("news")
ROOT = (
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" '
    'xmlns:news="http://www.google.com/schemas/sitemap-news/0.9">'
)


def article(
    name: str = "The Example Times",
    language: str = "en",
    date: str = "2026-06-01",
    title: str = "Merger",
    more: str = "",
) -> str:
    """An article: publication on line 2, name 3, language 4, date 6, title 7, `more` from line 8 on."""
    return (
        f"<news:news>\n<news:publication>\n<news:name>{name}</news:name>\n<news:language>{language}</news:language>\n"
        f"</news:publication>\n<news:publication_date>{date}</news:publication_date>\n"
        f"<news:title>{title}</news:title>\n{more}</news:news>"
    )


def document(*articles: str) -> bytes:
    """A sitemap with an entry for each article."""
    entries = (f"<url><loc>https://example.com/{number}</loc>{text}</url>" for number, text in enumerate(articles))
    return f"{ROOT}{''.join(entries)}</urlset>".encode()


def found(*articles: str, wanted: tuple[str, ...] = ()) -> list[tuple[str, int | None]]:
    return places(judge(document(*articles)), ALL, wanted)


def told(*articles: str) -> list[tuple[str, str]]:
    """Rule and severity of what is found."""
    return [(finding.rule, finding.severity) for finding in judge(document(*articles)) if finding.rule in RULES]


def said(*articles: str) -> str:
    """The message of the one finding."""
    [finding] = [finding for finding in judge(document(*articles)) if finding.rule in RULES]
    return finding.message


@pytest.mark.parametrize(
    "text",
    [
        article(),
        article("\n  The Example Times\n", "\ten ", "\n2026-06-01T11:59:59Z ", " Merger "),
        article("<![CDATA[Johnson & Johnson]]>", title="<![CDATA[A & B <C>]]>"),
        article("新聞", "zh-tw", "2026-05-31T23:00:00.5+08:00", "标题"),
        article("Nyheter<!-- ours -->", "swe", "2026-06-01T10:00Z"),
        article().replace("news:", "n:").replace("<n:news>", f"<n:news {ROOT.split()[2][:-1].replace(':news', ':n')}>"),
    ],
    ids=["plain", "white-space", "cdata", "chinese", "three-letters", "other-prefix"],
)
def test_a_good_article_gives_nothing_not_even_for_information(text: str) -> None:
    assert b"publication_date" in document(text)
    assert found(text, wanted=tuple(RULES)) == []


@pytest.mark.parametrize(
    ("names", "severity"),
    cases(
        ([["The Example Times"] * 3, ["Example", " Example\n", "<![CDATA[Example]]>"], ["", "Example"]], None),
        ([["The Example Times", "The example times"], ["The Example Times", "The Example-Times"],
          ["The Example  Times", "The Example Times"], ["Example (Sport)", "Example"], ["Example (subscription)"],
          ["例（購読）"]], "warning"),
        ([["Example News", "Example Sport"], ["+", "-"]], "info"),
    ),
)  # fmt: skip
def test_the_names_of_publications(names: list[str], severity: str | None) -> None:
    findings = [pair for pair in told(*map(article, names)) if pair[0] == "news-name-inconsistent"]
    assert findings == ([("news-name-inconsistent", severity)] if severity else [])


def test_a_name_with_and_without_parentheses_is_one_publication() -> None:
    assert said(article("Example (Sport)"), article("Example", title="Match")) == (
        "one publication, spelled in different ways: 'Example (Sport)', 'Example'"
    )


def test_the_number_of_articles() -> None:
    articles = [article(title=f"Merger {number}") for number in range(MAX_ARTICLES + 1)]
    assert told(*articles[1:]) == []
    assert told(*articles) == [("news-too-many", "error")]
    assert said(*articles) == "1,001 articles; 1,000 are allowed in a file"


def test_pages_without_articles_do_not_count() -> None:
    assert told(*[""] * (MAX_ARTICLES + 1), article()) == []


@pytest.mark.parametrize(("length", "fires"), [(200, False), (201, True)])
def test_a_long_title(length: int, fires: bool) -> None:
    text = article(title="&amp;" * length)
    assert found(text, wanted=("news-title-is-long",)) == ([("news-title-is-long", 7)] if fires else [])


def test_an_empty_news_sitemap_is_fine() -> None:
    assert told() == [("news-empty-ok", "info")]
    assert found() == []


def test_a_news_sitemap_that_lost_its_entries_is_not_called_empty() -> None:
    findings = judge(f"{ROOT}<url><lastmod>2026-06-01</lastmod></url></urlset>".encode())
    assert "news-empty-ok" not in {finding.rule for finding in findings}


def test_a_sitemap_without_news_is_not_called_an_empty_news_sitemap() -> None:
    for root in (ROOT.replace("sitemap-news/0.9", "sitemap-image/1.1"), ROOT.partition(" xmlns:news")[0] + ">"):
        assert "news-empty-ok" not in {finding.rule for finding in judge(f"{root}</urlset>".encode())}


def test_an_article_in_a_repaired_entry_is_judged() -> None:
    text = article(date="2001-01-01", title="A & B")
    assert [rule for rule, _ in told(text)] == ["news-too-old"]


def test_what_a_recovered_entry_lost_is_not_called_missing() -> None:
    text = article().partition("<news:title>")[0]
    findings = judge(f"{ROOT}<url><loc>https://example.com/a</loc>{text}".encode())
    assert "doc-truncated" in {finding.rule for finding in findings}
    assert [finding for finding in findings if finding.rule in RULES] == []


@pytest.mark.parametrize(
    ("name", "declared", "fires"),
    [
        ("news-sitemap.xml", True, True), ("sitemap-news-2.xml", True, True), ("news-sitemap.xml", False, False),
        ("sitemap.xml", True, False), ("newsletter-archive.xml", True, False),
    ],
)  # fmt: skip
def test_a_news_sitemap_without_articles(name: str, declared: bool, fires: bool) -> None:
    namespace = f' xmlns:news="{NAMESPACE}"' if declared else ""
    core = "http://www.sitemaps.org/schemas/sitemap/0.9"
    data = f'<urlset xmlns="{core}"{namespace}><url><loc>https://example.com/a</loc></url></urlset>'
    rules = [finding.rule for finding in judge(data.encode(), f"https://example.com/{name}")]
    assert ("news-without-articles" in rules) is fires
