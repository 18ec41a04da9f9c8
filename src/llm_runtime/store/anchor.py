"""Signed heads: how long a log is, what it ends in and what it went through, signed where editing cannot reach.

A hash chain alone cannot tell that its end was cut off, that all of it is gone, or that somebody who knows the
algorithm computed it anew. A head can: run id, length, last digest and the digest of all digests, signed with
ed25519 (RFC 8032). The list of digests beside it, the trail, tells a log that lost its end from a changed one.

Two things it cannot do. Who can read the key can sign: let it lie elsewhere, or have a program sign, where that is
not good enough. And what a killed process wrote since its last signature nobody vouches for; when the run goes on,
it is signed as it was found.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from llm_runtime.canonical import canonical_json
from llm_runtime.errors import StoreDamaged, StoreUnwritable
from llm_runtime.files import saying, write_atomic
from llm_runtime.http.shape import mapping
from llm_runtime.structs import Struct

_DOMAIN = b"assay run head 1\n"
_DOMAIN_WITH_TRAIL = b"assay run head 2\n"
#: Bytes of each record's digest that a trail holds.
STEP = 16


class Head(Struct):
    """The end of a log: its ``length`` in records and the ``digest`` of the last one.

    ``trail`` is the SHA-256 of the first 16 bytes of each record's digest; empty in heads of the first kind.
    """

    run_id: str
    length: int
    digest: bytes
    trail: bytes = b""

    def signed_bytes(self) -> bytes:
        """Return what the signature is over."""
        data = {"run_id": self.run_id, "length": self.length, "digest": self.digest.hex()}
        if not self.trail:
            return _DOMAIN + canonical_json(data)
        return _DOMAIN_WITH_TRAIL + canonical_json({**data, "trail": self.trail.hex()})


class SignedHead(Struct):
    """A head with its ed25519 ``signature`` (64 bytes) and the ``public_key`` (32 bytes) that checks it."""

    head: Head
    signature: bytes
    public_key: bytes

    def genuine(self) -> bool:
        """Tell whether the signature was made over this head with the private half of its own public key."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            Ed25519PublicKey.from_public_bytes(self.public_key).verify(self.signature, self.head.signed_bytes())
        except (InvalidSignature, ValueError):
            return False
        return True

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data, bytes in hex."""
        return {
            "run_id": self.head.run_id,
            "length": self.head.length,
            "digest": self.head.digest.hex(),
            **({"trail": self.head.trail.hex()} if self.head.trail else {}),
            "signature": self.signature.hex(),
            "public_key": self.public_key.hex(),
        }

    @classmethod
    def from_dict(cls, data: object) -> SignedHead:
        """Return the inverse of :meth:`to_dict`, for data of any origin.

        Raises:
            ValueError: it is not a head.
        """
        fields = mapping(data)
        run_id, length = fields.get("run_id"), fields.get("length")
        if not isinstance(run_id, str) or type(length) is not int or not 0 < length < 2**53:
            raise ValueError("a head names a run and its length")
        trail = _from_hex(fields["trail"], 32) if "trail" in fields else b""
        signature, public_key = _from_hex(fields.get("signature"), 64), _from_hex(fields.get("public_key"), 32)
        return cls(Head(run_id, length, _from_hex(fields.get("digest"), 32), trail), signature, public_key)


class HeadFiles:
    """A folder of signed heads, one file each, by the name of what they are of."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, run_id: str, signed: SignedHead) -> None:
        """Keep a head as it is, whoever signed it, as that of ``run_id``, in place of any before it.

        Raises:
            StoreUnwritable: the folder cannot be written.
        """
        what = f"the head of run {run_id} cannot be written to {self.folder}"
        with saying(what, StoreUnwritable, then="; make the folder writable"):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomic(self._file(run_id), json.dumps(signed.to_dict(), indent=1) + "\n", private=True)

    def load(self, run_id: str) -> SignedHead | None:
        """Read the head of a run, unchecked; ``None`` where there is none.

        Raises:
            StoreDamaged: the file is there and holds no head.
        """
        try:
            data = json.loads(self._file(run_id).read_bytes())
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError):
            raise StoreDamaged(f"the head of run {run_id} in {self.folder} cannot be read") from None
        try:
            return SignedHead.from_dict(data)
        except ValueError as fault:
            raise StoreDamaged(f"the head of run {run_id} in {self.folder} is not one: {fault}") from None

    def _file(self, run_id: str) -> Path:
        return self.folder / f"{run_id}.json"


def _from_hex(value: object, size: int) -> bytes:
    if not isinstance(value, str) or len(value) != 2 * size:
        raise ValueError(f"expected {size} bytes in hex")
    return bytes.fromhex(value)
