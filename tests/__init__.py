"""A package of its own, since scrapinghub-entrypoint-scrapy installs another one of that name."""
