"""`SitemapSpider`, a base class for spiders that crawl the pages listed in sitemaps.

May import Scrapy, `audit` and what lies below; uses none of the item pipelines. Start reading in `spider.py`.
"""
