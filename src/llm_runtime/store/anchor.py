"""Signed heads: how long each run's log is and what it ends in, kept where editing the log does not reach.

A hash chain alone cannot tell that its end was cut off, that all of it is gone, or that somebody who knows the
algorithm computed it anew. A head can: run id, length and last digest, signed with ed25519 (RFC 8032).

Two things it cannot do. Who can read the key file can sign: copy ``heads/`` elsewhere where that is not good
enough. And what a killed process wrote since its last signature nobody vouches for; when the run goes on, it is
signed as it was found.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from llm_runtime.canonical import canonical_json
from llm_runtime.errors import StoreDamaged, StoreUnwritable
from llm_runtime.files import private_key_text, write_atomic

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_DOMAIN = b"assay run head 1\n"


@dataclass(frozen=True, slots=True)
class Head:
    """The end of a log: its ``length`` in records and the ``digest`` of the last one."""

    run_id: str
    length: int
    digest: bytes

    def signed_bytes(self) -> bytes:
        """Return what the signature is over."""
        return _DOMAIN + canonical_json({"run_id": self.run_id, "length": self.length, "digest": self.digest.hex()})


@dataclass(frozen=True, slots=True)
class SignedHead:
    """A head with its ed25519 ``signature`` (64 bytes) and the ``public_key`` (32 bytes) that checks it."""

    head: Head
    signature: bytes
    public_key: bytes

    def genuine(self) -> bool:
        """Tell whether the signature was made over this head with the private half of its own public key."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        try:
            key = Ed25519PublicKey.from_public_bytes(self.public_key)
            key.verify(self.signature, self.head.signed_bytes())
        except (InvalidSignature, ValueError):
            return False
        return True

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-compatible data, bytes in hex."""
        return {
            "run_id": self.head.run_id,
            "length": self.head.length,
            "digest": self.head.digest.hex(),
            "signature": self.signature.hex(),
            "public_key": self.public_key.hex(),
        }

    @classmethod
    def from_dict(cls, data: object) -> SignedHead:
        """Return the inverse of :meth:`to_dict`, for data of any origin.

        Raises:
            ValueError: it is not a head.
        """
        if not isinstance(data, dict):
            raise ValueError("a head is an object")
        fields = cast(dict[str, object], data)
        run_id, length = fields.get("run_id"), fields.get("length")
        if not isinstance(run_id, str) or type(length) is not int or not 0 < length < 2**53:
            raise ValueError("a head names a run and its length")
        return cls(
            Head(run_id, length, _from_hex(fields.get("digest"), 32)),
            _from_hex(fields.get("signature"), 64),
            _from_hex(fields.get("public_key"), 32),
        )


class HeadFiles:
    """A folder of signed heads, one file each, by the name of what they are of."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, run_id: str, signed: SignedHead) -> None:
        """Keep a head as it is, whoever signed it, as that of ``run_id``, in place of any before it.

        Raises:
            StoreUnwritable: the folder cannot be written.
        """
        text = json.dumps(signed.to_dict(), indent=1) + "\n"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomic(self._file(run_id), text, private=True)
        except OSError as fault:
            raise StoreUnwritable(
                f"the head of run {run_id} cannot be written to {self.folder}: {fault.strerror}; "
                "make the folder writable"
            ) from None

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

    def remove(self, run_id: str) -> None:
        """Forget a run's head. Raises :class:`StoreUnwritable`."""
        try:
            self._file(run_id).unlink(missing_ok=True)
        except OSError as fault:
            raise StoreUnwritable(
                f"the head of run {run_id} cannot be removed from {self.folder}: {fault.strerror}; "
                "make the folder writable"
            ) from None

    def _file(self, run_id: str) -> Path:
        return self.folder / f"{run_id}.json"


class Heads(HeadFiles):
    """A folder of signed heads, one file a run, and the key they are signed with.

    Args:
        folder: where the heads are; made at the first signature.
        key_file: the private key, 32 bytes in hex, mode 0600; made at the first signature.
    """

    def __init__(self, folder: Path, key_file: Path) -> None:
        super().__init__(folder)
        self.key_file = key_file

    def sign(self, head: Head) -> SignedHead:
        """Sign ``head`` and keep it as its run's head, in place of any before it.

        Raises:
            StoreUnwritable: the folder or the key file cannot be written.
            StoreDamaged: the key file does not hold a key.
        """
        signed = self.signed(head)
        self.keep(head.run_id, signed)
        return signed

    def signed(self, head: Head) -> SignedHead:
        """Sign ``head`` for whoever keeps it elsewhere; errors are those of :meth:`sign`."""
        return SignedHead(head, self._private_key.sign(head.signed_bytes()), self.public_key)

    def vouches_for(self, signed: SignedHead, run_id: str) -> bool:
        """Tell whether ``signed`` is a head of ``run_id`` made with this store's own key."""
        return signed.head.run_id == run_id and self.names(signed) and signed.genuine()

    def names(self, signed: SignedHead) -> bool:
        """Tell whether ``signed`` names this store's key as its own; no key is made for the question."""
        return self.key_file.exists() and signed.public_key == self.public_key

    @cached_property
    def public_key(self) -> bytes:
        """The 32 bytes that check this store's signatures."""
        return self._private_key.public_key().public_bytes_raw()

    @cached_property
    def _private_key(self) -> Ed25519PrivateKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        try:
            return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(private_key_text(self.key_file)))
        except OSError as fault:
            raise StoreUnwritable(
                f"the signing key {self.key_file} cannot be used: {fault.strerror}; make it readable"
            ) from None
        except ValueError:
            raise StoreDamaged(
                f"{self.key_file} holds no signing key; restore it, or move it away to sign with a new one"
            ) from None


def _from_hex(value: object, size: int) -> bytes:
    if not isinstance(value, str) or len(value) != 2 * size:
        raise ValueError(f"expected {size} bytes in hex")
    return bytes.fromhex(value)
