"""Many domains on Ray: schedule and leases, workers that crawl one domain each, results, and their summary.

May import every package but `commands`. Start reading in `control/driver.py`, then `worker/task.py`.
"""
