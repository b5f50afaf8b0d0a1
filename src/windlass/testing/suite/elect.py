"""Leadership: one holder of a role at a time, and a term that only grows."""

from __future__ import annotations

from ...core.workers import Term
from ...stores.contract import LONGEST_TERM, Store
from ..clock import FakeClock


async def win(store: Store, holder: str, ttl: int = 1_000, role: str = "r") -> Term:
    """The term that `holder` must get."""
    term = await store.elect(role, holder, ttl)
    assert term is not None, f"{holder} should lead"
    assert term.holder == holder
    return term


async def test_the_first_to_ask_wins(store: Store, clock: FakeClock) -> None:
    term = await win(store, "a")
    assert term.expires_at == clock() + 1_000
    assert term.term >= 1


async def test_the_second_to_ask_is_refused(store: Store, another_store: Store) -> None:
    await win(store, "a")
    assert await another_store.elect("r", "b", 1_000) is None


async def test_a_refusal_changes_nothing(store: Store, clock: FakeClock) -> None:
    first = await win(store, "a")
    assert await store.elect("r", "b", 60_000) is None
    clock.now += 999
    assert await store.elect("r", "b", 60_000) is None
    assert (await win(store, "a")).term == first.term


async def test_the_holder_renews_from_now(store: Store, clock: FakeClock) -> None:
    first = await win(store, "a")
    clock.now += 900
    second = await win(store, "a")
    assert (second.term, second.expires_at) == (first.term, clock() + 1_000)
    clock.now += 900
    assert await store.elect("r", "b", 1_000) is None


async def test_a_term_that_ran_out_can_be_taken_over(store: Store, clock: FakeClock) -> None:
    first = await win(store, "a")
    clock.now += 999
    assert await store.elect("r", "b", 1_000) is None
    clock.now += 1
    second = await win(store, "b")
    assert second.term > first.term
    assert await store.elect("r", "a", 1_000) is None


async def test_a_term_from_before_the_clock_was_set_back_holds_up_nobody(
    store: Store, clock: FakeClock
) -> None:
    first = await win(store, "a")
    clock.advance(-3_600)
    second = await win(store, "b")
    assert second.term > first.term
    assert second.expires_at == clock() + 1_000
    assert await store.elect("r", "a", 1_000) is None


async def test_who_asks_for_a_short_term_waits_for_the_end_of_a_long_one(store: Store) -> None:
    await win(store, "a", ttl=LONGEST_TERM)
    assert await store.elect("r", "b", 1) is None
    await win(store, "a", role="longer", ttl=10 * LONGEST_TERM)
    assert await store.elect("longer", "b", 10 * LONGEST_TERM) is None


async def test_the_term_grows_with_each_change(store: Store, clock: FakeClock) -> None:
    last = 0
    for holder in ("a", "b", "a", "c"):
        term = await win(store, holder)
        assert term.term > last
        last = term.term
        clock.advance(2)


async def test_who_resigned_makes_room_at_once(store: Store) -> None:
    first = await win(store, "a", ttl=60_000)
    await store.resign("r", "a")
    assert (await win(store, "b")).term > first.term


async def test_who_resigned_can_come_back(store: Store) -> None:
    await win(store, "a")
    await store.resign("r", "a")
    await win(store, "a")


async def test_only_the_holder_can_resign(store: Store) -> None:
    await win(store, "a")
    await store.resign("r", "b")
    assert await store.elect("r", "b", 1_000) is None
    await win(store, "a")


async def test_resigning_from_nothing(store: Store) -> None:
    await store.resign("nobody leads this", "a")
    await win(store, "a", role="nobody leads this")


async def test_a_deposed_leader_cannot_resign_for_the_next(store: Store, clock: FakeClock) -> None:
    await win(store, "a")
    clock.advance(1)
    await win(store, "b")
    await store.resign("r", "a")
    assert await store.elect("r", "c", 1_000) is None


async def test_roles_are_independent(store: Store) -> None:
    await win(store, "a", role="one")
    await win(store, "b", role="two")
    assert await store.elect("two", "a", 1_000) is None
    await store.resign("one", "a")
    assert await store.elect("two", "a", 1_000) is None


async def test_who_was_elected_is_told(
    store: Store, another_store: Store, clock: FakeClock
) -> None:
    assert dict(await store.leaders()) == {}
    first, other = await win(store, "a"), await win(store, "ä:1", role="s", ttl=5_000)
    assert dict(await another_store.leaders()) == {"r": first, "s": other}
    clock.advance(2)
    assert dict(await store.leaders()) == {"r": first, "s": other}
    second = await win(store, "b")
    await store.resign("s", "ä:1")
    assert dict(await another_store.leaders()) == {"r": second}
