"""What goes over the network is the contract, all of it, and each part has a rule."""

import inspect

import pytest

from tests.remote.samples import SAMPLES
from windlass.server.procedures import PROCEDURES
from windlass.stores.contract import Store
from windlass.stores.remote.calls import CALLS, NOT_OFFERED, encode
from windlass.stores.remote.store import RemoteStore
from windlass.stores.remote.url import parse

METHODS = sorted(name for name in dir(Store) if not name.startswith("_"))


def test_every_method_has_a_rule_or_is_named_as_one_that_is_not_offered() -> None:
    assert sorted([*PROCEDURES, *NOT_OFFERED]) == METHODS
    assert sorted(NOT_OFFERED) == ["blocking", "close", "open"]


def test_every_method_can_be_called_by_a_message() -> None:
    assert sorted(CALLS) == sorted(PROCEDURES) == sorted(SAMPLES)


@pytest.mark.parametrize("name", sorted({*METHODS} - {"blocking"}))
def test_the_client_takes_what_the_contract_says(name: str) -> None:
    own = inspect.signature(getattr(RemoteStore, name), eval_str=True)
    assert own == inspect.signature(getattr(Store, name), eval_str=True)


def test_the_client_has_nothing_that_the_contract_lacks() -> None:
    public = {name for name in vars(RemoteStore) if not name.startswith("_")}
    assert public - {"ask", "is_served"} == {*METHODS}
    store: Store = RemoteStore(parse("http://localhost"))
    assert store.blocking is False


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_arguments_come_out_as_they_went_in(name: str) -> None:
    call = CALLS[name]
    sent = call.arguments(**SAMPLES[name])
    assert call.decode_arguments(encode(sent)) == sent


def test_what_is_left_out_has_the_default_of_the_contract() -> None:
    for name, call in CALLS.items():
        method = inspect.signature(getattr(Store, name))
        made = call.arguments(**SAMPLES[name])
        for parameter in [*method.parameters.values()][1:]:
            if parameter.name not in SAMPLES[name]:
                assert getattr(made, parameter.name) == parameter.default


def test_any_kind_of_sequence_and_mapping_can_be_sent() -> None:
    get, claim = CALLS["get"], CALLS["claim"]
    ids = {"a": 1, "b": 2}.keys()
    assert get.decode_arguments(encode(get.arguments(ids))) == get.arguments(["a", "b"])

    class Text(str):
        __slots__ = ()

    sent = claim.arguments({Text("q"): 1}, 1, 1, Text("w"))
    assert claim.decode_arguments(encode(sent)) == claim.arguments({"q": 1}, 1, 1, "w")
