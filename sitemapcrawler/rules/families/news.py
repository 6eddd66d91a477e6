"""Rules on news articles, in Google's news namespace."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from datetime import timedelta
from functools import partial

from sitemapcrawler.namespaces.element import Element
from sitemapcrawler.namespaces.extensions import NEWS, NEWS_EXTENSION
from sitemapcrawler.reader.entries import TEMPLATE
from sitemapcrawler.reader.formats import URLSET
from sitemapcrawler.rules.facts.given import FileFacts, UrlFacts
from sitemapcrawler.rules.facts.languages import WITHDRAWN, is_language
from sitemapcrawler.rules.facts.objects import (
    articles,
    declares_news,
    elements,
    is_empty_urlset,
    lacks,
    line_of,
    parts,
    stray,
)
from sitemapcrawler.rules.facts.tally import CLOCKS
from sitemapcrawler.rules.facts.written import DateForm, Standard, span, written
from sitemapcrawler.rules.registry import ERROR, INFO, WARNING, Message, Objects, Of, Per, rule
from sitemapcrawler.urls.display import counted, quoted

GOOGLE = "https://developers.google.com/search/docs/crawling-indexing/sitemaps/news-sitemap"
REQUIRED = (
    ("publication",), ("publication", "name"), ("publication", "language"), ("publication_date",), ("title",)
)  # fmt: skip
RETIRED = ("access", "genres", "keywords", "stock_tickers", "geo_locations")
"""Elements that `GOOGLE` no longer documents."""
CHINESE = ("zh-cn", "zh-tw")
"""The only languages with a region, for simplified and traditional characters. Source: `GOOGLE`"""
OF_CHINESE = {
    "hans": "zh-cn",
    "hant": "zh-tw",
    "cn": "zh-cn",
    "sg": "zh-cn",
    "tw": "zh-tw",
    "hk": "zh-tw",
    "mo": "zh-tw",
}
"""{part of another code of Chinese: the code for its characters}."""
MAX_ARTICLES = 1000
"""Maximum number of articles in a file. Source: `GOOGLE`"""
MAX_AGE = timedelta(days=2)
"""Source: `GOOGLE`"""
LONG_TITLE = 200
"""Characters; longer titles are cut off nearly everywhere."""
MAX_NAMES = 5
"""Names that a message lists."""
PLACEHOLDER_TITLES = frozenset((
    "untitled", "untitled document", "untitled article", "untitled post", "no title", "(no title)", "title",
    "article title", "headline", "test", "test article", "test post", "test title", "tbd", "tba", "todo", "undefined",
    "null", "none", "nan", "n/a", "-", "hello world", "hello world!", "lorem ipsum dolor sit amet", "[object object]",
    "auto draft", "ohne titel", "kein titel", "sans titre", "sin título", "senza titolo", "sem título", "zonder titel",
    "bez tytułu", "без названия",
))  # fmt: skip
"""Default titles of content management systems, in lower case."""
TITLE_MARKS = re.compile(rf"{TEMPLATE.pattern}|\blorem ipsum\b", re.IGNORECASE)
MIN_REPEATED = 2
"""Number of articles with the same title from which they are reported."""
LANGUAGE = re.compile(r"([a-z]{2,3})(?:[-_].*)?", re.DOTALL)
PARENTHESES = re.compile(r"(?:(?<!\s)\s++)?+[(\uff08][^()\uff08\uff09]*[)\uff09]\s*")


def has_usual_article(entry: UrlFacts) -> bool:
    """True for an entry with one article that has all required parts, and nothing else; its age does not matter."""
    article = entry.record.news
    if article is None or article.extra or entry.record.extra is not None:
        return False
    publication, date, title = article.publication or {}, article.publication_date, article.title
    if not (publication.get("name") and _is_language(publication.get("language", "")) and date and title):
        return False
    if written(date, Standard.W3C).form not in (DateForm.LEGAL, DateForm.NO_SECONDS):
        return False
    when = span(date)
    if when is None or when[0] > entry.file.fetched_at + CLOCKS or len(title) > LONG_TITLE:
        return False
    if title.strip().rstrip(".").lower() in PLACEHOLDER_TITLES or TITLE_MARKS.search(title):
        return False
    return all(getattr(article, name) is None for name in RETIRED)


def has_recent_article(entry: UrlFacts) -> bool:
    """True for an entry whose article is not older than a news sitemap may list."""
    value = entry.record.news.publication_date if entry.record.news is not None else None
    when = span(value) if value else None
    return when is None or when[1] >= entry.file.fetched_at - MAX_AGE


news_rule = partial(rule, of=Objects(NEWS_EXTENSION, usual=has_usual_article))
"""Registers a rule on entries with an article that is not usual."""


@news_rule(
    "news-required-missing",
    ERROR,
    GOOGLE,
    also={"Search Console": "Missing <publication> tag", "Yandex": "Tag not found"},
)
def news_required_missing(entry: UrlFacts) -> Iterator[Message]:
    """An article lacks a required element. The publication with its name and language, the publication_date or the
    title is missing or empty. Once per article.

    Why: Without it search engines do not treat the article as news.
    Fix: Add the elements that the message names, or remove the `<news:news>`.
    Bad: `<news:news><news:title>Merger</news:title></news:news>`
    Good: an article with all of them
    """
    for _, element in articles(entry):
        absent = [*_absent(element)]
        if absent:
            tags = ", ".join(tag for tag, _ in absent)
            yield Message(f"an article without {tags}", absent[0][1])


def _absent(article: Element | None) -> Iterator[tuple[str, int | None]]:
    """Yield the missing elements of an article, each with a line. A missing parent stands for its children."""
    for *above, name in REQUIRED:
        if above and lacks(article, *above):
            continue
        if lacks(article, *above, name):
            parent = None if article is None else next(iter(parts(article, *above)), None)
            yield f"<news:{name}>{stray(parent, name)}", line_of(article, *above, name)


@rule("news-too-many", ERROR, GOOGLE, Of.FILE, also={"Search Console": "Too many News URLs"})
def news_too_many(file: FileFacts) -> Iterator[Message]:
    """The file has more than 1,000 articles.

    Why: Search engines read only the first 1,000.
    Fix: Split the file into several of at most 1,000 articles, and list them in an index.
    Bad: 1,001 `<news:news>` in one file
    Good: several files, named in an index
    """
    number = file.tally.news
    if number > MAX_ARTICLES:
        yield Message(f"{number:,} articles; {MAX_ARTICLES:,} are allowed in a file", value=str(number))


@news_rule("news-multiple-per-url", ERROR, GOOGLE, also={"Search Console": "Invalid XML: too many tags"})
def news_multiple_per_url(entry: UrlFacts) -> Iterator[Message]:
    """An entry has more than one `<news:news>`.

    Why: An entry is one page, and a page is one article. This crawl reads the first.
    Fix: Write an entry of its own for each article.
    Bad: two `<news:news>` in one `<url>`
    Good: an entry for each article
    """
    found = elements(entry, NEWS, "news") if entry.record.news is not None else []
    if len(found) > 1:
        yield Message(f"{len(found)} articles in one entry; one is allowed", found[1].line, value=str(len(found)))


@news_rule("news-date-invalid", ERROR, GOOGLE, also={"Search Console": "Invalid date"})
def news_date_invalid(entry: UrlFacts) -> Iterator[Message]:
    """The publication date of an article is not valid. It must be a W3C Datetime with a day, and with a time zone if it
    has a time. A warning if it only lacks the time zone, or is a day with one (legal by XML Schema).

    Why: Search engines cannot tell when the article was published.
    Fix: Write the publication date as `YYYY-MM-DDThh:mm:ss+hh:mm` or `YYYY-MM-DD`.
    Bad: `<news:publication_date>5 January 2026</news:publication_date>`
    Good: `<news:publication_date>2026-01-05T10:00:00+01:00</news:publication_date>`
    """
    for article, element in articles(entry):
        value = article.publication_date
        form = written(value, Standard.W3C).form if value else DateForm.LEGAL
        if value and form not in (DateForm.LEGAL, DateForm.NO_SECONDS):
            remark = {
                DateForm.IMPOSSIBLE: "there is no such day, hour or time zone",
                DateForm.NO_ZONE: "its time zone is missing, such as +01:00",
            }.get(form, "not YYYY-MM-DD or YYYY-MM-DDThh:mm:ss with a time zone")
            severity = WARNING if form in (DateForm.NO_ZONE, DateForm.ZONED_DAY) else None
            text = f"<news:publication_date> is {quoted(value)}: {remark}"
            yield Message(text, line_of(element, "publication_date"), value=value, severity=severity)


@news_rule("news-date-future", WARNING, GOOGLE, also={"Search Console": "Invalid date"})
def news_date_future(entry: UrlFacts) -> Iterator[Message]:
    """A publication date is in the future. A date without a time counts until that day begins somewhere on earth.

    Why: A listed article is published already. Often the time zone is wrong.
    Fix: Write the time at which the article went online, and check its time zone.
    Bad: a date of next week
    Good: the moment at which the article went online
    """
    for article, element in articles(entry):
        value = article.publication_date
        when = span(value) if value else None
        if when is not None and when[0] > entry.file.fetched_at + CLOCKS:
            text = f"published on {value}, after the file was fetched ({entry.file.fetched_at:%Y-%m-%dT%H:%MZ})"
            yield Message(text, line_of(element, "publication_date"), value=value)


@rule("news-too-old", WARNING, GOOGLE, NEWS_EXTENSION, per=Per.FILE("have an article that is older than two days"))
def news_too_old(entry: UrlFacts) -> Iterator[Message]:
    """An article was published more than two days ago.

    Why: A news sitemap is for articles of the last two days.
    Fix: Remove articles older than two days from the news sitemap, or their `<news:news>`.
    Bad: an article of last month
    Good: a file without articles where nothing was published
    """
    for article, element in () if has_recent_article(entry) else articles(entry, entry.brief):
        value = article.publication_date
        when = span(value) if value else None
        if when is not None and when[1] < entry.file.fetched_at - MAX_AGE:
            days = (entry.file.fetched_at - when[1]).days
            text = f"published on {value}, more than {days:,} days before the file was fetched; 2 days are allowed"
            yield Message(text, line_of(element, "publication_date"), value=value)


@news_rule("news-language-invalid", ERROR, GOOGLE, also={"Search Console": "Invalid tag value"})
def news_language_invalid(entry: UrlFacts) -> Iterator[Message]:
    """The language of an article is not valid. It must be a code of ISO 639 (two or three letters), `zh-cn` or `zh-tw`.
    A warning for a withdrawn code, a note if only the case is wrong.

    Why: Search engines cannot tell which edition the article is for.
    Fix: Write the language as an ISO 639 code without a country, such as `en`; `zh-cn` or `zh-tw` for Chinese.
    Bad: `<news:language>en-US</news:language>`, `<news:language>English</news:language>`
    Good: `<news:language>en</news:language>`
    """
    for article, element in articles(entry):
        code = (article.publication or {}).get("language", "")
        if not code or _is_language(code):
            continue
        line, severity = line_of(element, "publication", "language"), None
        plain, right = code.lower(), right_language(code)
        if right == plain:
            severity, remark = INFO, f"it is written {plain}"
        elif plain in WITHDRAWN:
            severity, remark = WARNING, f"that code was withdrawn, the current one is {right}"
        elif right is not None:
            remark = f"zh-cn and zh-tw are the only codes with a region; write {right}"
        else:
            remark = "that is not an ISO 639 code of two or three letters"
        yield Message(f"<news:language> is {quoted(code)}; {remark}", line, value=code, severity=severity)


def right_language(code: str) -> str | None:
    """Return the right form of a language code; None if it names no language."""
    plain = code.lower().replace("_", "-")
    found = LANGUAGE.fullmatch(plain)
    if _is_language(plain) or plain in WITHDRAWN:
        return WITHDRAWN.get(plain, plain)
    if found is not None and found[1] == "zh":
        parts = plain.split("-")
        return next((code for part, code in OF_CHINESE.items() if part in parts), "zh")
    return found[1] if found is not None and is_language(found[1]) else None


def _is_language(code: str) -> bool:
    return code in CHINESE or (code.islower() and is_language(code))


@rule("news-name-inconsistent", WARNING, GOOGLE, Of.FILE)
def news_name_inconsistent(file: FileFacts) -> Iterator[Message]:
    """The name of a publication varies. It is spelled in different ways, or contains parentheses. A note if a file has
    different names. Once per file.

    Why: It must be exactly the name in Google News, without anything in parentheses. Several publications may share a
    file.
    Fix: Write the name exactly as Google News shows it, the same in all articles.
    Bad: `<news:name>The Example Times</news:name>` and `<news:name>The example-times</news:name>`
    Good: one name, always the same
    """
    spellings: dict[str, list[str]] = {}
    for name in file.tally.publications:
        spellings.setdefault(_folded(name), []).append(name)
    several = next((names for names in spellings.values() if len(names) > 1), None)
    aside = next((name for name in file.tally.publications if PARENTHESES.search(name)), None)
    if several is not None:
        yield Message(f"one publication, spelled in different ways: {_quoted(several)}", value=several[1])
    elif aside is not None:
        yield Message(f"{quoted(aside)} has something in parentheses, which is not part of the name", value=aside)
    elif len(spellings) > 1:
        names = [*file.tally.publications]
        yield Message(f"several publications: {_quoted(names)}", value=names[1], severity=INFO)


def _folded(name: str) -> str:
    """Normalise a name: no parentheses, case, spaces or punctuation."""
    plain = unicodedata.normalize("NFKC", PARENTHESES.sub(" ", name)).casefold()
    return "".join(character for character in plain if character.isalnum()) or name


def _quoted(names: Iterable[str]) -> str:
    names = [*names]
    return ", ".join(map(quoted, names[:MAX_NAMES])) + (", ..." if len(names) > MAX_NAMES else "")


@news_rule("news-title-is-long", INFO, GOOGLE, per=Per.FILE("have a title of more than 200 characters"))
def news_title_is_long(entry: UrlFacts) -> Iterator[Message]:
    """A title has more than 200 characters.

    Why: It is allowed, but search results truncate it.
    Fix: Write the title of the article, not its first paragraph.
    Bad: the first paragraph of the article
    Good: its title
    """
    for article, element in articles(entry):
        title = article.title or ""
        if len(title) > LONG_TITLE:
            yield Message(f"the title has {len(title):,} characters", line_of(element, "title"), value=title)


@news_rule("news-title-placeholder", WARNING, GOOGLE, per=Per.FILE("have a placeholder as a news title", by_value=True))
def news_title_placeholder(entry: UrlFacts) -> Iterator[Message]:
    """The title of an article is a placeholder. It is `Untitled`, `test`, `undefined`, `{{title}}` and the like.

    Why: It must be the article's title as the page shows it; search results would show this one.
    Fix: Write the article's title as the page shows it, or omit the article until it has one.
    Bad: `<news:title>Untitled document</news:title>`
    Good: `<news:title>Companies A and B in merger talks</news:title>`
    """
    for article, element in articles(entry):
        title = article.title or ""
        if title.strip().rstrip(".").lower() in PLACEHOLDER_TITLES or TITLE_MARKS.search(title):
            text = f"the title is {quoted(title)}, which is a placeholder"
            yield Message(text, line_of(element, "title"), value=title)


@rule("news-title-repeated", INFO, GOOGLE, Of.FILE)
def news_title_repeated(file: FileFacts) -> Iterator[Message]:
    """Several articles of a file have the same title. Once per file. Compares the first 5,000 titles.

    Why: Either one article is listed under several URLs, or the title does not describe its article.
    Fix: List each article once, under one URL and with its own title.
    Bad: `Live blog` as the title of twelve articles
    Good: a title of its own for each article
    """
    repeated = [(title, number) for title, number in file.tally.titles.items() if number >= MIN_REPEATED]
    if repeated:
        title, number = max(repeated, key=lambda one: one[1])
        more = counted(len(repeated) - 1, "more title is", "more titles are")
        others = f"; {more} repeated" if len(repeated) > 1 else ""
        url, line = file.tally.titled[title]
        yield Message(f"{number:,} articles have the title {quoted(title)}{others}", line, value=title, url=url)


@rule("news-without-articles", WARNING, GOOGLE, Of.WHOLE)
def news_without_articles(file: FileFacts) -> Iterator[Message]:
    """A news sitemap lists pages without `<news:news>`. Its name and its namespace make it a news sitemap.

    Why: Without that element no entry is news to search engines. An ordinary sitemap of a section named `news` does not
    declare the namespace.
    Fix: Add a `<news:news>` to each article, or remove the namespace and rename the file.
    Bad: `news-sitemap.xml` with `xmlns:news`, and entries of `<loc>` and `<lastmod>` alone
    Good: a `<news:news>` in each entry
    """
    name = file.parts.path.rpartition("/")[2].lower().replace("newsletter", "")
    named = "news" in name and ("sitemap" in name or "google" in name)
    without = file.format is URLSET and file.tally.entries and not file.tally.news
    if named and without and declares_news(file):
        text = f"a news sitemap with {counted(file.tally.entries, 'entry', 'entries')} and no <news:news>"
        yield Message(text, file.document.root_line)


@news_rule("news-legacy-tag", INFO, GOOGLE, per=Per.SITE("have news elements that are no longer documented"))
def news_legacy_tag(entry: UrlFacts) -> Iterator[Message]:
    """An article has a deprecated element. Such as access, genres, keywords, stock_tickers or geo_locations. Once per
    article.

    Why: They have no effect, but do no harm.
    Fix: Remove access, genres, keywords, stock_tickers and geo_locations.
    Bad: `<news:keywords>business, merger</news:keywords>`
    Good: an article without them
    """
    for article, element in articles(entry):
        used = [name for name in RETIRED if getattr(article, name) is not None]
        if used:
            tags = ", ".join(f"<news:{name}>" for name in used)
            yield Message(f"{tags}: no longer documented", line_of(element, used[0]), value=used[0])


@rule("news-empty-ok", INFO, GOOGLE, Of.WHOLE)
def news_empty_ok(file: FileFacts) -> Iterator[Message]:
    """A news sitemap is empty. That is correct if nothing was published for two days.

    Why: Search Console shows a warning, in case it is a mistake.
    Fix: Check that nothing was published for two days; then there is nothing to fix.
    Bad: a news sitemap that is empty although articles were published
    Good: `<urlset xmlns="..." xmlns:news="..."></urlset>`
    """
    if is_empty_urlset(file) and declares_news(file):
        yield Message("an empty news sitemap, which is fine", file.document.root_line)
