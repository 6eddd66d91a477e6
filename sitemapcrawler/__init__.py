"""Finds every sitemap of a domain, reads all of them and writes one row per listed URL."""

from __future__ import annotations

__version__ = "0.1.0"
"""Version of the package, declared here alone."""
