"""The signing program behind the typed contract: one JSON object in, one out. ``python signing_program.py KEY``.

In: ``{"version": 1, "op": "sign", "message": HEX}`` or ``{"version": 1, "op": "public_key"}``. Out: ``{"version":
1, "algorithm": "ed25519", "public_key": HEX, "signature": HEX}``, with a signature where one was asked for, or
``{"version": 1, "error": TEXT}``. Any program that keeps this contract may stand in its place, such as one that
holds the key on a token.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from llm_runtime.files import private_key_text

Signing = tuple[bytes, Callable[[bytes], bytes]]
"""A public key, and what signs by it."""


def serve(key: Callable[[], Signing]) -> None:
    """Read a request from stdin, write the answer to stdout."""
    try:
        reply = _answer(json.load(sys.stdin), key)
    except (OSError, ValueError, KeyError, IndexError, TypeError) as fault:
        reply = {"version": 1, "error": f"{type(fault).__name__}: {fault}"}
    json.dump(reply, sys.stdout)


def _answer(request: dict[str, Any], key: Callable[[], Signing]) -> dict[str, Any]:
    if request.get("version") != 1 or request.get("op") not in ("sign", "public_key"):
        return {"version": 1, "error": "the request is not of version 1"}
    public, sign = key()
    reply = {"version": 1, "algorithm": "ed25519", "public_key": public.hex()}
    if request["op"] == "sign":
        reply["signature"] = sign(bytes.fromhex(request["message"])).hex()
    return reply


def _in_file() -> Signing:
    """Return the key in the file (32 bytes in hex, mode 0600; made where there is none)."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(private_key_text(Path(sys.argv[1]))))
    return key.public_key().public_bytes_raw(), key.sign


if __name__ == "__main__":
    serve(_in_file)
