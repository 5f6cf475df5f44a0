"""Certificates for the hosts that are served: made when they are asked for, by an authority of this server's own."""

import base64
import hashlib
import ipaddress
import ssl
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_DAYS = 30
_MAX_HOSTS = 500  # hosts whose certificate is remembered


class Authority:
    """Signs a certificate for any host. `folder`: where its files lie; only this user should be able to read it.

    A browser admits it by `spki` (Chromium's `--ignore-certificate-errors-spki-list`) or by the file `certificate`.
    """

    def __init__(self, folder: Path):
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "demotape replay")])
        self._contexts: dict[str, ssl.SSLContext] = {}
        signed = self._signed(self._name, x509.BasicConstraints(ca=True, path_length=0))
        self.certificate = folder / "certificate.pem"
        self.certificate.write_bytes(signed)
        self._key_file = folder / "key.pem"
        self._key_file.touch(mode=0o600)
        self._key_file.write_bytes(self._key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
        public = self._key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        self.spki = base64.b64encode(hashlib.sha256(public).digest()).decode()

    def context(self, host: str) -> ssl.SSLContext:
        """What TLS needs to be that host."""
        if host not in self._contexts:
            if len(self._contexts) >= _MAX_HOSTS:
                self._contexts.clear()
            name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "demotape replay host")])
            path = self._folder / f"{hashlib.sha256(host.encode()).hexdigest()}.pem"
            path.write_bytes(self._signed(name, x509.BasicConstraints(ca=False, path_length=None), host))
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(path, self._key_file)
            self._contexts[host] = context
        return self._contexts[host]

    def _signed(self, name: x509.Name, constraints: x509.BasicConstraints, host: str = "") -> bytes:
        now = datetime.now(UTC)
        builder = (x509.CertificateBuilder().subject_name(name).issuer_name(self._name)
                   .public_key(self._key.public_key()).serial_number(x509.random_serial_number())
                   .not_valid_before(now - timedelta(days=1)).not_valid_after(now + timedelta(days=_DAYS))
                   .add_extension(constraints, critical=True))
        if host:
            builder = builder.add_extension(x509.SubjectAlternativeName([_general_name(host)]), critical=False)
            builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        return builder.sign(self._key, hashes.SHA256()).public_bytes(Encoding.PEM)


def _general_name(host: str) -> x509.GeneralName:
    with suppress(ValueError):
        return x509.IPAddress(ipaddress.ip_address(host.strip("[]")))
    with suppress(ValueError):
        return x509.DNSName(host.encode("idna").decode() if not host.isascii() else host)
    return x509.DNSName("invalid")
