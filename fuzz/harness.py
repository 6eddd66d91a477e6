"""Runs one target on atheris, which mutates inputs to reach more of the package."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stderr
from hashlib import sha1
from io import StringIO
from pathlib import Path

from fuzz.target import ROOT, Target

HANGS_S = 120
"""Seconds after which an input counts as hanging, even on a busy machine. Checks detect slow code by processor time."""
MAX_MEMORY_MB = 1024
"""Memory limit of the process in MB, coverage counters included; no input needs a tenth of it."""
PACKAGE = "sitemapcrawler"
SKIPPED = 0
"""Exit code without atheris."""


def fuzz(target: Target, seconds: int, arguments: Sequence[str] = ()) -> None:
    """Fuzz a target, or check the files among the `arguments`; ends the process, with a non-zero exit code if a check
    failed. `seconds`: time to run; 0: until stopped."""
    try:
        import atheris
    except ImportError:
        print("fuzzing is skipped: there is no atheris (pip install -e '.[fuzz]'; CPython on Linux)", file=sys.stderr)
        sys.exit(SKIPPED)
    logging.disable(logging.CRITICAL)  # checks use assertions, not the log
    # atheris prints every module that it instruments.
    with redirect_stderr(StringIO()), atheris.instrument_imports(include=[PACKAGE]):
        check = target.check
    print(f"{target.name}: {len(target.inputs())} inputs to begin with", flush=True)
    atheris.Setup([sys.argv[0], *_options(target, seconds, arguments)], _told(target, check))
    atheris.Fuzz()


def _options(target: Target, seconds: int, arguments: Sequence[str]) -> list[str]:
    """Return arguments of libFuzzer: https://llvm.org/docs/LibFuzzer.html#options"""
    corpus, crashes = target.build / "corpus", target.build / "crashes"
    for folder in (corpus, crashes):
        folder.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_len={target.max_bytes}",
        f"-timeout={HANGS_S}",
        f"-rss_limit_mb={MAX_MEMORY_MB}",
        f"-artifact_prefix={crashes}{os.sep}",
        "-verbosity=0",
    ]
    if target.dictionary is not None:
        options.append(f"-dict={target.dictionary}")
    if any(not argument.startswith("-") for argument in arguments):
        return [*options, *arguments]
    options.append(f"-seed_inputs=@{_seeds(target)}")
    return [*options, f"-max_total_time={seconds}", *arguments, str(corpus)]


def _seeds(target: Target) -> Path:
    listed = target.build / "seeds"
    listed.write_text(",".join(map(str, target.inputs())))
    return listed


def _told(target: Target, check: Callable[[bytes], None]) -> Callable[[bytes], None]:
    """Wrap the check to print how to reproduce a failure."""

    def run(data: bytes) -> None:
        try:
            check(data)
        except BaseException:
            place = _kept(target, data).relative_to(ROOT)
            print(f"\n{target.name} fails on {place}\nagain: python -m fuzz {target.name} {place}\n", file=sys.stderr)
            raise

    return run


def _kept(target: Target, data: bytes) -> Path:
    """Save a failing input; return its path."""
    path = target.build / "crashes" / sha1(data, usedforsecurity=False).hexdigest()
    path.write_bytes(data)
    return path
