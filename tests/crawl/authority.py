"""A certificate authority of a test, and servers' certificates by it."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

LOOPBACK = x509.IPAddress(ip_address("127.0.0.1"))
YESTERDAY, TOMORROW = -timedelta(days=1), timedelta(days=1)


@dataclass
class CertificateAuthority:
    """Signs certificates; `file` holds its own, for those who trust it."""

    folder: Path

    def __post_init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = named("authority of a test")
        made = self._build(self._name, self._key, TOMORROW)
        made = made.add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        self.file = self.folder / "authority.pem"
        self.file.write_bytes(pem(made.sign(self._key, hashes.SHA256())))

    def server(self, label: str, host: x509.GeneralName = LOOPBACK, until: timedelta = TOMORROW) -> ssl.SSLContext:
        """A server's side of TLS, with a certificate for a host that holds until then, from now on."""
        return self._context(label, host, until, self._key)

    def self_signed(self, label: str) -> ssl.SSLContext:
        """The same with a certificate that nobody but itself stands for."""
        return self._context(label, LOOPBACK, TOMORROW, None)

    def _context(
        self, label: str, host: x509.GeneralName, until: timedelta, signer: ec.EllipticCurvePrivateKey | None
    ) -> ssl.SSLContext:
        key = ec.generate_private_key(ec.SECP256R1())
        made = self._build(named(label), key, until, self._name if signer else None)
        made = made.add_extension(x509.SubjectAlternativeName([host]), critical=False)
        path = self.folder / f"{label}.pem"
        private = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        path.write_bytes(private + pem(made.sign(signer or key, hashes.SHA256())))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(path)
        return context

    @staticmethod
    def _build(
        subject: x509.Name, key: ec.EllipticCurvePrivateKey, until: timedelta, issuer: x509.Name | None = None
    ) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        made = x509.CertificateBuilder(issuer or subject, subject, key.public_key(), x509.random_serial_number())
        return made.not_valid_before(now - timedelta(days=2)).not_valid_after(now + until)


def named(text: str) -> x509.Name:
    """A name with one part."""
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def pem(certificate: x509.Certificate) -> bytes:
    """A certificate as text."""
    return certificate.public_bytes(serialization.Encoding.PEM)
