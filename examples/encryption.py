"""Arguments and results that the store cannot read. Needs windlass[crypto,zstd].

python encryption.py
"""

import asyncio
import os

from windlass import Windlass
from windlass.core.codec import MSGPACK
from windlass.core.compress import Compressed
from windlass.core.encrypt import Encrypted

# In earnest the key comes from a secret store, and is the same for producers and workers.
codec = Encrypted(Compressed(MSGPACK), {"2025-a": os.urandom(32)})
app = Windlass("memory://", codec=codec)


@app.task
def charge(card: str) -> str:
    return f"ends in {card[-4:]}"


async def main() -> None:
    worker = await app.worker()
    await worker.start()
    job = await charge.aenqueue("4111111111111111")
    stored = (await job.aget()).spec.payload
    print("the store can read the card number:", b"4111" in stored)
    print("the handler can:", await job.aresult(timeout=10))
    await worker.stop()
    await app.aclose()


asyncio.run(main())
