"""What grpc.aio can do alone: read a batch of jobs and answer, with no store behind.

No server of a queue can be as quick as this; the ratio to it says what ours costs.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import grpc
import uvloop
from grpc import aio

from windlass.protocol import windlass_pb2 as pb


async def answer(request: pb.EnqueueManyRequest, context: Any) -> pb.EnqueueManyResponse:
    return pb.EnqueueManyResponse(receipts=[pb.Receipt(id=job.task) for job in request.jobs])


async def serve(port: int) -> None:
    server = aio.server()
    handler: Any = grpc.unary_unary_rpc_method_handler(
        answer,
        request_deserializer=pb.EnqueueManyRequest.FromString,
        response_serializer=pb.EnqueueManyResponse.SerializeToString,
    )
    methods = {"EnqueueMany": handler}
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler("windlass.v1.Jobs", methods),)
    )
    server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    await asyncio.Event().wait()


if __name__ == "__main__":
    uvloop.run(serve(int(sys.argv[1])))
