"""`assay.lock`: the verdicts of cases that have not changed, signed, to be committed beside the suite."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from assay.protocols.fire_circle.gating.verdicts import CaseVerdict
from assay.report.places import write_whole
from llm_runtime.canonical import canonical_json
from llm_runtime.errors import ConfigurationError
from llm_runtime.models import Model, first_fault
from llm_runtime.settings import data_dir
from llm_runtime.store.anchor import Head, SignedHead
from llm_runtime.store.signing import KeySigner

_DERIVED = {"known", "hidden", "fired"}


class Entry(Model):
    """A case's verdict.

    Args:
        key: digest of all that makes a verdict another one.
        verdict: as data, without what follows from it.
        run: in which it was found.
        signature: over all of it and the case's name.
    """

    key: str
    verdict: dict[str, Any]
    run: str = ""
    signature: dict[str, Any] = {}


class Section(Model):
    """One suite: its file, seen from the lock's folder, and its cases by id."""

    file: str
    cases: dict[str, Entry] = {}


class Lock(Model):
    """A lock; ``keys`` are the public keys, in hex, whose signatures count."""

    version: Literal[1] = 1
    keys: tuple[str, ...] = ()
    suites: dict[str, Section] = {}


def read_lock(path: Path) -> Lock:
    """Read a lock; an empty one where there is no file yet.

    Raises:
        ConfigurationError: it is something else.
    """
    try:
        return Lock.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return Lock()
    except ValidationError as fault:
        reason = first_fault(fault, "the file")
        raise ConfigurationError(
            f"{path} is not a lock ({reason}); restore it, or remove it to judge anew"
        ) from None
    except OSError as fault:
        raise ConfigurationError(f"{path} cannot be read: {fault.strerror}") from None


def check_name(lock: Lock, lock_path: Path, name: str, suite: Path) -> None:
    """Refuse a suite whose name another one has in the lock.

    Raises:
        ConfigurationError: it has.
    """
    there = lock.suites.get(name)
    other = there.file if there and there.file != _seen_from(lock_path, suite) else ""
    if other and (lock_path.parent / other).exists():
        raise ConfigurationError(f"{suite.name}: {other} is called {name} as well; give one another name")


def known_verdicts(lock: Lock, name: str, keys: Mapping[str, str], trusted: Sequence[str]) -> list[CaseVerdict]:
    """Return what the lock holds of unchanged cases; a case whose entry was edited has an error for a verdict.

    Args:
        keys: the cases' keys, by id.
        trusted: public keys in hex whose signatures count.
    """
    section = lock.suites.get(name, Section(file=""))
    verdicts: list[CaseVerdict] = []
    for case, key in keys.items():
        entry = section.cases.get(case)
        if entry is None or entry.key != key:
            continue
        if (verdict := _genuine(entry, name, case, trusted)) is None:
            error = "its entry in the lock was edited, or signed with a key that does not count: restore the lock"
            verdict = CaseVerdict(id=case, error=error, code=1)
        verdicts.append(verdict.model_copy(update={"known": True}))
    return verdicts


def _genuine(entry: Entry, suite: str, case: str, trusted: Sequence[str]) -> CaseVerdict | None:
    try:
        signed = SignedHead.from_dict(entry.signature)
        verdict = CaseVerdict.model_validate({**entry.verdict, "id": case})
    except (ValueError, ValidationError, TypeError):
        return None
    fits = signed.head == _head(entry, suite, case) and signed.public_key.hex() in trusted
    return verdict if fits and signed.genuine() else None


def signing(key: str | None) -> KeySigner:
    """Return who signs: with the key in that file, or with the one in Assay's data folder."""
    return KeySigner(Path(key) if key else data_dir() / "lock.key")


def write_lock(
    path: Path,
    lock: Lock,
    name: str,
    suite: Path | None,
    verdicts: Sequence[tuple[str, CaseVerdict]],
    run: str,
    signer: KeySigner,
) -> None:
    """Write the lock with what a suite's cases came to now: those that are gone go, whole verdicts are kept.

    Args:
        suite: its file; without one the verdicts are further cases of it, and none goes.
        verdicts: each with its case's key.
        signer: signs what is new.

    Raises:
        ConfigurationError: it cannot be written.
        StoreError: the signing key cannot be used.
    """
    before = lock.suites.get(name, Section(file="")).cases
    cases: dict[str, Entry] = {} if suite else dict(before)
    public: set[str] = set()
    for key, verdict in verdicts:
        if verdict.known and verdict.id in before:
            cases[verdict.id] = before[verdict.id]
        elif not verdict.error and not verdict.lacking:
            data = verdict.model_dump(mode="json", exclude_defaults=True, exclude={"id", *_DERIVED})
            entry = Entry(key=key, verdict=data, run=run)
            signed = signer.sign(_head(entry, name, verdict.id))
            public.add(signed.public_key.hex())
            cases[verdict.id] = entry.model_copy(update={"signature": signed.to_dict()})
    section = Section(file=_seen_from(path, suite) if suite else "", cases=dict(sorted(cases.items())))
    suites = dict(sorted({**lock.suites, name: section}.items()))
    whole = Lock(keys=tuple(sorted({*lock.keys, *public})), suites=suites)
    text = json.dumps(whole.model_dump(mode="json"), indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    if whole != lock:
        write_whole(path, text)


def _head(entry: Entry, suite: str, case: str) -> Head:
    data = {"key": entry.key, "verdict": entry.verdict, "run": entry.run}
    return Head(f"lock/{suite}/{case}", 1, hashlib.sha256(canonical_json(data)).digest())


def _seen_from(lock: Path, suite: Path) -> str:
    try:
        return suite.resolve().relative_to(lock.resolve().parent).as_posix()
    except ValueError:
        return suite.resolve().as_posix()


def worse_than(lock: Lock, name: str, verdicts: Sequence[CaseVerdict]) -> list[str]:
    """Return what became worse since another lock was written, one line a case."""
    before = lock.suites.get(name, Section(file="")).cases
    lines: list[str] = []
    for verdict in verdicts:
        if verdict.id not in before:
            lines += [] if verdict.passed else [f"{verdict.id}: new, and does not pass"]
            continue
        earlier = before[verdict.id].verdict.get("falsehood") or 0.0
        patterns = len(before[verdict.id].verdict.get("patterns", ()))
        if verdict.falsehood is None:
            lines.append(f"{verdict.id}: F {earlier:.2f} before, no verdict now")
        elif verdict.falsehood - earlier >= 0.1 or len(verdict.patterns) > patterns:
            now = f"F {verdict.falsehood:.2f}, patterns {len(verdict.patterns)}"
            lines.append(f"{verdict.id}: F {earlier:.2f}, patterns {patterns} before; {now} now")
    return [*lines, *(f"{case}: gone" for case in sorted(set(before) - {verdict.id for verdict in verdicts}))]
