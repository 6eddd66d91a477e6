"""Repairs sitemaps: entries as they stand in a file in, a corrected set of files and a list of changes out.

May import `jobs` and what lies below; the command `fix` uses it. Start reading in `streaming.py`, which repairs one
file as a stream. Each repair in `edits.py` belongs to one rule of the catalogue. `site_repair.py` runs a whole site:
`places.py` plans where its files go, `indexes.py` and `writing.py` write them, `publishing.py` publishes the set.
`page_list.py` makes sitemaps of a list of pages.
"""
