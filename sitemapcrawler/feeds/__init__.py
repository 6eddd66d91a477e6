"""Feed formats and storages: CSV, JSON, Parquet, SARIF, JUnit XML, text lines, and the report folder.

May import Scrapy, `report`, `terminal`, `rules` and the layers below. Start reading in `exporters.py`.
"""
