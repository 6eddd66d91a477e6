"""Rules on listed URLs that give no answer, or a part of one."""

from __future__ import annotations

from collections.abc import Iterator

from sitemapcrawler.reply import Cut, Failed
from sitemapcrawler.rules.facts import ReplyFacts
from sitemapcrawler.rules.registry import Message, Needs, Severity, rule
from sitemapcrawler.rules.replied import fault_of, way
from sitemapcrawler.rules.status import ERROR_PAGE, ERRORS

NETWORK = f"{ERRORS}#network-and-dns-errors"


def failed(facts: ReplyFacts, rule: str) -> Iterator[Message]:
    """A message with the failure, where it is one that this rule tells."""
    reply = facts.reply
    if isinstance(reply, Failed | Cut) and fault_of(facts) == rule:
        yield Message(f"{reply.error}{way(reply)}", value=reply.kind.value)


@rule("status-timeout", Severity.ERROR, NETWORK, Needs.REPLY, also=ERROR_PAGE)
def status_timeout(facts: ReplyFacts) -> Iterator[Message]:
    """The server of a listed URL gives no answer in time.

    Why: search engines give up as well, and then visit the whole site less often.
    Bad: no answer within the time limit (setting DOWNLOAD_TIMEOUT), after some tries
    Good: an answer within a second
    """
    yield from failed(facts, "status-timeout")


@rule("status-dns", Severity.ERROR, NETWORK, Needs.REPLY, also=ERROR_PAGE)
def status_dns(facts: ReplyFacts) -> Iterator[Message]:
    """The host of a listed URL has no address.

    Why: nobody can open the page.
    Bad: `https://old-shop.example.com/`, a name that was given up
    Good: a host that DNS knows
    """
    yield from failed(facts, "status-dns")


@rule("status-tls", Severity.ERROR, NETWORK, Needs.REPLY, also=ERROR_PAGE)
def status_tls(facts: ReplyFacts) -> Iterator[Message]:
    """There is no secure connection to the host of a listed URL: its certificate is not valid, or TLS fails.

    Why: browsers warn of the page or refuse it, and Google prefers its http variant or drops it.
    Bad: a certificate that has expired, is for another host, or is signed by nobody known
    Good: a certificate for this host that is renewed in time
    """
    yield from failed(facts, "status-tls")


@rule("status-connection", Severity.ERROR, NETWORK, Needs.REPLY, also=ERROR_PAGE)
def status_connection(facts: ReplyFacts) -> Iterator[Message]:
    """The server of a listed URL takes no connection, or ends it without an answer that can be read.

    Why: to search engines that is a server error: they slow down, and drop the page where it lasts.
    Bad: a closed port, a connection that is reset, an answer that is no HTTP
    Good: an answer with status 200
    """
    yield from failed(facts, "status-connection")


@rule("status-truncated", Severity.WARNING, NETWORK, Needs.REPLY)
def status_truncated(facts: ReplyFacts) -> Iterator[Message]:
    """The answer of a listed URL is not whole: the connection ended before the body did, or the body does not end.

    Why: what is missing is not indexed. The page may work at the next visit: a server under load breaks off.
    Bad: `Content-Length: 50000`, and 20,000 bytes
    Good: the whole page
    """
    yield from failed(facts, "status-truncated")
