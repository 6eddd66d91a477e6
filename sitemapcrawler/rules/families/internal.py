"""Rules about the crawl itself: what it could not judge, and what it was told to overlook for too long."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.rules.choice import Allowance
from sitemapcrawler.rules.facts.given import Failure
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule


@rule("internal-rule-failed", Severity.WARNING, "a fault of this program, please report it", Needs.FAILURE)
def internal_rule_failed(failure: Failure) -> Iterator[Message]:
    """A rule failed, so what it judges was not judged here.

    Why: nothing found must not look like nothing wrong. The other rules and the crawl went on.
    Bad: a value that the rule does not cope with
    Good: none; the log holds what a report of the fault needs
    """
    error = failure.error
    text = f"the rule {failure.rule} failed with {type(error).__name__}: it did not judge this"
    yield Message(text, value=failure.rule)


@rule("allow-expired", Severity.WARNING, "the entry itself says until when", Needs.ALLOWANCE)
def allow_expired(allowance: Allowance) -> Iterator[Message]:
    """An entry of the allowlist has expired, so it allows nothing any more.

    Why: what was allowed for a time should have been mended by now, and its findings are back.
    Bad: `until = 2020-12-31`
    Good: a later date, or no entry
    """
    text = f"the allowance of {allowance.rule} for {allowance.pattern.pattern} ended on {allowance.until}"
    yield Message(f"{text}; its reason was: {allowance.reason}", value=allowance.rule)
