"""Verifies listed URLs: which ones, how often, and with what result.

May import Scrapy, `download` and what lies below. Start reading in `status.py`.
"""
