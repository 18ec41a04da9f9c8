"""Trials in one file that proves itself anywhere: the whole ledger, its signed head, and the logs that it names.

A bundle is a ZIP file with nothing in it compressed: ``bundle.json`` (format, trials, head), ``ledger.jsonl``,
``logs/TRIAL/*.eval``, ``works/SHA256`` (what attempts left), and ``witness.tsr`` where an authority has stamped the
head. Everything but the names of the trials is vouched for by the signature over the head: the ledger by its chain,
logs and work by the digests that the ledger names, and by the plan all that the verdicts rest on.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING, Any, cast

from ai_crucible.attestation import records_of, verify_records
from ai_crucible.attested import AttestedTrial, attested, wrong_logs
from ai_crucible.figures import TrialFigures, figures_of, unplanned
from ai_crucible.versions import seed_of
from ai_crucible.witness import BadStamp, Stamp, read_stamp
from ai_crucible.workshop import Workshop
from llm_runtime.errors import ConfigurationError, MissingExtraError, StoreDamaged
from llm_runtime.events import Event, Record, parse_event
from llm_runtime.files import write_atomic
from llm_runtime.store.anchor import SignedHead
from llm_runtime.store.reading import read_event
from llm_runtime.store.verify import Finding

if TYPE_CHECKING:
    from cryptography.x509 import Certificate

FORMAT = "assay trial bundle 1"
_MANIFEST, _LEDGER, _WITNESS = "bundle.json", "ledger.jsonl", "witness.tsr"
_MOST_ENTRIES = 60_000
_MOST_BYTES = 1 << 32
_MOST_TEXT = 1 << 28
_ZSTD = 93
_BLOCK = 1 << 20
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass
class BundleVerification:
    """What a bundle proves, and what is wrong with it.

    Args:
        findings: none where everything is as it was signed.
        key: the public key that signed it, in hex; empty where none did.
        events: in the ledger.
        signed_at: when its last event was written by the clock of the machine, milliseconds since the Unix epoch.
        trials: every trial that the ledger plans; those that it was made for have their logs in it.
        stamp: when an authority saw its head, where one did; ``None`` too where its time stamp cannot be read here.
        stamped: whether there is a time stamp.
    """

    findings: list[Finding] = field(default_factory=list[Finding])
    key: str = ""
    events: int = 0
    signed_at: int = 0
    trials: list[TrialFigures] = field(default_factory=list[TrialFigures])
    stamp: Stamp | None = None
    stamped: bool = False

    @property
    def ok(self) -> bool:
        """Nothing contradicts what was signed; whose key it is, is another question."""
        return not self.findings


def make_bundle(
    shop: Workshop, trials: Sequence[str], out: Path, witness: Callable[[SignedHead], bytes] | None = None
) -> Path:
    """Write trials of a workshop as one file.

    Args:
        shop: whose.
        trials: ids, at least one.
        out: replaced as a whole.
        witness: returns a time stamp of the signed head, or raises; none is taken where left out.

    Raises:
        ConfigurationError: there is no such trial, it has no log yet, or it was compared with one that is left out.
        StoreDamaged: the workshop itself does not verify; nothing was written.
    """
    known, paths = shop.attested(), list[Path]()
    for name, missing in _missing_rivals(known, trials):
        raise ConfigurationError(f"{name} was compared with {', '.join(missing)}; name all of them, or none")
    for name in trials:
        if name not in known or known[name].log is None:
            there = ", ".join(trial.trial for trial in known.values() if trial.log) or "none"
            raise ConfigurationError(f"no trial {name!r} with a log in {shop.folder}; there are: {there}")
        paths += [shop.folder / log for log in known[name].named]
    verification, head = shop.verify(), shop.ledger.head()
    if not verification.ok or head is None:
        first = str(verification.findings[0]) if verification.findings else "no signed head vouches for it"
        raise StoreDamaged(f"{shop.folder} does not verify ({first}); see: assay trial verify")
    stamp = witness(head) if witness else b""
    manifest = {"format": FORMAT, "trials": list(trials), "head": head.to_dict()}
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_STORED) as archive:
        _put(archive, _MANIFEST, (json.dumps(manifest, indent=1) + "\n").encode())
        # A ledger that grew since its head was read is given as far as the head goes.
        with shop.ledger.path.open("rb") as file:
            _put(archive, _LEDGER, b"".join(file.readline() for _ in range(head.head.length)))
        if stamp:
            _put(archive, _WITNESS, stamp)
        for path in dict.fromkeys(paths):
            _put(archive, path.relative_to(shop.folder).as_posix(), path.read_bytes())
    write_atomic(out, data.getvalue())
    return out


def _put(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.external_attr = 0o644 << 16
    archive.writestr(entry, data)


def verify_bundle(path: Path, key: bytes = b"", authorities: tuple[Certificate, ...] = ()) -> BundleVerification:
    """Check a bundle by itself: no configuration, no ledger and no Inspect of one's own is needed.

    Args:
        path: the file.
        key: the public key, 32 bytes, that must have signed it; whichever did, where left out.
        authorities: one of them must have stamped it; whichever did, or none, where left out.

    Raises:
        MissingExtraError: a time stamp must be read, and the package for it is not installed.
        ConfigurationError: there is no such file.
    """
    result = BundleVerification()
    try:
        with zipfile.ZipFile(path) as archive:
            _check(archive, path, key, result)
            if not result.findings:
                _check_stamp(archive, authorities, result)
    except FileNotFoundError:
        raise ConfigurationError(f"{path}: no such file") from None
    except (IsADirectoryError, PermissionError) as fault:
        raise ConfigurationError(f"{path} cannot be read: {fault.strerror}; name a bundle's file") from None
    except (zipfile.BadZipFile, OSError, ValueError, KeyError, TypeError, RecursionError, NotImplementedError) as fault:
        reason = str(fault.args[0] if isinstance(fault, KeyError) else fault) or type(fault).__name__
        result.findings.append(Finding(0, "not a bundle", f"it is cut off, or something else: {reason[:200]}"))
    return result


def trials_in(path: Path) -> list[AttestedTrial]:
    """Return the trials that a bundle was made for, as its ledger has them; it must have been verified."""
    with zipfile.ZipFile(path) as archive:
        lines = archive.read(_LEDGER).splitlines(keepends=True)
        known = attested(parse_event(json.loads(record.body)) for record in records_of(lines))
        return [known[name] for name in json.loads(archive.read(_MANIFEST))["trials"]]


def _check(archive: zipfile.ZipFile, path: Path, key: bytes, result: BundleVerification) -> None:
    entries = archive.infolist()
    _refuse_shape(entries)
    _refuse_other_bytes(archive, path)
    manifest = cast("dict[str, Any]", json.loads(archive.read(_MANIFEST)))
    if set(manifest) != {"format", "trials", "head"} or manifest["format"] != FORMAT:
        raise ValueError(f"{_MANIFEST} is not of the format {FORMAT!r}")
    head = SignedHead.from_dict(manifest["head"])
    trials = cast("list[str]", manifest["trials"])
    if not trials or len(set(trials)) != len(trials):
        raise ValueError(f"{_MANIFEST} names no trials, or one twice")
    records = list(records_of(archive.read(_LEDGER).splitlines(keepends=True)))
    checked = verify_records(records, head, head.head.run_id, key or head.public_key)
    result.key, result.events, result.findings = head.public_key.hex(), checked.length, list(checked.findings)
    if result.findings:
        return
    events = list(_events(records, result.findings))
    if result.findings:
        return
    known = attested(events)
    result.signed_at = records[-1].at
    present = {entry.filename for entry in entries} - {_MANIFEST, _LEDGER, _WITNESS}
    for name in trials:
        if name not in known or known[name].log is None or known[name].plan is None:
            result.findings.append(Finding(0, "trial missing", f"{name}: the ledger has no plan and log of it"))
            continue
        wrong = list(wrong_logs(known[name], lambda log: _digest(archive, log) if log in present else ""))
        result.findings += wrong or _disagreements(archive, known[name])
        result.findings += [Finding(0, "not as planned", line) for line in unplanned(known[name])]
    for name, missing in _missing_rivals(known, trials):
        result.findings.append(Finding(0, "comparison cut", f"{name} was compared with {', '.join(missing)}"))
    figures = (figures_of(trial, here=name in trials) for name, trial in known.items())
    result.trials = [trial for trial in figures if trial]
    present -= {log for name in trials if name in known for log in known[name].named}
    result.findings += [Finding(0, "log unnamed", f"{name}: nobody vouches for it") for name in sorted(present)]


def _check_stamp(archive: zipfile.ZipFile, authorities: tuple[Certificate, ...], result: BundleVerification) -> None:
    result.stamped = _WITNESS in archive.namelist()
    if not result.stamped:
        if authorities:
            result.findings.append(Finding(0, "not witnessed", "there is no time stamp in it"))
        return
    head = SignedHead.from_dict(json.loads(archive.read(_MANIFEST))["head"])
    try:
        result.stamp = read_stamp(archive.read(_WITNESS), head, authorities)
    except BadStamp as fault:
        result.findings.append(Finding(0, "bad time stamp", str(fault)))
    except MissingExtraError:
        # The rest of it is verified without; who names an authority wants to know.
        if authorities:
            raise


def _refuse_shape(entries: Sequence[zipfile.ZipInfo]) -> None:
    """Refuse what a bundle never is, before anything of it is read.

    Raises:
        ValueError: says what.
    """
    if len(entries) > _MOST_ENTRIES or len({entry.filename for entry in entries}) != len(entries):
        raise ValueError("too many entries, or two of one name")
    for entry in entries:
        stored = entry.compress_type == zipfile.ZIP_STORED and entry.file_size == entry.compress_size
        if not stored or entry.flag_bits & 1:
            raise ValueError(f"{entry.filename} is compressed or encrypted")
        if entry.file_size > (_MOST_TEXT if entry.filename in (_MANIFEST, _LEDGER, _WITNESS) else _MOST_BYTES):
            raise ValueError(f"{entry.filename} is too large")


def _refuse_other_bytes(archive: zipfile.ZipFile, path: Path) -> None:
    """Refuse a file that is not, byte for byte, what a bundle of these contents is.

    Raises:
        ValueError: something is added, hidden or changed.
    """
    with SpooledTemporaryFile(max_size=_BLOCK << 6) as anew, path.open("rb") as file:
        with zipfile.ZipFile(anew, "w", zipfile.ZIP_STORED) as written:
            for name in archive.namelist():
                _put(written, name, archive.read(name))
        anew.seek(0)
        while block := file.read(_BLOCK):
            if anew.read(len(block)) != block:
                raise ValueError("something in it was changed, or is no part of a bundle")
        if anew.read(1):
            raise ValueError("its end is missing")


def _events(records: Sequence[Record], findings: list[Finding]) -> Iterator[Event]:
    for record in records:
        try:
            event = read_event(record)
            if event.canonical() != record.body and json.loads(record.body).get("type") == event.type:
                # A later version may leave out a default; what must not be is a field that stands there twice.
                with suppress(ValueError):
                    json.loads(record.body, object_pairs_hook=_once)
                    yield event
                    continue
                raise StoreDamaged("a field of it stands there twice")
            yield event
        except StoreDamaged as fault:
            findings.append(Finding(record.seq, "edited", str(fault)))


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({name for name, _ in pairs}) != len(pairs):
        raise ValueError("twice")
    return dict(pairs)


def _digest(archive: zipfile.ZipFile, name: str) -> str:
    with archive.open(name) as file:
        return hashlib.file_digest(file, "sha256").hexdigest()  # pyright: ignore[reportArgumentType] - it reads into a buffer


def _disagreements(archive: zipfile.ZipFile, trial: AttestedTrial) -> Iterator[Finding]:
    """Yield where the ledger's verdicts are not those of the log that it names: Inspect's, a ZIP of JSON."""
    assert trial.log and trial.plan
    seed = seed_of(trial.trial, trial.plan.nonce) if trial.plan.nonce else None
    told: dict[tuple[str, int], dict[str, object]] = {}
    with archive.open(trial.log.log) as file, zipfile.ZipFile(file) as log:
        for entry in log.infolist():
            if entry.filename.startswith("samples/") and entry.file_size <= _MOST_TEXT:
                if entry.compress_type == _ZSTD and not _can_read_zstd():
                    return
                sample = json.loads(log.read(entry))
                told[str(sample["id"]), int(sample["epoch"])] = _told(sample)
                if seed not in (None, sample["metadata"].get("seed")):
                    yield Finding(0, "not as planned", f"{sample['id']}: it was not drawn from the nonce")
    for (puzzle, epoch), event in trial.graded.items():
        # A ledger from before a thing was named has nothing there to compare. What died may stand in an earlier log.
        own = told.get((puzzle, epoch), {"passed": None})
        if any(getattr(event, name) not in (value, "") for name, value in own.items()):
            yield Finding(0, "log changed", f"{puzzle}, attempt {epoch}: the ledger and the log disagree")
    for puzzle, epoch in told.keys() - trial.graded.keys():
        yield Finding(0, "log changed", f"{puzzle}, attempt {epoch}: the ledger does not know it")


def _told(sample: Mapping[str, Any]) -> dict[str, object]:
    """Return what a sample of a log tells of its attempt, by the ledger's names."""
    scores: Any = sample.get("scores") or {}
    about: Any = sample.get("metadata") or {}
    score: Any = next((score for name, score in scores.items() if name.endswith("oracle_scorer")), {"value": None})
    ours: Any = score.get("metadata") or {}
    passed = None if score["value"] is None else score["value"] == 1.0
    told: dict[str, object] = {"passed": passed, "work": ours.get("work")}
    if "anchor" in about:
        told["anchor"] = about["anchor"] is not None
    return told | {name: about[name] for name in ("kind", "arm", "puzzle_digest", "oracle_digest") if about.get(name)}


def _can_read_zstd() -> bool:
    """Tell whether what Inspect compresses can be read here; without it the log's own digest must do."""
    try:
        import zipfile_zstd  # noqa: F401  # pyright: ignore[reportMissingTypeStubs, reportUnusedImport]
    except ModuleNotFoundError:
        return False
    return True


def _missing_rivals(known: Mapping[str, AttestedTrial], trials: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each trial that was compared, with its rivals that are left out: a comparison is whole, or none."""
    for name in trials:
        compared = known[name].compared if name in known else None
        if compared and (missing := [rival for rival in compared.trials if rival not in trials]):
            yield name, missing
