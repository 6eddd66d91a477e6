"""Scrapy extensions: stopping in time, progress display, escaped log text.

May import Scrapy and the parts of a crawl that they observe. Start reading in `stopping.py`.
"""
