"""Resumable crawls and baselines: what a job stores, reads back and compares, in a DuckDB database.

May import Scrapy, `feeds`, `download` and what lies below. Start reading in `job.py`.
"""
