"""Summary of a fleet: a table of its domains, and an HTML page that uses the templates of `sitemapcrawler.report`.

May import only `fleet.domains` of the fleet. Start reading in `summary_page.py`.
"""
