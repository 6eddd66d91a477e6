"""Made pairs of page versions: the same content in another frame, or a changed content.

Eighteen templates of different kinds and languages. `KEPT` and `FRESH` were written apart from the extraction and scored
once, before their faults were corrected (`bench/README.md`). They are known now: another honest measurement needs new
templates. So are the pages after real themes in `tests/data/themes`, which mark what changes:
`[[n NAME]]before[[|]]after[[/]]` without the content, `[[e NAME]]` with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

Draw = Callable[[Random, int], str]
"""Makes a sentence of so many words."""


def _language(text: str, blank: str = " ", stop: str = ".") -> Draw:
    words = text.split()
    return lambda random, number: blank.join(random.choices(words, k=number)).capitalize() + stop


ENGLISH = _language(
    "the a of harbour council engineers found bridge repair after winter storm budget river traffic school library meeting new old"
    " minister said that because plan workers public open closed road north station fund report water local market garden"
)
GERMAN = _language(
    "die der das Wohnung Küche Zimmer hell ruhig Lage Balkon Garten nahe Bahnhof Schule neu saniert mit und ohne Keller Heizung"
    " Fenster Boden Eiche Platz Familie Stadt Haus Miete Bezug sofort frei Stellplatz"
)
FRENCH = _language(
    "la le une farine beurre sucre pâte four minutes laisser reposer mélanger doucement crème œuf sel poivre tarte pommes"
    " découper verser moule chaud froid servir avec sans puis ensuite lait vanille"
)
SPANISH = _language(
    "la el una camisa algodón lino color azul rojo talla corte moderno verano fresco lavar máquina bolsillo cuello botones"
    " hecho mano calidad tela suave ligera oficina fiesta"
)
RUSSIAN = _language(
    "двигатель масло замена фильтр проблема решение машина завод насос давление датчик ошибка провод сервис мастер деталь"
    " после перед зимой летом новый старый проверил помогло"
)
PORTUGUESE = _language(
    "o a de prefeitura obra rua chuva escola hospital governo projeto novo antigo equipe jogo bairro praia domingo"
    " segunda moradores disse que porque verba reforma ponte rio mercado feira"
)
KOREAN = _language(
    "여행 맛집 커피 사진 오늘 정말 좋은 시간 바다 산 기차 버스 숙소 아침 저녁 추천하는 가게 메뉴 가격 친구와 함께 걸었다 먹었다 갔다"
)
TURKISH = _language(
    "araba motor temiz az kullanılmış bakımlı garajda lastik yeni boya orijinal klima deri koltuk otomatik dizel benzin"
    " kilometre sahibinden acil takas olur fiyat son"
)
POLISH = _language(
    "plik serwer konfiguracja polecenie uruchom pakiet wersja moduł funkcja zwraca błąd parametr wartość domyślna lista"
    " klucz sieć dane tabela indeks zapis odczyt proces wątek pamięć"
)
CHINESE = _language(
    "政府 宣布 新的 计划 经济 增长 城市 建设 交通 教育 学校 学生 科学 研究 医院 健康 环境 保护 水资源 农业 发展 会议",
    "",
    "。",
)
JAPANESE = _language(
    "材料 を 切って 鍋 に 入れ 中火 で 煮る 醤油 砂糖 みりん 野菜 肉 魚 ご飯 味 が しみる まで 待つ 美味しい 簡単 料理",
    "",
    "。",
)
THAI = _language(
    "บ้าน สวย ใกล้ ทะเล ห้องนอน ห้องน้ำ ครัว ใหญ่ สวน ที่จอดรถ เงียบ ตลาด โรงเรียน ราคา พิเศษ ใหม่ ถนน เมือง วิว ภูเขา", "", " "
)
ARABIC = _language(
    "المدينة القديمة سوق كبير تاريخ البحر سفر رحلة فندق جميل طعام لذيذ شارع ليل نهار صيف شتاء جبل طريق مسجد حديقة متحف"
)


@dataclass(frozen=True)
class Page:
    """Content of a page."""

    title: str
    paragraphs: tuple[str, ...]
    price: float
    stock: int


@dataclass(frozen=True)
class Frame:
    """All else: what differs from one answer to the next."""

    random: Random = field(compare=False)
    draw: Draw
    year: int
    count: int
    minutes: int
    token: str
    links: tuple[str, ...]
    related: tuple[str, ...]
    comments: tuple[str, ...]
    ad: str

    def each(self, template: str, texts: tuple[str, ...]) -> str:
        return "".join(template.replace("%", text) for text in texts)


Template = Callable[[Page, Frame], str]


# Kept: written before the rules.


def english_news(page: Page, frame: Frame) -> str:
    body = frame.each("<p>%</p>", page.paragraphs)
    return f"""<!doctype html><html lang=en><body class="article has-sidebar"><a href=#c class="skip-link">Skip to content</a>
    <div id=top-leaderboard class="ad-slot ad-slot--top">{frame.ad}</div>
    <header class=global-header><nav><ul>{frame.each('<li><a href="/%">%</a></li>', frame.links)}</ul></nav>
    <span class=date-today>Friday, 27 November {frame.year}</span></header>
    <main><article><header><h1>{page.title}</h1><p class=byline>By Ann Lee</p>
    <time datetime="2026-03-01T10:00Z">{frame.minutes} minutes ago</time></header>{body}
    <aside class="newsletter-signup"><p>{frame.ad}</p></aside>
    <div class=share-tools><span>{frame.count} shares</span></div></article>
    <section aria-labelledby=r><h2 id=r>Related stories</h2><ul>{frame.each("<li><a href=#>%</a><p>%</p></li>", frame.related)}</ul>
    </section><section id=comments><h2>{len(frame.comments)} comments</h2>{frame.each("<div><p>%</p></div>", frame.comments)}</section>
    </main><footer><p>© 2001-{frame.year} The Daily. {frame.token}</p></footer></body></html>"""


def chinese_shop(page: Page, frame: Frame) -> str:
    return f"""<html lang=zh><body><div class=top-bar>{frame.each('<a href="/%">%</a>', frame.links)}<em>购物车 {frame.minutes}</em></div>
    <div class=crumb-wrap><div class=breadcrumb>{frame.links[0]}</div></div>
    <div class=product-intro><h1 class=sku-name>{page.title}</h1><div class=summary-price>¥{page.price:.2f}</div>
    <div class=store>库存 {page.stock} 件</div><p>累计评论 {frame.count}</p><p>{frame.minutes}人正在浏览</p>
    <input type=hidden name=token value={frame.token}><button>加入购物车</button></div>
    <div class=detail>{frame.each("<div>%</div>", page.paragraphs)}</div>
    <div class="m m-recommend"><h3>猜你喜欢</h3>{frame.each("<div class=item>%</div>", frame.related)}</div>
    <div id=comment class=comments-list>{frame.each("<div class=comment-item>%</div>", frame.comments)}</div>
    <div class=footer>Copyright © 2004-{frame.year} 版权所有</div></body></html>"""


def thai_property(page: Page, frame: Frame) -> str:
    return f"""<html lang=th><body><div id=__next><div class=Navbar_root__x1>{frame.each('<a href="/%">%</a>', frame.links)}</div>
    <div class=Layout_withSidebar__9a><section class=Listing_main__2b><h1>{page.title}</h1><p>฿{page.price * 1000:,.0f}</p>
    {frame.each("<p>%</p>", page.paragraphs)}<p>เข้าชม {frame.count:,} ครั้ง</p><span>{frame.minutes} นาทีที่แล้ว</span></section>
    <div class=Similar_recommendations__7c>{frame.each("<a href=#><h3>%</h3><b>฿9,000</b></a>", frame.related)}</div></div>
    <div class=CookieConsent_box style="display: none">{frame.ad}</div>
    <div class=Footer_root__4>สงวนลิขสิทธิ์ © {frame.year} Baan.example</div></div></body></html>"""


def german_forum(page: Page, frame: Frame) -> str:
    posts = frame.each(
        f"<div class=post><b>hans</b> <i>vor {frame.minutes} Stunden</i><div class=text>%</div></div>", page.paragraphs
    )
    return f"""<html lang=de><body id=forum><table class=head><tr>{frame.each('<td><a href="/%">%</a></td>', frame.links)}</tr></table>
    <div id=wrap><h2 class=thread-title>{page.title}</h2><p>Aufrufe: {frame.count}</p>{posts}
    <form action=/antwort><textarea></textarea><input value={frame.token}></form>
    <div class=online-users>Aktuell sind {frame.minutes} Besucher online</div>
    <div class=werbung>{frame.ad}</div></div>
    <p>Seite generiert in 0.{frame.count} Sekunden. Copyright 2009 - {frame.year} Forum GmbH</p></body></html>"""


def french_recipe(page: Page, frame: Frame) -> str:
    return f"""<html lang=fr><body class="single recette-template tag-cookies"><div id=cookie-banner>{frame.ad}</div>
    <div class=site><div role=banner>{frame.each('<a href="/%">%</a>', frame.links)}</div>
    <main id=main class="with-sidebar widget-area-right"><div class=recipe><h1>{page.title}</h1>
    <p class=views>{frame.count} vues · {frame.minutes} commentaires</p><ol>{frame.each("<li>%</li>", page.paragraphs)}</ol>
    <p>Pour 4 personnes : {page.price:.2f} € par part</p><p>Dernière mise à jour le 27/11/{frame.year} à 10:{frame.minutes:02}</p>
    <div class=pub-ads-300>{frame.ad}</div></div><div class=bloc><h3>Vous aimerez aussi</h3>
    {frame.each("<div><a href=#>%</a></div>", frame.related)}</div>
    <div id=commentaires><h3>Commentaires</h3>{frame.each("<p>%</p>", frame.comments)}</div></main>
    <aside>{frame.each("<p>%</p>", frame.related)}</aside><footer>© {frame.year} Cuisine</footer></div></body></html>"""


def arabic_blog(page: Page, frame: Frame) -> str:
    return f"""<html lang=ar dir=rtl><body><div class=header-wrap><ul class=main-menu>{frame.each('<li><a href="/%">%</a></li>', frame.links)}
    </ul></div><div class=post-outer><h1 class=post-title>{page.title}</h1><div class=post-info><span>منذ {frame.minutes} دقيقة</span>
    <span>{frame.count} مشاهدة</span></div><div class=post-body>{frame.each("<p>%</p>", page.paragraphs)}</div>
    <div class=social-share>{frame.count}</div></div><div class=related-posts><h3>مقالات ذات صلة</h3>
    {frame.each("<p>%</p>", frame.related)}</div><div id=comments-block>{frame.each("<p>%</p>", frame.comments)}</div>
    <div class=sidebar-wrapper><div class=popular-posts>{frame.each("<p>%</p>", frame.related)}</div></div>
    <div class=copyright>جميع الحقوق محفوظة © {frame.year}</div><script>var s="{frame.token}"</script></body></html>"""


# Tuned: the rules were written with them.


def english_blog(page: Page, frame: Frame) -> str:
    return f"""<html lang=en><body class="post-template single has-sidebar tag-ads"><div id=page class=site>
    <header id=masthead class=site-header><nav>{frame.each('<a href="/%">%</a>', frame.links)}</nav></header>
    <div id=content class="site-content with-sidebar"><main><article class="post hentry category-comments"><header class=entry-header>
    <h1 class=entry-title>{page.title}</h1><div class=entry-meta>Posted {frame.minutes} days ago, {frame.count} views</div></header>
    <div class=entry-content>{frame.each("<p>%</p>", page.paragraphs)}<p>Page generated in 0.{frame.count} seconds</p>
    <div class=sharedaddy>{frame.count} likes</div></div><footer class=entry-footer>{frame.links[0]}</footer></article>
    <div id=comments>{frame.each("<article class=comment><p>%</p></article>", frame.comments)}</div></main>
    <aside class=widget-area><section class="widget widget_text">{frame.ad}</section></aside></div>
    <footer>© {frame.year} Blog {frame.token}</footer></div></body></html>"""


def spanish_shop(page: Page, frame: Frame) -> str:
    return f"""<html lang=es><body class="product-page no-sidebar"><div class=topbar>{frame.each('<a href="/%">%</a>', frame.links)}</div>
    <div id=cart-drawer>Carrito ({frame.minutes})</div><form id=aspnet><div class=container><h1>{page.title}</h1>
    <p class=price>{page.price:.2f} €</p><p class=stock>Quedan {page.stock}</p><p>{frame.minutes} personas están viendo este producto</p>
    <p>Referencia de sesión {frame.token}</p><div class=tabs>{frame.each("<div class=tab>%</div>", page.paragraphs)}</div>
    <select><option>{frame.minutes}</option></select><p>{frame.count} opiniones</p></div>
    <div class=product-carousel><h2>Productos relacionados</h2>{frame.each("<div>% <b>9,99 €</b></div>", frame.related)}</div></form>
    <div class=pie>Copyright {frame.year} Tienda. Todos los derechos reservados.</div></body></html>"""


def russian_forum(page: Page, frame: Frame) -> str:
    return f"""<html lang=ru><body><div id=wrapper><div class=navbar>{frame.each('<a href="/%">%</a>', frame.links)}</div><div role=main>
    <h1>{page.title}</h1><p>Просмотров: {frame.count}</p>{frame.each(f"<div class=message><p>{frame.minutes} минут назад</p>%</div>", page.paragraphs)}
    <div class=similar><h4>Похожие темы</h4><ul>{frame.each("<li>%</li>", frame.related)}</ul></div></div>
    <div>Сейчас {frame.minutes} пользователей онлайн</div><p>© {frame.year}</p></div></body></html>"""


def chinese_news(page: Page, frame: Frame) -> str:
    return f"""<html lang=zh><body><div class=nav-box>{frame.each('<a href="/%">%</a>', frame.links)}</div><div class=main-left>
    <h1>{page.title}</h1><p class=source>2026-05-05 10:22:{frame.minutes:02} 阅读 {frame.count}</p>
    <div id=artibody>{frame.each("<p>%</p>", page.paragraphs)}</div></div><div class=side><h3>热门新闻</h3>
    {frame.each("<p>%</p>", frame.related)}</div><div class=bottom>Copyright © 1996-{frame.year} 版权所有</div></body></html>"""


def japanese_recipe(page: Page, frame: Frame) -> str:
    return f"""<html lang=ja><body><header><h1 class=logo>毎日の料理</h1></header><div class=gnav><ul>
    {frame.each('<li><a href="/%">%</a></li>', frame.links)}</ul></div><main><h2>{page.title}</h2>
    <p>{frame.minutes}分前 · 閲覧数 {frame.count}</p><ol>{frame.each("<li>%</li>", page.paragraphs)}</ol>
    <ins class=adsbygoogle>{frame.ad}</ins><section class=recommend><h2>おすすめ</h2>{frame.each("<p>%</p>", frame.related)}</section>
    </main><footer>© {frame.year}</footer></body></html>"""


def german_landing(page: Page, frame: Frame) -> str:
    return f"""<html lang=de><body><div><div><div>{frame.each('<div><a href="/%">%</a></div>', frame.links)}</div></div>
    <div><div>{page.title}</div>{frame.each("<div><div>%</div></div>", page.paragraphs)}<div>ab {page.price:.2f} €</div></div>
    <div hidden>{frame.ad}</div><div aria-hidden=true>{frame.ad}</div><div>Stand: Uhr 12:{frame.minutes:02}:07</div>
    <div>© 2010–{frame.year} Firma GmbH</div></div></body></html>"""


# Fresh: written before the faults that the kept ones showed were corrected.


def portuguese_portal(page: Page, frame: Frame) -> str:
    return f"""<html lang=pt><body class="page layout-2col"><div class="hat"><span>Olá, visitante</span>
    {frame.each('<a class=hat__item href="/%">%</a>', frame.links)}</div><div class="c-wrap"><div class="c-body" data-id={frame.token}>
    <h1>{page.title}</h1><div class="c-author">Por Redação</div><p class="c-upd">Atualizado há {frame.minutes} minutos</p>
    {frame.each("<p class=c-p>%</p>", page.paragraphs)}<p>{frame.count} visualizações</p></div>
    <div class="c-more"><h2>Leia também</h2>{frame.each("<article><h3><a href=#>%</a></h3></article>", frame.related)}</div>
    <div class="c-talk"><h2>Comentários ({frame.count})</h2>{frame.each("<blockquote>%</blockquote>", frame.comments)}</div></div>
    <div class="publicidade">{frame.ad}</div><div class="base">© 2015-{frame.year} Portal</div></body></html>"""


def korean_blog(page: Page, frame: Frame) -> str:
    return f"""<html lang=ko><body><div id=dkWrap><div id=dkHead>{frame.each('<a href="/%">%</a>', frame.links)}</div><div id=cMain>
    <div class="hgroup"><h1>{page.title}</h1><span>조회수 {frame.count}</span> <span>{frame.minutes}분 전</span></div>
    <div class="article-view">{frame.each("<p>%</p>", page.paragraphs)}</div><div class="btn-like">공감 {frame.count}</div>
    <div class="another_category"><h4>관련 글</h4><table>{frame.each("<tr><th><a href=#>%</a></th><td>2026.05.05</td></tr>", frame.related)}
    </table></div><div class="comment_list">{frame.each("<div>%</div>", frame.comments)}</div></div>
    <div class="aside_visit">오늘 방문자 {frame.count} 전체 {frame.count * 9}</div><div id=foot>© {frame.year} 블로그</div></div></body></html>"""


def turkish_listing(page: Page, frame: Frame) -> str:
    return f"""<html lang=tr><body><header><nav>{frame.each('<a href="/%">%</a>', frame.links)}</nav></header><div class="classified">
    <h1>{page.title}</h1><h3>{page.price:.2f} TL</h3><ul><li>İlan No {round(page.price * 7919)}</li><li>Stok {page.stock}</li></ul>
    {frame.each("<div class=classifiedDescription>%</div>", page.paragraphs)}<p>{frame.count} görüntülenme</p>
    <p>{frame.minutes} kişi şu anda bakıyor</p></div><section><h2>Benzer ilanlar</h2>{frame.each("<div>% 99 TL</div>", frame.related)}
    </section><div class="reklam">{frame.ad}</div><div id=modalKvkk class=modal>{frame.ad}</div>
    <footer>Copyright © 2000-{frame.year} Tüm hakları saklıdır. {frame.token}</footer></body></html>"""


def polish_docs(page: Page, frame: Frame) -> str:
    return f"""<html lang=pl><body><div class="wy-grid"><div class="wy-nav-side">{frame.each('<li><a href="/%">%</a>', frame.links)}</div>
    <section class="wy-nav-content-wrap"><div role="main" class="document"><h1>{page.title}</h1>{frame.each("<p>%</p>", page.paragraphs)}
    <div class="admonition note"><p>Wersja {page.stock}.0</p></div><table><tr><td>Cena</td><td>{page.price:.2f} zł</td></tr></table>
    <p>Ostatnia aktualizacja: {frame.minutes % 28 + 1} listopada {frame.year}</p></div>
    <div role="contentinfo">© Prawa autorskie {frame.year}. Kompilacja {frame.token}</div>
    <div class="ethical-ads">{frame.ad}</div></section></div><p>Wygenerowano w 0.{frame.count} s</p></body></html>"""


# Short: an article of one paragraph beside teasers that no name or heading tells.


def spanish_news(page: Page, frame: Frame) -> str:
    return f"""<html lang=es><body><header>{frame.each('<a href="/%">%</a>', frame.links)}</header><main><article class=full>
    <header><h1>{page.title}</h1></header>{frame.each("<p>%</p>", page.paragraphs)}</article>
    {frame.each("<article class=tile><h3><a href=/n>%</a></h3><p>%</p></article>", frame.related)}</main>
    <footer>© {frame.year} Diario</footer></body></html>"""


def japanese_event(page: Page, frame: Frame) -> str:
    return f"""<html lang=ja><body><div class=top>{frame.each('<a href="/%">%</a>', frame.links)}</div><div class=event>
    <h1>{page.title}</h1><div class=fee>{page.price:.2f} 円</div>{frame.each("<div>%</div>", page.paragraphs)}</div>
    <div class=nearby><div>近くのイベント</div>{frame.each("<div><a href=/e><b>%</b></a><span>%</span></div>", frame.related)}</div>
    <ul>{frame.each("<li><a href=/r>%</a></li>", frame.related)}</ul><div>Copyright {frame.year}</div></body></html>"""


KEPT: dict[Template, Draw] = {
    english_news: ENGLISH, chinese_shop: CHINESE, thai_property: THAI, german_forum: GERMAN, french_recipe: FRENCH,
    arabic_blog: ARABIC,
}  # fmt: skip
TUNED: dict[Template, Draw] = {
    english_blog: ENGLISH, spanish_shop: SPANISH, russian_forum: RUSSIAN, chinese_news: CHINESE, japanese_recipe: JAPANESE,
    german_landing: GERMAN,
}  # fmt: skip
FRESH: dict[Template, Draw] = {
    portuguese_portal: PORTUGUESE, korean_blog: KOREAN, turkish_listing: TURKISH, polish_docs: POLISH,
}  # fmt: skip
SHORT: dict[Template, Draw] = {spanish_news: SPANISH, japanese_event: JAPANESE}
PRICED = frozenset(
    (
        chinese_shop, thai_property, french_recipe, spanish_shop, german_landing, turkish_listing, polish_docs,
        japanese_event,
    )
)  # fmt: skip
"""Templates that show the price."""


def texts(random: Random, draw: Draw, number: int, words: int) -> tuple[str, ...]:
    return tuple(draw(random, random.randint(max(1, words // 2), words)) for _ in range(number))


def new_page(random: Random, draw: Draw, paragraphs: int | None = None) -> Page:
    number = paragraphs or random.randint(3, 10)
    return Page(
        draw(random, 5)[:-1], texts(random, draw, number, 40), random.randint(500, 90_000) / 100, random.randint(1, 9)
    )


def new_frame(random: Random, draw: Draw) -> Frame:
    return Frame(
        random, draw, 2025, random.randint(100, 99_999), random.randint(2, 50), f"{random.getrandbits(128):032x}",
        texts(random, draw, 8, 2), texts(random, draw, 4, 8), texts(random, draw, random.randint(0, 4), 15),
        draw(random, 8),
    )  # fmt: skip


def other_frame(frame: Frame) -> Frame:
    """Return the frame of a later answer: other year, counters, tokens, advertisements, related pages and comments."""
    random, draw = frame.random, frame.draw
    return replace(
        frame, year=2026, count=frame.count + random.randint(1, 900), minutes=random.randint(2, 50),
        token=f"{random.getrandbits(128):032x}", links=tuple(random.sample(frame.links, len(frame.links))),
        related=tuple(random.sample((*frame.related[1:], draw(random, 6)), len(frame.related))),
        comments=(*frame.comments, draw(random, 12)), ad=draw(random, 9),
    )  # fmt: skip


def edited(page: Page, random: Random, draw: Draw, priced: bool) -> Page:
    """Return a page with an edited sentence, a new or lost paragraph, another title or another price."""
    lines = list(page.paragraphs)
    at = random.randrange(len(lines))
    kind = random.choice(("word", "sentence", "paragraph", "lost", "title", *(("price",) if priced else ())))
    if kind == "price":
        return replace(page, price=round(page.price * random.choice((0.8, 0.9, 1.1)), 2))
    if kind == "title":
        return replace(page, title=draw(random, 6)[:-1])
    if kind == "word":
        lines[at] = draw(random, 1)[:-1] + lines[at]
    elif kind == "sentence":
        lines[at] += draw(random, 12)
    elif kind == "paragraph":
        lines.insert(at, draw(random, 30))
    else:
        del lines[at]
    return replace(page, paragraphs=tuple(lines))


def pairs(templates: dict[Template, Draw], number: int, seed: int) -> Iterator[tuple[str, str, str, bool]]:
    """Yield the template's name, markup before, markup after, and whether the content changed; one half did."""
    random = Random(seed)
    for index in range(number):
        template, draw = list(templates.items())[index // 2 % len(templates)]
        page, frame = new_page(random, draw, 1 if templates is SHORT else None), new_frame(random, draw)
        changed = index % 2 == 1
        after = edited(page, random, draw, template in PRICED) if changed else page
        yield template.__name__, template(page, frame), template(after, other_frame(frame)), changed


THEMES = Path(__file__).parent / "data" / "themes"
_CHANGE = re.compile(r"\[\[([ne]) ([\w-]+)\]\](.*?)\[\[\|\]\](.*?)\[\[/\]\]", re.DOTALL)


def themes() -> Iterator[tuple[str, str, str, bool]]:
    """Yield theme and name of a change, markup before, markup after, and whether the content changed."""
    for path in sorted(THEMES.glob("*.html")):
        text = path.read_text("utf-8")
        before = _CHANGE.sub(r"\3", text)
        for change in _CHANGE.finditer(text):
            kind, name, _, after = change.groups()
            changed = _CHANGE.sub(r"\3", text[: change.start()]) + after + _CHANGE.sub(r"\3", text[change.end() :])
            yield f"{path.stem} {name}", before, changed, kind == "e"
