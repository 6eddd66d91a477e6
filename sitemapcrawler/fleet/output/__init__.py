"""Output of a fleet: a folder or bucket in which files appear complete or not at all.

May import only `fleet.domains` of the fleet. Start reading in `destination.py`.
"""
