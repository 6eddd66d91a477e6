"""Fuzzing: properties that must hold for any bytes. How to run it: CONTRIBUTING.md, *Fuzzing*."""
