"""Fuzz targets by name, and where their inputs are."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import chain
from pathlib import Path
from types import ModuleType

from fuzz import targets

HERE = Path(__file__).parent
ROOT = HERE.parent
FOUND = ROOT / "tests" / "data" / "fuzz"
"""Inputs that failed once: `<target>-<situation>.<ext>`."""
BUILD = ROOT / "build" / "fuzz"
"""Output folder of runs."""
MAX_BYTES = 4096
"""Default maximum bytes of an input; short ones can be tried more often."""


@dataclass(frozen=True)
class Target:
    """Fuzz target."""

    name: str

    @cached_property
    def module(self) -> ModuleType:
        """Module of the target; importing it imports the code under test."""
        return import_module(f"{targets.__name__}.{self.name}")

    @property
    def check(self) -> Callable[[bytes], None]:
        """Function that raises if a property does not hold for the given bytes."""
        check: Callable[[bytes], None] = self.module.check
        return check

    @property
    def max_bytes(self) -> int:
        """Maximum bytes of an input."""
        return int(getattr(self.module, "MAX_BYTES", MAX_BYTES))

    @property
    def dictionary(self) -> Path | None:
        """Tokens for libFuzzer to build inputs from."""
        name = getattr(self.module, "DICTIONARY", None)
        return HERE / name if name else None

    @property
    def corpus(self) -> Path:
        """Folder of the target's own inputs."""
        return HERE / "corpus" / self.name

    @property
    def build(self) -> Path:
        """Output folder of its runs."""
        return BUILD / self.name

    def kept(self) -> list[Path]:
        """Its corpus, and inputs that failed once."""
        return sorted([*self.corpus.glob("*"), *FOUND.glob(f"{self.name}-*")])

    def inputs(self) -> list[Path]:
        """All inputs in the repository: the kept ones, and test data that serves as seeds."""
        seeds = chain.from_iterable(ROOT.glob(pattern) for pattern in getattr(self.module, "SEEDS", ()))
        return [*self.kept(), *sorted(path for path in seeds if path.is_file())]


def names() -> list[str]:
    """Return the names of all targets."""
    return sorted(module.name for module in pkgutil.iter_modules(targets.__path__))


def all_targets() -> list[Target]:
    return list(map(Target, names()))
