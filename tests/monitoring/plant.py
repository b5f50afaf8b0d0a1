"""A store, a server and workers: real ones, with what Prometheus needs to watch them."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import yaml

from tests.monitoring.files import ALERTS, CONFIG, load
from tests.servers.fork_server import WINDLASS, run, start
from tests.servers.ports import free_port
from tests.servers.server import Server
from windlass.stores.contract import Store
from windlass.stores.open import open_store
from windlass.sync import drive

LEASE = 4
KEY = "key"
"""The file that Prometheus reads its key from, each time."""


class Plant:
    """Everything on one store. Its workers are `quick` and, for the queue slow, `slow`."""

    def __init__(self, folder: Path, store: Server) -> None:
        self.folder = folder
        self.redis = store
        self.store: Store = open_store(store.url, blocking=True)
        self.ports = {name: free_port() for name in ("server", "quick", "slow")}
        self.processes: dict[str, subprocess.Popen[bytes]] = {}
        self.key = ""
        kept = {name: text for name, text in os.environ.items() if "WINDLASS_" not in name}
        self.environ = kept | {"WINDLASS_URL": store.url, "PYTHONPATH": str(Path(__file__).parent)}

    def run(self, *words: str) -> str:
        """What a command prints."""
        done = run(
            [*WINDLASS, *words], cwd=self.folder, env=self.environ, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def start(self, name: str, *words: str) -> None:
        with (self.folder / f"{name}.log").open("wb") as log:
            self.processes[name] = start(
                [*WINDLASS, *words],
                cwd=self.folder,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def start_server(self) -> None:
        ports = ["--http-port", str(self.ports["server"]), "--grpc-port", "-1"]
        self.start("server", "server", "--app", "shop:app", *ports)

    def start_worker(self, name: str, *queues: str) -> None:
        settings = ["--queues", ",".join(queues), "--lease", str(LEASE)]
        port = ["--metrics-port", str(self.ports[name])]
        self.start(name, "worker", "shop:app", *settings, *port)

    def freeze(self, name: str) -> None:
        self.processes[name].send_signal(signal.SIGSTOP)

    def thaw(self, name: str) -> None:
        self.processes[name].send_signal(signal.SIGCONT)

    def log(self) -> str:
        return "\n".join(path.read_text() for path in sorted(self.folder.glob("*.log")))

    def enqueue(self, task: str, *args: Any) -> None:
        """Through the server, which counts it."""
        connection = HTTPConnection("127.0.0.1", self.ports["server"], timeout=30)
        with closing(connection):
            body = json.dumps({"task": task, "args": args})
            headers = {"Content-Type": "application/json", "X-API-Key": self.key}
            connection.request("POST", "/api/v1/jobs", body, headers)
            answer = connection.getresponse()
            assert answer.status == 201, answer.read()

    def files(self) -> dict[str, str]:
        """The shipped files of Prometheus, for these ports and for somebody in a hurry."""
        config = load(CONFIG)
        config["global"] = dict.fromkeys(("scrape_interval", "evaluation_interval"), "1s")
        targets = {"windlass-server": ["server"], "windlass-worker": ["quick", "slow"]}
        for job in config["scrape_configs"]:
            del job["dns_sd_configs"]
            found = [f"127.0.0.1:{self.ports[name]}" for name in targets.pop(job["job_name"])]
            job["static_configs"] = [{"targets": found}]
            if "authorization" in job:
                job["authorization"]["credentials_file"] = KEY
        assert not targets
        rules = hurried(ALERTS.read_text("utf-8"))
        return {CONFIG.name: yaml.safe_dump(config), ALERTS.name: rules, KEY: ""}

    def close(self) -> None:
        for process in self.processes.values():
            process.kill()
            process.wait()
        drive(self.store.close())


def hurried(rules: str) -> str:
    """Rules in which a minute lasts a second, and nothing has to hold `for` a while."""
    rules = re.sub(r"^ +for: .*\n", "", rules, flags=re.MULTILINE)
    rules = rules.replace("windlass_queue_age_seconds) > 300", "windlass_queue_age_seconds) > 5")
    return re.sub(r"(\[|offset )(\d+)m\b", r"\1\2s", rules)


@contextmanager
def plant(folder: Path, store: Server) -> Iterator[Plant]:
    """A plant of which no process is left behind."""
    made = Plant(folder, store)
    try:
        drive(made.store.open())
        yield made
    finally:
        made.close()
