"""`SitemapSpider`, the base spider for users who crawl the pages that sitemaps list.

May import Scrapy, `audit` and what lies below; no pipeline of ours is involved. Start reading in `spider.py`.
"""
