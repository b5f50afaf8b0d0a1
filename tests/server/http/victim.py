"""A server in a process of its own, whose memory is watched while it is attacked."""

import asyncio
import os
import re
import resource
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from tests.server.wire import Wire
from windlass import Windlass
from windlass.core.apikey import new_key

PATIENCE = 60.0
MB = 1024 * 1024
PAGE = resource.getpagesize()


class Victim:
    """A running server that has keys."""

    def __init__(self, process: subprocess.Popen[str], port: int, key: str, log: Path) -> None:
        self.process = process
        self.port = port
        self.key = key
        self._log = log

    @property
    def log(self) -> str:
        return self._log.read_text("utf-8")

    @property
    def resident(self) -> int:
        """Bytes of its memory."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text("ascii").split()[1]) * PAGE

    @property
    def files(self) -> int:
        """How many it has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    @asynccontextmanager
    async def wire(self, tls: ssl.SSLContext | None = None) -> AsyncIterator[Wire]:
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port, ssl=tls)
        try:
            yield Wire(reader, writer)
        finally:
            writer.transport.abort()

    async def honest(self) -> float:
        """Seconds until somebody who has a key is answered."""
        began = time.monotonic()
        async with self.wire() as line:
            await line.request("GET /api/v1/me", X_API_Key=self.key)
            answer = await asyncio.wait_for(line.answer(), PATIENCE)
            assert answer.status == 200, answer
        return time.monotonic() - began

    @contextmanager
    def watched(self, most: int) -> Iterator[None]:
        """Whatever is done meanwhile costs at most so many bytes of memory at any time."""
        before, peak, is_over = self.resident, [0], threading.Event()

        def look() -> None:
            while not is_over.wait(0.005):
                peak[0] = max(peak[0], self.resident)

        thread = threading.Thread(target=look)
        thread.start()
        try:
            yield
        finally:
            is_over.set()
            thread.join()
        grown = peak[0] - before
        assert grown <= most, f"{grown / MB:.1f} MB more at the peak"


@contextmanager
def attacked(folder: Path, *words: str, files: int | None = None) -> Iterator[Victim]:
    """A server that may have so many files open."""
    url = f"sqlite:///{folder}/victim.db"
    made = new_key(["admin"])
    app = Windlass(url)
    app.client.block(lambda store: store.put_keys([made.key]), "attacked", "put_keys")
    app.close()
    command = [sys.executable, "-m", "windlass.cli.main", "server", "--http-port=0"]
    command += ["--grpc-port=-1", "--no-upkeep", *words]
    if files is not None:
        command = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *command]
    log = folder / "victim.log"
    with log.open("w") as out:
        process = subprocess.Popen(
            command, env={**os.environ, "WINDLASS_URL": url}, stderr=out, text=True
        )
    try:
        until = time.monotonic() + PATIENCE
        while not (found := re.search(r"https?://[^ ]+:(\d+)", log.read_text("utf-8"))):
            assert process.poll() is None and time.monotonic() < until, log.read_text("utf-8")
            time.sleep(0.02)
        yield Victim(process, int(found[1]), made.text, log)
    finally:
        process.terminate()
        process.wait(PATIENCE)
