"""Feeds of items, written by any exporter."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any


def write(exporter: Any, file: Any, items: Iterable[Any], **options: Any) -> None:
    """Write items with an exporter."""
    writer = exporter(file, **{"encoding": "utf-8", **options})
    writer.start_exporting()
    for item in items:
        writer.export_item(item)
    writer.finish_exporting()


def export(exporter: Any, *items: Any, **options: Any) -> bytes:
    """The feed of items."""
    file = io.BytesIO()
    write(exporter, file, items, **options)
    return file.getvalue()
