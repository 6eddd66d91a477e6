"""The rules, one module a family; each rule is a small generator of messages with its own documentation.

May import `rules.facts` and `rules.registry`. Start reading in `changefreq.py`; `rules/__init__.py` lists the modules.
"""
