"""One crawl: its arguments, discovery, frontier, filters, and the reading of one file after the other.

May import Scrapy and every package below. Start reading in `params.py`, then `reading.py`.
"""
