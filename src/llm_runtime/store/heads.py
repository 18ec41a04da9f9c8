"""The signed heads of a store, as rows beside the logs: what a power cut takes, it takes of both."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from llm_runtime.errors import StoreDamaged
from llm_runtime.store.anchor import Head, HeadFiles, SignedHead
from llm_runtime.store.database import SQL, Database
from llm_runtime.store.signing import KeySigner, Signer


class Heads:
    """One head a run, and who signs them.

    Args:
        reader, writer: the databases of the store.
        own: signs where nobody else is named; its signatures count in any case.
        signer: signs in place of it.
    """

    def __init__(self, reader: Database, writer: Database, own: KeySigner, signer: Signer | None = None) -> None:
        self.own = own
        self.signer: Signer = signer or own
        self._other = signer
        self._reader = reader
        self._writer = writer

    def sign(self, head: Head, trail: bytes, holder: str = "") -> SignedHead:
        """Sign ``head`` and keep it as its run's head, in place of any before it.

        Args:
            trail: the first 16 bytes of each record's digest.
            holder: the owner who says it; of a run that another holds by now nothing is kept.

        Raises:
            StoreError: it cannot be signed, or the store cannot be written.
        """
        signed = self.signer.sign(replace(head, trail=hashlib.sha256(trail).digest()))
        self.keep(head.run_id, signed, trail, holder)
        return signed

    def keep(self, run_id: str, signed: SignedHead, trail: bytes, holder: str = "") -> None:
        """Keep a head as it is, whoever signed it, as that of ``run_id``, in place of any before it.

        ``trail`` is empty where its signature is not over one.
        """
        head, signature = signed.head, (signed.signature, signed.public_key)
        values = (run_id, head.run_id, head.length, head.digest, trail, *signature, run_id, holder)
        self._writer.execute(SQL["keep"].format(keep_still=self._writer.keep_still), values, repeatable=True)

    def load(self, run_id: str) -> tuple[SignedHead, bytes] | None:
        """Return the head of a run, unchecked, with its trail; ``None`` where there is none."""
        rows = self._reader.execute(
            "SELECT name, length, digest, trail, signature, public_key FROM heads WHERE run_id = ?", (run_id,)
        )
        if not rows:
            return None
        name, length, digest, trail, signature, public_key = rows[0]
        over = hashlib.sha256(trail).digest() if trail else b""
        return SignedHead(Head(name, length, digest, over), signature, public_key), trail

    def runs(self) -> Iterator[str]:
        """Yield the ids of the runs that there are heads of."""
        yield from (row[0] for row in self._reader.execute("SELECT run_id FROM heads ORDER BY run_id"))

    def remove(self, run_id: str) -> None:
        """Forget a run's head."""
        self._writer.execute("DELETE FROM heads WHERE run_id = ?", (run_id,))

    def keys(self) -> Iterator[bytes]:
        """Yield the public keys that sign here; no key is made for the question."""
        if self.own.exists:
            yield self.own.public_key
        if self._other is not None:
            yield self._other.public_key

    def names(self, signed: SignedHead) -> bool:
        """Tell whether ``signed`` names a key of this store as its own."""
        return signed.public_key in self.keys()


def take_heads(database: Database, folder: Path) -> list[Path]:
    """Enter heads that lay in files before they were rows, of the runs that a store has; return their files."""
    runs = {run_id for (run_id,) in database.execute("SELECT run_id FROM runs")} if folder.is_dir() else set[str]()
    files: list[Path] = []
    for file in (file for file in folder.glob("*.json") if file.stem in runs):
        # What is no head stays, and nobody vouches for the run.
        with suppress(StoreDamaged):
            if signed := HeadFiles(folder).load(file.stem):
                head, signature = signed.head, (signed.signature, signed.public_key)
                database.execute(SQL["take_heads"], (file.stem, head.run_id, head.length, head.digest, b"", *signature))
                files.append(file)
    return files


def forget_files(files: list[Path]) -> None:
    """Remove files that were taken over, and with the last of a folder the folder."""
    for file in files:
        with suppress(OSError):
            file.unlink()
            file.parent.rmdir()
