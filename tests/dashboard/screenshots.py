"""Makes a picture of each screen: python -m tests.dashboard.screenshots FOLDER"""

import asyncio
import socket
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.async_api import Browser, async_playwright, expect

from tests.dashboard.browser import FLAGS, program
from tests.dashboard.scene import Scene
from windlass.config import ServerSettings
from windlass.server.server import make_server

WIDE = {"width": 1280, "height": 800}
NARROW = {"width": 390, "height": 780}
LARGEST = 200_000


def views(ids: dict[str, str]) -> list[tuple[str, str, str, dict[str, int]]]:
    """The name of each picture, the address, the theme, and how large the window is."""
    return [
        ("overview", "", "light", WIDE),
        ("overview-dark", "", "dark", WIDE),
        ("queues", "ui/queues", "light", WIDE),
        ("queue", "ui/queues/mail", "light", WIDE),
        ("jobs", "ui/jobs", "light", WIDE),
        ("job", f"ui/jobs/{ids['failed']}", "light", WIDE),
        ("dead", "ui/dead", "light", WIDE),
        ("workflow", f"ui/workflows/{ids['flow']}", "dark", WIDE),
        ("cron", "ui/cron", "light", WIDE),
        ("workers", "ui/workers", "light", WIDE),
        ("history", "ui/history", "dark", WIDE),
        ("enqueue", "ui/enqueue?task=resize", "light", WIDE),
        ("phone", "", "light", NARROW),
        ("phone-jobs", "ui/jobs", "dark", NARROW),
    ]


async def picture(browser: Browser, url: str, scheme: Any, size: Any, path: Path) -> None:
    page = await browser.new_page(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    await page.goto(url)
    await page.locator(".page-head").wait_for()
    await page.locator(".link-live").wait_for()
    await expect(page.locator("main .skeleton, main [aria-busy=true]")).to_have_count(0)
    await page.screenshot(path=path)
    await page.close()
    size = path.stat().st_size
    print(f"{path} {size:,} bytes")  # noqa: T201
    assert size < LARGEST, f"{path} is too large for a page of the documentation"


async def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    socket.gethostname = lambda: "app-1"
    with TemporaryDirectory() as kept:
        scene = Scene(Path(kept))
        ids = await scene.make()
        settings = ServerSettings(http_port=0, grpc_port=-1, access_log=False)
        server = await make_server(scene.app, settings)
        await server.start()
        async with async_playwright() as play:
            browser = await play.chromium.launch(executable_path=program(), args=FLAGS)
            for name, path, scheme, size in views(ids):
                await scene.stay()
                url = f"http://127.0.0.1:{server.http_port}/{path}"
                await picture(browser, url, scheme, size, folder / f"{name}.png")
            await browser.close()
        await server.stop()
        await scene.app.aclose()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
