"""The messages are those of windlass.proto, in every version of the runtime that is supported."""

import subprocess
import sys
from pathlib import Path

import pytest

from windlass.protocol import windlass_pb2 as pb

ROOT = Path(__file__).parents[3]
SOURCE = ROOT / "src" / "windlass" / "protocol"


def test_the_generated_code_is_that_of_the_proto(tmp_path: Path) -> None:
    script = ROOT / "scripts" / "protos"
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for name in ("windlass_pb2.py", "windlass_pb2.pyi"):
        made, kept = (tmp_path / name).read_text(), (SOURCE / name).read_text()
        assert made == kept, f"{name} is out of date: run scripts/protos"


def test_no_version_of_the_runtime_is_asked_for() -> None:
    assert "runtime_version" not in (SOURCE / "windlass_pb2.py").read_text()


def test_the_file_has_the_name_that_others_import_it_by() -> None:
    assert pb.DESCRIPTOR.name == "windlass/v1/windlass.proto"
    assert pb.DESCRIPTOR.package == "windlass.v1"


@pytest.mark.parametrize("name", [*pb.DESCRIPTOR.message_types_by_name])
def test_every_message_can_be_imported(name: str) -> None:
    kind = getattr(pb, name)
    assert kind.FromString(kind().SerializeToString()) == kind()
