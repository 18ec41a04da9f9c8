"""A signing program whose key stays in ssh-agent: ``python -m llm_runtime.store.ssh_agent [NAME]``.

It keeps the contract of :mod:`llm_runtime.store.signing_program`. NAME is a part of the key's comment; without it
the agent's only ed25519 key signs. Such a key signs the very bytes that it is given (RFC 8032), so anybody checks
its signature without knowing of ssh. Source: draft-ietf-sshm-ssh-agent.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Iterator

from llm_runtime.store.signing_program import Signing, serve

_IDENTITIES, _IDENTITIES_ANSWER, _SIGN, _SIGN_RESPONSE = 11, 12, 13, 14
_KIND = b"ssh-ed25519"
_PATIENCE_S = 25.0


def _in_agent() -> Signing:
    """Return the agent's key.

    Raises:
        OSError: there is no agent, or it does not answer.
        ValueError: it holds no such key, or several, or will not sign.
    """
    key = _chosen(_ask(bytes([_IDENTITIES]), _IDENTITIES_ANSWER), sys.argv[1] if len(sys.argv) > 1 else "")

    def sign(message: bytes) -> bytes:
        asked = bytes([_SIGN]) + _string(key) + _string(message) + bytes(4)
        kind, signature = _strings(next(_strings(_ask(asked, _SIGN_RESPONSE))))
        if kind != _KIND or len(signature) != 64:
            raise ValueError("the agent gave no ed25519 signature")
        return signature

    return list(_strings(key))[1], sign


def _chosen(identities: bytes, name: str) -> bytes:
    parts = list(_strings(identities[4:]))
    pairs = zip(parts[::2], parts[1::2], strict=True)
    ours = [key for key, comment in pairs if key[4:15] == _KIND and name in comment.decode("utf-8", "replace")]
    if len(ours) != 1:
        raise ValueError(f"the agent holds {len(ours)} ed25519 keys of that name; name one by its comment")
    return ours[0]


def _ask(message: bytes, expected: int) -> bytes:
    with socket.socket(socket.AF_UNIX) as agent:
        agent.settimeout(_PATIENCE_S)
        agent.connect(os.environ.get("SSH_AUTH_SOCK", ""))
        agent.sendall(_string(message))
        with agent.makefile("rb") as stream:
            reply = stream.read(int.from_bytes(stream.read(4)))
    if not reply or reply[0] != expected:
        raise ValueError("the agent refuses")
    return reply[1:]


def _string(data: bytes) -> bytes:
    return len(data).to_bytes(4) + data


def _strings(data: bytes) -> Iterator[bytes]:
    while data:
        size = int.from_bytes(data[:4])
        if len(data) < 4 + size:
            raise ValueError("the agent's answer is cut off")
        yield data[4 : 4 + size]
        data = data[4 + size :]


if __name__ == "__main__":
    serve(_in_agent)
