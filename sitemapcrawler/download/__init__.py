"""Guarded downloads: handlers, the connection pool, refused addresses, collected bodies, one robots.txt per authority.

May import Scrapy, `replies`, `reader`, `robots` and `urls`. Start reading in `handlers.py`.
"""
