"""A small web site with every kind of sitemap and a few of each defect, to try the crawler on."""
