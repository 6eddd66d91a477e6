"""The driver of a fleet: which domain is crawled next, and on which cluster.

May import `fleet.worker` and `fleet.output`. Start reading in `driver.py`.
"""
