"""How many examples the property tests try: few and always the same ones, or many with HYPOTHESIS_PROFILE=search."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]
settings.register_profile("fixed", derandomize=True, deadline=None, database=None, suppress_health_check=SLOW)
settings.register_profile(
    "search",
    deadline=None,
    database=None,
    max_examples=int(os.environ.get("HYPOTHESIS_EXAMPLES", "3000")),
    suppress_health_check=SLOW,
    print_blob=True,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))
