"""HTML report of one crawl: model, wording, charts and page.

May import `rules`, `items` and `urls`, never Scrapy. Start reading in `model.py`, then `page.py`.
"""
