"""A small time-stamping authority on loopback: its certificates are made anew, its stamps are OpenSSL's."""

from __future__ import annotations

import datetime
import subprocess
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

_CONFIG = """
[tsa]
serial = {folder}/serial
signer_digest = sha256
digests = sha256, sha512
default_policy = 1.2.3.4
ess_cert_id_alg = sha256
"""


class Authority:
    """An authority with a root of its own; ``ca`` is the file that people trust."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder, self.ca = folder, folder / "ca.pem"
        root, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
        authority = _certificate("Root of tests", root, "Root of tests", root, ca=True)
        signer = _certificate("Clock of tests", key, "Root of tests", root, ca=False)
        self.ca.write_bytes(authority.public_bytes(serialization.Encoding.PEM))
        (folder / "tsa.pem").write_bytes(signer.public_bytes(serialization.Encoding.PEM))
        (folder / "key.pem").write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        (folder / "serial").write_text("01\n")
        (folder / "tsa.cnf").write_text(_CONFIG.format(folder=folder))

    def stamp(self, query: bytes) -> bytes:
        """Answer a request as an authority does."""
        (self.folder / "query").write_bytes(query)
        words = ("-section", "tsa", "-queryfile", "query", "-signer", "tsa.pem", "-inkey", "key.pem", "-out", "answer")
        command = ["openssl", "ts", "-reply", "-config", "tsa.cnf", *words]
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)
        return (self.folder / "answer").read_bytes()


def _certificate(
    name: str, key: ec.EllipticCurvePrivateKey, issuer: str, by: ec.EllipticCurvePrivateKey, *, ca: bool
) -> x509.Certificate:
    begins = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)
    named = x509.CertificateBuilder().subject_name(_name(name)).issuer_name(_name(issuer))
    dated = named.not_valid_before(begins).not_valid_after(begins + datetime.timedelta(days=20_000))
    built = dated.public_key(key.public_key()).serial_number(x509.random_serial_number())
    built = built.add_extension(x509.BasicConstraints(ca=ca, path_length=None), critical=True)
    if not ca:
        stamping = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.TIME_STAMPING])
        built = built.add_extension(stamping, critical=True)
    return built.sign(by, hashes.SHA256())


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


@contextmanager
def serving(answer: Callable[[bytes], bytes | int]) -> Generator[str]:
    """Serve on loopback what ``answer`` makes of each request: bytes, or a status; yield the address."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = answer(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(body if isinstance(body, int) else 200)
            self.end_headers()
            self.wfile.write(b"" if isinstance(body, int) else body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    class Server(ThreadingHTTPServer):
        def handle_error(self, request: object, client_address: object) -> None:
            """Say nothing: who asked may be gone."""

    server = Server(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/tsr"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
