"""Feeds and where they are stored: CSV, JSON, Parquet, SARIF, JUnit XML, lines, and the folder of a report.

May import Scrapy, `report`, `terminal`, `rules` and what lies below. Start reading in `exporters.py`.
"""
