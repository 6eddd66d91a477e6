"""The audit spider, `scrapy crawl sitemap`: callbacks only.

May import Scrapy, `audit` and what lies below. Start reading in `sitemap.py`.
"""
