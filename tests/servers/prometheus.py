"""A private Prometheus, and what it answers."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

from tests.servers.account import temporary_folder
from tests.servers.binaries import binary
from tests.servers.ports import ask, free_port
from tests.servers.server import Server

_READY = b"GET /-/ready HTTP/1.0\r\n\r\n"


@contextmanager
def serve(files: Mapping[str, str]) -> Iterator[Server]:
    """Prometheus on a free port, with these files around its configuration, prometheus.yml."""
    with temporary_folder("prometheus") as folder:
        for name, text in files.items():
            (folder / name).write_text(text, "utf-8")
        port = free_port()
        command = [
            binary("prometheus"),
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address=127.0.0.1:{port}",
        ]
        with Server(
            folder=folder,
            port=port,
            url=f"http://127.0.0.1:{port}",
            command=command,
            answers=lambda: b" 200 " in ask(port, _READY),
        ) as server:
            yield server


def query(server: Server, expr: str) -> list[dict[str, Any]]:
    """The series that an expression has now, each with its labels and its value."""
    found: list[dict[str, Any]] = _get(server, "query", query=expr)["result"]
    return found


def firing(server: Server) -> dict[str, dict[str, Any]]:
    """The alerts that fire now, by name; one of each."""
    return {
        alert["labels"]["alertname"]: alert
        for alert in _get(server, "alerts")["alerts"]
        if alert["state"] == "firing"
    }


def _get(server: Server, what: str, **words: str) -> Any:
    with urlopen(f"{server.url}/api/v1/{what}?{urlencode(words)}", timeout=30) as answer:
        return json.load(answer)["data"]
