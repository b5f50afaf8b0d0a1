"""The view on every store, through a server, and through an outage."""

import asyncio
import re
from pathlib import Path

from tests.cli.conftest import Call
from tests.cli.top.conftest import Site, made_site
from tests.server.serving import served
from tests.servers import redis
from tests.servers.mysql_client import fresh_database
from tests.servers.server import Server
from windlass import Windlass, connect


def check_frame(call: Call, url: str) -> None:
    """What is enqueued shows in a frame."""
    with connect(url) as jobs:
        jobs.task("resize", queue="pictures").enqueue("cat.jpg")
    done = call("top", "--once", "--url", url)
    assert done.exit_code == 0, done.output
    assert re.search(r"^  pictures +1 +0 ", done.output, re.MULTILINE)
    assert "none serves the queue pictures, where 1 job waits" in done.output


def test_a_frame_of_redis(call: Call, redis_server: Server) -> None:
    check_frame(call, f"{redis_server.url}?namespace=top")


def test_a_frame_of_postgres(call: Call, postgres_server: Server) -> None:
    check_frame(call, f"{postgres_server.url}?schema=top")


def test_a_frame_of_mysql(call: Call, mariadb_server: Server) -> None:
    check_frame(call, fresh_database(mariadb_server.url, "top"))


def test_an_outage_is_told_and_lived_through_even_at_the_start(tmp_path: Path) -> None:
    with redis.serve() as server, made_site(tmp_path, f"{server.url}?patience=0.5") as site:
        site.enqueue("lost", queue="mail")
        server.kill()
        site.command()
        site.screen.wait_for("For ", "did not answer", "--:--:--")
        server.start()
        site.screen.wait_for("> mail")
        server.kill()
        site.screen.wait_for("For ", "did not answer", "> mail")
        site.screen.press("p")
        site.screen.wait_without("? help")
        site.screen.press("?")
        site.screen.wait_for("pause the chosen queue", "For ")
        site.screen.press("Escape")
        server.start()
        site.screen.wait_without("For ")
        site.screen.press("p")
        site.screen.wait_for("Paused the queue mail.", "The queue mail is paused")
        server.kill()
        site.screen.wait_for("For ")
        site.screen.press("q")
        site.screen.wait_until(lambda screen: screen.rstrip().endswith("ready>"))


async def test_through_a_server_a_key_decides_what_can_be_done(site: Site) -> None:
    def work(key: str, answer: str) -> None:
        site.top(environ=f"WINDLASS_API_KEY={key}").wait_for("> mail", "where 1 job")
        site.screen.press("p")
        site.screen.wait_for(answer)
        site.screen.press("q")
        site.screen.wait_until(lambda screen: screen.rstrip().endswith("ready>"))

    app = Windlass("memory://")
    async with served(app, has_tasks=False) as api:
        keys = [await api.add_key("read", queues=("mail",)), await api.add_key("operate")]
        await app.task(name="lost", queue="mail")(print).aenqueue()
        site.url = api.url
        await asyncio.to_thread(work, keys[0], "This needs a key with the role operate")
        await asyncio.to_thread(work, keys[1], "Paused the queue mail.")
    await app.aclose()
