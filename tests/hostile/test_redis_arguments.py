"""Names and payloads that a script on Redis could mistake for something else."""

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.servers.server import Server
from windlass.core.ids import new_id
from windlass.core.lane import Lane
from windlass.core.model import Failure, NewJob, Progress, Spec, Transition
from windlass.core.states import State
from windlass.stores.open import open_store
from windlass.sync import drive

NAMES = st.text(
    st.characters(min_codepoint=0x20, exclude_categories=("Cs", "Cc")), min_size=1, max_size=20
).map(lambda text: text.strip() or "x") | st.sampled_from(
    [
        "{}",
        "{0}",
        "P",
        "0",
        "-1",
        "%d%s",
        "*",
        "nil",
        "')",
        "]]",
        "0" * 128,
        "é" * 128,
        "a:{0}:jobs",
    ]
)


@settings(max_examples=60, suppress_health_check=list(HealthCheck))
@given(NAMES, NAMES, NAMES, st.binary(max_size=40))
@example("witness ", "line:q", "token:w", b"\0\xff\r\n$5\r\n")
def test_whatever_a_job_is_called_every_write_concerns_it_alone(
    redis_server: Server, id: str, queue: str, word: str, payload: bytes
) -> None:
    store = open_store(f"{redis_server.url}?namespace={new_id()}", blocking=True)
    drive(store.open())
    witness = f"witness of {id}"
    drive(store.insert([NewJob(witness, Spec("t", b"seen"), queue=f"other {queue}")]))
    before = drive(store.get([witness]))
    spec = Spec(word, payload, lane=Lane(word, slots=1), group=word, labels={word: word})
    drive(store.insert([NewJob(id, spec, queue=queue, unique=word)]))
    [job] = drive(store.claim({queue: 5}, 5, 60_000, word))
    assert (job.id, job.spec.payload, job.worker) == (id, payload, word)
    assert drive(store.renew([job.lease], 60_000)) == {id}
    drive(store.report([(job.lease, Progress(1, word))]))
    assert drive(store.checkpoint([(job.lease, payload)])) == {id}
    assert drive(store.signal(id, word, payload))
    failed = Failure(word, word)
    move = Transition(id, job.fence, State.DEAD, queue=queue, error=failed, result=payload)
    assert drive(store.finish([move])) == {id}
    assert drive(store.replay([id])) == {id}
    assert drive(store.prioritize([id], 7)) == {id}
    assert drive(store.reschedule([id], 60_000)) == {id}
    drive(store.pause(queue))
    drive(store.resume(queue))
    assert drive(store.cancel([id])) == {id}
    assert drive(store.delete([id])) == {id}
    assert drive(store.elect(word, id, 1_000)) is not None
    assert drive(store.get([id, witness])) == before
    drive(store.close())
