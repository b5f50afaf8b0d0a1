"""The compose file is valid, complete and closed to strangers."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.files import COMPOSE, DEPLOY, compose, documents
from tests.deploy.services import parsed
from windlass.config import ServerSettings

SERVICES: dict[str, dict[str, Any]] = compose()["services"]
EACH = pytest.mark.parametrize("name", SERVICES)


def test_it_follows_the_specification_of_compose(tmp_path: Path) -> None:
    checked = [check(COMPOSE)]
    wrong = tmp_path / "compose.yaml"
    wrong.write_text(COMPOSE.read_text("utf-8").replace("stop_grace_period", "grace"), "utf-8")
    checked.append(check(wrong))
    assert [done.returncode for done in checked] == [0, 1], checked[0].stdout
    assert "grace" in checked[1].stdout


def check(path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", path],
        capture_output=True,
        text=True,
    )


def test_it_has_every_part() -> None:
    assert set(SERVICES) == {"server", "worker", "redis", "postgres", "prometheus", "grafana"}


@EACH
def test_an_image_is_ours_or_of_a_certain_version(name: str) -> None:
    service = SERVICES[name]
    if "build" in service:
        context = COMPOSE.parent / service["build"]["context"]
        assert (context / service["build"]["dockerfile"]).exists()
        assert service["pull_policy"] == "build"
    else:
        assert re.fullmatch(r"[\w./-]+:v?\d+[\w.-]*", service["image"])


@EACH
def test_what_it_waits_for_can_be_healthy(name: str) -> None:
    for other, wait in SERVICES[name].get("depends_on", {}).items():
        assert wait["condition"] == "service_healthy"
        # The image of the server brings its own check.
        assert "healthcheck" in SERVICES[other] or other == "server"
        if profiles := SERVICES[other].get("profiles"):
            assert profiles == [other] and wait["required"] is False


@EACH
def test_what_it_mounts_is_there(name: str) -> None:
    for volume in SERVICES[name].get("volumes", []):
        source, _, *mode = volume.split(":")
        if source.startswith("."):
            assert (COMPOSE.parent / source).is_dir()
            assert mode == ["ro"]
        else:
            assert source in compose()["volumes"]


@EACH
def test_it_comes_back_by_itself(name: str) -> None:
    assert SERVICES[name]["restart"] == "unless-stopped"


@EACH
def test_no_secret_is_in_the_file(name: str) -> None:
    for variable, value in SERVICES[name].get("environment", {}).items():
        if re.search("URL|PASSWORD|KEY", variable):
            assert value.startswith("${")


@EACH
def test_its_ports_are_open_to_this_machine_alone(name: str) -> None:
    for port in SERVICES[name].get("ports", []):
        assert port.startswith("${PUBLISH:-127.0.0.1}:")


def test_no_port_is_taken_twice() -> None:
    ports = [port.split(":")[-2] for each in SERVICES.values() for port in each.get("ports", [])]
    assert len(set(ports)) == len(ports)


def test_the_ports_of_the_server_are_its_defaults() -> None:
    inside = [int(port.split(":")[-1]) for port in SERVICES["server"]["ports"]]
    assert inside == [ServerSettings().http_port, ServerSettings().grpc_port]


@pytest.mark.parametrize("name", ["server", "worker"])
def test_our_own_services_may_do_little(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] and service["init"]
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]


@pytest.mark.parametrize("name", ["redis", "postgres"])
def test_only_our_own_services_reach_the_store(name: str) -> None:
    assert SERVICES[name]["networks"] == ["store"]
    assert "ports" not in SERVICES[name]
    assert compose()["networks"]["store"] == {"internal": True}
    reached = [each for each, service in SERVICES.items() if "store" in service.get("networks", [])]
    assert reached == ["server", "worker", "redis", "postgres"]


def test_redis_keeps_its_data() -> None:
    command = SERVICES["redis"]["command"]
    options = dict(zip(command[1::2], command[2::2], strict=True))
    assert options["--appendonly"] == "yes"
    assert options["--maxmemory-policy"] == "noeviction"
    assert SERVICES["redis"]["volumes"] == ["redis:/data"]


def scraped() -> dict[str, dict[str, Any]]:
    """What Prometheus asks, by the service that answers."""
    jobs = documents(DEPLOY / "prometheus" / "prometheus.yml")[0]["scrape_configs"]
    return {job["dns_sd_configs"][0]["names"][0]: job for job in jobs}


def test_prometheus_asks_the_server_with_a_key_that_it_is_given() -> None:
    job = scraped()["server"]
    assert job["dns_sd_configs"][0]["port"] == ServerSettings().http_port
    (secret,) = SERVICES["prometheus"]["secrets"]
    assert job["authorization"]["credentials_file"] == f"/run/secrets/{secret}"
    assert "environment" in compose()["secrets"][secret]


def test_prometheus_asks_the_workers_on_a_port_that_is_closed_to_others() -> None:
    job = scraped()["worker"]
    words = parsed(SERVICES["worker"]["command"])
    assert words["metrics_port"] == job["dns_sd_configs"][0]["port"]
    assert words["metrics_host"] == "0.0.0.0"
    assert "authorization" not in job and "ports" not in SERVICES["worker"]


def test_grafana_asks_prometheus() -> None:
    folder = DEPLOY / "grafana" / "provisioning" / "datasources"
    (source,) = documents(folder / "prometheus.yaml")[0]["datasources"]
    host, port = source["url"].removeprefix("http://").split(":")
    assert source["type"] == "prometheus" and source["isDefault"]
    assert SERVICES[host]["ports"][0].endswith(f":{port}")


def test_prometheus_finds_its_rules_and_grafana_its_dashboards() -> None:
    assert "./prometheus:/etc/prometheus:ro" in SERVICES["prometheus"]["volumes"]
    (rules,) = documents(DEPLOY / "prometheus" / "prometheus.yml")[0]["rule_files"]
    assert (DEPLOY / "prometheus" / rules).is_file()
    folder = DEPLOY / "grafana" / "provisioning" / "dashboards"
    (provider,) = documents(folder / "windlass.yaml")[0]["providers"]
    mounted = f"./grafana/dashboards:{provider['options']['path']}:ro"
    assert mounted in SERVICES["grafana"]["volumes"]
