"""The driver of a fleet: which domain is crawled next, where, and who may request from a host.

May import `fleet.worker` and `fleet.output`. Start reading in `driver.py`.
"""
