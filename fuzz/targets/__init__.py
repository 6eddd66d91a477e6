"""What is fuzzed, a module each: `check(data)` fails where a property does not hold for these bytes.

A module may name `SEEDS` (patterns of files in the repository, where runs begin besides its corpus), `DICTIONARY` (a
file in `fuzz/` with tokens) and `MAX_BYTES` of an input.
"""
