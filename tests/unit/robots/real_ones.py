"""robots.txt files as real sites have them, written for the tests: what shops, newspapers, wikis and small sites say."""

from __future__ import annotations

WORDPRESS = """\
User-agent: *
Disallow: /wp-admin/
Allow: /wp-admin/admin-ajax.php
Disallow: /?s=
Disallow: /search/
Disallow: /*/feed/$
Disallow: /*?replytocom=

Sitemap: https://example.com/sitemap_index.xml
"""

SHOP = """\
# we use a common shop platform
User-agent: *
Disallow: /admin
Disallow: /cart
Disallow: /orders
Disallow: /checkouts/
Disallow: /checkout
Disallow: /carts
Disallow: /account
Disallow: /collections/*sort_by*
Disallow: /*/collections/*sort_by*
Disallow: /collections/*+*
Disallow: /collections/*%2B*
Disallow: /collections/*%2b*
Disallow: /blogs/*+*
Disallow: /*?*oseid=*
Disallow: /*preview_theme_id*
Disallow: /policies/
Disallow: /*?*ls=*&ls=*
Disallow: /*.atom
Disallow: /recommendations/products
Allow: /products/*.oembed

User-agent: adsbot-google
Disallow: /checkouts/
Disallow: /checkout
Disallow: /carts
Disallow: /orders

User-agent: Nutch
Disallow: /

User-agent: Pinterest
Crawl-delay: 1
"""

NEWSPAPER = """\
User-agent: *
Sitemap: https://example.com/sitemaps/news.xml
Sitemap: https://example.com/sitemaps/archive.xml

Disallow: /search/
Disallow: /search$
Disallow: /search?
Disallow: /food/search*?*
Disallow: /food/recipes/*/shopping-list
Disallow: /news/0
Disallow: /userinfo
Disallow: /storyworks/preview/*
Disallow: /*.pdf$
Disallow: /*?*login=

User-agent: GPTBot
Disallow: /
Allow: /storyworks
Allow: /storyworks/

User-agent: CCBot
User-agent: ClaudeBot
Disallow: /

User-Agent: PerplexityBot
Disallow: /
"""

PUBLISHER = """\
User-agent: *
Disallow: /
Allow: /$
Allow: /about
Allow: /journal*
Allow: /journal/*/collections*
Allow: /article$
Allow: /article/
Allow: /*/book/*
Allow: /10*
Disallow: /*/figures
Disallow: */1000$
Disallow: /*/*/tables
Disallow: /*/*/cover*
Disallow: /content/pdf/bbm*
Disallow: /*/*sortBy*

User-agent: Amazonbot
Disallow: /
User-agent: Bytespider
Disallow: /
User-agent: GPTBot
Disallow: /

Host: example.com
"""

WIKI = """\
User-agent: MJ12bot
Disallow: /

User-agent: IsraBot
Disallow:

User-agent: *
Allow: /w/api.php?action=mobileview&
Allow: /w/load.php?
Allow: /api/rest_v1/?doc
Disallow: /w/
Disallow: /api/
Disallow: /trap/
Disallow: /wiki/Special:
Disallow: /wiki/Special%3A
Disallow: /wiki/Spezial:
Disallow: /wiki/%D0%A1%D0%BB%D1%83%D0%B6%D0%B5%D0%B1%D0%BD%D0%B0%D1%8F:
Disallow: /wiki/\u7279\u5225:
Disallow: /wiki/Wikipedia:Articles_for_deletion/
Disallow: /wiki/Wikipedia%3AArticles_for_deletion%2F
"""

BIG_SHOP = """\
User-agent: *
Allow: /lp/*?
Allow: /*s=p
Allow: /*?_escaped_fragment_
Allow: *?src=sem
Allow: /catalog/*?
Allow: /showroom/
Disallow: /bin/
Disallow: /buy/
Disallow: /product/
Disallow: /rss/*/*.rss
Disallow: /member/*/contactinfo.html
Disallow: /countrysearch/*/*-importer.html
Disallow: /countrysearch/*/*/importers/*.html
Disallow: /search/buyeroffers/*/*.html\x20
Disallow: /https:/www.example.com/
Disallow:/compass/
Disallow: *jsessionid*
Disallow: *tkn/*
Disallow: /*;jsessionid
Disallow: /.*

User-agent: Googlebot
Allow: *?spm=
Disallow: /bin/
Disallow: /products/

User-agent: Googlebot-Image
Disallow: /
"""

SUPPORT = """\
User-agent: *

#Shop
Disallow: /en-gb
Allow: /*/ar/4009?appliedRefinements=2828
Disallow: /*/cart/*
Disallow: /*/ar/*?appliedRefinements=*,*
Disallow: */gaming/performance/
Disallow: /*.php
Disallow: */apd/*/quickview$
Disallow: *pr_rd_page=*

#Support
Disallow: /support/*/ru/ru/
Disallow: /support/home/*/*/*/Drivers/DownloadList/*
Allow: */home/*/product-support/servicetag/*/configuration*
Disallow: /support/*/servicetag/*
Disallow: /support/sitealerts/*-*/

Allow: /el-gr/lp$
Allow: /el-gr/lp/contact-us
Disallow: /el-gr/
Disallow: */ru-ru
"""

FORUM = (
    "User-agent: Yandex\r\nDisallow: *PHPSESSID*\r\nDisallow: /*sid=\r\nHost: example.com\r\n\r\n"
    "User-agent: *\r\nCrawl-delay: 10\r\nDisallow: /memberlist.php\r\nDisallow: /ucp.php?mode=\r\nDisallow: /*&sort=\r\n"
    "Disallow: /t*/page-*/\r\nDisallow: /index.html$\r\nAllow: /forum/index.html\r\nDisallow: /forum\r\n"
)

CLOSED = "User-agent: *\nDisallow: /\n\nUser-agent: Googlebot\nUser-agent: Bingbot\nDisallow:\n"

FILES = {
    "wordpress": WORDPRESS,
    "shop": SHOP,
    "newspaper": NEWSPAPER,
    "publisher": PUBLISHER,
    "wiki": WIKI,
    "big shop": BIG_SHOP,
    "support": SUPPORT,
    "forum": FORUM,
    "closed": CLOSED,
}
