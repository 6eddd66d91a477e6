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


_EMPTY_LISTS = """
nothing found; nothing was found; nothing to show; nothing here yet; no posts; no posts found; no posts yet;
no posts were found; no posts to show; no posts to display; there are no posts; there are no posts yet;
sorry no posts were found; sorry no posts matched your criteria; no posts matched your criteria;
there are no posts in this category; no articles; no articles found; no articles yet; no entries; no entries found;
no entries yet; no products; no products found; no products were found;
no products were found matching your selection; no products in this category; there are no products;
there are no products in this category; this category is empty; this archive is empty; no results; no results found;
no results were found; no items found; keine beiträge; keine beiträge gefunden; keine beiträge vorhanden;
es wurden keine beiträge gefunden; keine artikel; keine artikel gefunden; keine artikel vorhanden; keine einträge;
keine einträge gefunden; keine einträge vorhanden; keine produkte gefunden; keine produkte vorhanden;
es wurden keine produkte gefunden, die deiner auswahl entsprechen; keine ergebnisse; keine ergebnisse gefunden;
nichts gefunden; aucun article; aucun article trouvé; aucune publication; aucune publication trouvée; aucun résultat;
aucun résultat trouvé; aucun produit; aucun produit trouvé; rien n'a été trouvé; rien trouvé;
aucun produit ne correspond à votre sélection; no hay entradas; no hay artículos; no hay publicaciones;
no hay productos; no hay resultados; sin resultados; no se encontraron entradas; no se encontraron artículos;
no se encontraron publicaciones; no se encontraron productos; no se encontraron resultados;
no se han encontrado entradas; no se han encontrado resultados; nada encontrado; no se encontró nada;
no se ha encontrado nada; no se han encontrado productos que se ajusten a tu selección; nenhum post;
nenhum post encontrado; nenhum artigo encontrado; nenhuma publicação encontrada; nenhum resultado;
nenhum resultado encontrado; nenhum produto encontrado; não há posts; não há artigos;
nenhum produto foi encontrado para a sua seleção; nessun articolo; nessun articolo trovato; nessun post;
nessun post trovato; nessun risultato; nessun risultato trovato; nessun prodotto; nessun prodotto trovato;
nessun elemento trovato; niente trovato; non è stato trovato nulla; geen berichten; geen berichten gevonden;
geen artikelen; geen artikelen gevonden; geen resultaten; geen resultaten gevonden; geen producten gevonden;
niets gevonden; er zijn geen berichten; brak wpisów; nie znaleziono wpisów; brak artykułów; nie znaleziono artykułów;
brak wyników; nie znaleziono wyników; brak produktów; nie znaleziono produktów; nic nie znaleziono; inga inlägg;
inga inlägg hittades; inga artiklar; inga resultat; inga produkter hittades; inget hittades; ingen indlæg;
ingen indlæg fundet; ingen artikler; ingen resultater; ingen produkter fundet; intet fundet; ingen innlegg;
ingen innlegg funnet; ingen treff; ingenting funnet; ingen produkter funnet; ei artikkeleita; ei tuloksia;
artikkeleita ei löytynyt; mitään ei löytynyt; tuotteita ei löytynyt; žádné příspěvky; žádné články; žádné výsledky;
nic nenalezeno; nic nebylo nalezeno; nenalezeny žádné příspěvky; žiadne príspevky; žiadne výsledky; nič sa nenašlo;
nincs bejegyzés; nincsenek bejegyzések; nincs találat; niciun articol; niciun articol găsit; niciun rezultat;
nu s-a găsit nimic; nema objava; nema rezultata; ni objav; ni zadetkov; yazı bulunamadı; gönderi bulunamadı;
içerik bulunamadı; sonuç bulunamadı; ürün bulunamadı; hiçbir şey bulunamadı; δεν βρέθηκαν άρθρα;
δεν βρέθηκαν αποτελέσματα; δεν βρέθηκε τίποτα; нет записей; записей не найдено; записи не найдены; нет статей;
статей не найдено; ничего не найдено; нет результатов; товары не найдены; немає записів; записів не знайдено;
нічого не знайдено; няма публикации; нищо не е намерено; 没有文章; 暂无文章; 未找到文章; 没有找到文章; 没有内容;
暂无内容; 没有结果; 沒有文章; 找不到文章; 沒有結果; 記事がありません; 記事はありません; 投稿がありません;
投稿はありません; 記事が見つかりません; 記事が見つかりませんでした; 投稿が見つかりません; 投稿が見つかりませんでした;
商品が見つかりません; 글이 없습니다; 게시물이 없습니다; 게시글이 없습니다; 검색 결과가 없습니다; không có bài viết;
không có bài viết nào; không tìm thấy bài viết; không có kết quả; tidak ada artikel; tidak ada pos;
tidak ada postingan; tidak ada hasil; لا توجد مقالات; لا توجد نتائج; لم يتم العثور على شيء; هیچ نوشته‌ای یافت نشد;
نتیجه‌ای یافت نشد; אין פוסטים; לא נמצאו פוסטים; לא נמצאו תוצאות
"""
EMPTY_LISTS = frozenset(_trimmed(phrase) for phrase in _EMPTY_LISTS.split(";"))
"""Phrases of archives and categories without entries, if they stand alone between separators."""


def says_empty(text: str) -> bool:
    """Return whether a whole part of a text says that a list has no entries; `No posts about politics` does not."""
    return any(_trimmed(part) in EMPTY_LISTS for part in PARTS.split(text))


_FAILURES = """
fatal error; database error; database connection failed; database connection error; database is unavailable;
connection to database failed; connection to the database failed; could not connect to database;
could not connect to the database; could not connect to mysql; cannot connect to database;
cannot connect to the database; can't connect to database; unable to connect to database;
unable to connect to the database; failed to connect to database; failed to connect to the database;
failed to connect to mysql; error connecting to database; error connecting to the database;
error establishing a database connection; internal server error; server error; bad gateway; service unavailable;
service temporarily unavailable; the service is unavailable; gateway timeout; gateway time-out; application error;
runtime error; unhandled exception; an unhandled exception occurred; uncaught exception; an internal error occurred;
an internal server error occurred; an error occurred; an error has occurred; an unexpected error occurred;
an unexpected error has occurred; an error occurred while processing your request;
whoops looks like something went wrong; there has been a critical error on this website;
there has been a critical error on your website; out of memory; segmentation fault;
briefly unavailable for scheduled maintenance; interner serverfehler; datenbankfehler; schwerwiegender fehler;
fataler fehler; keine verbindung zur datenbank; verbindung zur datenbank fehlgeschlagen;
datenbankverbindung fehlgeschlagen; fehler beim aufbau einer datenbankverbindung;
es gab einen kritischen fehler auf deiner website; ein fehler ist aufgetreten; es ist ein fehler aufgetreten;
erreur fatale; erreur interne du serveur; erreur de base de données; connexion à la base de données impossible;
échec de la connexion à la base de données; erreur lors de la connexion à la base de données; une erreur est survenue;
une erreur s'est produite; il y a eu une erreur critique sur ce site; error fatal; error interno del servidor;
error de base de datos; error de conexión a la base de datos; error al conectar con la base de datos;
error al establecer una conexión con la base de datos; ha ocurrido un error; se ha producido un error;
ha habido un error crítico en esta web; erro fatal; erro interno do servidor; erro de conexão com o banco de dados;
erro ao conectar ao banco de dados; erro ao estabelecer uma conexão com o banco de dados; ocorreu um erro;
errore fatale; errore interno del server; errore di connessione al database; errore del database;
connessione al database fallita; errore nello stabilire una connessione al database; si è verificato un errore;
fatale fout; interne serverfout; databasefout; fout bij het maken van verbinding met de database;
er is een fout opgetreden; błąd krytyczny; wewnętrzny błąd serwera; błąd bazy danych; błąd połączenia z bazą danych;
wystąpił błąd; internt serverfel; databasfel; ett fel uppstod; ett fel har inträffat; databasefejl;
der opstod en fejl; databasefeil; det oppstod en feil; tietokantavirhe; tapahtui virhe; chyba databáze;
chyba připojení k databázi; interní chyba serveru; došlo k chybě; adatbázis hiba; hiba történt; eroare de server;
eroare la conectarea la baza de date; a apărut o eroare; veritabanı hatası; veritabanı bağlantı hatası; sunucu hatası;
bir hata oluştu; εσωτερικό σφάλμα διακομιστή; фатальная ошибка; внутренняя ошибка сервера; ошибка базы данных;
ошибка подключения к базе данных; ошибка соединения с базой данных; ошибка установки соединения с базой данных;
произошла ошибка; помилка бази даних; внутрішня помилка сервера; сталася помилка; 数据库连接失败; 数据库连接错误;
数据库错误; 服务器内部错误; 服务器错误; 資料庫連線失敗; 資料庫錯誤; 伺服器錯誤; データベース接続エラー;
データベース接続確立エラー; データベースエラー; サーバーエラー; 内部サーバーエラー; エラーが発生しました;
데이터베이스 연결 오류; 서버 오류; 내부 서버 오류; 오류가 발생했습니다; lỗi máy chủ; lỗi kết nối cơ sở dữ liệu;
kesalahan server; kesalahan database; خطأ في الخادم; خطأ في الاتصال بقاعدة البيانات; שגיאת שרת
"""
_FAILURE = re.compile(
    r"(?:(?:http|status|code|error|php|oops|whoops|sorry|5\d\d)[\s:!.,-]+)*"
    rf"(?:{'|'.join(re.escape(' '.join(phrase.split())) for phrase in _FAILURES.split(';'))})"
    r"\s*(?:[.:!?;,|(\[·–—-]|\Z)",
    re.IGNORECASE,
)
"""Beginning of a text that a failed program puts in place of a page. Details follow, or nothing; an article has more:
`Fatal error handling in PHP`."""
_STATUS = re.compile(r"(?:(?:http|status|error|code)[\s:-]+)+5\d\d|5\d\d[\s:-]+error", re.IGNORECASE)
_TRACE = re.compile(
    r"(?:php )?(?:(?:recoverable |catchable )?fatal|parse) error ?: .*\bon line \d"
    r"|(?:php )?(?:recoverable |catchable )?fatal error ?: uncaught \w|uncaught (?:\w+\\)*\w*(?:exception|error)\b"
    r"|traceback \(most recent call last\)|sqlstate\[\w+\]|ora-\d{5}\b|server error in '[^']*' application",
    re.IGNORECASE,
)


def says_trace(text: str) -> bool:
    """Return whether a text begins like a message of PHP, Python, .NET or a database with its details."""
    return _TRACE.match(text) is not None


def says_failure(text: str) -> bool:
    """Return whether a text is, or begins with, the message of a failed program."""
    return (
        any(known.match(text.replace("’", "'")) for known in (_FAILURE, _TRACE)) or _STATUS.fullmatch(text) is not None
    )
