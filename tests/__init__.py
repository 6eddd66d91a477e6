"""A package of its own, since scrapinghub-entrypoint-scrapy installs another one of that name."""

import os
import sys

# Containers often set this: each program that a test starts would compile the package, for more than a second, and each
# worker all tests, for ten.
# Here, before `forks` remembers the variables with which its servers start: with others, it forks nothing.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
