"""Resumable crawls and baselines: what a job stores in its DuckDB database, restores and compares.

May import Scrapy, `feeds`, `download` and what lies below. Start reading in `job.py`.
"""
