"""A server that deploy/ starts serves those who have a key, and nobody else."""

import json
import signal
from pathlib import Path
from urllib.parse import urlsplit

from tests.acceptance.process import until
from tests.deploy.files import manifest
from tests.deploy.services import starts
from tests.deploy.site import PATIENCE, Site

SERVERS = {start.place: start for start in starts() if start.section == "server"}
(WORKER,) = (start for start in starts() if start.place == "compose.yaml: worker")


def test_without_a_key_in_the_store_it_says_how_to_make_one(tmp_path: Path) -> None:
    site = Site(tmp_path, SERVERS["compose.yaml: server"])
    with site.started() as process:
        assert process.wait(PATIENCE) == 1
    assert "windlass keys create --role admin" in site.log()


def test_the_first_steps_of_compose_lead_to_a_job_that_was_run(tmp_path: Path) -> None:
    site = Site(tmp_path, SERVERS["compose.yaml: server"])
    admin = site.run("keys", "create", "--role", "admin")
    with site.started() as server:
        site.await_health(server)
        assert site.request("GET", "/readyz")[0] == 200
        call = {"task": "send", "args": ["ada@example.org"]}
        assert site.request("POST", "/api/v1/jobs", call)[0] == 401
        status, text = site.request("POST", "/api/v1/jobs", call, X_API_Key=admin)
        assert status == 201, text
        id = json.loads(text)["id"]
        with site.started(*WORKER.words) as worker:
            path = f"/api/v1/jobs/{id}/result?wait=30"
            status, text = site.request("GET", path, X_API_Key=admin)
            assert (status, "sent to ada" in text) == (200, True), text
            assert site.stop(worker) == 0, site.log()
        assert site.stop(server) == 0, site.log()


def test_prometheus_and_keda_get_numbers_with_a_key_that_can_only_read(tmp_path: Path) -> None:
    site = Site(tmp_path, SERVERS["kubernetes: windlass-server"])
    reader = site.run("keys", "create", "--role", "read", "--name", "prometheus")
    site.run("enqueue", "send", "bob@example.org", "-A", "shop:app")
    trigger = manifest("ScaledObject", "windlass-worker")["spec"]["triggers"][0]["metadata"]
    with site.started() as server:
        site.await_health(server)
        path = urlsplit(trigger["url"]).path
        status, text = site.request("GET", path, **{trigger["keyParamName"]: reader})
        assert status == 200
        assert json.loads(text)[trigger["valueLocation"]] > 0
        assert site.request("GET", "/metrics")[0] == 401
        status, text = site.request("GET", "/metrics", Authorization=f"Bearer {reader}")
        assert (status, "windlass_" in text) == (200, True)
        assert site.stop(server) == 0, site.log()


def test_sighup_ends_no_server_and_lets_it_go_on_in_a_new_audit_log(tmp_path: Path) -> None:
    site = Site(tmp_path, SERVERS["systemd: windlass-server.service"])
    audit, kept = tmp_path / "audit.jsonl", tmp_path / "audit.jsonl.1"
    site.environ["WINDLASS_SERVER_AUDIT_LOG"] = str(audit)
    with site.started() as server:
        site.await_health(server)
        status, text = site.request("POST", "/api/v1/queues/first/pause")
        assert status < 300, text
        audit.rename(kept)
        server.send_signal(signal.SIGHUP)
        until(audit.exists, "a new audit log")
        assert site.request("POST", "/api/v1/queues/second/pause")[0] < 300
        assert site.stop(server) == 0, site.log()
    assert "first" in kept.read_text()
    assert "second" not in kept.read_text()
    assert "second" in audit.read_text()
    assert audit.stat().st_mode & 0o777 == 0o600


def test_the_unit_serves_its_own_machine_without_an_app_and_without_keys(tmp_path: Path) -> None:
    site = Site(tmp_path, SERVERS["systemd: windlass-server.service"])
    with site.started() as server:
        site.await_health(server)
        status, text = site.request("POST", "/api/v1/jobs", {"task": "elsewhere", "args": [1]})
        assert status == 201, text
        assert site.stop(server) == 0, site.log()
