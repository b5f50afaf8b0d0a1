"""Who may call what: every method of every service, with every role, without a key, with a wrong
one. A method without a rule fails here, and is refused by the server."""

import asyncio
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from grpc import aio

from tests.server.grpc.client import METHODS, Served, named, until
from tests.server.grpc.conftest import Serve
from windlass.core.apikey import IMPLIED, Role, new_key
from windlass.protocol import windlass_pb2 as pb
from windlass.server.grpc import gate
from windlass.server.grpc.gate import Gate
from windlass.server.grpc.jobs import Jobs
from windlass.server.grpc.rules import ANY, PUBLIC, RULES

DENIED = grpc.StatusCode.PERMISSION_DENIED
UNKNOWN = grpc.StatusCode.UNAUTHENTICATED
EXPECTED = {
    "Jobs.Enqueue": Role.ENQUEUE,
    "Jobs.EnqueueMany": Role.ENQUEUE,
    "Jobs.Get": Role.READ,
    "Jobs.List": Role.READ,
    "Jobs.Watch": Role.READ,
    "Jobs.Cancel": Role.OPERATE,
    "Jobs.Delete": Role.OPERATE,
}
"""Written down a second time, for a slip in the table would open a door."""


def name_of(method: MethodDescriptor) -> str:
    return str(method.full_name)


each_method = pytest.mark.parametrize("method", METHODS, ids=name_of)


@each_method
def test_every_method_has_a_rule(method: MethodDescriptor) -> None:
    assert method.full_name in RULES


def test_the_rules_are_these() -> None:
    own = {name: rule for name, rule in RULES.items() if name.startswith("windlass.v1.")}
    expected = {f"windlass.v1.{name}": role for name, role in EXPECTED.items()}
    work = pb.DESCRIPTOR.services_by_name["Work"].methods
    assert own == expected | {each.full_name: Role.WORK for each in work}
    others = {name: rule for name, rule in RULES.items() if name not in own}
    assert {name for name, rule in others.items() if rule == PUBLIC} == {
        f"grpc.health.v1.Health.{name}" for name in ("Check", "List", "Watch")
    }
    assert [rule for rule in others.values() if rule != PUBLIC] == [ANY]


async def test_only_the_right_roles_are_let_in(serve: Serve) -> None:
    served = await serve()
    clients = {role: await served.with_key(role) for role in Role}
    for each in METHODS:
        rule = RULES[each.full_name]
        for role, client in clients.items():
            code, sentence = await client.refusal(each)
            may = rule in (PUBLIC, ANY) or rule in IMPLIED[role]
            assert (code is not DENIED) == may, f"{each.full_name} by {role}"
            assert code is not UNKNOWN
            if not may:
                assert sentence.startswith(f"This needs a key with the role {rule}; ")


async def test_nobody_is_let_in_without_a_key_or_with_a_wrong_one(serve: Serve) -> None:
    served = await serve()
    await served.with_key("admin")
    wrong = new_key([Role.ADMIN]).text
    for key in (None, "", "x", wrong):
        client = served.connect(key)
        for each in METHODS:
            code, _ = await client.refusal(each)
            assert (code is UNKNOWN) == (RULES[each.full_name] != PUBLIC), each.full_name


async def test_a_key_that_is_over_or_revoked_is_as_good_as_none(serve: Serve) -> None:
    served = await serve()
    over = await served.with_key("admin", expires_in=0)
    revoked = new_key([Role.ADMIN])
    await served.store.put_keys([revoked.key])
    await served.site.keyring.refresh()
    assert (await served.connect(revoked.text).refusal("Jobs.List"))[0] is grpc.StatusCode.OK
    await served.store.drop_keys([revoked.key.id])
    await served.site.keyring.refresh()
    for client in (over, served.connect(revoked.text)):
        for each in METHODS:
            code, _ = await client.refusal(each)
            assert (code is UNKNOWN) == (RULES[each.full_name] != PUBLIC), each.full_name


@pytest.mark.parametrize("role", [role for role in Role if role is not Role.ADMIN])
async def test_a_key_with_queues_has_no_more_than_its_role(serve: Serve, role: Role) -> None:
    client = await (await serve()).with_key(role, queues=["none"])
    for each in METHODS:
        rule = RULES[each.full_name]
        code, sentence = await client.refusal(each)
        may = rule in (PUBLIC, ANY) or rule in IMPLIED[role]
        assert sentence.startswith("This needs a key with the role") != may, each.full_name
        assert may or code is DENIED


async def test_a_key_may_come_as_a_bearer(serve: Serve) -> None:
    served = await serve()
    made = new_key([Role.READ])
    await served.store.put_keys([made.key])
    await served.site.keyring.refresh()
    async with aio.insecure_channel(f"127.0.0.1:{served.port}") as channel:
        call: Any = channel.unary_unary("/windlass.v1.Jobs/List")
        await call(b"", metadata=[("authorization", f"Bearer {made.text}")])
        with pytest.raises(aio.AioRpcError) as raised:
            await call(b"", metadata=[("authorization", f"Basic {made.text}")])
        assert raised.value.code() is UNKNOWN


async def test_a_method_without_a_rule_is_refused_to_everybody(bare: Served) -> None:
    """A second gate, whose table has lost a row."""
    rules = {name: rule for name, rule in RULES.items() if not name.endswith("Jobs.List")}
    jobs = pb.DESCRIPTOR.services_by_name["Jobs"]
    server = aio.server()
    server.add_generic_rpc_handlers((Gate(bare.site, {jobs: Jobs(bare.site)}, rules),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    async with aio.insecure_channel(f"127.0.0.1:{port}") as channel:
        with pytest.raises(aio.AioRpcError) as raised:
            call: Any = channel.unary_unary("/windlass.v1.Jobs/List")
            await call(b"")
    assert raised.value.code() is DENIED
    await server.stop(0)


async def test_a_refusal_names_the_error_as_python_does(bare: Served) -> None:
    await bare.with_key("read")
    call = bare.client.raw(named("Jobs.List"), b"")
    assert await call.code() is UNKNOWN
    assert dict([*await call.trailing_metadata()])["windlass-error"] == "Unauthenticated"


async def test_requests_of_a_key_are_limited(serve: Serve) -> None:
    served = await serve(rate="1/min")
    assert (await served.client.refusal("Jobs.List"))[0] is grpc.StatusCode.OK
    call = served.client.raw(named("Jobs.List"), b"")
    assert await call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert 0 < float(dict([*await call.trailing_metadata()])["retry-after"]) <= 60


async def test_nobody_without_a_key_is_read_from(serve: Serve) -> None:
    served = await serve()
    await served.with_key("admin")
    for key in ((), (("x-api-key", "wl_unknown_" + "x" * 43),)):
        call: Any = served.client._channel.stream_unary("/windlass.v1.Jobs/Enqueue")(metadata=key)
        with pytest.raises(aio.AioRpcError) as caught:
            # It is answered before there is a message, or it would never be.
            async with asyncio.timeout(30):
                await call
        assert caught.value.code() is UNKNOWN


async def test_streams_without_a_key_are_few(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "MOST_STRANGERS", 2)
    served = await serve()
    (watch,) = (each for each in METHODS if each.full_name == "grpc.health.v1.Health.Watch")
    open_ones = [served.client.stream(watch, b"") for _ in range(2)]
    for each in open_ones:
        assert await each.read() is not aio.EOF
    over = served.client.stream(watch, b"")
    with pytest.raises(aio.AioRpcError) as caught:
        await over.read()
    assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
    open_ones[0].cancel()

    async def is_free() -> bool:
        another = served.client.stream(watch, b"")
        try:
            return await another.read() is not aio.EOF
        except aio.AioRpcError:
            return False

    await until(is_free)
