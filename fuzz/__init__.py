"""Fuzzing: bytes of any kind against what must hold for all of them. How to run it: CONTRIBUTING.md, *Fuzzing*."""
