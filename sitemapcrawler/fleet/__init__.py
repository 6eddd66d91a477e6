"""Crawls of many domains on Ray: one task and process per domain, results and a summary.

May import every package but `commands`. Start reading in `driver.py`, then `task.py`.
"""
