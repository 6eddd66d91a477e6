"""Signals that stop a command without a reactor."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from sitemapcrawler.terminal.signals import STOPPING, Interruptible, postponed


@pytest.fixture(autouse=True)
def listening() -> Iterator[None]:
    """Signals are not ignored, as they may be where these tests run (`nohup`)."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in STOPPING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", STOPPING)
def test_first_signal_interrupts_and_clean_up_comes_to_its_end(number: signal.Signals) -> None:
    steps = []
    with pytest.raises(KeyboardInterrupt), Interruptible():
        try:
            signal.raise_signal(number)
            steps.append("not reached")
        finally:
            for again in STOPPING:
                signal.raise_signal(again)
            steps.append("cleaned up")
    assert steps == ["cleaned up"]
    assert [signal.getsignal(one) for one in STOPPING] == [signal.default_int_handler] * len(STOPPING)


def test_error_that_a_library_makes_of_an_interrupt_is_one() -> None:
    with pytest.raises(KeyboardInterrupt), Interruptible():
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            raise RuntimeError("Query interrupted") from None
    with pytest.raises(RuntimeError), Interruptible():
        raise RuntimeError("of its own")


def test_nothing_interrupts_what_is_postponed_or_only_cleans_up() -> None:
    steps = []
    with pytest.raises(KeyboardInterrupt), Interruptible():
        with postponed():
            signal.raise_signal(signal.SIGTERM)
            steps.append("published")
        steps.append("not reached")
    with Interruptible() as signals:
        signals.ignore()
        signal.raise_signal(signal.SIGTERM)
        steps.append("cleaned up")
    assert steps == ["published", "cleaned up"]


def test_signal_that_is_ignored_stays_ignored() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with Interruptible(), postponed():
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_other_threads_handle_no_signals() -> None:
    ended = []

    def work() -> None:
        with Interruptible(), postponed():
            ended.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == [True]
