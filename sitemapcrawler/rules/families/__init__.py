"""Rules in modules by topic. Each rule is a small generator of messages, and its docstring is its documentation.

May import `rules.facts` and `rules.registry`; modules do not import each other. Start reading in `hints.py`;
`rules.FAMILIES` lists the modules.
"""
