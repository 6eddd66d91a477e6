"""Driver of a fleet: schedules domains and runs them on a Ray cluster.

May import `fleet.worker` and `fleet.output`. Start reading in `driver.py`.
"""
