"""Which waiting domains may begin: one of each site, few of each address, each of them once."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sitemapcrawler.fleet import queueing
from sitemapcrawler.fleet.domains import Domain, domain
from sitemapcrawler.fleet.queueing import Addresses, DomainQueue

PER_ADDRESS = 2
LISTED = st.lists(st.tuples(st.sampled_from("abcdef"), st.frozensets(st.sampled_from("1234"), max_size=3)), max_size=30)
"""Few sites and addresses, so that much is blocked."""


def some(number: int, site: str | None = None) -> Domain:
    return Domain(f"{number}.example", f"{number}.example", site or f"{number}.example", 0, str(number))


def begun(queue: DomainQueue) -> list[str]:
    """All that may begin now."""
    return [found.name for found in iter(queue.next, None)]


def test_domains_of_a_site_run_one_after_the_other() -> None:
    spellings = [domain(text) for text in ("e.com", "https://e.com", "www.e.com", "e.com:8080")]
    queue = DomainQueue(((each, (f"192.0.2.{len(each.name)}",)) for each in spellings), 4)
    for each in spellings:
        assert queue.next() == each
        assert queue.next() is None
        queue.done(each)
    assert queue.next() is None


@pytest.mark.parametrize("per_address", [0, 3])
def test_only_the_site_counts_without_a_limit_or_an_address(per_address: int) -> None:
    addresses: Addresses = () if per_address else ("192.0.2.1",)
    listed = [*map(some, range(10)), some(10, "3.example")]
    queue = DomainQueue(((each, addresses) for each in listed), per_address)
    assert len(begun(queue)) == 10
    queue.done(some(3))
    assert begun(queue) == ["10.example"]


def test_end_of_a_domain_that_does_not_run_is_an_error() -> None:
    with pytest.raises(KeyError):
        DomainQueue([(some(1), ())], 4).done(some(1))


def test_shared_address_is_used_from_the_start_and_as_far_as_it_may() -> None:
    shared, alone = [*map(some, range(10))], [*map(some, range(10, 1000))]
    listed = [(each, ("192.0.2.1",)) for each in shared] + [(each, (f"198.51.100.{each.file}",)) for each in alone]
    queue = DomainQueue(listed, PER_ADDRESS)
    running = [queue.next() for _ in range(5)]
    for each in shared[: len(shared) - PER_ADDRESS]:
        assert sum(other in shared for other in running) == PER_ADDRESS
        queue.done(each)
        running[running.index(each)] = queue.next()


@given(listed=LISTED, max_looks=st.sampled_from([1, 2, 1000]), data=st.data())
def test_each_domain_begins_once_where_its_site_and_addresses_have_room(
    listed: list[tuple[str, frozenset[str]]], max_looks: int, data: st.DataObject
) -> None:
    waiting = {some(number, site): tuple(sorted(addresses)) for number, (site, addresses) in enumerate(listed)}
    running: dict[Domain, Addresses] = {}

    def is_free(each: Domain) -> bool:
        used = Counter(address for addresses in running.values() for address in addresses)
        site_is_free = each.site not in {other.site for other in running}
        return site_is_free and all(used[address] < PER_ADDRESS for address in waiting[each])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(queueing, "MAX_LOOKS", max_looks)
        queue = DomainQueue(waiting.items(), PER_ADDRESS)
        while waiting or running:
            found = queue.next()
            if found is not None:
                assert is_free(found)
                same = [each for each in waiting if (each.site, waiting[each]) == (found.site, waiting[found])]
                assert found == same[0], "in the order of the list"
                running[found] = waiting.pop(found)
            else:
                assert running or not waiting, "something may always begin where nothing runs"
                assert max_looks < len(listed) or not any(map(is_free, waiting))
                ended = data.draw(st.sampled_from([*running]))
                del running[ended]
                queue.done(ended)
    held = [value for name, value in vars(queue).items() if hasattr(value, "__len__") and name != "_queue"]
    assert [len(value) for value in held] == [0] * len(held), "nothing is kept of domains that are done"
