"""Downloader middlewares: robots.txt, politeness, retries, compression, credentials.

May import Scrapy, `download` and what lies below. Start reading in `politeness.py`.
"""
