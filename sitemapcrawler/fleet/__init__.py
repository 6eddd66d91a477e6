"""`scrapy fleet`: many domains, each a crawl in a process of its own, on the machines of a Ray cluster."""
