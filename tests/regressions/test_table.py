"""The page on what cannot go wrong, compared with the tests that prove it."""

import re
from pathlib import Path

HERE = Path(__file__)
PAGE = HERE.parents[2] / "docs" / "explain" / "pains.md"


def test_the_page_names_each_proof_once_and_no_other() -> None:
    files = [file for file in HERE.parent.glob("test_*.py") if file != HERE]
    code = "\n".join(file.read_text("utf-8") for file in files)
    proofs = re.findall(r"^(?:async )?def (test_\w+)", code, re.MULTILINE)
    named = re.findall(r"`(test_\w+)` \|$", PAGE.read_text("utf-8"), re.MULTILINE)
    assert len(proofs) > 40
    assert sorted(named) == sorted(proofs)
