"""Words by which parts, numbers and headings are recognised that are not the content of a page."""

# ruff: noqa: RUF001 - letters of other scripts look like Latin ones

from __future__ import annotations

from unicodedata import normalize


def _words(text: str) -> frozenset[str]:
    return frozenset(normalize("NFKC", text).split())


def _phrases(text: str) -> tuple[str, ...]:
    return tuple(" ".join(phrase.split()) for phrase in normalize("NFKC", text).split(";"))


NOISE = _words(
    """
    publicidade advertentie annons annonse mainos hirdetes inzerce reklamy iklan quangcao koukoku guanggao
    visit visitor counter pageview
    ad ads adsense adslot adbox adunit adwrapper adcontainer adbanner advert adverts advertisement advertisements
    advertising advertorial adsbygoogle sponsored sponsor sponsors anzeige anzeigen werbung publicidad publicite
    pubblicita reklama reklam breadcrumb breadcrumbs navbar navigation nav subnav topbar toolbar masthead pagination
    pager paginator skiplink comment comments commentlist respond disqus kommentar kommentare commentaire
    commentaires comentario comentarios commento commenti komentarz komentarze related relatedposts recommended
    recommendation recommendations recommend popular trending upsell upsells crosssell crosssells sells recently
    viewed teaserlist readmore share sharing sharer sharebar sharedaddy sharethis addtoany addthis social socials
    sidebar widget widgets newsletter subscribe signup popup modal overlay lightbox toast tooltip snackbar cookie
    cookies cookiebar cookiebanner consent gdpr ccpa onetrust cookiebot promo promos promotion promotions copyright
    colophon footer cart minicart wishlist login signin timestamp timeago viewcount visitors watching ticker clock
    countdown whosonline debug profiler csrf random sr visuallyhidden offscreen
    """
)
"""Words in class names and ids of parts that are not content, in lower case."""
UNITS = _words(
    """
    s sec secs second seconds min mins minute minutes h hr hrs hour hours d day days week weeks month months year
    years sekunde sekunden minuten stunde stunden tag tagen woche wochen monat monaten jahr jahren seconde secondes
    heure heures jour jours semaine semaines mois an ans segundo segundos minuto minutos hora horas día días dia
    dias semana semanas mes meses mês año años ano anos secondo secondi minuti ora ore giorno giorni settimana
    settimane mese mesi anno anni seconden uur uren dag dagen weken maand maanden jaar sekund sekundy minut minutę
    minuty godzin godzinę godziny dni dzień tygodni tydzień tygodnie miesiąc miesiące miesięcy lat rok lata sekunder
    minuter minutter timme timmar time timer timmer dagar dage dager veckor uger uker månader måneder saniye dakika
    saat gün hafta ay yıl секунд секунды минут минуты минуту часа часов час дней дня день недели неделю месяц месяца
    месяцев года лет год хвилин хвилини годин години днів дні минутами hodinami dny perce órája napja minuuttia
    tuntia päivää λεπτά ώρες ημέρες μέρες ثانية ثوان دقيقة دقائق ساعة ساعات يوم أيام أسبوع شهر أشهر دقیقه ساعت روز
    דקות שעות ימים phút giờ ngày tháng menit jam hari bulan นาที ชั่วโมง วัน เดือน
    """
)
"""Units of an age: `3 minutes ago`."""
AGO_AFTER = _words(
    """
    ago earlier geleden fa atrás temu sedan siden sitten önce назад тому пред trước lalu yang ที่แล้ว ที่ผ่านมา
    """
)
"""Words after an age."""
AGO_BEFORE = _words(
    """
    vor hace há för acum pred před πριν منذ قبل לפני
    """
)
"""Words before an age."""
COUNTED = _words(
    """
    cart basket warenkorb panier carrito carrinho carrello winkelwagen koszyk varukorg kurv handlekurv sepet sepetim
    корзина корзине кошик košík kosár καλάθι
    view views pageviews visits visitor visitors reads readers likes shares retweets comments replies followers
    subscribers
    downloads hits votes ratings reviews clicks online impressions listens plays sold verkauft vendus vendidos
    venduti sprzedano продано aufrufe aufrufen besucher leser kommentare bewertungen abonnenten vues lectures
    commentaires avis partages abonnés visitas vistas lecturas comentarios opiniones seguidores visualizações
    visualizaciones comentários avaliações visualizzazioni letture commenti recensioni weergaven reacties
    beoordelingen wyświetleń wyświetlenia odsłon komentarzy komentarze opinii visningar visninger kommentarer
    omdömen anmeldelser katselukertaa kommenttia görüntülenme okunma yorum просмотров просмотра просмотр
    комментариев комментария комментарий отзывов переглядів коментарів zobrazení komentářů megtekintés προβολές
    σχόλια مشاهدة مشاهدات تعليق تعليقات צפיות תגובות lượt dilihat komentar
    """
)
"""Words after or before a count of visits, votes and comments, or of what is in the cart."""
PEOPLE = _words(
    """
    people persons users customers visitors guests shoppers members others personen nutzer kunden menschen besucher
    personnes clients utilisateurs personas clientes usuarios pessoas persone utenti clienti mensen klanten osób
    osoby personer kunder kişi человек людей пользователей гостей осіб lidí osob ember henkilöä άτομα شخص أشخاص
    אנשים người orang คน
    """
)
"""Visitors, in `12 people are looking at this`."""
WATCHED = _words(
    """
    registered viewing watching looking browsing bought ordered cart carts basket online now right currently sehen
    ansehen
    schauen gerade angesehen gekauft warenkorb regardent consultent actuellement viendo mirando ahora vendo olhando
    agora guardando adesso bekijken ogląda teraz tittar ser nu bakıyor смотрят сейчас просматривают дивляться
    يشاهدون الآن צופים đang กำลังดู
    """
)
"""What they do."""
TIMES = _words(
    """
    times mal fois veces vezes volte keer razy raz gånger gange ganger kertaa kez раз razy φορές مرات lần kali
    """
)
"""Unit of visits, in `viewed 12 times`."""
VIEWED = _words(
    """
    viewed visited read seen opened accessed downloaded aufgerufen gelesen gesehen angesehen angeschaut besucht
    heruntergeladen consulté consultée vu vue lu lue visto vista leído leída visitado visitada lido lida acessado
    acessada letto letta visualizzato visualizzata bekeken gelezen wyświetlono odsłonięto przeczytano visad läst vist
    læst katsottu görüntülendi okundu просмотрено прочитано переглянуто zobrazeno megtekintve
    """
)
"""What was done so many times."""
NUMBERED = _words("number no nr nummer num numero numéro número numer номер αριθμός")
"""Words between what is counted and the count: `visitor number 12`."""
SINCE = _words(
    """
    generiert erzeugt geladen générée généré chargée generado generada generato generata gerado gerada gegenereerd
    wygenerowano genererad genereret oluşturuldu сгенерировано сгенерирована згенеровано vygenerováno
    updated update modified revised edited generated rendered loaded aktualisiert geändert aktualisierung modifié
    généré actualizado actualización modificado actualizada atualizado atualização aggiornato aggiornamento
    bijgewerkt gewijzigd aktualizacja zaktualizowano uppdaterad opdateret oppdatert päivitetty güncellendi
    güncelleme обновлено обновлён изменено оновлено aktualizováno frissítve ενημέρωση تحديث محدث עודכן cập
    diperbarui
    """
)
"""Words before the time of a change or an answer."""
PHRASES = _phrases(
    """
    online-list; users-online;
    post-meta; entry-meta; also-like; also-bought; also-viewed; screen-reader; visually-hidden; site-header;
    global-header; page-views; post-views; view-count; read-next; up-next; more-from; who-online; tag-cloud;
    skip-link
    """
)
"""Parts of such names of several words."""
REVIEWS = ",".join(
    f'[{attribute}{operator}"{name}"]'
    for name in ("reviews", "customer-reviews", "product-reviews", "review-list", "reviews-list", "kundenbewertungen")
    for attribute, operator in (("id", "="), ("class", "~="))
)
"""Selector of the reviews of customers, which come by themselves, like comments."""
HEADINGS = _phrases(
    """
    related; you may also; you might also; recommended for; recommended articles; recommended products; more from;
    more stories; read next; read more; popular posts; most read; most popular; trending; recent posts; latest news;
    latest posts; customers also; frequently bought; recently viewed; comments; leave a comment; leave a reply;
    share this; join the discussion; ähnliche; verwandte; das könnte; auch interessant; kunden kauften;
    meistgelesen; mehr zum thema; kommentare; weitere artikel; articles similaires; articles liés; à lire aussi;
    vous aimerez; produits similaires; commentaires; les plus lus; lire aussi; relacionad; artículos relacionados;
    productos relacionados; también te; te puede interesar; comentarios; lo más leído; artigos relacionados;
    produtos relacionados; veja também; leia também; comentários; mais lidas; articoli correlati; prodotti
    correlati; potrebbe; leggi anche; commenti; i più letti; gerelateerd; lees ook; misschien vind; reacties; meest
    gelezen; podobne; powiązane; zobacz też; zobacz także; przeczytaj; komentarze; najpopularniejsze; relaterade;
    läs också; kommentarer; mest läst; relaterede; læs også; relaterte; les også; aiheeseen liittyvä; kommentit;
    benzer; ilgili; yorumlar; en çok okunan; související; komentáře; mohlo by; kapcsolódó; hozzászólások; σχετικά;
    διαβάστε; σχόλια; похожие; читайте также; по теме; комментарии; схожі; читайте також; коментарі; 相关; 相關;
    推荐阅读;
    推薦閱讀; 猜你喜欢; 热门; 熱門; 评论; 評論; 留言; 関連; おすすめ; 人気; コメント; こちらも; 관련; 추천; 인기;
    댓글; บทความที่เกี่ยวข้อง; ที่เกี่ยวข้อง;
    สินค้าที่เกี่ยวข้อง; ความคิดเห็น; แนะนำ; ยอดนิยม; مقالات ذات صلة; ذات صلة; مواضيع ذات; قد يعجبك; اقرأ أيضا;
    التعليقات; תגובות; כתבות נוספות; bài viết liên quan; bình luận; artikel terkait; komentar
    """
)
"""Beginnings of headings above parts that are not content."""
BEFORE = _phrases(
    """
    공감; 좋아요; 방문자; 구독자; 访问量; 訪問者数;
    购物车; 購物車; カート; 장바구니; ตะกร้า; ตะกร้าสินค้า;
    阅读; 閱讀; 浏览; 瀏覽; 点击; 人气; 评论; 評論; 阅读量; 浏览量; 播放; 点赞; 閲覧数; 再生回数; いいね; コメント;
    コメント数; 조회; 조회수; 댓글; 추천; เข้าชม; ผู้ชม;
    อ่าน; ความคิดเห็น; 更新; 更新日; 更新时间; 最終更新; 最終更新日; 수정; 업데이트; อัปเดต; อัปเดตล่าสุด; 生成时间
    """
)
"""Words before a count or the time of a change, in scripts without blanks and in Korean."""
AFTER = _phrases(
    """
    秒前; 分前; 分钟前; 分鐘前; 時間前; 小时前; 小時前; 日前; 天前; 週間前; 周前; か月前; 个月前; 個月前; 年前;
    주전; 개월전; 초전; 분전; 시간전; 일전; วินาทีที่;
    นาทีที่; ชั่วโมงที่; วันที่แล้ว; วันที่ผ่านมา; เดือนที่; 次阅读; 次浏览; 次播放; 人阅读; 人浏览; 条评论;
    則留言; 人在看; 人正在; 回視聴; 回閲覧;
    件のコメント; 人が見て; 人が閲覧; 명이보고; 개의댓글; ครั้ง; คนกำลัง; ความคิดเห็น; 人瀏覽; 次瀏覽
    """
)
"""Words after a count or an age, in scripts without blanks and in Korean; no blanks."""
RESERVED = _phrases(
    """
    allrights; allerechte; tousdroits; todoslosderechos; todososdireitos; tuttiidiritti; wszelkieprawa; всеправа;
    tümhakları; جميعالحقوق; 版权所有; 版權所有; rightsreserved
    """
)
""""All rights reserved", without blanks."""
CURRENCIES = _words(
    """
    € $ £ ¥ ₩ ₽ ₹ ฿ ₺ ₴ ₫ aud brl cad chf czk dkk eur euro euros ft gbp huf inr jpy kr krw kč lei mxn nok pln rs sek
    thb tl usd vnd zl zł đ грн руб р บาท 円 元 원
    """
)
"""What makes the number beside it a price."""
