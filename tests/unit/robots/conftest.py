"""How many examples the property tests try: few and always the same ones, or many with HYPOTHESIS_PROFILE=search."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.register_profile(
    "search", deadline=None, database=None, max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "3000"))
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
