"""What programs call, re-exported by the package: `read_sitemap` in `sitemaps.py`, where to start reading, and `audit`.

`audits.py` runs the command `audit` in the child process of `child.py`. May import `feeds`, `rules`, `reader` and what
lies below, and nothing that imports Scrapy: a notebook has an event loop of its own.
"""
