"""Scrapy extensions: stopping in time, the live display, a log of visible text, timers.

May import Scrapy and the parts of a crawl that they watch. Start reading in `stopping.py`.
"""
