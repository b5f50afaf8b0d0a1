"""The workers of a unit: they run jobs, are replaced by a reload, and stop."""

import importlib.util
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.process import until
from tests.deploy.files import EXAMPLE
from tests.deploy.services import starts
from tests.deploy.site import Site

STARTS = {start.place: start for start in starts()}


def app(site: Site, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module of the app, on the store of a site."""
    monkeypatch.setenv("WINDLASS_URL", site.environ["WINDLASS_URL"])
    spec = importlib.util.spec_from_file_location("deployed_shop", EXAMPLE / "shop.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_reload_of_the_unit_replaces_its_processes_and_not_the_service(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = Site(tmp_path, STARTS["systemd: windlass-worker@.service"])
    shop = app(site, monkeypatch)
    try:
        with site.started() as process:
            until(lambda: site.log().count(" started on ") == 2, "two workers")
            assert shop.total.enqueue([1.5, 2]).result(timeout=40) == 3.5
            process.send_signal(signal.SIGHUP)
            until(lambda: site.log().count(" started on ") == 4, "both to be replaced")
            assert shop.send.enqueue("bob@example.org").result(timeout=40).startswith("sent to bob")
            assert process.poll() is None
            assert site.stop(process) == 0, site.log()
    finally:
        shop.app.close()
