"""`windlass doctor`, as monitoring would call it."""

import json
from pathlib import Path

from tests.cli.conftest import Call
from windlass import Windlass
from windlass.cli.loop import run
from windlass.testing.jobs import claim_one


def test_a_store_in_order_is_said_to_be(call: Call, app: Windlass, url: str) -> None:
    @app.task
    def nothing() -> None: ...

    nothing.enqueue().cancel()
    result = call("doctor", url)
    assert (result.exit_code, result.output) == (0, f"{url} is in good order.\n")


def test_risks_and_faults_have_exit_codes_of_their_own(call: Call, app: Windlass) -> None:
    @app.task
    def nothing() -> None: ...

    nothing.enqueue()
    risky = call("doctor", "--json")
    assert risky.exit_code == 4
    (finding,) = json.loads(risky.output)
    assert (finding["kind"], finding["fault"]) == ("attention", False)

    async def lose() -> None:
        store = await app.client.store()
        await claim_one(store, lease=-120_000)
        await app.aclose()

    run(lose())
    broken = call("doctor")
    assert broken.exit_code == 5
    assert "fault: 1 job is active though the lease ran out" in broken.output


def test_it_makes_no_file_and_no_tables(call: Call, tmp_path: Path) -> None:
    missing = call("doctor", f"sqlite:///{tmp_path}/none.db")
    assert missing.exit_code == 1
    assert not (tmp_path / "none.db").exists()
