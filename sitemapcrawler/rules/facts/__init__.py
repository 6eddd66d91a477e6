"""Input of rules: an entry, a file, a robots.txt, a reply or the whole site, and values that several rules derive from
it.

May import `reader`, `replies`, `robots` and `urls`. Start reading in `given.py`, then `site.py`.
"""
