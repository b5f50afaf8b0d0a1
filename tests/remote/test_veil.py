"""Redacted arguments, for programs that use a server as their store."""

from collections.abc import AsyncIterator

import pytest
from msgspec.structs import replace

from tests.remote.conftest import call, with_key
from windlass import Windlass
from windlass.config import ServerSettings
from windlass.core.codec import decode_call, encode_call
from windlass.core.model import JobQuery, NewJob, Spec
from windlass.core.schedule import Schedule, schedule_of
from windlass.errors import InvalidOption
from windlass.server.site import Site, make_site


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    app = Windlass("memory://")

    @app.task
    def log_in(user: str, password: str, times: int = 1) -> None: ...

    made = await make_site(app, ServerSettings(redact=("password",)), has_tasks=True)
    codec = app.codecs.default
    payload = encode_call(codec, ("ada", "secret"), {"times": 3})
    job = NewJob("a", Spec("log_in", payload, codec.name))
    broken = NewJob("b", Spec("log_in", b"secret", "nothing"))
    await made.store.insert([job, broken])
    await made.store.put_schedules([schedule_of("daily", "@daily", replace(job, fresh=True))])
    yield made
    await app.aclose()


def arguments(site: Site, spec: Spec) -> tuple[object, object]:
    return decode_call(site.app.codecs.get(spec.content_type), spec.payload)


async def test_a_key_for_looking_gets_no_hidden_arguments(site: Site) -> None:
    for roles in (["read"], ["operate", "enqueue"]):
        caller = with_key(*roles)
        found = await call(site, "get", caller, ids=["a", "b", "c"])
        page = await call(site, "find", caller, query=JobQuery())
        (schedule,) = await call(site, "schedules", caller)
        for spec in (found["a"].spec, page.jobs[0].spec, schedule.spec):
            assert arguments(site, spec) == (["ada", "***"], {"times": 3})
        assert found["b"].spec.payload == b""
        assert found.keys() == {"a", "b"}


async def test_whoever_works_gets_what_is_stored(site: Site) -> None:
    for caller in (with_key("work", "read"), with_key("admin")):
        found = await call(site, "get", caller, ids=["a", "b"])
        assert arguments(site, found["a"].spec)[0] == ["ada", "secret"]
        assert found["b"].spec.payload == b"secret"


async def test_what_was_seen_through_a_veil_is_not_stored_again(site: Site) -> None:
    caller = with_key("operate")
    (seen,) = await call(site, "schedules", caller)
    with pytest.raises(InvalidOption, match="hidden from this key"):
        await call(site, "put_schedules", caller, schedules=[seen])
    payload = encode_call(site.app.codecs.default, ("ada", "new"), {})
    new: Schedule = replace(seen, spec=replace(seen.spec, payload=payload))
    await call(site, "put_schedules", caller, schedules=[new])
    (stored,) = await site.store.schedules()
    assert arguments(site, stored.spec)[0] == ["ada", "new"]


async def test_without_names_to_hide_nothing_is_read_again(site: Site) -> None:
    plain = site._replace(settings=ServerSettings())
    found = await call(plain, "get", with_key("read"), ids=["b"])
    assert found["b"].spec.payload == b"secret"
