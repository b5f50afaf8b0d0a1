"""Certificates for TLS between tests and servers: an authority, a server, a client."""

import ipaddress
import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from tests.servers.account import account
from tests.servers.server import Server

_CURVE = ec.SECP256R1()


@dataclass(frozen=True)
class Certificates:
    """Files in one folder, readable by the account that servers run under."""

    folder: Path

    @property
    def authority(self) -> Path:
        """Whom to trust."""
        return self.folder / "authority.pem"

    def certificate(self, name: str) -> Path:
        return self.folder / f"{name}.pem"

    def key(self, name: str) -> Path:
        return self.folder / f"{name}.key"


@dataclass(frozen=True)
class Tls:
    """A server, and what a client has to trust and to show.

    Which certificates to use is for the caller to add to `url`.
    """

    server: Server
    certificates: Certificates

    @property
    def url(self) -> str:
        return self.server.url


def certify(folder: Path) -> Certificates:
    """An authority in `folder`, and what it signed: `server` for 127.0.0.1, and `client`."""
    made, issuer = Certificates(folder), ec.generate_private_key(_CURVE)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Windlass test authority")])
    authority = (
        _draft(name, name, issuer.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(issuer, hashes.SHA256())
    )
    _write(made.authority, authority.public_bytes(serialization.Encoding.PEM))
    usages = {
        "server": ExtendedKeyUsageOID.SERVER_AUTH,
        "client": ExtendedKeyUsageOID.CLIENT_AUTH,
    }
    for subject, usage in usages.items():
        key = ec.generate_private_key(_CURVE)
        own = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Windlass test {subject}")])
        hosts = [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
        certificate = (
            _draft(own, name, key.public_key())
            .add_extension(x509.SubjectAlternativeName(hosts), critical=False)
            .add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
            .sign(issuer, hashes.SHA256())
        )
        _write(made.certificate(subject), certificate.public_bytes(serialization.Encoding.PEM))
        _write(made.key(subject), _private(key))
    return made


def _draft(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        # A day back: the clocks of containers differ.
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
    )


def _private(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    # PostgreSQL, server and client, uses no key that others may read.
    path.chmod(0o600 if path.suffix == ".key" else 0o644)
    os.chown(path, account().pw_uid, account().pw_gid)
