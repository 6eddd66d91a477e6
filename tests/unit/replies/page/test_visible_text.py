"""Visible words, headings, and titles that say that nothing was found."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.replies.fingerprint import is_frame
from sitemapcrawler.replies.page.visible_text import MAX_WORDS, blocks, has_main, heading, is_blank, visible, words
from sitemapcrawler.replies.phrases import says_empty, says_failure, says_not_found


def test_words_are_what_a_visitor_sees() -> None:
    markup = "<p>One&nbsp;<b>two</b><!-- no --><script>no</script><style>no</style><p>Été 2024<noscript>no</noscript><svg><title>no</title></svg>"
    assert words(visible(markup)) == ["one", "two", "été", "0"]


@pytest.mark.parametrize(
    "markup", ["<!-- never", "<script>never", "<p never", "<script x>a</script x", "<style></styles>"]
)
def test_what_has_no_end_hides_the_rest(markup: str) -> None:
    assert words(visible("seen " + markup)) == ["seen"]


def test_words_are_bounded() -> None:
    assert len(words("a " * 10 * MAX_WORDS)) == MAX_WORDS


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<h2>a</h2><h1 class=x>Not <b>found</b>\n!</h1><h1>b</h1>", "Not found !"),
        ("<!-- <h1>a</h1> --><h1>b", "b"),
        ("<h1x>a</h1x>", None),
        ("", None),
    ],
)
def test_heading(markup: str, expected: str | None) -> None:
    assert heading(markup) == expected


@pytest.mark.parametrize(
    "text",
    [
        "404 Not Found", "Page not found", "Error 404 (Not Found)!!1", "Page Not Found | Shop", "Shop - Page not found",
        "Oops! That page can't be found.", "Oops! That page can’t be found.", "404 error", "Error 404", "404 - Shop - 404 Error", "404: Page not found",
        "Sorry, the page you requested was not found.", "Seite nicht gefunden – Laden", "Die Seite wurde nicht gefunden",
        "Page introuvable", "La page demandée est introuvable.", "Página no encontrada", "Página não encontrada",
        "Pagina non trovata", "Pagina niet gevonden", "Nie znaleziono strony", "Sidan hittades inte", "Sivua ei löydy",
        "Stránka nenalezena", "Sayfa bulunamadı", "Страница не найдена", "Ошибка 404", "页面不存在", "ページが見つかりません",
        "페이지를 찾을 수 없습니다", "Σελίδα δεν βρέθηκε", "Nothing found", "Product not found :: Shop",
    ],
)  # fmt: skip
def test_title_says_that_nothing_was_found(text: str) -> None:
    assert says_not_found(text)


@pytest.mark.parametrize(
    "text",
    [
        None, "", "404", "Peugeot 404", "HTTP 404 - Wikipedia", "How to fix error 404", "Page not found: what it means for you and why",
        "Custom page not found pages", "10 best 404 pages", "Page not found? Here is why", "Lost and found", "Found", "Error", "Errors and how to find them",
        "Not Found Magazine", "The page", "Product no longer available", "Sold out", "Area code 404",
    ],
)  # fmt: skip
def test_title_that_only_mentions_it(text: str | None) -> None:
    assert not says_not_found(text)


@given(st.text())
def test_nothing_raises(text: str) -> None:
    words(visible(text))
    heading(text)
    says_not_found(text)


@pytest.mark.parametrize(
    "unit", ["<", "<script", "<script>", "<!--", "<h1>", "<h1", "</script", "<a", "&", "- ", "|", " -", "--", "a-"]
)
def test_much_of_anything_takes_linear_time(unit: str) -> None:
    text = unit * (2**16 // len(unit))
    start = time.process_time()
    visible(text)
    heading(text)
    says_not_found(text)
    for read in (blocks, has_main, is_blank, is_frame, says_empty, says_failure):
        read(text)
    assert time.process_time() - start < 5  # seconds; were it quadratic, minutes
