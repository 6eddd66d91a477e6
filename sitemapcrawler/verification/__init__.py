"""Asks listed URLs whether they work: which ones, how often, through Scrapy's downloader, and what came back.

May import Scrapy, `jobs`, `download` and what lies below. Start reading in `status.py`.
"""
