"""The HTML report of one crawl: its model, the queries that fill it, and the page.

May import `rules`, `items` and `urls`, never Scrapy. Start reading in `model.py`, then `page.py`.
"""
