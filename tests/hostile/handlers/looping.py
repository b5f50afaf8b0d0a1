"""Handlers that interfere with the event loop that they run on, and with its tasks."""

import asyncio
import sys
from typing import Any, NoReturn

from tests.hostile.handlers.case import DONE, FAILS, Table
from windlass import current_context

left: set[asyncio.Task[None]] = set()

LOOPS = Table("interferes with the event loop")
TABLES = (LOOPS,)


async def leave() -> NoReturn:
    sys.exit(0)


async def interrupt() -> NoReturn:
    raise KeyboardInterrupt


@LOOPS.row("calls `sys.exit()` in `asyncio.gather`", FAILS, "SystemExit", "0")
async def exit_in_gather() -> None:
    await asyncio.gather(leave(), asyncio.sleep(0.01))


@LOOPS.row("calls `sys.exit()` in an `asyncio.TaskGroup`", FAILS, "SystemExit", "0")
async def exit_in_group() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(leave())


@LOOPS.row("calls `sys.exit()` in a task that it does not await", DONE)
async def exit_in_background() -> None:
    asyncio.create_task(leave())  # noqa: RUF006
    await asyncio.sleep(0.01)


@LOOPS.row("raises `KeyboardInterrupt` in a task", FAILS, "KeyboardInterrupt", "")
async def interrupt_in_task() -> None:
    await asyncio.create_task(interrupt())


@LOOPS.row("calls `sys.exit()` in a callback of the loop", DONE)
async def exit_in_callback() -> None:
    asyncio.get_running_loop().call_soon(sys.exit)
    await asyncio.sleep(0.01)


@LOOPS.row("raises in a callback of the loop", DONE)
async def raise_in_callback() -> None:
    asyncio.get_running_loop().call_soon(lambda: 1 / 0)
    await asyncio.sleep(0.01)


@LOOPS.row("stops the loop, and goes on", DONE)
async def stop_and_go_on() -> None:
    asyncio.get_running_loop().stop()
    await asyncio.sleep(0.01)


@LOOPS.row("stops the loop, and returns", DONE)
async def stop_and_return() -> None:
    asyncio.get_running_loop().stop()


@LOOPS.row("cancels its own task", FAILS, "CancelledError", "")
async def cancel_itself() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(3600)


@LOOPS.row("cancels its own task, and returns", DONE)
async def cancel_itself_and_return() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()


@LOOPS.row("runs the loop that runs", FAILS, "RuntimeError", "already running")
async def run_again() -> None:
    asyncio.get_running_loop().run_forever()


@LOOPS.row("sets another event loop, and another policy", DONE, on="at")
def set_loop() -> None:
    asyncio.set_event_loop(None)
    asyncio.set_event_loop_policy(asyncio.DefaultEventLoopPolicy())


@LOOPS.row("sets an exception handler that raises", DONE)
async def set_handler() -> None:
    def handle(*_: Any) -> NoReturn:
        raise RuntimeError("handled")

    asyncio.get_running_loop().set_exception_handler(handle)
    asyncio.get_running_loop().call_soon(lambda: 1 / 0)
    await asyncio.sleep(0.01)


@LOOPS.row("turns the debug mode of the loop on", DONE)
async def debug() -> None:
    asyncio.get_running_loop().set_debug(True)
    await asyncio.sleep(0.01)
    asyncio.get_running_loop().set_debug(False)


@LOOPS.row("starts 1,000 tasks that never end", DONE)
async def many_tasks() -> None:
    left.update(asyncio.create_task(asyncio.sleep(600)) for _ in range(1_000))


@LOOPS.row("waits for its own result", FAILS, "ResultTimeout", "")
async def wait_for_itself() -> None:
    from tests.hostile.handlers.serving import app

    await app.job(current_context().id).aresult(timeout=0.2)


@LOOPS.row("closes its app", FAILS, "UsageError", "A handler cannot close the app")
async def close_client() -> None:
    from tests.hostile.handlers.serving import app

    await app.aclose()


@LOOPS.row("closes its app, as blocking code", DONE, on="t")
def close_app() -> None:
    from tests.hostile.handlers.serving import app

    app.close()


@LOOPS.row("yields to the loop 2,000 times without a pause", DONE)
async def hot() -> None:
    for _ in range(2_000):
        await asyncio.sleep(0)
