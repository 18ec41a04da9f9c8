"""Who signs heads: a key in a file, a key in the environment, or a program that keeps the key to itself."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from pydantic import Field, ValidationError

from llm_runtime.errors import ConfigurationError, StoreDamaged, StoreError, StoreUnwritable
from llm_runtime.files import private_key_text, saying
from llm_runtime.models import Model
from llm_runtime.rewording import instead
from llm_runtime.store.anchor import Head, SignedHead

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_SIGN_S = 30.0


class SigningFailed(StoreError):
    """The signing program gave no signature that checks."""


class Signer(Protocol):
    """Signs heads with one key."""

    @property
    def public_key(self) -> bytes:
        """The 32 bytes that check its signatures. Raises :class:`~llm_runtime.errors.StoreError`."""
        ...

    def sign(self, head: Head) -> SignedHead:
        """Sign a head. Raises :class:`~llm_runtime.errors.StoreError`."""
        ...


class KeySigner:
    """Signs with an ed25519 key of its own.

    Args:
        key_file: the private key, 32 bytes in hex, mode 0600; made at the first signature.
        text: the key itself, in place of a file.
    """

    def __init__(self, key_file: Path, text: str = "") -> None:
        self.key_file = key_file
        self._text = text

    @property
    def exists(self) -> bool:
        """Whether there is a key yet."""
        return bool(self._text) or self.key_file.exists()

    @property
    def public_key(self) -> bytes:
        """The 32 bytes that check its signatures."""
        return self._private_key.public_key().public_bytes_raw()

    def sign(self, head: Head) -> SignedHead:
        """Sign a head.

        Raises:
            StoreUnwritable: the key file can be neither read nor made.
            StoreDamaged: it does not hold a key.
        """
        return SignedHead(head, self._private_key.sign(head.signed_bytes()), self.public_key)

    @cached_property
    def _private_key(self) -> Ed25519PrivateKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        none = f"{self.key_file} holds no signing key; restore it, or move it away to sign with a new one"
        with instead(StoreDamaged(none), ValueError):
            with saying(f"the signing key {self.key_file} cannot be used", StoreUnwritable, then="; make it readable"):
                text = self._text or private_key_text(self.key_file)
            return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(text))


class _Signed(Model):
    version: Literal[1]
    algorithm: Literal["ed25519"]
    public_key: str = Field(pattern=r"^[0-9a-f]{64}$")
    signature: str = Field(default="", pattern=r"^([0-9a-f]{128})?$")


@dataclass(frozen=True)
class SigningProgram:
    """The subprocess boundary to whatever signs.

    Args:
        command: a program that keeps the contract of :mod:`llm_runtime.store.signing_program`.
    """

    command: tuple[str, ...]

    @classmethod
    def built_in(cls, key_file: Path) -> SigningProgram:
        """Return our own program with its key in a file. It runs alone, without the folder it is started from."""
        return cls((sys.executable, "-P", str(Path(__file__).with_name("signing_program.py")), str(key_file)))

    def sign(self, head: Head) -> SignedHead:
        """Sign a head.

        Raises:
            SigningFailed: the program fails, or its signature does not check.
        """
        reply = self._ask({"version": 1, "op": "sign", "message": head.signed_bytes().hex()})
        signed = SignedHead(head, bytes.fromhex(reply.signature), bytes.fromhex(reply.public_key))
        if not signed.genuine():
            raise SigningFailed(f"{self.command[0]} gave a signature that does not check")
        return signed

    @property
    def public_key(self) -> bytes:
        """The key that checks its signatures."""
        return self._public_key

    @cached_property
    def _public_key(self) -> bytes:
        return bytes.fromhex(self._ask({"version": 1, "op": "public_key"}).public_key)

    def _ask(self, request: dict[str, Any]) -> _Signed:
        try:
            done = subprocess.run(
                self.command,
                input=json.dumps(request).encode(),
                capture_output=True,
                timeout=_SIGN_S,
                check=False,
                # A program that signs has no use for the keys of model providers.
                env={name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")},
            )
        except (OSError, subprocess.TimeoutExpired) as fault:
            raise SigningFailed(f"the signing program {self.command[0]} cannot be run: {fault}") from None
        try:
            return _Signed.model_validate_json(done.stdout)
        except ValidationError:
            output = ascii((done.stdout or done.stderr)[-200:].decode("utf-8", "replace").strip())[1:-1]
            raise SigningFailed(f"the signing program {self.command[0]} gave no signature: {output}") from None


def configured_signer(
    environment: Mapping[str, str], key: str | None, command: str | None
) -> KeySigner | SigningProgram | None:
    """Return who the user wants to sign; ``None`` where nothing is said.

    Args:
        environment: ``ASSAY_SIGNING_KEY`` (64 hex digits, or a file) and ``ASSAY_SIGNING_COMMAND`` come first.
        key: a key file, from ``config.toml``.
        command: a command line, likewise.

    Raises:
        ConfigurationError: two signers are named, or the key is none.
    """
    key = environment.get("ASSAY_SIGNING_KEY") or key
    command = environment.get("ASSAY_SIGNING_COMMAND") or command
    if key and command:
        raise ConfigurationError(
            "two signers are named, a signing key and a signing command; keep one of them "
            "(ASSAY_SIGNING_KEY, ASSAY_SIGNING_COMMAND, signing_key and signing_command in config.toml)"
        )
    if command:
        try:
            words = tuple(shlex.split(command))
        except ValueError as fault:
            raise ConfigurationError(f"the signing command cannot be read: {fault}; mend its quotes") from None
        return SigningProgram(words)
    if not key:
        return None
    try:
        text = key if len(bytes.fromhex(key)) == 32 else ""
    except ValueError:
        text = ""
    if not text and not Path(key).is_file():
        # Whoever names a key means one that is there: a new one would sign what nobody can check.
        raise ConfigurationError("the signing key is neither 64 hex digits nor a file that is there; name another")
    return KeySigner(Path("ASSAY_SIGNING_KEY") if text else Path(key), text)
