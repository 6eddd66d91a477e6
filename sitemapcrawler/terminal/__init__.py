"""Terminal output: the live progress display, the `inspect` screen, colours, units and standard streams.

May import `rules`, `reader`, `items` and `urls`. Start reading in `progress_rows.py`, `live.py` and
`inspect/screen.py`.
"""
