from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from sitemapcrawler.terminal.streams import StandardOutput


def output(monkeypatch: pytest.MonkeyPatch, number: int, encoding: str = "utf-8") -> tuple[StandardOutput, list[str]]:
    """Standard output that goes to a file descriptor, and what it told of its end."""
    ends: list[str] = []
    monkeypatch.setattr(sys, "stdout", os.fdopen(number, "w", encoding=encoding))
    return StandardOutput(lambda: ends.append("end")), ends


def test_text_arrives_at_once_and_escaped_where_the_encoding_lacks_it(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    written, ends = output(monkeypatch, writing, "ascii")
    written.write("é\n")
    assert os.read(reading, 100) == b"\\xe9\n"
    assert written.is_open and not ends
    sys.stdout.close()
    os.close(reading)


def test_event_loop_goes_on_while_the_reader_takes_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    written, ends = output(monkeypatch, writing)
    texts = [f"{number}" * 200_000 for number in (1, 2)]  # more than a pipe holds

    async def send_and_read() -> bytes:
        sending = [asyncio.ensure_future(written.send(text)) for text in texts]
        for _ in range(100):
            await asyncio.sleep(0)
        assert not any(one.done() for one in sending)
        data = b""
        while len(data) < 400_000:
            data += await asyncio.to_thread(os.read, reading, 1 << 16)
        await asyncio.gather(*sending)
        return data

    assert asyncio.run(send_and_read()).decode() == "".join(texts)
    assert written.is_open and not ends
    sys.stdout.close()
    os.close(reading)


@pytest.mark.parametrize("is_watched", [False, True])
def test_reader_that_goes_while_it_is_waited_for_ends_the_output_once(
    is_watched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading, writing = os.pipe()
    written, ends = output(monkeypatch, writing)

    async def send() -> None:
        if is_watched:
            written.watch()
        sending = asyncio.ensure_future(written.send("a" * 200_000))
        await asyncio.to_thread(os.read, reading, 1)
        os.close(reading)
        await sending
        await written.send("b")

    asyncio.run(send())
    assert (written.gone, written.error, ends) == (True, None, ["end"])
    sys.stdout.close()


def test_reader_that_has_gone_ends_the_output_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    written, ends = output(monkeypatch, writing)
    written.write("a\n")
    written.write("b\n")
    assert (written.gone, written.error, ends) == (True, None, ["end"])
    sys.stdout.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
def test_full_disk_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    written, ends = output(monkeypatch, os.open("/dev/full", os.O_WRONLY))
    written.write("a\n")
    assert written.error == "standard output cannot be written: No space left on device"
    assert (written.gone, ends) == (False, ["end"])
    sys.stdout.close()
