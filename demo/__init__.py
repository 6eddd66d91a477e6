"""A small web site to try the crawler on: every kind of sitemap, and a few of each defect."""
