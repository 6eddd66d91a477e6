"""Fills the model of a report from the database of a crawl.

May import `report`, `rules`, `jobs.store` and what lies below, never Scrapy. Start reading in `gathering.py`.
"""
