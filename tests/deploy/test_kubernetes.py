"""The manifests are valid, fit together, and ask for no more than they need."""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import kubernetes_validate  # type: ignore[import-untyped]
import pytest

from tests.deploy.files import EXAMPLE, KUBERNETES, documents, manifest, manifests, place
from tests.deploy.services import of_kubernetes, pod
from windlass.config import ServerSettings, WorkerSettings, load

FOREIGN = ("kustomize.config.k8s.io/", "keda.sh/", "monitoring.coreos.com/")
"""Kinds that are not of Kubernetes itself."""

OLDEST, NEWEST = "1.25", "1.37"
NATIVE = [
    pytest.param(document, id=f"{path.name}: {document['kind']}")
    for path, document in manifests()
    if not document["apiVersion"].startswith(FOREIGN)
]
DEPLOYMENTS = ["windlass-server", "windlass-worker"]
FOLDERS = [KUBERNETES, KUBERNETES / "keda", KUBERNETES / "prometheus"]
SCALED = {
    "scaleTargetRef",
    "pollingInterval",
    "cooldownPeriod",
    "minReplicaCount",
    "maxReplicaCount",
    "advanced",
    "triggers",
}
"""What we use of a ScaledObject; whatever else stands there is a slip."""


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("document", NATIVE)
def test_it_follows_the_schema_of_kubernetes(document: dict[str, Any], version: str) -> None:
    kubernetes_validate.validate(document, version, strict=True)


def test_a_manifest_that_is_wrong_is_noticed() -> None:
    wrong = manifest("Deployment", "windlass-server")
    wrong["spec"]["template"]["spec"]["terminationGracePeriod"] = 60
    with pytest.raises(kubernetes_validate.ValidationError, match="terminationGracePeriod"):
        kubernetes_validate.validate(wrong, NEWEST, strict=True)


def test_no_manifest_names_a_namespace() -> None:
    assert not [
        path for path, document in manifests() if "namespace" in document.get("metadata", {})
    ]


@pytest.mark.parametrize("folder", FOLDERS, ids=place)
def test_every_file_is_applied_but_the_example_of_secrets(folder: Path) -> None:
    (kustomization,) = documents(folder / "kustomization.yaml")
    there = {path.name for path in folder.glob("*.yaml")}
    assert set(kustomization["resources"]) == there - {"kustomization.yaml", "secret.example.yaml"}
    for generator in kustomization.get("configMapGenerator", []):
        assert all((folder / name).exists() for name in generator["files"])


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_selector_finds_its_pods_and_no_others(name: str) -> None:
    spec = manifest("Deployment", name)["spec"]
    assert spec["selector"]["matchLabels"] == spec["template"]["metadata"]["labels"]
    others = [manifest("Deployment", other)["spec"] for other in DEPLOYMENTS if other != name]
    assert spec["selector"] not in [other["selector"] for other in others]


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_a_pod_may_do_little(name: str) -> None:
    spec = pod(name)
    (container,) = spec["containers"]
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["runAsUser"] == 10001
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert spec["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["resources"].keys() == {"requests", "limits"}


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_the_variables_of_service_links_are_kept_away_from_our_settings(name: str) -> None:
    assert pod(name)["enableServiceLinks"] is False


@pytest.mark.parametrize("name", DEPLOYMENTS)
def test_what_a_pod_mounts_is_made_here_or_in_the_example_of_secrets(name: str) -> None:
    spec = pod(name)
    (container,) = spec["containers"]
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes.keys()
    (kustomization,) = documents(KUBERNETES / "kustomization.yaml")
    (generated,) = kustomization["configMapGenerator"]
    assert volumes["config"]["configMap"]["name"] == generated["name"]
    (mount,) = (each for each in container["volumeMounts"] if each["name"] == "config")
    # Where the image looks for it: see WORKDIR.
    assert (
        mount["mountPath"] == f"/app/{mount['subPath']}" and mount["subPath"] in generated["files"]
    )
    for variable in container["env"]:
        reference = variable["valueFrom"]["secretKeyRef"]
        assert reference["key"] in manifest("Secret", reference["name"])["stringData"]


def test_the_image_is_the_one_that_kustomize_replaces() -> None:
    (kustomization,) = documents(KUBERNETES / "kustomization.yaml")
    replaced = {each["name"] for each in kustomization["images"]}
    assert {pod(name)["containers"][0]["image"] for name in DEPLOYMENTS} == replaced
    assert f"--tag {replaced.pop()} deploy/example" in (EXAMPLE / "Dockerfile").read_text("utf-8")


def test_the_service_leads_to_the_ports_of_the_server() -> None:
    spec = manifest("Service", "windlass-server")["spec"]
    (container,) = pod("windlass-server")["containers"]
    open_ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    assert open_ports == {"http": ServerSettings().http_port, "grpc": ServerSettings().grpc_port}
    assert {port["targetPort"]: port["port"] for port in spec["ports"]} == open_ports
    labels = manifest("Deployment", "windlass-server")["spec"]["template"]["metadata"]["labels"]
    assert spec["selector"] == labels


def test_servers_are_never_all_gone_at_once() -> None:
    spec = manifest("Deployment", "windlass-server")["spec"]
    budget = manifest("PodDisruptionBudget", "windlass-server")["spec"]
    assert spec["replicas"] > budget["maxUnavailable"]
    assert spec["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert budget["selector"] == spec["selector"]


def test_the_number_of_workers_is_left_to_what_scales_them() -> None:
    assert "replicas" not in manifest("Deployment", "windlass-worker")["spec"]
    assert manifest("ScaledObject", "windlass-worker")["spec"]["scaleTargetRef"] == {
        "name": "windlass-worker"
    }


def test_workers_are_scaled_by_the_age_of_every_queue_that_they_serve() -> None:
    spec = manifest("ScaledObject", "windlass-worker")["spec"]
    assert spec.keys() <= SCALED
    assert 0 < spec["minReplicaCount"] < spec["maxReplicaCount"]
    (worker,) = (start for start in of_kubernetes() if start.section == "worker")
    queues = load(WorkerSettings, "worker", environ={}, folder=worker.folder).queues
    paths = [urlsplit(trigger["metadata"]["url"]).path for trigger in spec["triggers"]]
    assert paths == [f"/api/v1/queues/{queue}" for queue in queues]
    for trigger in spec["triggers"]:
        check_trigger(trigger)


def check_trigger(trigger: dict[str, Any]) -> None:
    assert trigger["type"] == "metrics-api"
    # How many are wanted must not fall as pods are added, as it would by AverageValue.
    assert trigger["metricType"] == "Value"
    metadata = trigger["metadata"]
    assert all(isinstance(value, str) for value in metadata.values()), "KEDA takes only texts"
    assert metadata["valueLocation"] == "age"
    assert float(metadata["targetValue"]) > 0
    asked = urlsplit(metadata["url"])
    # KEDA asks from a namespace of its own, where the bare name means nothing.
    service, _, suffix = str(asked.hostname).split(".")
    assert (service, suffix) == ("windlass-server", "svc")
    assert asked.port == ServerSettings().http_port


def test_the_scaler_has_a_key() -> None:
    spec = manifest("ScaledObject", "windlass-worker")["spec"]
    (given,) = manifest("TriggerAuthentication", "windlass-scaler")["spec"]["secretTargetRef"]
    assert given["parameter"] == "apiKey"
    assert given["key"] in manifest("Secret", given["name"])["stringData"]
    for trigger in spec["triggers"]:
        assert trigger["authenticationRef"] == {"name": "windlass-scaler"}
        assert trigger["metadata"]["authMode"] == "apiKey"
        assert trigger["metadata"]["method"] == "header"
        assert trigger["metadata"]["keyParamName"] == "X-API-Key"


def test_the_example_has_no_real_secret() -> None:
    for name in ("windlass", "windlass-scaler", "windlass-prometheus"):
        for value in manifest("Secret", name)["stringData"].values():
            assert "PASSWORD" in value or value == "KEY"


def test_prometheus_is_led_to_every_server_with_a_key() -> None:
    spec = manifest("ServiceMonitor", "windlass-server")["spec"]
    labels = manifest("Service", "windlass-server")["metadata"]["labels"]
    assert spec["selector"]["matchLabels"] == labels
    (endpoint,) = spec["endpoints"]
    assert endpoint["port"] in [
        port["name"] for port in manifest("Service", "windlass-server")["spec"]["ports"]
    ]
    given = endpoint["authorization"]["credentials"]
    assert given["key"] in manifest("Secret", given["name"])["stringData"]


def test_prometheus_is_led_to_every_worker() -> None:
    spec = manifest("PodMonitor", "windlass-worker")["spec"]
    labels = manifest("Deployment", "windlass-worker")["spec"]["template"]["metadata"]["labels"]
    assert spec["selector"]["matchLabels"] == labels
    (endpoint,) = spec["podMetricsEndpoints"]
    (container,) = pod("windlass-worker")["containers"]
    (start,) = (each for each in of_kubernetes() if each.section == "worker")
    settings = load(WorkerSettings, "worker", environ={}, folder=start.folder)
    port = {"name": endpoint["port"], "containerPort": settings.metrics_port}
    assert container["ports"] == [port] and settings.metrics_host == "0.0.0.0"
    assert container["readinessProbe"]["httpGet"] == {"path": "/readyz", "port": port["name"]}
