"""A package of its own, since scrapinghub-entrypoint-scrapy installs another one of that name."""

import os

# Containers often set this: each program that a test starts would compile the package, for more than a second.
# Here, before `forks` remembers the variables with which its servers start: with others, it forks nothing.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
