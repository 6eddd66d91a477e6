"""Runs a command after code that changes the program, from the file `CODE` in its folder: python -m tests.crawl.patched COMMAND

To be used as a prefix (`within`) of a crawl.
"""

from __future__ import annotations

import sys
from pathlib import Path

CODE = "patched.py"
WITHIN = (sys.executable, "-m", "tests.crawl.patched")
OF_PYTHON = 3
"""Words of a command that start the program: `python -m sitemapcrawler.cli`."""

if __name__ == "__main__":
    exec(compile(Path(CODE).read_text("utf-8"), CODE, "exec"), {})

    from sitemapcrawler import cli  # the code comes before all imports of the package

    cli.main(sys.argv[OF_PYTHON:])
