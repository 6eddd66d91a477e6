"""The database of a job: tables, loading, queries, and baselines imported from jobs and feeds.

May import `items`, `rules` and `urls`, never Scrapy. Start reading in `base.py`.
"""

from sitemapcrawler.jobs.store.base import Store
from sitemapcrawler.jobs.store.errors import StoreError
from sitemapcrawler.jobs.store.making import check

__all__ = ["Store", "StoreError", "check"]
