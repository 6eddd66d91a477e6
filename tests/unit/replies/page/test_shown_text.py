"""Visible words, headings, and titles that say that nothing was found."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.replies.page import Html
from sitemapcrawler.replies.page.shown_text import MAX_NODES, MAX_WORDS, THIN, Shown, heading, shown, words
from sitemapcrawler.replies.page.tree import parsed
from sitemapcrawler.replies.phrases import says_empty, says_failure, says_not_found


def shown_of(markup: str, whole: bool = True) -> Shown:
    return shown(parsed(markup), Html(markup, whole=whole, is_html=True))


def test_words_are_what_a_visitor_sees() -> None:
    markup = "<p>One&nbsp;<b>two</b><!-- no --><script>no</script><style>no</style><p>Été 2024<noscript>no</noscript><svg><title>no</title></svg>"
    assert words(shown_of(markup).text) == ["one", "two", "été", "0"]


@pytest.mark.parametrize(
    "markup", ["<!-- never", "<script>never", "<p never", "<script x>a</script x", "<style></styles>"]
)
def test_what_has_no_end_hides_the_rest(markup: str) -> None:
    assert words(shown_of("seen " + markup).text) == ["seen"]


def test_words_are_bounded() -> None:
    assert len(words("a " * 10 * MAX_WORDS)) == MAX_WORDS


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<h2>a</h2><h1 class=x>Not <b>found</b>\n!</h1><h1>b</h1>", "Not found !"),
        ("<!-- <h1>a</h1> --><h1>b", "b"), ("<h1><img></h1><h1>b</h1>", "b"), ("<h1x>a</h1x>", None), ("", None),
    ],
)  # fmt: skip
def test_heading(markup: str, expected: str | None) -> None:
    assert heading(parsed(markup)) == expected


@pytest.mark.parametrize(
    ("markup", "blocks"),
    [
        ("<p>One <b>t</b>wo<br>three<div>four<a>five</a></div>", ("One two", "three", "fourfive")),
        ("<nav>no</nav><main>yes<form>no</form></main><p>no", ("yes",)),
        ("<header>no</header><p>yes<p hidden>no<p style=' display: none; color: red'>no<p style=color:red>yes", ("yes", "yes")),
        ("<div hidden>no<p hidden>no</div>yes", ("yes",)),
        ("<p>0<!-- --> results<p><!-- -->yes", ("0 results", "yes")),
        ("<form><header>no</header><h1>yes</h1><p>yes</form>", ("yes", "yes")),
        ("<p class='a d-none'>no<p class='hidden md:block'>yes<div role=dialog>no</div><p role=status>yes", ("yes", "yes")),
        ("<form><nav>no</nav>yes</form><form><input>no</form>", ("yes",)),
        (f"<style>{'a{}' * 9999}</style><header>{'no ' * 999}</header><main>yes</main>", ("yes",)),
    ],
)  # fmt: skip
def test_blocks_are_those_of_the_content(markup: str, blocks: tuple[str, ...]) -> None:
    assert shown_of(markup).blocks == blocks


@pytest.mark.parametrize(("markup", "whole"), [("<b></b>" * MAX_NODES + "<p>a", True), ("<p>a", False)])
def test_endless_or_cut_page_has_no_blocks(markup: str, whole: bool) -> None:
    assert shown_of(markup, whole).blocks is None


def test_blocks_are_the_first_of_a_long_page() -> None:
    assert shown_of("<p>a</p>" * 2 * THIN).blocks == ("a",) * THIN


@pytest.mark.parametrize(
    ("markup", "is_frame"),
    [
        ("<div id=root></div>", True), ("<div id=__next>Loading ...</div>", True), ("<app-root></app-root>", True),
        ("<div id=root><p>a</p></div>", False), (f"<div id=root>{'a' * 100}</div>", False), ("<div id=roots></div>", False),
    ],
)  # fmt: skip
def test_empty_element_for_a_framework(markup: str, is_frame: bool) -> None:
    assert shown_of(markup).is_frame is is_frame


def test_markup_begins_behind_the_head() -> None:
    assert shown_of("<head><title>a</title></head><body><p>b").markup == "</head><body><p>b"


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
        "Dieses Angebot ist leider nicht mehr verfügbar.", "Unfortunately, this listing is no longer available.",
        "Malheureusement, cette annonce n'est plus disponible", "К сожалению, страница не найдена", "很抱歉，页面不存在",
        "Leider ist dieses Objekt nicht mehr verfügbar.", "Lo sentimos, este anuncio ya no está disponible.",
        "Siamo spiacenti, questo annuncio non è più disponibile.", "Helaas is deze advertentie niet meer beschikbaar.",
        "The job you are looking for is no longer available | Jobs", "Stellenangebot abgelaufen", "Cette annonce a expiré",
        "Esta vacante ha caducado", "Annuncio scaduto", "Deze vacature is gesloten", "Вакансия закрыта", "Video unavailable",
        "L'offre d'emploi que vous recherchez n'est plus disponible", "この求人は掲載を終了しました",
        "We can’t find the page you’re looking for.", "This property has already been sold", "This home is off the market",
        "This auction has ended.", "هذا العقار لم يعد متاحًا", "عذراً، هذا الاعلان غير متوفر حاليا", "تم بيع هذا العقار", "انتهت صلاحية هذا الإعلان",
        "الصفحة التي تبحث عنها غير موجودة", "הנכס נמכר", "המודעה הזו כבר לא קיימת", "פג תוקף המודעה", "הדף שחיפשת לא נמצא", "この物件は成約済みです",
        "申し訳ございませんが、お探しの物件は、掲載が終了しております。", "掲載が終了した物件です", "ご指定のページは存在しません", "Pa\u0301gina no encontrada",
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
        "Video unavailable in your country", "Why a job is no longer available", "Video", "Closed position sensors", "Stelle",
        "Sold", "مباع", "נמכר", "成約済み", "How to say that a property has been sold", "この物件は駅徒歩五分です", "The, this and that",
    ],
)  # fmt: skip
def test_title_that_only_mentions_it(text: str | None) -> None:
    assert not says_not_found(text)


@pytest.mark.parametrize(
    "text",
    [
        "No properties match your search criteria", "There are no products matching the selection.", "0 results found",
        "We couldn't find any results for “blue boots”", 'No results found for "boots"', "Your search yielded no results",
        "There is currently no content classified with this term.", "This category currently contains no pages or media.",
        "Keine Artikel entsprechen Ihrer Auswahl", "Aucun bien ne correspond à vos critères", "لا توجد نتائج مطابقة لبحثك",
        "לא נמצאו נכסים", "現在、該当する物件はございません。", "条件に一致する物件は見つかりませんでした", "No items to show",
        "Non è stato trovato nessun prodotto che corrisponde alla tua selezione.", "Nie znaleziono produktów, których szukasz.",
        "Geen producten gevonden die aan je zoekcriteria voldoen.",
    ],
)  # fmt: skip
def test_text_says_that_a_list_is_empty(text: str) -> None:
    assert says_empty(text)


@pytest.mark.parametrize(
    "text",
    [
        "Nothing", "0", "0 reviews", "No reviews yet", "There are currently no vacancies.", "Keine Stellenangebote.",
        "No products about cats", "Results", "口コミはありません", "for", "this",
    ],
)  # fmt: skip
def test_text_that_says_something_else(text: str) -> None:
    assert not says_empty(text)
    assert not says_not_found(text)


@given(
    st.text()
    | st.lists(st.sampled_from(("<", ">", "<h1>", "<main>", "<p hidden>", "</p>", "\0", "a", "<svg>"))).map("".join)
)
def test_nothing_raises(text: str) -> None:
    found = shown_of(text)
    words(found.text)
    says_not_found(text)


@pytest.mark.parametrize("unit", ["- ", "|", " -", "--", "a-", "a ", "0"])
def test_much_of_anything_takes_linear_time(unit: str) -> None:
    text = unit * (2**16 // len(unit))
    start = time.process_time()
    for read in (words, says_not_found, says_empty, says_failure):
        read(text)
    assert time.process_time() - start < 5  # seconds; were it quadratic, minutes
