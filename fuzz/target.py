"""The targets by name, with where their inputs are."""

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
"""Inputs that once failed: `<target>-<situation>.<ext>`."""
BUILD = ROOT / "build" / "fuzz"
"""Where runs put what they find."""
MAX_BYTES = 4096
"""Bytes of an input, where a target does not say otherwise: short ones are tried more often."""


@dataclass(frozen=True)
class Target:
    """One target."""

    name: str

    @cached_property
    def module(self) -> ModuleType:
        """Its module, which imports what is fuzzed."""
        return import_module(f"{targets.__name__}.{self.name}")

    @property
    def check(self) -> Callable[[bytes], None]:
        """Fails where a property does not hold for some bytes."""
        check: Callable[[bytes], None] = self.module.check
        return check

    @property
    def max_bytes(self) -> int:
        """Bytes of an input."""
        return int(getattr(self.module, "MAX_BYTES", MAX_BYTES))

    @property
    def runs(self) -> int:
        """Inputs that CI tries: some 8 seconds on a machine of 2026."""
        return int(self.module.RUNS)

    @property
    def dictionary(self) -> Path | None:
        """Tokens that its inputs are made of."""
        name = getattr(self.module, "DICTIONARY", None)
        return HERE / name if name else None

    @property
    def corpus(self) -> Path:
        """Folder of its own inputs."""
        return HERE / "corpus" / self.name

    @property
    def build(self) -> Path:
        """Folder of what its runs find."""
        return BUILD / self.name

    def kept(self) -> list[Path]:
        """Its corpus, and what failed once."""
        return sorted([*self.corpus.glob("*"), *FOUND.glob(f"{self.name}-*")])

    def inputs(self) -> list[Path]:
        """All inputs in the repository: those, and test data that serves as seeds."""
        seeds = chain.from_iterable(ROOT.glob(pattern) for pattern in getattr(self.module, "SEEDS", ()))
        return [*self.kept(), *sorted(path for path in seeds if path.is_file())]


def names() -> list[str]:
    """The names of all targets."""
    return sorted(module.name for module in pkgutil.iter_modules(targets.__path__))


def all_targets() -> list[Target]:
    """All targets, by name."""
    return list(map(Target, names()))
