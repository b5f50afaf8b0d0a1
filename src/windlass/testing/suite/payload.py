"""Payloads, results and headers come back byte for byte: no store looks into them."""

from __future__ import annotations

from ...core.model import Failure, Spec
from ...core.states import State
from ...stores.contract import Store
from ..jobs import claim_one, finish, job_of, listing, new_job

MEBIBYTE = 1024 * 1024
ODD_BYTES = (
    b"",
    b"\x00",
    b"\x00\x00leading and trailing\x00\x00",
    bytes(range(256)),
    bytes(reversed(range(256))),
    b"[]",
    b"{}",
    b"null",
    b'{"empty": [], "one": 1.0, "big": 12345678901234567890, "n": 1e400}',
    b"\xff\xfe not utf-8 \xc3\x28",
    "naïve 💥 日本".encode(),
    b"'; DROP TABLE jobs; --",
    b"$1 %s %% {} :name ?",
    b"\r\n\t\\",
)
ODD_TEXTS = (
    "",
    " ",
    "naïve 💥 日本 \u200f",
    "quote ' double \" back \\ tick `",
    "%s {} $1 :name ? ; --",
    "line 1\nline 2\ttab",
    "{}",
    "[]",
)


async def test_a_payload_comes_back_as_it_was(store: Store) -> None:
    for n, payload in enumerate(ODD_BYTES):
        id = f"job-{n}"
        await store.insert([new_job(id, Spec("work", payload))])
        assert (await job_of(store, id)).spec.payload == payload
        assert (await claim_one(store)).spec.payload == payload
        assert [job.spec.payload for job in await listing(store) if job.id == id] == [payload]


async def test_a_payload_survives_the_whole_life(store: Store) -> None:
    payload = bytes(range(256))
    await store.insert([new_job("a", Spec("work", payload))])
    for state in (State.RETRY, State.SCHEDULED, State.PENDING, State.DEAD):
        job = await claim_one(store)
        assert job.spec.payload == payload
        assert await finish(store, job, state)
    assert await store.replay(["a"]) == {"a"}
    assert (await claim_one(store)).spec.payload == payload


async def test_a_result_comes_back_as_it_was(store: Store) -> None:
    for n, result in enumerate(ODD_BYTES):
        await store.insert([new_job(f"job-{n}")])
        assert await finish(store, await claim_one(store), State.COMPLETED, result=result)
        assert (await job_of(store, f"job-{n}")).result == result


async def test_a_mebibyte(store: Store) -> None:
    big = bytes(range(256)) * (MEBIBYTE // 256)
    await store.insert([new_job("a", Spec("work", big))])
    job = await claim_one(store)
    assert job.spec.payload == big
    assert await finish(store, job, State.COMPLETED, result=big)
    assert (await job_of(store, "a")).result == big


async def test_a_spec_comes_back_whole(store: Store) -> None:
    spec = Spec(
        "tasks.mail:send",
        b"\x93\x01\x02\x03",
        content_type="application/json",
        max_retries=0,
        timeout=1,
        keep=2**52,
        labels={"": "", "naïve": "💥", "a.b": "c"},
        headers={"traceparent": "00-0af7-b7ad-01"},
    )
    await store.insert([new_job("a", spec)])
    assert (await job_of(store, "a")).spec == spec
    assert (await claim_one(store)).spec == spec


async def test_labels_and_headers_of_any_text(store: Store) -> None:
    texts = {text: text for text in ODD_TEXTS}
    for n, (labels, headers) in enumerate([(texts, None), (None, texts), ({}, {}), (None, None)]):
        spec = Spec("work", b"", labels=labels, headers=headers)
        await store.insert([new_job(f"job-{n}", spec)])
        assert (await job_of(store, f"job-{n}")).spec == spec


async def test_errors_of_any_text(store: Store) -> None:
    for n, text in enumerate(ODD_TEXTS):
        error = Failure(text or "Error", text, text * 50)
        await store.insert([new_job(f"job-{n}")])
        assert await finish(store, await claim_one(store), State.DEAD, error=error)
        assert (await job_of(store, f"job-{n}")).error == error


async def test_a_long_error(store: Store) -> None:
    error = Failure("ValueError", "m" * 2_000, "t" * 20_000)
    await store.insert([new_job("a")])
    assert await finish(store, await claim_one(store), State.RETRY, error=error, delay=1)
    assert (await job_of(store, "a")).error == error
