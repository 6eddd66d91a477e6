"""Database of a job: tables, loading, queries, and baselines imported from jobs and feeds.

May import `items`, `rules` and `urls`, never Scrapy. Start reading in `database.py`.
"""

from sitemapcrawler.jobs.store.database import Store
from sitemapcrawler.jobs.store.files import StoreError, check

__all__ = ["Store", "StoreError", "check"]
