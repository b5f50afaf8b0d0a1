"""Keys of the API: kept in the store as they were put, for every handle on it."""

from __future__ import annotations

import asyncio

import msgspec

from ...core.apikey import ApiKey, Role, matching, new_key
from ...core.keymarks import HAD_KEYS, marks_of
from ...stores.contract import Store
from ..clock import FakeClock
from ..jobs import put

replace = msgspec.structs.replace

WHOLE = ApiKey(
    "b",
    bytes(range(32)),
    (Role.ENQUEUE, Role.READ),
    ("mail", "büro", "ops:1"),
    "Zoë’s laptop 🔑",
    1_700_000_000_123,
    4_102_444_800_000,
)
"""A key with something in each of its fields."""


def key(id: str, *roles: Role) -> ApiKey:
    return ApiKey(id, id.encode().ljust(32), roles or (Role.READ,))


async def test_a_new_store_has_none(store: Store) -> None:
    assert list(await store.keys()) == []


async def test_keys_are_kept_as_they_were_put_and_listed_by_id(
    store: Store, another_store: Store
) -> None:
    every = key("c", *Role)
    await store.put_keys([every, WHOLE, key("a")])
    assert list(await another_store.keys()) == [key("a"), WHOLE, every]


async def test_the_order_is_that_of_the_bytes_of_ids(store: Store) -> None:
    ids = ["B", "a", "a-1", "b", "ä", "🔑"]
    await store.put_keys([key(id) for id in reversed(ids)])
    assert [kept.id for kept in await store.keys()] == ids


async def test_a_key_that_is_put_again_is_as_it_was_put_last(store: Store) -> None:
    await store.put_keys([WHOLE, key("a")])
    changed = replace(WHOLE, roles=(Role.WORK,), queues=(), name="", expires_at=None)
    await store.put_keys([changed])
    assert list(await store.keys()) == [key("a"), changed]
    await store.put_keys([key("a", Role.WORK), key("a", Role.ADMIN)])
    assert list(await store.keys()) == [key("a", Role.ADMIN), changed]


async def test_dropped_keys_are_gone(store: Store, another_store: Store) -> None:
    await store.put_keys([key("a"), key("b"), key("c")])
    assert await another_store.drop_keys(["a", "unknown", "c", "a"]) == {"a", "c"}
    assert list(await store.keys()) == [key("b")]
    assert await store.drop_keys(["a", "unknown"]) == frozenset()
    assert list(await store.keys()) == [key("b")]
    await store.put_keys([key("a")])
    assert list(await store.keys()) == [key("a"), key("b")]


async def test_no_keys_and_no_ids_change_nothing(store: Store) -> None:
    await store.put_keys([WHOLE])
    await store.put_keys([])
    assert await store.drop_keys([]) == frozenset()
    assert list(await store.keys()) == [WHOLE]


async def test_keys_that_are_over_are_listed_until_they_are_dropped(
    store: Store, clock: FakeClock
) -> None:
    made = new_key(["read"], name="brief", now=clock(), expires_in=1_000)
    await store.put_keys([made.key])
    clock.advance(2)
    await store.prune(100)
    kept = {found.id: found for found in await store.keys()}
    assert kept == {made.key.id: made.key}
    assert matching(kept, made.text, made.key.created_at) == made.key
    assert matching(kept, made.text, clock()) is None
    assert await store.drop_keys([made.key.id]) == {made.key.id}


async def test_of_many_who_drop_a_key_one_does(store: Store, another_store: Store) -> None:
    await store.put_keys([key("a")])
    stores = [store, another_store] * 5
    dropped = await asyncio.gather(*(each.drop_keys(["a"]) for each in stores))
    assert sorted(map(len, dropped)) == [0] * 9 + [1]


async def test_many_keys_are_put_listed_and_dropped(store: Store) -> None:
    ids = [f"k{n:03}" for n in range(500)]
    await store.put_keys([key(id) for id in ids])
    assert [kept.id for kept in await store.keys()] == ids
    assert await store.drop_keys(ids) == set(ids)
    assert list(await store.keys()) == []


async def test_keys_are_no_jobs_and_no_queues(store: Store) -> None:
    await store.put_keys([WHOLE])
    assert list(await store.queues()) == []
    await put(store, "b")
    assert await store.drop_keys(["b"]) == {"b"}
    assert "b" in await store.get(["b"])


async def test_a_store_remembers_that_it_had_keys(store: Store, another_store: Store) -> None:
    assert not await store.had_keys()
    await store.put_keys([])
    assert await store.drop_keys(["a"]) == frozenset()
    assert not await store.had_keys()
    await store.put_keys([key("a")])
    assert await another_store.had_keys()
    assert await store.drop_keys(["a"]) == {"a"}
    assert list(await store.keys()) == []
    assert await another_store.had_keys()


async def test_what_a_store_remembers_is_no_key_that_could_be_dropped(store: Store) -> None:
    await store.put_keys([key("a")])
    await store.end_logins({"one": 2**50})
    for named in (HAD_KEYS.id, *(mark.id for mark in marks_of({"one": 1}))):
        assert await store.drop_keys([named]) == frozenset()
    assert await store.drop_keys(["a"]) == {"a"}
    assert await store.had_keys()
    assert dict(await store.ended_logins()) == {"one": 2**50}


async def test_ended_logins_are_known_until_they_would_have_ended(
    store: Store, another_store: Store, clock: FakeClock
) -> None:
    assert dict(await store.ended_logins()) == {}
    long, short = clock() + 60_000, clock() + 1_000
    await store.end_logins({"long": long, "short": short})
    await another_store.end_logins({"long": long, "a" * 100: long})
    assert dict(await store.ended_logins()) == {"long": long, "short": short, "a" * 100: long}
    clock.advance(1)
    assert dict(await store.ended_logins()) == {"long": long, "a" * 100: long}
    await store.end_logins({})
    clock.advance(60)
    assert dict(await another_store.ended_logins()) == {}
    assert list(await store.keys()) == []
    assert not await store.had_keys()
