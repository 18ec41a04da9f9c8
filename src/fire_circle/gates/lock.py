"""`assay.lock`: verdicts by the digest of all that decides them, signed and dated, one a line.

The lines are sorted and each stands for itself, so git joins two branches line by line (``merge=union``), and what
a failed merge leaves behind can be read as well. A digest may then have two verdicts: the newest counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path

from pydantic import Field, JsonValue, ValidationError

from fire_circle.gates.verdicts import CaseVerdict
from llm_runtime.canonical import canonical_json
from llm_runtime.errors import ConfigurationError
from llm_runtime.files import write_atomic
from llm_runtime.models import Model, first_fault
from llm_runtime.rewording import reworded
from llm_runtime.store.anchor import Head, SignedHead
from llm_runtime.store.signing import Signer

#: What git writes into a file that it could not merge.
_MARKS = ("<<<<<<<", "|||||||", "=======", ">>>>>>>")


class LockedVerdict(Model):
    """A verdict.

    Args:
        digest: of all that makes a verdict another one: the case, the circle, prompts, effort, bounds.
        date: the day on which it was found, ``YYYY-MM-DD``.
        verdict: as data, without what follows from it.
        run: in which it was found.
        suite, case: what it was called then: labels, which nothing is found by and nobody signs.
        key, signature: ed25519, in hex, over digest, date, verdict and run.
    """

    digest: str = Field(pattern=r"^[0-9a-f]{64}$")
    date: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")
    verdict: dict[str, JsonValue]
    run: str = ""
    suite: str = ""
    case: str = ""
    key: str = Field(default="", pattern=r"^([0-9a-f]{64})?$")
    signature: str = Field(default="", pattern=r"^([0-9a-f]{128})?$")

    def head(self) -> Head:
        """Return what is signed."""
        data = {"digest": self.digest, "date": self.date, "verdict": self.verdict, "run": self.run}
        return Head(f"lock/{self.digest}", 1, hashlib.sha256(canonical_json(data)).digest())

    def genuine(self, trusted: Collection[str]) -> CaseVerdict | None:
        """Return the verdict; ``None`` where it was edited, or signed with a key that does not count."""
        if self.key not in trusted:
            return None
        try:
            signed = SignedHead(self.head(), bytes.fromhex(self.signature), bytes.fromhex(self.key))
            verdict = CaseVerdict.model_validate({**self.verdict, "id": self.case or self.digest, "known": True})
        except (ValueError, ValidationError):
            return None
        return verdict if signed.genuine() else None


class Lock:
    """Entries, several of a digest where branches were joined."""

    def __init__(self, entries: Iterable[LockedVerdict] = ()) -> None:
        self.entries = [entry for _, entry in sorted({entry.model_dump_json(): entry for entry in entries}.items())]

    def __or__(self, other: Lock) -> Lock:
        return Lock([*self.entries, *other.entries])

    def __contains__(self, digest: str) -> bool:
        return any(entry.digest == digest for entry in self.entries)

    def held(self, digests: Collection[str], trusted: Collection[str]) -> dict[str, tuple[LockedVerdict, CaseVerdict]]:
        """Return what counts of each digest: of its genuine verdicts the newest, of those of a day the gravest.

        Args:
            trusted: public keys in hex whose signatures count.
        """
        wanted = (entry for entry in self.entries if entry.digest in digests)
        read = [(entry, verdict) for entry in wanted if (verdict := entry.genuine(trusted))]
        read.sort(key=lambda one: (one[0].date, one[1].falsehood or 0.0))
        return {entry.digest: (entry, verdict) for entry, verdict in read}


def read_lock(path: Path) -> Lock:
    """Read a lock; an empty one where there is no file yet.

    Raises:
        ConfigurationError: it is something else.
    """
    try:
        return lock_of(path.read_text(encoding="utf-8"), path.name)
    except FileNotFoundError:
        return Lock()
    except (OSError, UnicodeDecodeError) as fault:
        raise ConfigurationError(f"{path} cannot be read: {fault}") from None


def lock_of(text: str, name: str) -> Lock:
    """Read the text of a lock; raises as :func:`read_lock` does."""
    if text.lstrip().startswith("{\n"):
        raise ConfigurationError(
            f"{name} is a lock of before, which knew verdicts by names: remove it, and run the gate with models at "
            "hand to lock anew"
        )
    return Lock(_entries(text, name))


def _entries(text: str, name: str) -> Iterator[LockedVerdict]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not line.startswith(_MARKS):
            try:
                yield LockedVerdict.model_validate_json(line)
            except ValidationError as fault:
                where = f"line {number}, {first_fault(fault, 'the line')}"
                raise ConfigurationError(
                    f"{name} is not a lock ({where}); restore it, or remove it to judge anew"
                ) from None


def known(lock: Lock, digests: Collection[str], trusted: Collection[str], *, offline: bool) -> dict[str, CaseVerdict]:
    """Return the verdicts that a lock holds, by digest; where nobody is asked, why there is none for the others."""
    verdicts = {digest: verdict for digest, (_, verdict) in lock.held(digests, trusted).items()}
    for digest in digests if offline else ():
        if digest not in verdicts:
            there = "its entry in the lock was edited, or signed with a key that does not count: "
            absent = "the lock does not hold it as it is now: "
            why = (there if digest in lock else absent) + "run the gate without --offline, and commit the lock"
            verdicts[digest] = CaseVerdict(id=digest, error=why, code=1, known=True)
    return verdicts


def entry_of(digest: str, suite: str, verdict: CaseVerdict, run: str, date: str, signer: Signer) -> LockedVerdict:
    """Return a verdict as it is locked.

    Raises:
        StoreError: the signing key cannot be used.
    """
    follows = {"id", "known", "hidden", "moved", "expect", "tags", "fired", "excused"}
    data = verdict.model_dump(mode="json", exclude_defaults=True, exclude=follows)
    entry = LockedVerdict(digest=digest, date=date, verdict=data, run=run, suite=suite, case=verdict.id)
    signed = signer.sign(entry.head())
    return entry.model_copy(update={"key": signed.public_key.hex(), "signature": signed.signature.hex()})


def write_lock(path: Path, lock: Lock) -> None:
    """Write a lock, and have git join its lines where the folder is git's.

    Raises:
        ConfigurationError: it cannot be written.
    """
    lines = (json.dumps(entry.model_dump(exclude_defaults=True)) for entry in lock.entries)
    text, attributes = "".join(f"{line}\n" for line in lines), path.with_name(".gitattributes")
    with reworded(f"{path} cannot be written", OSError, UnicodeDecodeError):
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            write_atomic(path, text)
        before = attributes.read_text(encoding="utf-8") if attributes.exists() else ""
        if path.name not in before and any((folder / ".git").exists() for folder in path.absolute().parents):
            write_atomic(attributes, f"{before}{path.name} merge=union\n")
