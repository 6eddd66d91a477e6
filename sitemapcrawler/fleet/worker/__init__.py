"""One task of a fleet: it crawls a domain in a process of its own and hands the result to the output.

May import `fleet.output`. Start reading in `task.py`.
"""
