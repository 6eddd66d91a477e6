"""Names of which one part says how they are answered, on bad days too.

`*.works.test` has an address, `*.silent.test` gets no answer, `*.servfail.test` an error, `*.late.test` an error first and
an address later, `*.garbage.test` bytes that are no answer; no other name exists.
"""

from __future__ import annotations

from tests.nameserver import ADDRESS, NAME_ERROR, SERVER_FAILURE, Answer, NameServer

LATE = 3
"""Queries for a late name that fail: those of two requests, which ask for addresses of both kinds."""


class FaultyNames(NameServer):
    """Answers as a name says."""

    def __init__(self) -> None:
        super().__init__({})

    def answer(self, name: str, kind: int) -> Answer:
        """What is said of the name."""
        how = name.split(".")[-2] if name.endswith(".test") else ""
        is_early = how == "late" and self.asked[name] <= LATE
        answers: dict[str, Answer] = {"silent": None, "garbage": b"\0" * 7, "servfail": SERVER_FAILURE}
        answers |= {"works": [ADDRESS], "late": SERVER_FAILURE if is_early else [ADDRESS]}
        return answers.get(how, NAME_ERROR)
