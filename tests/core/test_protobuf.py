"""Payloads that are one protobuf message."""

from typing import Any

import pytest
from google.protobuf.wrappers_pb2 import StringValue

from windlass.core.arguments import Arguments
from windlass.core.codec import Codecs, decode_call, decode_result, encode_call, encode_result
from windlass.core.protobuf import PROTOBUF
from windlass.errors import InvalidArguments, UnencodableValue

MESSAGE = StringValue(value="hello")
DATA = MESSAGE.SerializeToString()


@pytest.mark.parametrize("value", [MESSAGE, DATA, bytearray(DATA), memoryview(DATA)])
def test_one_argument_is_stored_as_its_bytes(value: Any) -> None:
    assert encode_call(PROTOBUF, (value,), {}) == DATA
    assert decode_call(PROTOBUF, DATA) == ([DATA], {})


@pytest.mark.parametrize(("value", "data"), [(MESSAGE, DATA), (DATA, DATA), (None, b"")])
def test_a_result_is_a_message_bytes_or_nothing(value: Any, data: bytes) -> None:
    assert encode_result(PROTOBUF, value) == data
    assert decode_result(PROTOBUF, data) == data


@pytest.mark.parametrize(
    ("args", "kwargs"), [((), {}), ((DATA, DATA), {}), ((), {"data": DATA}), ((DATA,), {"x": 1})]
)
def test_any_other_number_of_arguments_is_refused(
    args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    with pytest.raises(UnencodableValue):
        encode_call(PROTOBUF, args, kwargs)


@pytest.mark.parametrize("value", ["text", 7, [DATA], {"a": 1}, (1, DATA)])
def test_anything_else_than_bytes_is_refused(value: Any) -> None:
    with pytest.raises(UnencodableValue):
        encode_call(PROTOBUF, (value,), {})
    with pytest.raises(UnencodableValue, match="the result: "):
        encode_result(PROTOBUF, value)


def test_it_is_always_known_by_its_name() -> None:
    assert Codecs().get("protobuf") is PROTOBUF


def test_the_bytes_become_what_the_handler_is_annotated_with() -> None:
    def shout(message: StringValue) -> StringValue:
        return message

    def measure(data: bytes) -> None: ...

    arguments = Arguments.of(shout)
    assert arguments.convert([DATA], {}, binary=True) == ([MESSAGE], {})
    assert arguments.result(DATA, binary=True) == MESSAGE
    assert Arguments.of(measure).convert([DATA], {}, binary=True) == ([DATA], {})
    with pytest.raises(InvalidArguments, match="the bytes are no StringValue"):
        arguments.convert([b"\xff"], {}, binary=True)
