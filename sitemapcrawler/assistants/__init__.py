"""Tools for AI assistants by the Model Context Protocol: audits in one folder, and read-only queries of their records.

May import `api` and what lies below, and no Scrapy. Start reading in `tools.py`.
"""
