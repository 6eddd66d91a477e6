"""A task of a fleet: crawls one domain in a process of its own and publishes its results.

May import `fleet.output` and `fleet.leases`. Start reading in `task.py`.
"""
