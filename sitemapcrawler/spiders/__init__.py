"""The audit spider, `scrapy crawl sitemap`, with callbacks only, and what runs a crawl with it.

May import Scrapy, `middlewares`, `crawl` and what lies below. Start reading in `sitemap.py`; `running.py` checks the
settings of a crawl, runs it and returns its exit code.
"""
