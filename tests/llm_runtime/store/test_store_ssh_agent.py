"""Heads signed by a key that stays in ssh-agent: over its own protocol, on a socket of the test's."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from llm_runtime.store.anchor import Head
from llm_runtime.store.signing import SigningFailed, SigningProgram

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
PUBLIC = KEY.public_key().public_bytes_raw()


def string(data: bytes) -> bytes:
    return len(data).to_bytes(4) + data


def blob(public: bytes) -> bytes:
    return string(b"ssh-ed25519") + string(public)


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An agent with two ed25519 keys and one of another kind."""
    identities = string(blob(PUBLIC)) + string(b"me@work") + string(blob(bytes(32))) + string(b"me@home")
    identities += string(string(b"ssh-rsa") + string(b"x")) + string(b"me@work")

    def serve(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, connection.makefile("rb") as stream:
                message = stream.read(int.from_bytes(stream.read(4)))
                if message[0] == 11:
                    connection.sendall(string(b"\x0c" + (3).to_bytes(4) + identities))
                    continue
                size = int.from_bytes(message[1:5])
                data = message[5 + size + 4 : -4]
                connection.sendall(string(b"\x0e" + string(string(b"ssh-ed25519") + string(KEY.sign(data)))))

    with socket.socket(socket.AF_UNIX) as listener:
        path = tmp_path / "agent"
        listener.bind(str(path))
        listener.listen()
        monkeypatch.setenv("SSH_AUTH_SOCK", str(path))
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        yield
        listener.shutdown(socket.SHUT_RDWR)


def program(*name: str) -> SigningProgram:
    return SigningProgram((sys.executable, "-m", "llm_runtime.store.ssh_agent", *name))


def test_the_agent_s_key_signs_a_head_that_anybody_checks(agent: None) -> None:
    signed = program("work").sign(Head("run", 3, bytes(32)))
    assert signed.public_key == PUBLIC and signed.genuine()


def test_no_key_or_several_sign_nothing(agent: None) -> None:
    for name, says in (("nobody", "holds 0"), ("me@", "holds 2")):
        with pytest.raises(SigningFailed, match=says):
            program(name).sign(Head("run", 3, bytes(32)))


def test_without_an_agent_one_line_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    with pytest.raises(SigningFailed, match="gave no signature"):
        program().sign(Head("run", 3, bytes(32)))
