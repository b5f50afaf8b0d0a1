"""Data folders of SQL servers: laid out once in a run of the tests, and copied for each server.

To lay one out takes seconds of processor time, and each process that runs tests has several.
"""

import fcntl
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

SHARED = "WINDLASS_TEST_LAYOUTS"
"""Names the folder that the processes of one run share; without it each server has its own."""


def lay_out(name: str, folder: Path, build: Callable[[Path], None]) -> None:
    """Fill `folder` as `build` would, which is called for the first of this name in the run."""
    shared = os.environ.get(SHARED)
    if shared is None:
        build(folder)
        return
    model = Path(shared) / name
    with (Path(shared) / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not model.exists():
            # Under another name first: what is half made must not be copied.
            made = Path(shared) / f"{name}.made"
            build(made)
            made.rename(model)
    # With owners and rights, on which the servers insist.
    subprocess.run(["cp", "-a", f"{model}/.", folder], check=True)
