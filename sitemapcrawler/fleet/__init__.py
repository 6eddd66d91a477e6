"""Crawls of many domains on Ray: scheduling, host leases, one worker per domain, results and a summary.

May import every package but `commands`. Start reading in `control/driver.py`, then `worker/task.py`.
"""
