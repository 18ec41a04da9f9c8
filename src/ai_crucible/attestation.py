"""The ledger: events appended under a lock, chained, and their head signed and anchored outside the file.

A line is ``{"seq", "at", "digest", "body"}`` with the body in canonical JSON (RFC 8785); the digest is SHA-256 over
the previous one, so each line commits to all before it (:mod:`llm_runtime.events.chain`). What a chain cannot tell
of itself, that its end is cut off or all of it written anew, the signed head tells, which lies in another folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from mmap import ACCESS_READ, mmap
from pathlib import Path

from ai_crucible.attested import attested, unnamed_logs, wrong_logs
from ai_crucible.events import AttemptBegun, AttemptWitnessed
from ai_crucible.types import Puzzle
from llm_runtime.clock import now_ms
from llm_runtime.errors import StoreBusy, StoreDamaged, StoreUnwritable
from llm_runtime.events import GENESIS, Event, Record, link, parse_event
from llm_runtime.events.chain import read_record, written
from llm_runtime.files import flush_folder, saying, write_atomic
from llm_runtime.rewording import instead
from llm_runtime.store.anchor import Head, HeadFiles, SignedHead
from llm_runtime.store.signing import Signer, SigningFailed
from llm_runtime.store.verify import Finding, Walk, judge
from llm_runtime.structs import Struct

_PATIENCE_S = 120.0


class Verification(Struct):
    """What ``verify`` found over ``length`` lines, of which the head vouches for ``anchored``.

    ``remarks`` are no findings: what may be so in good order, and is to be known.
    """

    length: int
    anchored: int
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Nothing was changed since it was signed."""
        return not self.findings

    def data(self) -> dict[str, object]:
        """Return it as JSON-compatible data."""
        return {
            "ok": self.ok,
            "events": self.length,
            "anchored": self.anchored,
            "findings": [str(finding) for finding in self.findings],
            "remarks": list(self.remarks),
        }


@dataclass
class Ledger:
    """An append-only file of events.

    Args:
        path: the file, ``*.jsonl``; made at the first append.
        anchors: a folder elsewhere, for the signed head and the public key that signed first.
        signer: what signs.
        clock: milliseconds since the Unix epoch.
    """

    path: Path
    anchors: Path
    signer: Signer
    clock: Callable[[], int] = now_ms

    @property
    def name(self) -> str:
        """The ledger's name in its anchor: its path's stem and a digest of the whole path."""
        whole = hashlib.sha256(str(self.path.resolve()).encode()).hexdigest()[:12]
        return f"{re.sub('[^a-z0-9_-]', '-', self.path.stem.lower())[:40]}-{whole}"

    def append(self, events: Sequence[Event]) -> SignedHead:
        """Add events, all or none, and sign the new head.

        Raises:
            StoreDamaged: the file no longer ends as its head says; nothing is added on top of that.
            StoreBusy: another process is writing.
            SigningFailed, StoreUnwritable.
        """
        if not events:
            raise ValueError("nothing to append")
        with self._locked():
            self._settle()
            seq, digest = self._end()
            lines: list[bytes] = []
            for event in events:
                record = link(digest, seq + 1, self.clock(), event)
                seq, digest = record.seq, record.digest
                lines.append(written(record))
            signed = self.signer.sign(Head(self.name, seq, digest))
            self._announce(signed)
            with saying(f"{self.path} cannot be written", StoreUnwritable):
                with self.path.open("ab") as file:
                    file.write(b"".join(lines))
                    file.flush()
                    os.fsync(file.fileno())
                self._vouch()
        return signed

    def events(self) -> Iterator[Event]:
        """Yield all events, unverified, in order.

        Raises:
            StoreDamaged: a line is not one.
        """
        for number, record in enumerate(self.records(), 1):
            if not record.digest:
                raise StoreDamaged(f"{self.path}: line {number} is not an event; see: ai-crucible verify")
            yield parse_event(json.loads(record.body))

    def verify(self, *, logs: bool = True) -> Verification:
        """Check every line against the chain, the end against the signed head, the logs against their digests."""
        # The head is read first: a ledger that is being written can only be longer than it says.
        try:
            signed, fault = self.head(), None
        except StoreDamaged as error:
            signed, fault = None, Finding(0, "bad signature", str(error))
        checked = verify_records(self.records(), signed, self.name, self._pinned(), fault)
        findings, remarks = list(checked.findings), list[str]()
        if logs and not findings:
            findings, remarks = self._logs()
        return replace(checked, findings=tuple(findings[:100]), remarks=tuple(remarks[:100]))

    def _logs(self) -> tuple[list[Finding], list[str]]:
        """Return what is wrong with the logs beside the ledger, and what is only to be told of them."""
        folder, trials, remarks = self.path.parent, attested(self.events()), list[str]()

        def digest(name: str) -> str:
            return file_digest(folder / name) if (folder / name).is_file() else ""

        findings = [finding for trial in trials.values() for finding in wrong_logs(trial, digest)]
        for name, fair in unnamed_logs(folder, trials):
            if fair:
                remarks.append(f"{name} is named by nobody, as a sitting that was killed leaves it; nothing counts it")
            else:
                findings.append(Finding(0, "log unnamed", f"{name}: nobody vouches for it, and nothing counts it"))
        return findings, remarks

    def _end(self) -> tuple[int, bytes]:
        """Return the last line's number and digest, which must be what the head says; no other line is read."""
        signed, line = self.head(), last_line(self.path)
        last = read_record(line) if line else None
        if line and last is None:
            raise StoreDamaged(f"{self.path}: its last line is not an event; see: ai-crucible verify")
        seq, digest = (last.seq, last.digest) if last else (0, GENESIS)
        if signed is not None and (signed.head.length, signed.head.digest) != (seq, digest):
            raise StoreDamaged(f"{self.path} does not end as its signed head says; see: ai-crucible verify")
        if signed is None and seq:
            raise StoreDamaged(f"{self.path} has events and no signed head; restore {self.anchors}")
        return seq, digest

    def records(self) -> Iterator[Record]:
        """Yield what each line holds, unverified; of one that is no event the line itself, without a digest."""
        self._recover()
        yield from records_of(self._lines())

    def _lines(self) -> Iterator[bytes]:
        with suppress(FileNotFoundError), self.path.open("rb") as file:
            yield from file

    def _locked(self) -> AbstractContextManager[None]:
        busy = f"{self.path} is being written by another process"
        return holding(self.path.with_name(f"{self.path.name}.lock"), _PATIENCE_S, busy)

    def head(self) -> SignedHead | None:
        """Return the signed head, unchecked. Raises :class:`~llm_runtime.errors.StoreDamaged`."""
        self._recover()
        return HeadFiles(self.anchors).load(self.name)

    def _recover(self) -> None:
        """End an append that a kill cut short, where one may write here; wait for one that is under way."""
        if self._coming_file.exists():
            with suppress(OSError), self._locked():
                self._settle()

    @property
    def _coming_file(self) -> Path:
        """Holds the head that an append has signed, until the lines that it vouches for are on the disk."""
        return self.anchors / f"{self.name}.coming.json"

    def _settle(self) -> None:
        """Let the head that was announced vouch for its lines; where not all came, take back those that did."""
        heads = HeadFiles(self.anchors)
        coming = heads.load(f"{self.name}.coming")
        if coming is None:
            return
        now = heads.load(self.name)
        vouched, digest = (now.head.length, now.head.digest) if now else (0, GENESIS)
        place, sound, last = 0, not vouched, (0, GENESIS)
        for seq, line in enumerate(self._lines(), 1):
            record = read_record(line)
            last = (record.seq, record.digest) if record else (0, b"")
            if seq <= vouched:
                place += len(line)
                sound = last == (vouched, digest)
        if last == (coming.head.length, coming.head.digest):
            self._vouch()
            return
        if sound and self.path.exists():
            os.truncate(self.path, place)
        self._coming_file.unlink()

    def _vouch(self) -> None:
        self._coming_file.replace(self.anchors / f"{self.name}.json")
        flush_folder(self.anchors)

    def _pinned(self) -> bytes:
        try:
            return bytes.fromhex((self.anchors / f"{self.name}.pub").read_text(encoding="ascii").strip())
        except (OSError, ValueError):
            return b""

    def _announce(self, signed: SignedHead) -> None:
        """Write down what is to come: whoever finds the ledger between the two knows which lines to take back."""
        self.anchors.mkdir(mode=0o700, parents=True, exist_ok=True)
        pinned = self._pinned()
        if pinned and pinned != signed.public_key:
            raise SigningFailed("the signing program uses another key than the one this ledger began with")
        if not pinned:
            write_atomic(self.anchors / f"{self.name}.pub", signed.public_key.hex() + "\n", private=True)
        HeadFiles(self.anchors).keep(f"{self.name}.coming", signed)


class TrialKeeper(Struct):
    """Writes down, before a trial's log is closed, that attempts began and that they were graded."""

    ledger: Ledger
    trial: str

    def begun(self, puzzle: Puzzle, epoch: int, sample: str) -> None:
        """Write down that an attempt begins, by Inspect's id of it."""
        of, anchor = puzzle.meta.id, puzzle.meta.anchor is not None
        self.ledger.append([AttemptBegun(trial=self.trial, puzzle=of, epoch=epoch, sample=sample, anchor=anchor)])

    def graded(self, sample: str, score: str) -> None:
        """Write down the digest of an attempt's score."""
        self.ledger.append([AttemptWitnessed(trial=self.trial, sample=sample, score_digest=score)])


@contextmanager
def holding(lock: Path, seconds: float, busy: str) -> Generator[None]:
    """Hold the lock at a place, whose folder is made where there is none.

    Args:
        lock: the file.
        seconds: to wait for whoever holds it.
        busy: what is told where that one does not end.

    Raises:
        StoreBusy: another process holds it.
    """
    from filelock import FileLock, Timeout

    lock.parent.mkdir(parents=True, exist_ok=True)
    with instead(StoreBusy(busy), Timeout), FileLock(lock, timeout=seconds):
        yield


def last_line(path: Path) -> bytes:
    """Return a file's last line, read from its end; empty where there is none."""
    with (
        suppress(FileNotFoundError, ValueError),
        path.open("rb") as file,
        mmap(file.fileno(), 0, access=ACCESS_READ) as m,
    ):
        return m[m.rfind(b"\n", 0, len(m) - 1) + 1 :]
    return b""


def records_of(lines: Iterable[bytes]) -> Iterator[Record]:
    """Yield what each line of a ledger holds; of one that is no event the line itself, without a digest."""
    for line in lines:
        yield read_record(line) or Record(0, 0, line, b"")


def verify_records(
    records: Iterable[Record], signed: SignedHead | None, name: str, key: bytes, fault: Finding | None = None
) -> Verification:
    """Check every record against the chain, and the end against the signed head.

    Args:
        records: from the first.
        signed: the head; ``None`` where there is none.
        name: of the ledger, for which the head must have been signed.
        key: the public key that must have signed it, 32 bytes.
        fault: why the head cannot be read, where it cannot.
    """
    walk = Walk(signed.head.length if signed else 0)
    broken: list[Finding] = []
    misnumbered: list[Finding] = []

    def by_place() -> Iterator[Record]:
        # What each line holds, under the number that its place has.
        for place, record in enumerate(records, 1):
            if not record.digest:
                broken.append(Finding(place, "edited", "the line is not an event"))
            elif record.seq != place:
                misnumbered.append(Finding(place, "edited", f"its number is {record.seq}"))
            yield replace(record, seq=place)

    walk.over(by_place())
    findings = walk.findings + broken
    anchored, judged = (0, [fault]) if fault else _judge(signed, walk, name, key)
    # Where lines were taken out or put in, all that follow are numbered otherwise.
    return Verification(walk.count, anchored, tuple(((findings or misnumbered) + judged)[:100]))


def _judge(signed: SignedHead | None, walk: Walk, name: str, key: bytes) -> tuple[int, list[Finding]]:
    if signed is None:
        return 0, [Finding(0, "unanchored", "no signed head vouches for it")] if walk.count else []
    if signed.head.run_id != name or not signed.genuine() or signed.public_key != key:
        return 0, [Finding(0, "bad signature", "the head was not signed for this ledger with its key")]
    if not walk.count:
        return 0, [Finding(0, "emptied", f"the head says {signed.head.length} events, none are left")]
    return judge(signed, walk)


def file_digest(path: Path) -> str:
    """Return SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
