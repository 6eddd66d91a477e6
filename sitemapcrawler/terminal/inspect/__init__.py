"""The screen of `inspect`: counts of what was read, as a tree, as JSON or as URLs alone.

May import the rest of `terminal`. Start reading in `inspection.py`.
"""
