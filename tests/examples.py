"""How many examples the property tests try whose examples take long."""

from __future__ import annotations

import os

from hypothesis import settings


def briefly(examples: int) -> settings:
    """Try so many examples, or a hundred times as many with HYPOTHESIS_PROFILE=search."""
    return settings(max_examples=examples * (100 if os.environ.get("HYPOTHESIS_PROFILE") == "search" else 1))
