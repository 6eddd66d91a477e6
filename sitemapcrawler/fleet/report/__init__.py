"""The summary of a fleet: a table of its domains, and an HTML page with the templates of `sitemapcrawler.report`.

May import only `fleet.domains` of the fleet. Start reading in `page.py`.
"""
