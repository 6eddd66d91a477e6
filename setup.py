"""Stub for `scrapyd-deploy` and `shub deploy`, which build an egg with it; everything is declared in pyproject.toml."""

from setuptools import setup

setup()
