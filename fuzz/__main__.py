"""`python -m fuzz TARGET [SECONDS] [FILE...] [-libFuzzer options]`: fuzzes one target, or tries files on it.

SECONDS is 10 by default; 0 fuzzes until it is stopped."""

from __future__ import annotations

import sys

from fuzz.harness import fuzz
from fuzz.target import Target, names

SECONDS = 10
"""Default time to run."""
USAGE = 2
"""Exit code for a wrong command."""


def main(arguments: list[str]) -> None:
    """Parse the arguments, and run."""
    if arguments == ["--list"]:
        print("\n".join(names()))
        return
    if not arguments or arguments[0] not in names():
        print(f"{(__doc__ or '').strip()}\nTargets: {', '.join(names())}", file=sys.stderr)
        sys.exit(USAGE)
    name, *rest = arguments
    seconds = int(rest.pop(0)) if rest and rest[0].isdecimal() else SECONDS
    fuzz(Target(name), seconds, rest)


main(sys.argv[1:])
