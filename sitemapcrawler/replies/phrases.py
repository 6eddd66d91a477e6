"""Phrases by which a page says that it does not exist, that it lists nothing, or that its program failed."""

# ruff: noqa: RUF001 - letters of other scripts look like Latin ones

from __future__ import annotations

import re

PARTS = re.compile(r"[|·•»›–—｜!！.。…]|::|\s-")
"""Separators of the parts of a title: `Page not found | Shop`."""
ERROR_WORDS = frozenset(
    ("error", "fehler", "erreur", "erro", "errore", "fout", "fel", "feil", "fejl", "virhe", "chyba", "hiba", "hata",
     "błąd", "eroare", "greška", "ошибка", "помилка", "エラー", "错误", "錯誤", "오류")
)  # fmt: skip
FILLERS = ERROR_WORDS | frozenset(
    ("404", "410", "errors", "http", "status", "code", "oops", "ooops", "whoops", "sorry", "hmm", "uh", "oh", "the",
     "we", "this", "that", "your", "requested", "die", "der", "das", "diese", "la", "le", "les", "cette", "el", "esta",
     "a", "o", "e", "il", "de", "den", "det", "η")
)  # fmt: skip
"""Words around a phrase that add nothing to it."""
_WORD = re.compile(r"\w+")
_PHRASES = """
not found; page not found; file not found; document not found; nothing found; nothing here; nothing was found;
page cannot be found; page can't be found; page could not be found; page couldn't be found; page was not found;
page does not exist; page doesn't exist; page no longer exists; page not available; page isn't available;
page you requested was not found; page you requested could not be found; page you requested does not exist;
page you are looking for does not exist; page you're looking for doesn't exist;
page you are looking for could not be found; page you're looking for can't be found;
can't find page; can't find that page; couldn't find page; couldn't find that page; couldn't find this page;
product not found; article not found; item not found; post not found; content not found; resource not found;
nicht gefunden; seite nicht gefunden; seite wurde nicht gefunden; seite konnte nicht gefunden werden;
seite existiert nicht; seite nicht vorhanden; seite nicht verfügbar; nichts gefunden; artikel nicht gefunden;
produkt nicht gefunden;
page introuvable; page non trouvée; page est introuvable; page n'existe pas; page n'existe plus;
page demandée est introuvable; produit introuvable;
página no encontrada; página no existe; página solicitada no existe; no encontrado; no se encontró la página;
no se ha encontrado la página; no se encuentra la página; producto no encontrado; pàgina no trobada;
página não encontrada; página não existe; não encontrado; não encontrada; produto não encontrado;
pagina non trovata; pagina non esiste; non trovato; non trovata; pagina non disponibile; prodotto non trovato;
pagina niet gevonden; niet gevonden; pagina bestaat niet; pagina kan niet worden gevonden;
pagina werd niet gevonden;
strona nie znaleziona; nie znaleziono strony; nie znaleziono; strona nie istnieje; nie odnaleziono strony;
sidan hittades inte; sidan kunde inte hittas; sidan finns inte; hittades inte;
siden blev ikke fundet; siden findes ikke; siden ble ikke funnet; fant ikke siden; siden finnes ikke;
sivua ei löydy; sivua ei löytynyt; ei löydy;
stránka nenalezena; stránka nebyla nalezena; stránka neexistuje; nenalezeno; stránka nenájdená;
stránka sa nenašla; oldal nem található; nem található; pagina nu a fost găsită; pagina nu există;
stranica nije pronađena; stran ni najdena; sayfa bulunamadı; bulunamadı;
σελίδα δεν βρέθηκε; δεν βρέθηκε;
страница не найдена; не найдено; страница не существует; такой страницы не существует; сторінку не знайдено;
сторінка не знайдена; страницата не е намерена;
页面不存在; 页面未找到; 找不到页面; 未找到页面; 頁面不存在; 找不到頁面; 找不到網頁;
ページが見つかりません; ページが見つかりませんでした; お探しのページは見つかりませんでした;
お探しのページは見つかりません; 페이지를 찾을 수 없습니다;
không tìm thấy trang; không tìm thấy; halaman tidak ditemukan; الصفحة غير موجودة; صفحه یافت نشد; העמוד לא נמצא
"""


def _trimmed(text: str) -> tuple[str, ...]:
    found = _WORD.findall(text.casefold())
    while found and found[0] in FILLERS:
        del found[0]
    while found and found[-1] in FILLERS:
        del found[-1]
    return tuple(found)


PHRASES = frozenset(_trimmed(phrase) for phrase in _PHRASES.split(";"))
"""Phrases that mean "not found" if they stand alone between separators. "Sold out" is not one: such a page exists."""


def says_not_found(text: str | None) -> bool:
    """Return whether a whole part of a title or heading says "not found"; `How to fix page not found` does not."""
    return any(_says_not_found(part) for part in PARTS.split(text or ""))


def _says_not_found(part: str) -> bool:
    found = set(_WORD.findall(part.casefold()))
    if "404" in found and found <= FILLERS and found & ERROR_WORDS:
        return True
    return _trimmed(part) in PHRASES
