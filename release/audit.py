"""Checks the packages of this environment for known vulnerabilities: python release/audit.py [--strict]

Exit codes: 0 none is known, or no service could be reached, which the last line says; 1 there are some, or with
`--strict` no service could be reached.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

SERVICES = ("pypi", "osv")
"""Services to query, by their pip-audit names, until one of them knows packages."""
PATIENCE_S = 300
"""Timeout of a service, in seconds."""
Report = list[dict[str, Any]]
"""Result for each package: `name`, `version` and `vulns`, or `skip_reason`."""


def asked(service: str) -> Report:
    """Query a service; return nothing if it cannot be reached."""
    command = [sys.executable, "-m", "pip_audit", "--vulnerability-service", service, "--progress-spinner", "off"]
    try:
        done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, timeout=PATIENCE_S)
        report: Report = json.loads(done.stdout)["dependencies"]
    except (subprocess.TimeoutExpired, ValueError, KeyError):
        return []
    return report


def told(report: Report) -> list[str]:
    """Return one line per known vulnerability."""
    return [
        f"{package['name']} {package['version']}: {hole['id']}, mended in {', '.join(hole['fix_versions']) or 'none'}"
        for package in report
        for hole in package.get("vulns", ())
    ]


def main(arguments: Sequence[str]) -> int:
    """Query, print the result, and return the exit code."""
    for service in SERVICES:
        report = asked(service)
        known = [package for package in report if "skip_reason" not in package]
        if known:
            holes = told(report)
            print("\n".join(holes))
            print(f"audit: {len(known)} of {len(report)} packages are known to {service}, {len(holes)} holes")
            return 1 if holes else 0
    print("audit: SKIPPED, no service that lists known holes can be reached, or it knows none of the packages")
    return 1 if "--strict" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
