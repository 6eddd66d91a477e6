"""Pages that are not there and answer 200, beside those that only look so."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler import urls
from sitemapcrawler.replies.fingerprint import Fingerprint
from sitemapcrawler.replies.page import PageFacts, PageReader, page_of, read_page
from sitemapcrawler.replies.soft404 import MIN_WORDS, is_shell, is_soft_404, nonsense_url, witness

TYPED = {"content-type": ["text/html"]}
HOME = "https://e.com/"
ASKED = "https://e.com/red-shoes"
NONSENSE = nonsense_url(HOME, "seed")
MENU = " ".join(f"menu{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
FOOTER = " ".join(f"footer{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
STORY = " ".join(f"word{letter}{other}" for letter in "abcdefghijklmn" for other in "abcdefghijklmn")


def page(title: str, text: str, url: str = ASKED, head: str = "", frame: bool = True) -> PageFacts:
    body = f"<nav>{MENU}</nav><main>{text}</main><footer>{FOOTER}</footer>" if frame else text
    html = f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>"
    return read_page(html.encode(), TYPED, url)


def told(title: str, text: str, asked: str = NONSENSE, url: str | None = None, frame: bool = True) -> Fingerprint:
    return Fingerprint.of_page(page(title, text, url or asked, frame=frame), asked)


HOME_PAGE = told("Shop", STORY, HOME)
LOST = "Sorry, we cannot show you this. Try the search."


def test_page_like_the_answer_to_nonsense_is_none() -> None:
    seen = witness(told("Shop", LOST), HOME_PAGE)
    assert is_soft_404(page("Shop", LOST), ASKED, seen) == "the same page as for a path that does not exist"


def test_short_page_like_the_answer_to_nonsense_that_says_so_is_none() -> None:
    text = "<p>Page not found. It may have moved.</p>"
    seen = witness(told("Shop", text, frame=False), HOME_PAGE)
    assert is_soft_404(page("Shop", text, frame=False), ASKED, seen)
    text += "<div id=root></div>"
    assert not is_soft_404(page("Shop", text, frame=False), ASKED, witness(told("Shop", text, frame=False), HOME_PAGE))


def test_path_repeated_in_the_page_clocks_and_counters_make_no_difference() -> None:
    def text(asked: str, clock: str) -> str:
        path = asked.removeprefix(HOME)
        return f"{LOST} /{path} is not here. You asked for {asked} at {clock}. Search for {path}?"

    seen = witness(told(f"{NONSENSE} - Shop", text(NONSENSE, "10:21")), HOME_PAGE)
    assert is_soft_404(page(f"{ASKED} - Shop", text(ASKED, "11:59")), ASKED, seen)


def test_real_page_of_the_same_template_is_one() -> None:
    seen = witness(told("Shop", LOST), HOME_PAGE)
    assert is_soft_404(page("Shop", STORY), ASKED, seen) is None
    assert (
        is_soft_404(page("Shop", "Red shoes of leather, 49 euros, in five sizes, by mail or in our shop"), ASKED, seen)
        is None
    )


def test_page_with_a_title_of_its_own_is_one() -> None:
    seen = witness(told("Shop", LOST), HOME_PAGE)
    assert is_soft_404(page("Red shoes", LOST), ASKED, seen) is None


def test_site_that_answers_everything_alike_proves_nothing() -> None:
    wall = "Please enable JavaScript"
    for home in (told("App", wall, HOME), None):
        seen = witness(told("App", wall), home)
        assert is_soft_404(page("App", wall), ASKED, seen) is None
        assert is_shell(page("App", wall), ASKED, seen)


def test_login_wall_is_no_witness() -> None:
    login = "https://e.com/login"
    seen = witness(told("Login", "x", url=login), told("Login", "x", HOME, url=login))
    assert is_soft_404(page("Login", "x", login), ASKED, seen) is None
    assert not is_shell(page("Login", "x", login), ASKED, seen)


SPA = '<div id="root"></div><script src=/app.js></script>'
MENU_AND_ROOT = f"<nav>{MENU} {FOOTER}</nav>{SPA}"
FRAMES = {
    "nothing but an element": (SPA, SPA),
    "a menu and an element": (MENU_AND_ROOT, MENU_AND_ROOT),
    "a text while it loads": ('<app-root class="x">Loading ...</app-root>',) * 2,
    "tokens of a session": tuple(
        f"{SPA}<script nonce='{nonce}'>run('{token}')</script>"
        for nonce, token in (("kZx+Tq/abQ==", "4f1ac2d29b"), ("PwLmNo/Q+ab", "93bb01ffa0"))
    ),
    "the path": tuple(f"{SPA}<script>route('{url}')</script>" for url in (NONSENSE, ASKED)),
}
HEADS = {
    "title of its own": ("Red shoes", ""),
    "description of its own": ("App", '<meta name="description" content="Red shoes of leather">'),
    "canonical of its own": ("App", f'<link rel="canonical" href="{ASKED}?v=1">'),
    "Open Graph of its own": ("App", '<meta property="og:title" content="Red shoes">'),
    "JSON-LD of its own": ("App", '<script type="application/ld+json">{"name": "Red shoes"}</script>'),
    "language versions": ("App", '<link rel="alternate" hreflang="de" href="/de/schuhe">'),
}


@pytest.mark.parametrize("server_renders_home", [True, False])
@pytest.mark.parametrize("frame", FRAMES)
def test_page_with_the_markup_of_nonsense_is_a_shell(frame: str, server_renders_home: bool) -> None:
    nonsense, listed = FRAMES[frame]
    home = HOME_PAGE if server_renders_home else told("App", nonsense, HOME, frame=False)
    seen = witness(told("App", nonsense, frame=False), home)
    assert is_soft_404(page("App", listed, frame=False), ASKED, seen) is None
    assert is_shell(page("App", listed, frame=False), ASKED, seen)


@pytest.mark.parametrize("server_renders_home", [True, False])
@pytest.mark.parametrize("head", HEADS)
def test_frame_with_a_head_of_its_own_is_a_page(head: str, server_renders_home: bool) -> None:
    title, more = HEADS[head]
    home = HOME_PAGE if server_renders_home else told("App", MENU_AND_ROOT, HOME, frame=False)
    seen = witness(told("App", MENU_AND_ROOT, frame=False), home)
    listed = page(title, MENU_AND_ROOT, head=more, frame=False)
    assert is_soft_404(listed, ASKED, seen) is None
    assert not is_shell(listed, ASKED, seen)


@pytest.mark.parametrize(
    "listed",
    [
        "Red shoes",
        "Red shoes <div id=root></div>",
        f"{SPA}<script>state = {{name: 'red shoes', made: 'of leather'}}</script>",
    ],
)
def test_page_with_text_or_data_of_its_own_is_no_shell(listed: str) -> None:
    seen = witness(told("App", SPA, frame=False), told("App", SPA, HOME, frame=False))
    assert not is_shell(page("App", listed, frame=False), ASKED, seen)


def test_page_with_noindex_is_no_shell() -> None:
    seen = witness(told("App", SPA, frame=False), HOME_PAGE)
    assert not is_shell(page("App", SPA, head="<meta name=robots content=noindex>", frame=False), ASKED, seen)


def test_shell_of_a_site_that_answers_404_is_unknown_to_us() -> None:
    assert not is_shell(page("App", SPA, frame=False), ASKED, None)


def test_home_page_of_a_site_of_one_page_is_a_page() -> None:
    seen = witness(told("Shop", STORY), told("Shop", STORY, HOME))
    assert not is_shell(page("Shop", STORY, HOME), HOME, seen)
    assert is_shell(page("Shop", STORY), ASKED, seen)
    thin = witness(told("App", SPA, frame=False), told("App", SPA, HOME, frame=False))
    assert is_shell(page("App", SPA, HOME, frame=False), HOME, thin)


def test_empty_frame_that_a_script_may_fill_is_a_page() -> None:
    frame = '<div id="root"></div><noscript>You need JavaScript</noscript><script src=/app.js></script>'
    seen = witness(told("App", frame, frame=False), HOME_PAGE)
    assert seen.nonsense.words < MIN_WORDS
    assert is_soft_404(page("App", frame, frame=False), ASKED, seen) is None


@pytest.mark.parametrize("body", ["", " \n\t", "\ufeff\n"])
def test_page_without_content_is_none(body: str) -> None:
    assert is_soft_404(read_page(body.encode(), TYPED, ASKED), ASKED) == "an answer without content"


BLANK = [
    "<!doctype html>",
    "\0",
    "<html><head><title>Shop</title></head><body></body></html>",
    "<head><title>Shop</title><script type='application/ld+json'>{}</script></head><body><div id=main>&nbsp;</div><!-- x -->",
]
FILLED = [
    "<script src=app.js></script>", "<head><script src=app.js></script></head><body></body>",
    "<body><script src=app.js></script></body>", "<body><img src=map.png></body>",
    "<body><shop-app></shop-app></body>", "<head><meta http-equiv=refresh content='0; url=/new'></head><body></body>",
    " x",
]  # fmt: skip


@pytest.mark.parametrize("body", BLANK)
def test_page_that_shows_nothing_is_none(body: str) -> None:
    assert is_soft_404(read_page(body.encode(), TYPED, ASKED), ASKED) == "an answer without content"


@pytest.mark.parametrize("body", FILLED)
def test_page_with_any_content_is_one(body: str) -> None:
    assert is_soft_404(read_page(body.encode(), TYPED, ASKED), ASKED) is None


def test_body_that_was_not_read_to_its_end_is_not_empty() -> None:
    assert is_soft_404(read_page(b" ", TYPED, ASKED, whole=False), ASKED) is None
    for coding, body in (
        ("gzip", gzip.compress(b"<html><head></head><body>Text" * 99)[:20]),
        ("br", b"\x1b\x03\x00\xf8"),
    ):
        reader = PageReader("text/html", coding)
        reader.feed(body)
        assert is_soft_404(page_of(reader.close(), TYPED, ASKED), ASKED) is None


@pytest.mark.parametrize(
    "gone",
    [
        "This property is no longer available", "Listing expired", "Anzeige nicht mehr verfügbar", "Annonce expirée",
        "This article has been unpublished", "Ten artykuł nie jest już dostępny",
        "Artykuł został wycofany z publikacji", "Αυτό το άρθρο δεν είναι πλέον διαθέσιμο",
        "Esta matéria não está mais disponível", "Este artigo foi removido", "Este artículo ya no está disponible",
        "Эта статья удалена", "Dit product is niet meer leverbaar", "Questo prodotto non è più disponibile",
        "Ten produkt nie jest już dostępny", "Produktet er ikke længere tilgængeligt",
        "Ci dispiace, questo prodotto non è più disponibile", "We're sorry, but this product is no longer available",
        "Es tut uns leid, dieses Produkt ist nicht mehr verfügbar", "Przepraszamy, ten produkt nie jest już dostępny",
    ],
)  # fmt: skip
def test_expired_listing_or_article_with_nothing_else_is_none(gone: str) -> None:
    assert is_soft_404(page("Homes", f"<h1>{gone}</h1><p>Find others.</p>"), ASKED)
    assert is_soft_404(page("Homes", f"<h1>Red house</h1><p>{gone}.</p><p>Find others.</p>"), ASKED)
    assert is_soft_404(page("Homes", f"<h1>Red house</h1><p>{gone}.</p>{STORY}"), ASKED) is None
    assert is_soft_404(page("Homes", f"<h1>{gone}</h1>{STORY}"), ASKED) is None


def test_expired_listing_with_links_to_similar_ones_is_none() -> None:
    others = "".join(
        f"<li><a href=/{name}><h3>{name} house</h3>3 rooms and a garden</a>" for name in STORY.split()[:20]
    )
    similar = f"<section class=related><h2>Similar homes</h2><ul>{others}</ul></section>"
    gone = "<p>This property is no longer available."
    assert is_soft_404(page("Homes", f"<h1>Red house</h1>{gone}{similar}"), ASKED)
    assert is_soft_404(page("Homes", f"<h1>Homes</h1>{similar}{gone}"), ASKED) is None
    assert is_soft_404(page("Homes", f"<h1>Red house</h1>{gone}<p>{STORY}</p>{similar}"), ASKED) is None
    sold = "".join(
        f"<article><a href=/{name}><img src=a><h2>House {name}</h2>{gone}</a></article>" for name in STORY.split()[:20]
    )
    assert (
        is_soft_404(page("Homes", f"<h1>Sold</h1><p>{'We sell houses in the old town. ' * 4}</p>{sold}"), ASKED) is None
    )


def test_title_and_heading_that_say_so_make_up_for_a_list_of_others() -> None:
    gone = "This job is no longer available"
    assert is_soft_404(page(f"{gone} | Jobs", f"<h1>{gone}</h1>{STORY}"), ASKED) == (
        "'This job is no longer available | Jobs', in title and heading"
    )
    assert is_soft_404(page(f"{gone} | Jobs", f"<h1>Baker in Berlin</h1>{STORY}"), ASKED) is None
    assert is_soft_404(page("Film expired | Festival", f"<h1>Film expired</h1>{STORY}"), ASKED) is None


def test_empty_frame_that_says_so_is_none() -> None:
    seen = witness(told("Page not found", "Nothing", frame=False), HOME_PAGE)
    assert is_soft_404(page("Page not found", "Nothing", frame=False), ASKED, seen)


def test_redirect_to_where_nonsense_is_sent_is_none() -> None:
    seen = witness(told("Shop", STORY, url=HOME), HOME_PAGE)
    assert is_soft_404(page("Shop", STORY, HOME), ASKED, seen) == (
        "redirected to https://e.com/, like a path that does not exist"
    )
    assert is_soft_404(page("Shop", STORY, "https://e.com/shoes/red"), ASKED, seen) is None
    assert is_soft_404(page("Shop", STORY, HOME), HOME, seen) is None


def test_other_spelling_of_the_home_page_is_no_soft_404() -> None:
    seen = witness(told("Shop", STORY, url=HOME), told("Shop", STORY, "http://e.com/", HOME))
    for asked in ("http://e.com/", "https://www.e.com", "https://e.com/index.html", "https://e.com/index.php"):
        assert is_soft_404(page("Shop", STORY, HOME), asked, seen) is None
    assert is_soft_404(page("Shop", STORY, HOME), "https://e.com/?p=123", seen)


def test_nonsense_that_is_only_given_a_slash_is_compared_by_its_text() -> None:
    seen = witness(told("Shop", LOST, url=NONSENSE + "/"), HOME_PAGE)
    assert is_soft_404(page("Shop", LOST, ASKED + "/"), ASKED, seen)
    assert is_soft_404(page("Shop", STORY, ASKED + "/"), ASKED, seen) is None


PHP = "<br />\n<b>Fatal error</b>:  Uncaught PDOException: SQLSTATE[HY000] [2002] No such file in /srv/db.php:12 on line <b>12</b>"
TRACE = "Traceback (most recent call last): File 'app.py', line 3, in view " + "x = y + z " * 9
FAILED = [
    "Fatal error", PHP, TRACE, "Error 500", "<h1>500 Internal Server Error</h1>nginx", "<h1>Database connection failed</h1>",
    "<p>Database connection failed: Access denied for user 'shop'@'localhost'</p>", "Could not connect to the database.",
    "<div><h1>Error establishing a database connection</h1></div>", "<h1>503 Service Unavailable</h1>",
    "Fehler beim Aufbau einer Datenbankverbindung", "Erreur lors de la connexion à la base de données",
    "データベース接続確立エラー", "There has been a critical error on this website.",
]  # fmt: skip
EMPTY_LISTS = [
    "<h1>News</h1><p>No posts found.</p>", "<h1>Category: Shoes</h1><p>No products were found matching your selection.</p>",
    "<h1>Archive</h1><p>Nothing found</p>", "<h1>Nothing Found</h1><p>Perhaps searching can help.</p><form>Search</form>",
    "<h2>Archives: May 2019</h2><div class=posts>Sorry, no posts matched your criteria.</div>", "<h1>Blog</h1>Keine Beiträge gefunden.",
    "<h1>Blog</h1><p>Aucun article trouvé</p>", "<h1>Blog</h1><p>No se encontraron entradas.</p>", "<h1>Blog</h1><p>Записей не найдено</p>",
    "<h1>ブログ</h1><p>記事が見つかりませんでした。</p>", "<h1>Blog</h1><p>Nessun articolo trovato</p>", "<h1>博客</h1><p>暂无文章</p>",
    "<h1>Kalender</h1><p>Keine Veranstaltungen gefunden.</p>", "<h1>Events in May</h1><p>There are no upcoming events.</p>",
    "<h1>Coches</h1><p>No se encontraron anuncios.</p>", "<h1>Cars</h1><p>No ads found in this category.</p>", "<h1>Blog</h1><p>Sin resultados</p>",
]  # fmt: skip


@pytest.mark.parametrize("frame", [True, False])
@pytest.mark.parametrize("text", FAILED + EMPTY_LISTS)
def test_error_or_empty_list_with_status_200_is_none(text: str, frame: bool) -> None:
    assert "and nothing else" in str(is_soft_404(page("Shop", text, frame=frame), ASKED))


@pytest.mark.parametrize(
    "text",
    [
        f"<h1>Fatal error</h1><p>{STORY}</p>",
        f"<h1>News</h1><p>{STORY}</p><p>No posts found.</p>",
        "<h1>Fatal error handling in PHP</h1><p>How to catch it.</p>",
        "<h1>How to fix a fatal error</h1><p>Restart.</p>",
        "<h1>Debugging</h1><p>It prints:</p><pre><code>Fatal error: Uncaught Error: x in a.php on line 3</code></pre>",
        "<h1>Red shoes</h1><p>49 euros</p><div hidden>An error occurred.</div><ul style='display: none'><li>No results found</ul>",
        "<h1>No posts about politics</h1><p>We write about shoes.</p>",
        "<h1>Contact</h1><p>Write to us.</p><footer>No posts yet</footer>",
        "<div id=app>Loading ...</div><div id=blazor-error-ui>An unhandled error has occurred. Reload</div>",
        "<template>No posts found.</template><h1>Shoes</h1>",
        "<h1>Egg timer</h1><p>A timer for your kitchen. Free. No ads. No tracking.</p>",
        "<h1>Eieruhr</h1><ul><li>Kostenlos<li>Keine Anzeigen</ul>",
        "<h1>Help</h1><h2>Can't find products?</h2><p>Ask us.</p>",
        "<h1>Safe mail</h1><ul><li>No records<li>No trackers</ul>",
        "<h1>Reloj</h1><ul><li>Rápido<li>Sin anuncios<li>Sin eventos</ul>",
    ],
)
def test_short_page_with_content_of_its_own_is_one(text: str) -> None:
    assert is_soft_404(page("Shop", text), ASKED) is None


@pytest.mark.parametrize("text", FAILED)
def test_error_without_any_html_is_none(text: str) -> None:
    assert "and nothing else" in str(is_soft_404(read_page(text.encode(), TYPED, ASKED), ASKED))


def test_weight_of_a_page_makes_no_difference() -> None:
    weight = f"<style>{'a{}' * 9999}</style><script>{'f();' * 9999}</script><header>{STORY}</header>"
    for text in ("<h1>Shoes</h1>No products found.", "<h1>Page not found</h1><p>Try the search.", PHP):
        assert "and nothing else" in str(is_soft_404(page("Shop", f"{weight}<main>{text}</main>", frame=False), ASKED))
        assert "and nothing else" in str(is_soft_404(page("Shop", f"<form>{weight}{text}</form>", frame=False), ASKED))


def test_phrase_alone_does_not_convict() -> None:
    article = page("Page not found", f"<h1>Page not found</h1>{STORY}")
    assert is_soft_404(article, ASKED) is None
    assert is_soft_404(article, ASKED, witness(told("Shop", LOST), HOME_PAGE)) is None


def test_phrase_on_a_page_that_wants_no_index() -> None:
    found = page("404 Not Found | Shop", STORY, head="<meta name=robots content=noindex>")
    assert is_soft_404(found, ASKED) == "'404 Not Found | Shop', on a noindex page"


def test_phrase_on_a_thin_page() -> None:
    assert is_soft_404(page("Page not found", f"<h1>Oh!</h1>{'Hm ' * 90}"), ASKED)
    assert is_soft_404(page("Page not found", f"<h1>Oh!</h1>{'Hm ' * 100}"), ASKED) is None
    assert is_soft_404(page("Shop", f"<h1>Seite nicht gefunden</h1>{'Hm ' * 40}"), ASKED) == (
        "'Seite nicht gefunden', and nothing else: 43 words"
    )


def test_page_whose_text_was_not_read_is_not_thin() -> None:
    body = b"<head><title>Page not found</title></head><p>"
    cut = read_page(body, {}, ASKED, whole=False)
    assert cut.complete
    assert is_soft_404(cut, ASKED) is None


def test_phrase_on_a_page_much_like_the_witness() -> None:
    filler = " ".join(STORY.split()[:60])
    seen = witness(told("Page not found", f"{LOST} {filler}"), HOME_PAGE)
    found = page("Product not found", f"{LOST} {filler} But these may please you: hats, gloves and scarves of wool")
    assert "much like" in str(is_soft_404(found, ASKED, seen))


def test_nonsense_is_beside_the_url_and_the_same_for_a_seed() -> None:
    url = nonsense_url("https://e.com/blog/post?x=1", "7")
    assert url == nonsense_url("https://e.com/blog/post?x=1", "7") != nonsense_url("https://e.com/blog/post?x=1", "8")
    assert url.startswith("https://e.com/blog/")
    assert url.removeprefix("https://e.com/blog/").isalpha()
    assert urls.is_web(url)


@given(st.text(), st.text(), st.text(), st.text())
def test_nothing_raises(title: str, text: str, asked: str, url: str) -> None:
    found = page(title, text, url)
    for seen in (
        None,
        witness(Fingerprint.of_page(found, asked), None),
        witness(told(title, text, asked, url), HOME_PAGE),
    ):
        reason = is_soft_404(found, asked, seen)
        assert reason is None or reason
        assert is_shell(found, asked, seen) in (True, False)


@given(st.text(min_size=1))
def test_page_is_like_itself(text: str) -> None:
    one = told("Shop", text)
    assert one.likeness(one) == 1.0
