"""One crawl: arguments, discovery, the queue of sitemaps, filters, and reading one file after another.

May import Scrapy and every package below. Start reading in `params.py`, then `reading.py`.
"""
