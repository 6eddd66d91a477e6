"""Where a fleet writes: a folder or a bucket, results whole or not at all.

Imports nothing of the rest of the fleet. Start reading in `destination.py`.
"""
