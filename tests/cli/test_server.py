"""`windlass server`: a real process, real requests, and how it ends."""

import json
import re
import signal
import socket
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest

from tests.cli.conftest import Call
from tests.cli.program import NOTHING, PATIENCE, Program, read_until
from tests.cli.test_faults import refused
from tests.servers.process import wait_until

PORTS = ("--http-port", "0", "--grpc-port", "-1")


@contextmanager
def serving(
    program: Program,
    *words: str,
    environ: Mapping[str, str] = NOTHING,
    start: Callable[..., AbstractContextManager[subprocess.Popen[str]]] | None = None,
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A server process that listens, and its port."""
    with (start or program.started)("server", *PORTS, *words, environ=environ) as process:
        line = read_until(process, "serving")
        found = re.search(r"http://[^ ]+:(\d+)", line)
        assert found, line
        yield process, int(found[1])


def ask(
    port: int, path: str, body: Any = None, key: str = "", method: str | None = None
) -> tuple[int, Any]:
    headers = {"Content-Type": "application/json"} | ({"X-API-Key": key} if key else {})
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def stop(process: subprocess.Popen[str], number: int = signal.SIGTERM) -> str:
    """Stop a server; the rest of what it logged."""
    process.send_signal(number)
    _, rest = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, rest
    assert "Traceback" not in rest
    return rest


def test_a_server_on_memory_warns_that_it_is_the_only_way_to_its_store(program: Program) -> None:
    with serving(program, environ={"WINDLASS_URL": "memory://"}) as (process, _):
        read_until(process, "producers and workers must reach it through this server")
        stop(process)


def test_a_server_without_an_app_takes_jobs_of_any_task(program: Program) -> None:
    with serving(program, start=program.interpreted) as (process, port):
        status, made = ask(port, "/api/v1/jobs", {"task": "resize", "args": ["cat.png"]})
        assert status == 201
        assert ask(port, "/readyz") == (200, {"status": "ready", "version": ANY_VERSION})
        rest = stop(process)
    assert rest.splitlines()[-1].endswith(" stopped")
    job = program.job(made["id"])
    assert (job["task"], job["state"], job["content_type"]) == ("resize", "pending", "json")


def test_a_server_with_an_app_knows_its_tasks(program: Program) -> None:
    with serving(program, "-A", "shop:app") as (process, port):
        status, refusal = ask(port, "/api/v1/jobs", {"task": "resize"})
        assert (status, refusal["error"]) == (422, "UnknownTask")
        _, made = ask(port, "/api/v1/jobs", {"task": "add", "args": [1]})
        _, tasks = ask(port, "/api/v1/tasks")
        stop(process)
    assert [task["name"] for task in tasks["tasks"]] == ["add", "gate", "greet", "loop", "refuse"]
    assert program.job(made["id"])["queue"] == "sums"


def test_a_long_poll_meets_a_worker_in_another_process(program: Program) -> None:
    with serving(program, "-A", "shop:app") as (process, port):
        _, made = ask(port, "/api/v1/jobs", {"task": "greet", "args": ["Ada"]})
        with program.started("worker", "shop:app"):
            status, answer = ask(port, f"/api/v1/jobs/{made['id']}/result?wait=60")
        stop(process)
    assert (status, answer["result"]) == (200, "Hello, Ada!")


def test_each_request_is_a_line_in_its_order_and_a_stop_loses_none(program: Program) -> None:
    paths = [f"/api/v1/jobs/{number}" for number in range(30)] + ["/livez", "/readyz"]
    with serving(program) as (process, port):
        for path in paths:
            ask(port, path)
        rest = stop(process)
    lines = rest.splitlines()
    requests = [line.split("windlass.http: ")[1] for line in lines if "windlass.http: " in line]
    assert [line.rpartition(" ms ")[0].rpartition(" ")[0] for line in requests] == [
        *["GET /api/v1/jobs/{id} 404"] * 30,
        "GET /livez 200",
        "GET /readyz 200",
    ]
    # What came before the signal stands before what came after it.
    assert "windlass: stopping" in lines[len(paths)]


def test_without_keys_it_is_not_open_to_the_world(program: Program) -> None:
    done = program("server", *PORTS, "--host", "0.0.0.0")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        "windlass: The store has no API keys, and a server without them may only listen on this "
        "machine: make one by windlass keys create --role admin, or say --insecure.\n"
    )


def test_by_order_it_is_open_to_the_world_and_warns(program: Program) -> None:
    with program.started("server", *PORTS, "--host", "0.0.0.0", "--insecure") as process:
        line = read_until(process, "no API keys")
        assert "WARNING" in line
        read_until(process, "serving")
        stop(process)


def test_keys_of_the_shell_open_it(program: Program) -> None:
    made = program("keys", "create", "--role", "read")
    key = made.stdout.strip()
    with serving(program, "--host", "0.0.0.0", "--key-refresh", "0.05") as (process, port):
        assert ask(port, "/api/v1/jobs")[0] == 401
        assert ask(port, "/api/v1/jobs", key=key)[0] == 200
        assert ask(port, "/api/v1/jobs", {"task": "x"}, key=key)[0] == 403
        assert program("keys", "revoke", key.split("_")[1]).returncode == 0
        wait_for(lambda: ask(port, "/api/v1/jobs", key=key)[0] == 401)
        rest = stop(process)
    assert key.split("_", 2)[2] not in rest


def test_settings_come_from_flags_variables_and_the_file(program: Program) -> None:
    file = program.folder / "windlass.toml"
    file.write_text("[server]\nmax_batch = 1\nmax_body = 50\n", "utf-8")
    variables = {"WINDLASS_SERVER_MAX_BODY": "2000"}
    with serving(program, "--max-wait", "0", environ=variables) as (process, port):
        two = {"jobs": [{"task": "x"}, {"task": "x"}]}
        assert ask(port, "/api/v1/jobs/batch", two)[0] == 413
        assert ask(port, "/api/v1/jobs", {"task": "x", "args": ["a" * 1_000]})[0] == 201
        assert ask(port, "/api/v1/jobs", {"task": "x", "args": ["a" * 3_000]})[0] == 413
        stop(process)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--http-port", "70000"], "http_port must be a number from 0 to 65535"),
        (["--rate", "fast"], "rate is a text"),
        (["--tls-cert", "x.pem"], "tls_cert and tls_key belong together"),
        (["--tls-cert", "x.pem", "--tls-key", "y.pem"], "TLS cannot be served with x.pem, y.pem"),
        (["--audit-log", "missing/audit"], "The audit log missing/audit cannot be written"),
        (["--url", "nonsense://x"], "nonsense"),
    ],
)
def test_what_cannot_be_served_is_said_in_one_sentence(
    call: Call, words: list[str], said: str
) -> None:
    assert said in refused(call("server", "--grpc-port", "-1", *words))


def test_a_port_that_is_taken_is_said(call: Call) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = call("server", "--grpc-port", "-1", "--http-port", str(port))
    assert refused(done) == (
        f"127.0.0.1:{port} cannot be listened on: Address already in use; choose another "
        "--http-port or --host."
    )


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_lets_requests_finish_and_nobody_wait(program: Program, number: int) -> None:
    with serving(program) as (process, port):
        assert ask(port, "/api/v1/jobs", {"task": "x", "id": "one"})[0] == 201
        answers: list[tuple[int, Any]] = []
        poll = threading.Thread(
            target=lambda: answers.append(ask(port, "/api/v1/jobs/one/result?wait=60"))
        )
        poll.start()
        events = socket.create_connection(("127.0.0.1", port))
        events.sendall(b"GET /api/v1/events?job=one HTTP/1.1\r\nHost: localhost\r\n\r\n")
        half = socket.create_connection(("127.0.0.1", port))
        half.sendall(post(b'{"task": "y", "id": "two"}')[:-5])
        until_contains(events, b"event: job")
        wait_for(lambda: b"200 OK" in said_by(port, b"GET /readyz HTTP/1.1\r\n"))
        process.send_signal(number)
        read_until(process, "stopping: requests may finish")
        # It is under way: the head has come.
        wait_for(lambda: b"503" in said_by(port, b"GET /readyz HTTP/1.1\r\n"))
        half.sendall(post(b'{"task": "y", "id": "two"}')[-5:])
        assert b"201 Created" in until_contains(half, b"}")
        poll.join(PATIENCE)
        rest = until_end(events)
        assert process.wait(PATIENCE) == 0
        assert process.stderr is not None
        assert "Traceback" not in process.stderr.read()
        events.close()
        half.close()
    assert [status for status, _ in answers] == [202]
    # Ended as HTTP wants it, not torn off.
    assert rest.endswith(b"0\r\n\r\n")
    assert program.job("two")["state"] == "pending"


def test_a_second_signal_ends_at_once(program: Program) -> None:
    with serving(program) as (process, port):
        half = socket.create_connection(("127.0.0.1", port))
        half.sendall(post(b'{"task": "y"}')[:-5])
        wait_for(lambda: b"200 OK" in said_by(port, b"GET /readyz HTTP/1.1\r\n"))
        process.send_signal(signal.SIGTERM)
        read_until(process, "a second signal ends at once")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 128 + signal.SIGTERM
        half.close()


def test_two_servers_behave_as_one(program: Program) -> None:
    with serving(program) as (first, port), serving(program) as (second, other):
        _, made = ask(port, "/api/v1/jobs", {"task": "x"})
        assert ask(other, f"/api/v1/jobs/{made['id']}")[1]["state"] == "pending"
        stop(first)
        assert ask(other, f"/api/v1/jobs/{made['id']}/cancel", method="POST")[0] == 200
        stop(second)
    assert program.job(made["id"])["state"] == "cancelled"


class _Version:
    def __eq__(self, other: object) -> bool:
        return isinstance(other, str) and other[0].isdigit()


ANY_VERSION = _Version()


def post(body: bytes) -> bytes:
    head = b"POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    return head + b"Content-Length: %d\r\n\r\n" % len(body) + body


def said_by(port: int, line: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as made:
        made.sendall(line + b"Host: localhost\r\nConnection: close\r\n\r\n")
        return until_end(made)


def until_contains(made: socket.socket, text: bytes) -> bytes:
    made.settimeout(PATIENCE)
    seen = b""
    while text not in seen:
        data = made.recv(65_536)
        assert data, seen
        seen += data
    return seen


def until_end(made: socket.socket) -> bytes:
    made.settimeout(PATIENCE)
    seen = b""
    while data := made.recv(65_536):
        seen += data
    return seen


def wait_for(condition: Any) -> None:
    assert wait_until(condition, PATIENCE)
