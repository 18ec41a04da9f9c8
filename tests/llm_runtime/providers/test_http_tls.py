"""TLS that does not come about: one typed error in one line, nothing sent and nothing charged."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID
from pydantic import SecretStr

from llm_runtime.endpoints import Endpoint
from llm_runtime.errors import ConnectionCut, ConnectionFailed
from llm_runtime.http import Http
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.providers.openai_compatible import openai_compatible

KEY = "sk-0123456789abcdef"
REQUEST = Request("m", (Message("user", "A question?"),), CallLabel("test", "ask"), max_tokens=9)


def run_out(folder: Path) -> ssl.SSLContext:
    """A server's side with a certificate that ended yesterday."""
    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "here")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=9))
        .not_valid_after(now - timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    file = folder / "server.pem"
    plain = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(plain + certificate.public_bytes(Encoding.PEM))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    return context


@asynccontextmanager
async def serving(context: ssl.SSLContext | None, heard: list[bytes]) -> AsyncIterator[int]:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if context is not None:
            heard.append(await reader.read(2**16))
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=context)
    async with server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.parametrize("side", [run_out, lambda folder: None], ids=["run out", "ends in the handshake"])
async def test_a_server_whose_tls_does_not_hold_is_sent_nothing(
    side: Callable[[Path], ssl.SSLContext | None], tmp_path: Path
) -> None:
    http, heard = Http(), list[bytes]()
    async with serving(side(tmp_path), heard) as port:
        endpoint = Endpoint("acme", f"https://127.0.0.1:{port}/v1", SecretStr(KEY))
        with pytest.raises((ConnectionFailed, ConnectionCut)) as caught:
            await openai_compatible(endpoint, http)(REQUEST)
        await http.aclose()
    assert KEY not in str(caught.value) and len(str(caught.value).splitlines()) == 1
    assert not caught.value.maybe_charged and not any(heard)
    assert ("SSL_CERT_FILE" in str(caught.value)) is (side is run_out)
