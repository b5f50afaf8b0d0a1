"""Changes by id: what is done, and a sentence for each id that was refused."""

import pytest

from windlass.admin.change import (
    BATCH,
    CANCEL,
    DELETE_DEAD,
    REPLAY,
    Change,
    change_jobs,
    delete,
    reschedule,
)
from windlass.core.states import State
from windlass.stores.memory import MemoryStore
from windlass.testing.clock import START
from windlass.testing.jobs import REACHABLE, bring, job_of, put, state_of

AFTER = {CANCEL: State.CANCELLED, REPLAY: State.PENDING, delete(): None, DELETE_DEAD: None}


@pytest.mark.parametrize("change", AFTER, ids=["cancel", "replay", "delete", "delete_dead"])
@pytest.mark.parametrize("state", REACHABLE)
async def test_it_is_done_in_its_own_states_only(
    store: MemoryStore, change: Change, state: State
) -> None:
    await bring(store, "j", state)
    answer = await change_jobs(store, change, ["j"])
    if state in change.states:
        assert answer == (["j"], {})
        assert await state_of(store, "j") is AFTER[change]
    else:
        assert answer == ([], {"j": f"Job j cannot be {change.done}: it is {state}."})
        assert await state_of(store, "j") is state


async def test_the_fit_ones_are_changed_once_each_whatever_the_others_are(
    store: MemoryStore,
) -> None:
    await bring(store, "done", State.COMPLETED)
    await put(store, "a", "b")
    answer = await change_jobs(store, CANCEL, ["b", "nobody", "a", "done", "b"])
    assert answer.changed == ["b", "a"]
    assert answer.refused == {
        "nobody": "There is no job nobody.",
        "done": "Job done cannot be cancelled: it is completed.",
    }


async def test_a_dead_job_whose_unique_key_is_taken_cannot_be_replayed(
    store: MemoryStore,
) -> None:
    await bring(store, "old", State.DEAD, unique="k")
    await put(store, "new", unique="k")
    answer = await change_jobs(store, REPLAY, ["old"])
    assert answer.changed == []
    assert answer.refused["old"] == (
        "Job old cannot be replayed: another job that is not finished has its unique key k."
    )


async def test_a_job_that_changes_between_the_look_and_the_step_is_refused(
    store: MemoryStore,
) -> None:
    await put(store, "j")

    async def too_late(_: object, ids: object) -> frozenset[str]:
        return frozenset()

    answer = await change_jobs(store, CANCEL._replace(apply=too_late), ["j"])
    assert "changed by someone else just now" in answer.refused["j"]


async def test_more_ids_than_a_batch(store: MemoryStore) -> None:
    ids = [f"j{n}" for n in range(BATCH + 1)]
    await put(store, *ids)
    answer = await change_jobs(store, CANCEL, [*ids, "nobody"])
    assert (answer.changed, list(answer.refused)) == (ids, ["nobody"])


async def test_another_time(store: MemoryStore) -> None:
    await put(store, "a", "b")
    assert (await change_jobs(store, reschedule(delay=5_000), ["a"])).changed == ["a"]
    assert (await change_jobs(store, reschedule(due=START + 9_000), ["b"])).changed == ["b"]
    assert [(await job_of(store, id)).due - START for id in "ab"] == [5_000, 9_000]
    await bring(store, "dead", State.DEAD, queue="other")
    answer = await change_jobs(store, reschedule(), ["dead"])
    assert answer.refused == {"dead": "Job dead cannot be rescheduled: it is dead."}
