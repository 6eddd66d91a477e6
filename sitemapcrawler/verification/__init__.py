"""Verifies listed URLs: which ones to request, how to request them, and the results.

May import Scrapy, `download` and what lies below. Start reading in `url_status.py`.
"""
