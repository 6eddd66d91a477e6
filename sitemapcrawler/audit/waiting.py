"""Waiting for several things at once, a bounded number of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


async def each(work: Callable[[T], Awaitable[R]], items: Iterable[T], at_once: int) -> AsyncIterator[R]:
    """The results of `work` for each item, as they come. `at_once` items are in work at most."""
    running: set[asyncio.Future[R]] = set()
    for item in items:
        if len(running) >= at_once:
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for finished in done:
                yield finished.result()
        running.add(asyncio.ensure_future(work(item)))
    while running:
        done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        for finished in done:
            yield finished.result()
