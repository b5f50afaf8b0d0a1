"""A file on a network drive is told of, by the type of the mount; no other is."""

from pathlib import Path

import pytest

from windlass.stores.contract import Store
from windlass.stores.sqlite.mounts import shared_type

TABLE = """\
21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw
30 21 0:40 / /srv rw shared:7 - nfs4 files:/srv rw,vers=4.2
31 30 8:2 / /srv/local\\040disk rw - xfs /dev/sdb1 rw
32 21 0:41 / /mnt/a rw - fuse.sshfs me@there:/ rw
33 21 0:42 / /mnt/b rw - fuse.encfs encfs rw
34 21 0:43 / /mnt/c rw - cifs //there/c rw
35 21 0:44 / /mnt/c rw - tmpfs tmpfs rw
36 21 0:45 / /data rw - overlay overlay rw
a line that is no mount
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/jobs.db", None),
        ("/srv/jobs.db", "nfs4"),
        ("/srv/local/jobs.db", "nfs4"),
        ("/srv/local disk/jobs.db", None),
        ("/srvs/jobs.db", None),
        ("/mnt/a/deep/down/jobs.db", "fuse.sshfs"),
        ("/mnt/b/jobs.db", None),
        ("/mnt/c/jobs.db", None),
        ("/data/jobs.db", None),
    ],
)
def test_the_mount_that_a_file_is_on_decides(tmp_path: Path, path: str, kind: str | None) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(TABLE)
    assert shared_type(path, table) == kind


def test_where_nothing_can_be_asked_nothing_is_said(tmp_path: Path) -> None:
    assert shared_type("/jobs.db", tmp_path / "none") is None


async def test_the_risks_of_a_store_say_it(
    store: Store, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await store.risks() == []
    table = tmp_path / "mountinfo"
    table.write_text(f"30 21 0:40 / {path.parent.resolve()} rw - nfs files:/ rw\n")
    monkeypatch.setattr("windlass.stores.sqlite.store.shared_type", lambda p: shared_type(p, table))
    [told] = await store.risks()
    assert "network file system (nfs)" in told
