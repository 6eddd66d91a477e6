"""What sitemaps are and hold, at a glance: counted while they are read, shown on a terminal or as one JSON document.

Nothing is kept of a listed URL but counts. Of each file its record is kept, and of an index what it lists.
"""
