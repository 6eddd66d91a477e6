"""Fuzz targets, one module each: `check(data)` raises if a property does not hold for these bytes.

A module may define `SEEDS` (patterns of files in the repository that runs start from, besides its corpus), `DICTIONARY`
(a file of tokens in `fuzz/`) and `MAX_BYTES` of an input.
"""
