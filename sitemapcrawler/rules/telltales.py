"""Words in URLs that tell what a URL stands for: no page of content, an asset, a placeholder, a tracking parameter.

One search over a batch of URLs finds those that have any of them (`find_telling`); the rules in `loc_content.py` look
at these alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any
from urllib.parse import quote

try:
    re2: Any = import_module("re2")
except ImportError:
    re2 = None

UTILITY_PAGES = {
    "an error page": (
        "404", "404-error", "404-not-found", "404-page", "error-404", "error404", "page-not-found", "pagenotfound",
        "not-found", "seite-nicht-gefunden", "page-introuvable", "pagina-no-encontrada", "pagina-niet-gevonden",
    ),
    "a login page": (
        "login", "log-in", "logon", "signin", "sign-in", "sign_in", "logout", "log-out", "signout", "sign-out",
        "wp-login", "einloggen", "abmelden", "connexion", "iniciar-sesion", "cerrar-sesion", "inloggen", "logowanie",
        "zaloguj", "logga-in", "prihlaseni", "bejelentkezes", "kirjaudu", "giris-yap", "lost-password",
        "forgot-password", "reset-password", "password-reset", "passwort-vergessen", "mot-de-passe-oublie", "вход",
        "ログイン",
    ),
    "an administration page": ("admin", "administrator", "wp-admin", "cpanel", "phpmyadmin"),
    "an account page": (
        "my-account", "myaccount", "mein-konto", "mon-compte", "mi-cuenta", "il-mio-account", "mijn-account",
        "minha-conta", "moje-konto", "mitt-konto", "личный-кабинет",
    ),
    "a shopping cart": (
        "cart", "shopping-cart", "shopping_cart", "shoppingcart", "warenkorb", "panier", "carrito",
        "carrito-de-compras", "carrello", "carrinho", "winkelwagen", "winkelmandje", "koszyk", "kosik", "kosar",
        "varukorg", "handlekurv", "indkobskurv", "ostoskori", "sepet", "sepetim", "cos-de-cumparaturi", "корзина",
        "カート", "购物车",
    ),
    "a checkout page": (
        "checkout", "check-out", "kasse", "zur-kasse", "finalizar-compra", "finalizar-pedido", "afrekenen",
        "valider-la-commande", "passer-commande", "order-confirmation", "order-complete", "order-received",
        "order-success", "bestellbestaetigung", "confirmation-commande", "оформление-заказа",
    ),
    "a page of search results": (
        "search", "search-results", "searchresults", "search-result", "suche", "suchergebnisse", "suchergebnis",
        "resultats-de-recherche", "buscar", "resultados-de-busqueda", "risultati-ricerca", "zoeken", "zoekresultaten",
        "wyszukiwarka", "szukaj", "vyhledavani", "поиск", "検索",
    ),
    "a thank-you page": (
        "thank-you", "thankyou", "thank_you", "thank-you-page", "vielen-dank", "danke", "dankeschoen",
        "merci-pour-votre-commande", "page-de-remerciement", "gracias", "obrigado", "bedankt", "dziekujemy", "spasibo",
        "спасибо",
    ),
}  # fmt: skip
"""What such a page is -> names of its last segment, in lower case. Words that name other pages as well are left out:
French `recherche` and Italian `ricerca` are research too, `basket` is a sport, `merci` is a brand."""
KINDS = {name: kind for kind, names in UTILITY_PAGES.items() for name in names}
"""Name of a segment -> what the page is."""
CONTAINERS = frozenset((
    "account", "accounts", "auth", "checkout", "customer", "customers", "error", "errors", "index.php", "member",
    "members", "onepage", "page", "pages", "shop", "site", "store", "user", "users", "web", "webshop",
    "my-account", "wordpress",
))  # fmt: skip
"""Segments that may stand in front of such a name, beside language codes. `/docs/api/login` is a page of content."""
PAGE_EXTENSIONS = ("html", "htm", "php", "aspx", "asp", "jsp", "xhtml", "shtml", "cfm")
"""Extensions of pages."""
ASSETS = ("css", "map", "json", "mjs", "scss", "less", "woff", "woff2", "ttf", "otf", "eot", "ico", "wasm", "xsl")
"""Extensions of files that belong to pages and are none. Documents, pictures and archives are indexed, or are names of
pages, such as `File:Map.png`."""
EMPTY_VALUES = ("undefined", "null", "NULL", "None", "NaN", "(null)")
"""What programs write for a value that is missing: JavaScript, PHP and SQL, Python, Objective-C."""
MARKS = re.compile(
    r"(?:\{\{|%7B%7B|\$\{|(?:\$|%24)%7B|\{%|%7B%25|<%|%3C%25|(?:\[|%5B)(?-i:object)(?:%20|\+|\s)(?-i:[A-Z])\w{0,40}(?=\]|%5D)"
    r"|(?<=/)%7B(?=[a-z_]{2,30}%7D(?:/|\Z)))[^/?#&]{0,40}",
    re.IGNORECASE,
)
"""A placeholder of a template language, or a JavaScript object written as text."""
TRACKING = re.compile(
    r"utm_[a-z_]+|mtm_[a-z_]+|pk_(?:campaign|kwd|source|medium)|[gdyw]clid|fbclid|ttclid|twclid|msclkid|gclsrc|[gw]braid"
    r"|mc_[ce]id|igsh(?:id)?|srsltid|_hsenc|_hsmi|mkt_tok|li_fat_id|_g[al]|vero_id",
    re.IGNORECASE,
)
"""Names of parameters that only say which advertisement or mail a visitor came from."""
CAMPAIGNS = (
    r"utm_|mtm_|pk_|[gdyw]clid=|fbclid=|ttclid=|twclid=|msclkid=|gclsrc=|[gw]braid=|mc_[ce]id=|igsh|srsltid=|_hs|mkt_tok="
    r"|li_fat_id=|_g[al]=|vero_id="
)
"""How the names of `TRACKING` begin."""


def _telling() -> Any:
    """The search for lines of text, one URL each, that have any of the above; it finds some others too."""
    names = "|".join(re.escape(form) for name in sorted(KINDS) for form in dict.fromkeys((name, quote(name))))
    empty = "|".join(re.escape(form) for word in EMPTY_VALUES for form in dict.fromkeys((word, quote(word))))
    parts = (
        r"[^:\n?]//",
        rf"/(?i:{names})(?:\.(?i:{'|'.join(PAGE_EXTENSIONS)}))?/?[?\n]",
        r"/wp-admin/",
        rf"\.(?i:{'|'.join(ASSETS)}|js)[?\n]",
        rf"[/=](?:{empty})[/.?&\n]",
        r"(?i:\{\{|%7B%7B|\$\{|(?:\$|%24)%7B|\{%|%7B%25|<%|%3C%25|(?:\[|%5B)object|/%7B[a-z_])",
        rf"[?&;](?i:{CAMPAIGNS})",
    )
    expression = "|".join(parts).encode()
    if re2 is None:
        return re.compile(expression).finditer
    options = re2.Options()
    options.encoding = options.Encoding.LATIN1
    return re2.compile(expression, options).finditer


_SEARCH = _telling()


def find_telling(urls: Sequence[str]) -> set[str]:
    """Those of the URLs that the rules in `loc_content.py` may name; empty for nearly all batches."""
    text = ("\n".join(urls) + "\n").encode("utf-8", "surrogatepass")
    found, end = set(), 0
    for match in _SEARCH(text):
        if match.start() < end:
            continue  # the line is found already: copying it for every match takes quadratic time
        start = text.rfind(b"\n", 0, match.start()) + 1
        end = text.index(b"\n", match.start() + 1)
        found.add(text[start:end].decode("utf-8", "surrogatepass"))
    return found
