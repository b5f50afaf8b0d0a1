"""Whatever in deploy/ asks a server for something asks for what it serves."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from tests.deploy.files import DEPLOY, documents, manifest
from tests.deploy.services import pod
from windlass.core.apikey import Role
from windlass.server.http.routes import ROUTES

SERVED = {route.path: route for route in ROUTES if route.method == "GET"}


def asked() -> Iterator[tuple[str, str]]:
    (container,) = pod("windlass-server")["containers"]
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        yield probe, container[probe]["httpGet"]["path"]
    jobs = documents(DEPLOY / "prometheus" / "prometheus.yml")[0]["scrape_configs"]
    for job in jobs:
        if job["job_name"] == "windlass-server":
            yield "prometheus", job["metrics_path"]
    for endpoint in manifest("ServiceMonitor", "windlass-server")["spec"]["endpoints"]:
        yield "prometheus", endpoint["path"]
    (path,) = re.findall(r'^PATH = "(.+)"$', (DEPLOY / "health.py").read_text(), re.MULTILINE)
    yield "health.py", path


def test_every_path_is_served() -> None:
    assert {path for _, path in asked()} <= SERVED.keys()


def test_who_has_no_key_asks_for_what_is_public() -> None:
    for who, path in asked():
        assert SERVED[path].is_public == (who != "prometheus"), path
    assert SERVED["/metrics"].role is Role.READ


def test_the_scaler_asks_for_a_queue_with_a_key_that_may_read() -> None:
    for trigger in manifest("ScaledObject", "windlass-worker")["spec"]["triggers"]:
        path = urlsplit(trigger["metadata"]["url"]).path
        route = SERVED[f"{path.rpartition('/')[0]}/{{name}}"]
        assert route.role is Role.READ
        assert trigger["metadata"]["valueLocation"] in route.answers[200].__struct_fields__


def test_each_probe_asks_for_what_it_means() -> None:
    found = dict(asked())
    # A store that is away must not get servers killed: only readiness may ask about it.
    assert found["livenessProbe"] == found["startupProbe"] == found["health.py"] == "/livez"
    assert found["readinessProbe"] == "/readyz"
    (container,) = pod("windlass-server")["containers"]
    ports = {container[name]["httpGet"]["port"] for name in container if name.endswith("Probe")}
    assert ports == {"http"}
