"""Asks the server of this container whether it is alive, for HEALTHCHECK: exits with 0 or 1.

The port and TLS are those that variables and `windlass.toml` say; options of the command line
are not known here.
"""

import contextlib
import http.client
import socket
import ssl
import sys

from windlass.config import ServerSettings, load

PATH = "/livez"
PATIENCE = 4


def is_alive(settings: ServerSettings) -> bool:
    host = "127.0.0.1"
    if settings.tls_client_ca:
        # Only clients with a certificate may ask; that somebody listens is all we can see.
        with contextlib.closing(socket.create_connection((host, settings.http_port), PATIENCE)):
            return True
    # Not urllib, which would send this through the proxy of HTTP_PROXY.
    connection = http.client.HTTPConnection(host, settings.http_port, timeout=PATIENCE)
    if settings.has_tls:
        # The certificate is for the name by which others know the server.
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connection = http.client.HTTPSConnection(
            host, settings.http_port, timeout=PATIENCE, context=context
        )
    with contextlib.closing(connection):
        connection.request("GET", PATH)
        return connection.getresponse().status == 200


if __name__ == "__main__":
    try:
        alive = is_alive(load(ServerSettings, "server"))
    except (OSError, http.client.HTTPException) as error:
        sys.exit(f"No answer: {error}")
    sys.exit(not alive)
