"""Output of `inspect`: counts of what was read as a tree, as JSON, or as URLs only.

May import the rest of `terminal`. Start reading in `inspection.py`.
"""
