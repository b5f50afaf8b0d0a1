"""The health check of the image tells a server that answers from one that does not."""

import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.deploy.files import DEPLOY
from tests.servers.certificates import Certificates, certify
from tests.servers.ports import free_port


class Answer(BaseHTTPRequestHandler):
    status = 200

    def do_GET(self) -> None:
        self.send_response(self.status if self.path == "/livez" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


class Refusal(Answer):
    status = 503


@contextmanager
def answering(handler: type[Answer], tls: Certificates | None = None) -> Iterator[int]:
    """The port of a server that gives one answer."""
    server = HTTPServer(("127.0.0.1", 0), handler)
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls.certificate("server"), tls.key("server"))
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def check(port: int, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, DEPLOY / "health.py"],
        cwd=folder,
        env=os.environ | {"WINDLASS_SERVER_HTTP_PORT": str(port)} | environ,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(("handler", "code"), [(Answer, 0), (Refusal, 1)])
def test_its_exit_code_is_what_the_server_answers(
    handler: type[Answer], code: int, tmp_path: Path
) -> None:
    with answering(handler) as port:
        # A proxy for everything else must not be asked for what is in this very container.
        done = check(port, tmp_path, HTTP_PROXY=f"http://127.0.0.1:{free_port()}", NO_PROXY="")
    assert done.returncode == code, done.stderr


def test_no_answer_is_one_sentence(tmp_path: Path) -> None:
    done = check(free_port(), tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("No answer: ") and done.stderr.count("\n") == 1


def test_the_port_may_be_in_the_settings_file(tmp_path: Path) -> None:
    with answering(Answer) as port:
        (tmp_path / "windlass.toml").write_text(f"[server]\nhttp_port = {port}\n", "utf-8")
        environ = {key: value for key, value in os.environ.items() if "WINDLASS_" not in key}
        done = subprocess.run([sys.executable, DEPLOY / "health.py"], cwd=tmp_path, env=environ)
    assert done.returncode == 0


def test_with_tls_it_speaks_tls(tmp_path: Path) -> None:
    tls = certify(tmp_path)
    files = {
        "WINDLASS_SERVER_TLS_CERT": str(tls.certificate("server")),
        "WINDLASS_SERVER_TLS_KEY": str(tls.key("server")),
    }
    with answering(Answer, tls) as port:
        assert check(port, tmp_path, **files).returncode == 0
