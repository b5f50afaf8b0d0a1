"""The example worker in Node, as processes. What it needs is installed once, beside our Python."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from tests.servers.binaries import binary

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "examples" / "node"
PROTO = ROOT / "src" / "windlass" / "server" / "grpc" / "windlass.proto"
PATIENCE = 60


def installed() -> Path:
    """A folder with the packages that the example names, by the versions that it names."""
    digest = sha256((EXAMPLE / "package-lock.json").read_bytes()).hexdigest()[:16]
    folder = Path(sys.prefix, "cache", f"node-{digest}")
    folder.parent.mkdir(exist_ok=True)
    with (folder.parent / "node.lock").open("w") as lock:
        # Several processes run tests; one of them installs.
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "done").exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            for name in ("package.json", "package-lock.json"):
                shutil.copy(EXAMPLE / name, folder)
            command = [binary("npm"), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
            subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=PATIENCE)
            (folder / "done").touch()
    return folder


class NodeWorker:
    """One process of it."""

    def __init__(self, folder: Path, program: str = "worker.mjs", **environ: str) -> None:
        self.process = subprocess.Popen(
            [binary("node"), program],
            cwd=folder,
            env=os.environ | environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def stop(self) -> str:
        """End it as a service manager would; all that it has said."""
        self.process.send_signal(signal.SIGTERM)
        said, _ = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, said
        return said

    def freeze(self) -> None:
        """Let it do nothing more, with its connections open."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=PATIENCE)


@contextmanager
def example(folder: Path) -> Iterator[Path]:
    """A folder with the example in it, from which it can be run."""
    for name in ("worker.mjs", "tasks.mjs"):
        shutil.copy(EXAMPLE / name, folder)
    (folder / "node_modules").symlink_to(installed() / "node_modules")
    yield folder
