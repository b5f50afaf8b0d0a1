"""What Starlette, msgspec and uvicorn can do alone: read a job and answer, with no store behind.

No server of a queue can be as quick as this; the ratio to it says what ours costs.
"""

from __future__ import annotations

import sys

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from windlass.server.http.enqueuing import Stored
from windlass.server.offer import JobRequest

decode = msgspec.json.Decoder(JobRequest).decode
encode = msgspec.json.Encoder().encode


async def validate(request: Request) -> Response:
    job = decode(await request.body())
    return Response(encode(Stored(job.task, duplicate=False)), 201, media_type="application/json")


app = Starlette(routes=[Route("/api/v1/jobs", validate, methods=["POST"])])

if __name__ == "__main__":
    uvicorn.run(
        app, port=int(sys.argv[1]), http="httptools", loop="uvloop", access_log=False, ws="none"
    )
