"""The summary of a fleet: a Parquet file and an HTML page over all domains.

May import `report` and `jobs.store`. Start reading in `page.py`.
"""
