"""Input of rules: an entry, a file, a robots.txt, a reply or the whole site, with what several rules compute from it.

May import `reader`, `replies`, `robots` and `urls`. Start reading in `given.py`, then `site.py`.
"""
