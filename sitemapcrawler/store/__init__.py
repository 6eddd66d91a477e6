"""The job's database: what a crawl has found so far, kept in one DuckDB file."""

from sitemapcrawler.store.base import Store
from sitemapcrawler.store.errors import StoreError
from sitemapcrawler.store.making import check

__all__ = ["Store", "StoreError", "check"]
