"""What the view changes in a store, and that it is counted."""

from windlass import Windlass
from windlass.cli.top.eye import Eye
from windlass.cli.top.ui import Wish
from windlass.core.stats import FINE, summed


async def test_what_it_cancels_is_in_the_statistics_once() -> None:
    app = Windlass("memory://")
    eye = Eye(app)
    jobs = [await app.task(name="late", queue="mail")(print).using(delay=60).aenqueue()]
    jobs.append(await app.task(name="later", queue="mail")(print).using(delay=60).aenqueue())
    for job in jobs:
        assert await eye.carry_out(Wish("cancel", job.id)) == f"Cancelled the job {job.id}."
    again = await eye.carry_out(Wish("cancel", jobs[0].id))
    assert again == f"Job {jobs[0].id} cannot be cancelled: it is cancelled."
    store = await app.client.store()
    assert summed(await store.stats(["mail"], FINE, 0)) == {"cancelled": 2}
    await eye.close()
    app.close()
