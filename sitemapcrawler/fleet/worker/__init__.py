"""A fleet's task: crawls one domain in its own process and publishes the results.

May import `fleet.output` and `fleet.leases`. Start reading in `task.py`.
"""
