"""The report on a crawl: what it came to, summed up for people, as one page."""
