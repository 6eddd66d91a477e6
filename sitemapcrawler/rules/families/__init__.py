"""Rules, grouped in modules by topic. Each rule is a small generator of messages with its own documentation.

May import `rules.facts` and `rules.registry`, but not each other. Start reading in `hints.py`; `rules/__init__.py`
lists the modules.
"""
