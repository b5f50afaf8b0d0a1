"""The account servers run under.

PostgreSQL and MariaDB refuse to run as root, which is who runs the tests in most containers.
`nobody` exists everywhere, so no server package has to bring an account of its own.
"""

import os
import pwd
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def account() -> pwd.struct_passwd:
    """Who servers run as: `nobody` when the tests run as root, otherwise whoever runs them."""
    return pwd.getpwnam("nobody") if os.geteuid() == 0 else pwd.getpwuid(os.geteuid())


@contextmanager
def temporary_folder(name: str) -> Iterator[Path]:
    """A folder that belongs to the account and is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix=f"windlass-{name}-") as folder:
        owner = account()
        os.chown(folder, owner.pw_uid, owner.pw_gid)
        yield Path(folder)
