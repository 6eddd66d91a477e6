"""Output of a fleet: a folder or bucket where files appear as a whole or not at all.

May import only `fleet.domains` of the fleet. Start reading in `destination.py`.
"""
