"""The rules on news articles."""

from __future__ import annotations

import pytest

from sitemapcrawler.namespaces.extensions import NEWS as NAMESPACE
from sitemapcrawler.rules.families.news import MAX_ARTICLES, RETIRED

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
    ("text", "line", "named"),
    [
        (article(name=""), 3, "<news:name>"),
        (article(name=" \n "), 3, "<news:name>"),
        (article(language="<![CDATA[]]>"), 4, "<news:language>"),
        (article(date=""), 6, "<news:publication_date>"),
        (article(title=" "), 7, "<news:title>"),
        (article().replace("<news:title>Merger</news:title>", ""), 1, "<news:title>"),
        (article().replace("<news:name>The Example Times</news:name>", ""), 2, "<news:name>"),
        (article().replace("news:publication>", "news:x>"), 1, "<news:publication>"),
        ("<news:news>\n<news:publication/>" + article().partition("</news:publication>")[2], 2, "<news:publication>"),
        (article(name="", title=""), 3, "<news:name>, <news:title>"),
        ("<news:news/>", 1, "<news:publication>, <news:publication_date>, <news:title>"),
        (article().replace("news:title", "title"), 1, "<news:title> (there is a <title> of another namespace)"),
        (article().replace("news:name", "name"), 2, "<news:name> (there is a <name> of another namespace)"),
    ],
)
def test_what_an_article_must_have_is_told_once(text: str, line: int, named: str) -> None:
    assert found(text) == [("news-required-missing", line)]
    assert said(text) == f"an article without {named}"


@pytest.mark.parametrize(
    ("date", "rule", "severity"),
    [
        ("2026-06-01", None, None),
        ("2026-06-02", None, None),
        ("2026-06-02T02:00:00+14:00", None, None),
        ("2026-06-01T12:04:00Z", None, None),
        ("2026-06-01T12:06:00Z", "news-date-future", "warning"),
        ("2026-06-03", "news-date-future", "warning"),
        ("2027-06-01T00:00:00Z", "news-date-future", "warning"),
        ("2026-05-30T12:00:00Z", None, None),
        ("2026-05-30T11:59:59Z", "news-too-old", "warning"),
        ("2026-05-29", None, None),
        ("2026-05-28", "news-too-old", "warning"),
        ("1999-01-01T00:00:00+01:00", "news-too-old", "warning"),
        ("2026-06-01T10:00:00", "news-date-invalid", "warning"),
        ("2026-06-01Z", "news-date-invalid", "warning"),
        ("2026-06-01T10:00", "news-date-invalid", "error"),
        ("2026-06", "news-date-invalid", "error"),
        ("2026", "news-date-invalid", "error"),
        ("2026-06-31", "news-date-invalid", "error"),
        ("0000-00-00", "news-date-invalid", "error"),
        ("2026-06-01 10:00:00", "news-date-invalid", "error"),
        ("2026-06-01T10:00:00+0200", "news-date-invalid", "error"),
        ("Mon, 01 Jun 2026 10:00:00 GMT", "news-date-invalid", "error"),
        ("01.06.2026", "news-date-invalid", "error"),
        ("1 hour ago", "news-date-invalid", "error"),
    ],
)
def test_a_publication_date(date: str, rule: str | None, severity: str | None) -> None:
    assert told(article(date=date)) == ([(rule, severity)] if rule else [])
    assert [line for _, line in found(article(date=date))] == ([6] if rule else [])


@pytest.mark.parametrize(
    ("language", "severity", "remark"),
    [
        ("en", None, ""),
        ("deu", None, ""),
        ("fil", None, ""),
        ("zh-cn", None, ""),
        ("zh-tw", None, ""),
        ("zh", None, ""),
        ("EN", "info", "written en"),
        ("zh-CN", "info", "written zh-cn"),
        ("iw", "warning", "the present one is he"),
        ("en-US", "error", "en is the language"),
        ("pt_BR", "error", "pt is the language"),
        ("zh-hk", "error", "zh is the language"),
        ("English", "error", "no code of ISO 639"),
        ("jp", "error", "no code of ISO 639"),
        ("xx-US", "error", "no code of ISO 639"),
        ("e", "error", "no code of ISO 639"),
        ("en,fr", "error", "no code of ISO 639"),
        ("ｅｎ", "error", "no code of ISO 639"),
    ],
)  # fmt: skip
def test_a_language(language: str, severity: str | None, remark: str) -> None:
    text = article(language=language)
    assert told(text) == ([("news-language-invalid", severity)] if severity else [])
    if severity:
        assert remark in said(text)
        assert found(text, wanted=("news-language-invalid",)) == [("news-language-invalid", 4)]


@pytest.mark.parametrize(
    ("names", "severity"),
    [
        (["The Example Times"] * 3, None),
        (["Example", " Example\n", "<![CDATA[Example]]>"], None),
        (["The Example Times", "The example times"], "warning"),
        (["The Example Times", "The Example-Times"], "warning"),
        (["The Example  Times", "The Example Times"], "warning"),
        (["Example (Sport)", "Example"], "warning"),
        (["Example (subscription)"], "warning"),
        (["例（購読）"], "warning"),
        (["Example News", "Example Sport"], "info"),
        (["+", "-"], "info"),
        (["", "Example"], None),
    ],
)
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


def test_several_articles_of_one_entry_are_one_finding_and_the_first_is_judged() -> None:
    text = article() + "\n" + article(date="2001-01-01") + "\n" + article(date="never")
    assert found(text) == [("news-multiple-per-url", 9)]


def test_another_element_of_the_namespace_is_no_second_article() -> None:
    assert found(article() + "<news:title>Merger</news:title>") == [("xml-schema-violation", 8)]


@pytest.mark.parametrize(("length", "fires"), [(200, False), (201, True)])
def test_a_long_title(length: int, fires: bool) -> None:
    text = article(title="&amp;" * length)
    assert found(text, wanted=("news-title-is-long",)) == ([("news-title-is-long", 7)] if fires else [])


@pytest.mark.parametrize("name", RETIRED)
def test_a_retired_element(name: str) -> None:
    text = article(more=f"\n<news:{name}>A</news:{name}>")
    assert told(text) == [("news-legacy-tag", "info")]
    assert found(text, wanted=("news-legacy-tag",)) == [("news-legacy-tag", 9)]


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
    ("title", "placeholder"),
    [
        ("Untitled", True),
        (" test ", True),
        ("{{ article.title }}", True),
        ("Lorem ipsum dolor sit amet, consectetur", True),
        ("Sans titre", True),
        ("undefined", True),
        ("Untitled painting sold for 80 million", False),
        ("A test of courage", False),
        ("None of the above", False),
    ],
)
def test_titles_that_are_placeholders(title: str, placeholder: bool) -> None:
    rules = [finding.rule for finding in judge(document(article(title=title)))]
    assert ("news-title-placeholder" in rules) is placeholder


def test_titles_that_are_repeated_are_told_once_for_a_file() -> None:
    titles = ["Live blog"] * 3 + ["Weather"] * 2 + ["Merger"]
    findings = judge(document(*(article(title=title) for title in titles)))
    [finding] = [finding for finding in findings if finding.rule == "news-title-repeated"]
    assert finding.message == "3 articles have the title 'Live blog'; 1 more title is repeated"
    assert (finding.line, finding.url) == (1, "https://example.com/0")


@pytest.mark.parametrize(
    ("name", "declared", "fires"),
    [
        ("news-sitemap.xml", True, True),
        ("sitemap-news-2.xml", True, True),
        ("news-sitemap.xml", False, False),
        ("sitemap.xml", True, False),
        ("newsletter-archive.xml", True, False),
    ],
)
def test_a_news_sitemap_without_articles(name: str, declared: bool, fires: bool) -> None:
    namespace = f' xmlns:news="{NAMESPACE}"' if declared else ""
    core = "http://www.sitemaps.org/schemas/sitemap/0.9"
    data = f'<urlset xmlns="{core}"{namespace}><url><loc>https://example.com/a</loc></url></urlset>'
    rules = [finding.rule for finding in judge(data.encode(), f"https://example.com/{name}")]
    assert ("news-without-articles" in rules) is fires
