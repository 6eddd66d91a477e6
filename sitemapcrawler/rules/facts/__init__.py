"""What a rule is given: an entry, a file, a robots.txt, a reply or the whole site, and what is computed once for all.

May import `reader`, `replies`, `robots` and `urls`. Start reading in `given.py`, then `site.py`.
"""
