"""Requests that two programs could read in two ways: one reading is refused, none is smuggled."""

from contextlib import suppress

import pytest

from tests.server.serving import Served
from tests.server.wire import wire

SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEAD = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
JOB = b'{"task":"x"}'
CHUNKS = b"c\r\n" + JOB + b"\r\n0\r\n\r\n"
TE = b"Transfer-Encoding: "

FORMS = {
    "length and chunks": HEAD + b"Content-Length: 12\r\n" + TE + b"chunked\r\n\r\n" + CHUNKS,
    "chunks and length": HEAD + TE + b"chunked\r\nContent-Length: 4\r\n\r\n" + CHUNKS,
    "two lengths": HEAD + b"Content-Length: 12\r\nContent-Length: 0\r\n\r\n" + JOB,
    "two lengths that are alike": HEAD + b"Content-Length: 12\r\nContent-Length: 12\r\n\r\n" + JOB,
    "a list of lengths": HEAD + b"Content-Length: 12, 12\r\n\r\n" + JOB,
    "a length below zero": HEAD + b"Content-Length: -1\r\n\r\n" + JOB,
    "a length with a sign": HEAD + b"Content-Length: +12\r\n\r\n" + JOB,
    "a length of 30 digits": HEAD + b"Content-Length: " + b"9" * 30 + b"\r\n\r\n" + JOB,
    "a length in hex": HEAD + b"Content-Length: 0xc\r\n\r\n" + JOB,
    "a length with a space before": HEAD + b"Content-Length : 12\r\n\r\n" + JOB,
    "identity, chunked": HEAD + TE + b"identity, chunked\r\n\r\n" + CHUNKS,
    "chunked, identity": HEAD + TE + b"chunked, identity\r\n\r\n" + CHUNKS,
    "gzip, chunked": HEAD + TE + b"gzip, chunked\r\n\r\n" + CHUNKS,
    "xchunked": HEAD + TE + b"xchunked\r\n\r\n" + CHUNKS,
    "chunked in quotes": HEAD + TE + b'"chunked"\r\n\r\n' + CHUNKS,
    "chunked behind a tab of its own": HEAD + TE + b"\x0bchunked\r\n\r\n" + CHUNKS,
    "two codings": HEAD + TE + b"chunked\r\n" + TE + b"chunked\r\n\r\n" + CHUNKS,
    "two codings, one of them none": HEAD + TE + b"identity\r\n" + TE + b"chunked\r\n\r\n" + CHUNKS,
    "a coding with a space before": HEAD + b"Transfer-Encoding : chunked\r\n\r\n" + CHUNKS,
    "chunks in HTTP/1.0": HEAD.replace(b"1.1", b"1.0") + TE + b"chunked\r\n\r\n" + CHUNKS,
    "lines that end in LF": (HEAD + b"Content-Length: 12\r\n\r\n").replace(b"\r\n", b"\n") + JOB,
    "one line that ends in LF": HEAD + b"X: y\nContent-Length: 12\r\n\r\n" + JOB,
    "an end in LF": HEAD + b"Content-Length: 12\r\n\n" + JOB,
    "a folded line": HEAD + b"X: y\r\n Content-Length: 0\r\nContent-Length: 12\r\n\r\n" + JOB,
    "a NUL in a value": HEAD + b"X: a\x00b\r\nContent-Length: 12\r\n\r\n" + JOB,
    "a NUL in a name": HEAD + b"X\x00: ab\r\nContent-Length: 12\r\n\r\n" + JOB,
    "a CR in a value": HEAD + b"X: a\rContent-Length: 0\r\nContent-Length: 12\r\n\r\n" + JOB,
    "a line without a colon": HEAD + b"nonsense\r\nContent-Length: 12\r\n\r\n" + JOB,
    "two hosts": HEAD + b"Host: evil.example.org\r\nContent-Length: 12\r\n\r\n" + JOB,
    "a chunk of 17 hex digits": HEAD + TE + b"chunked\r\n\r\n1000000000000000c\r\n" + JOB,
    "a chunk of -1": HEAD + TE + b"chunked\r\n\r\n-1\r\n" + JOB + b"\r\n0\r\n\r\n",
    "a chunk with a space": HEAD + TE + b"chunked\r\n\r\n c\r\n" + JOB + b"\r\n0\r\n\r\n",
    "a chunk that is longer than it says": HEAD + TE + b"chunked\r\n\r\n2\r\n" + CHUNKS,
    "chunks that end in LF": HEAD + TE + b"chunked\r\n\r\nc\n" + JOB + b"\n0\n\n",
    "an old request": b"GET /livez\r\n\r\n",
    "a request of HTTP/2": b"GET /livez HTTP/2.0\r\nHost: localhost\r\n\r\n",
    "a tunnel": b"CONNECT localhost:80 HTTP/1.1\r\nHost: localhost:80\r\n\r\n",
}


@pytest.mark.parametrize("form", FORMS)
async def test_what_can_be_read_in_two_ways_is_refused_and_nothing_behind_it_is_read(
    bare: Served, form: str
) -> None:
    async with wire(bare) as line:
        await line.send(FORMS[form] + SMUGGLED)
        with suppress(EOFError):
            answer = await line.answer()
            assert answer.status == 400, answer
        assert b"HTTP/1.1 404" not in await line.ended()
    assert await bare.number() == 0
    assert (await bare.get("/readyz")).status == 200


@pytest.mark.parametrize("name", ["X-API-Key", "Authorization", "Host"])
async def test_what_stands_behind_a_body_does_not_count(bare: Served, name: str) -> None:
    key = await bare.add_key("enqueue")
    value = {"X-API-Key": key, "Authorization": f"Bearer {key}"}.get(name, "1")
    trailer = f"0\r\n{name}: {value}\r\n\r\n".encode()
    body = HEAD + TE + b"chunked\r\n\r\n" + b"c\r\n" + JOB + b"\r\n"
    async with wire(bare) as line:
        await line.send(body + trailer)
        assert (await line.answer()).status == 401
        # It neither counts for the request that comes next.
        await line.send(HEAD + b"Content-Length: 12\r\n\r\n" + JOB)
        assert (await line.answer()).status == 401
        await line.send(HEAD + f"X-API-Key: {key}\r\n".encode() + TE + b"chunked\r\n\r\n" + CHUNKS)
        assert (await line.answer()).status == 201
    assert await bare.number() == 1


async def test_the_host_of_a_whole_address_counts_and_not_that_of_the_header(bare: Served) -> None:
    for target, status in (("http://localhost/livez", 200), ("http://localhost/api/v1/jobs", 200)):
        async with wire(bare) as line:
            await line.request(f"GET {target}", Host="evil.example.org")
            assert (await line.answer()).status == status
    async with wire(bare) as line:
        await line.request("GET http://evil.example.org/api/v1/jobs")
        assert (await line.answer()).status == 403


@pytest.mark.parametrize("host", ["evil.example.org", "127.0.0.1.evil.example.org", "8.8.8.8"])
async def test_an_open_server_is_addressed_as_this_machine(bare: Served, host: str) -> None:
    async with wire(bare) as line:
        await line.request("GET /api/v1/jobs", Host=host, X_Forwarded_Host="localhost")
        assert (await line.answer()).status == 403
