"""Whether a run's log is the one that was written: the chain from record to record, and the signed head."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable
from typing import Protocol

from llm_runtime.errors import RunNotFound, StoreDamaged
from llm_runtime.events import GENESIS, Record, RunStarted, chain_digest
from llm_runtime.store.anchor import STEP, SignedHead
from llm_runtime.store.heads import Heads
from llm_runtime.store.reading import read_event
from llm_runtime.store.summary import RunSummary
from llm_runtime.store.tally import Tally, counts
from llm_runtime.structs import Struct

_MOST_FINDINGS = 100
_REMEMBERED_PLACES = 32


class Finding(Struct):
    """One thing that is wrong with a log, at record ``seq`` (1-based; 0 where it concerns none).

    Args:
        kind: ``"edited"``, ``"deleted"``, ``"inserted"``, ``"reordered"``, ``"truncated"``, ``"lost"``, ``"emptied"``,
            ``"rewritten"``, ``"unanchored"`` or ``"bad signature"``; what keeps its own logs has others besides.
    """

    seq: int
    kind: str
    detail: str

    def __str__(self) -> str:
        return f"record {self.seq}: {self.kind}: {self.detail}" if self.seq else f"{self.kind}: {self.detail}"


class Verification(Struct):
    """What was found.

    Args:
        run_id: the run.
        length: records seen.
        anchored: how many of them, from the first, the signed head vouches for.
        findings: in the order of the log, at most 100.
        other_key: the public key, in hex, of whoever else signed the log; empty where nobody else did.
        lost: records that the head vouched for and that are gone from the end, where all that is left is as it was
            written: so a power cut or a restored copy leaves it. Nobody changed the log.
    """

    run_id: str
    length: int
    anchored: int
    findings: tuple[Finding, ...]
    other_key: str = ""
    lost: int = 0

    @property
    def ok(self) -> bool:
        """The whole log is as it was written, and signed for."""
        return not self.findings

    @property
    def intact(self) -> bool:
        """Nothing contradicts the log, though its end may not be signed yet: so it is while a run is written,
        and after its process was killed. Or another key signed it: so it is where a run was imported."""
        return all(finding.kind == "unanchored" for finding in self.findings)


class Readable(Protocol):
    """What of a :class:`~llm_runtime.store.run_store.RunStore` there is to look at."""

    heads: Heads

    def summary(self, run_id: str) -> RunSummary: ...

    def records(self, run_id: str) -> Iterable[Record]: ...


def verify(store: Readable, run_id: str, keys: Collection[bytes] = ()) -> Verification:
    """Check a run's log against its chain, its signed head and its line in the list, in constant memory.

    Args:
        keys: the public keys (32 bytes) whose signatures count; the store's own where left out.

    Raises:
        RunNotFound: there is neither a log nor a head by that id.
        StoreDamaged: the store cannot be read.
    """
    signed, trail = store.heads.load(run_id) or (None, b"")
    try:
        summary = store.summary(run_id)
    except RunNotFound:
        if signed is None:
            raise
        gone = Finding(0, "emptied", f"the run is gone; its head says {signed.head.length} records")
        return Verification(run_id, 0, 0, (gone,), lost=signed.head.length)
    # Head and summary were read before the log, so a run that is being written can only be longer than they say.
    walk = Walk(signed.head.length if signed else 0)
    audit = _Audit(summary)
    walk.over(audit.watching(store.records(run_id)))
    findings = walk.findings + audit.findings
    anchored, lost, other_key = 0, 0, ""
    if signed is None and walk.count:
        findings.append(Finding(1, "unanchored", "the chain holds, and no signed head vouches for it"))
    elif signed is None:
        findings.append(Finding(0, "emptied", "the run has no records left"))
    else:
        ours = signed.public_key in keys if keys else store.heads.names(signed)
        if not signed.genuine() or (ours and signed.head.run_id != run_id):
            findings.append(Finding(0, "bad signature", "the head was not signed with its key for this run"))
        elif not walk.count:
            lost = signed.head.length
            findings.append(Finding(0, "emptied", f"no records are left of the {lost} that its head says"))
        else:
            anchored, judged = judge(signed, walk, trail)
            if not ours:
                anchored, other_key = 0, signed.public_key.hex()
                judged = [_signed_elsewhere(other_key), *(f for f in judged if f.kind != "unanchored")]
            if not findings and any(finding.kind == "lost" for finding in judged):
                lost = signed.head.length - walk.last
            findings += judged
    findings.sort(key=lambda finding: finding.seq)
    return Verification(run_id, walk.count, anchored, tuple(findings[:_MOST_FINDINGS]), other_key, lost)


def _signed_elsewhere(key: str) -> Finding:
    return Finding(1, "unanchored", f"the log was signed by another key, {key[:8]}, and by none that counts here")


def judge(signed: SignedHead, walk: Walk, trail: bytes | None = None) -> tuple[int, list[Finding]]:
    """Return what the head says about a log whose links were checked: records vouched for, and findings.

    Args:
        trail: the digests that the head vouches for; ``None`` of a log that cannot lose its end by itself.
    """
    length = signed.head.length
    changed = _first_difference(trail or b"", bytes(walk.trail))
    if walk.last < length:
        left = f"the head says {length} records, {walk.last} are left"
        if trail is None or walk.findings or changed:
            findings = [Finding(changed, "rewritten", _REWRITTEN)] if changed and not walk.findings else []
            return 0, [*findings, Finding(walk.last + 1, "truncated", left)]
        how = "all as they were written" if trail else "and whether they were changed a head of the first kind hides"
        return 0, [Finding(walk.last + 1, "lost", f"{left}, {how}")]
    if walk.findings:
        return 0, []
    if walk.digest_at_head != signed.head.digest:
        return 0, [Finding(changed or length, "rewritten", _REWRITTEN)]
    if walk.last > length:
        return length, [Finding(length + 1, "unanchored", "from here on the chain holds, and no head vouches for it")]
    return length, []


_REWRITTEN = "the chain holds, and it is not the one that was signed"


def _first_difference(trail: bytes, other: bytes) -> int:
    """Return the first record, 1-based, about which two trails disagree as far as both go; 0 where they agree."""
    end = min(len(trail), len(other))
    if trail[:end] == other[:end]:
        return 0
    return next(at // STEP + 1 for at in range(0, end, STEP) if trail[at : at + STEP] != other[at : at + STEP])


class Walk:
    """Follows the chain, one record behind, since what happened to a record shows in its successor."""

    def __init__(self, head_length: int) -> None:
        self.findings: list[Finding] = []
        self.count = 0
        self.last = 0
        self.digest_at_head = b""
        #: the beginning of each record's digest, as a head's trail has them
        self.trail = bytearray()
        self._head_length = head_length
        self._previous = GENESIS
        #: what renumbering has added to sequence numbers: 1 after an unnoticed deletion, -1 after an insertion
        self._shift = 0
        #: a record that does not follow from its predecessor, and that predecessor's digest
        self._suspect: tuple[bytes, Record] | None = None
        #: places whose record does not belong there, for finding out where it went
        self._places: deque[tuple[bytes, int]] = deque(maxlen=_REMEMBERED_PLACES)

    def over(self, records: Iterable[Record]) -> None:
        """Take the whole log."""
        for record in records:
            self.count += 1
            self._step(record)
        self._settle_alone()

    def _step(self, record: Record) -> None:
        if record.seq <= self.last:
            self._find(record.seq, "inserted", "this number occurs twice")
            return
        if record.seq > self.last + 1:
            self._settle_alone()
            self._find(self.last + 1, "deleted", f"{record.seq - self.last - 1} missing here")
        elif self._suspect is not None:
            self._settle(self._suspect, record)
        elif not _follows(self._previous, record, self._shift):
            self._suspect = (self._previous, record)
        self._previous = record.digest
        self.trail += record.digest[:STEP]
        self.last = record.seq
        if record.seq == self._head_length:
            self.digest_at_head = record.digest

    def _settle_alone(self) -> None:
        if self._suspect is not None:
            self._find(self._suspect[1].seq, "edited", "its content is not what was chained")
            self._suspect = None

    def _settle(self, suspect: tuple[bytes, Record], after: Record) -> None:
        """Say what happened to the suspect, now that its successor is known."""
        before, record = suspect
        self._suspect = None
        place = self._place_of(record)
        if place:
            self._find(record.seq, "reordered", f"it belongs at {place}")
        elif _follows(record.digest, after, self._shift):
            self._find(record.seq, "edited", "its content is not what was chained")
        elif _follows(before, after, self._shift - 1):
            if _follows(after.digest, record, self._shift + 1):
                self._find(record.seq, "reordered", f"it changed places with {after.seq}")
            else:
                self._find(record.seq, "inserted", "its successor follows from its predecessor")
                self._shift -= 1
        elif _follows(record.digest, after, self._shift + 1):
            self._find(record.seq, "deleted", "a record before it is missing, and the rest was renumbered")
            self._shift += 1
        else:
            self._find(record.seq, "edited", "neither it nor its successor is what was chained")
        self._places.append((before, record.seq))

    def _place_of(self, record: Record) -> int:
        """Return the place further up where ``record`` would fit, or 0."""
        for before, seq in self._places:
            if chain_digest(before, seq, record.at, record.body) == record.digest:
                return seq
        return 0

    def _find(self, seq: int, kind: str, detail: str) -> None:
        if len(self.findings) < _MOST_FINDINGS:
            self.findings.append(Finding(seq, kind, detail))


def _follows(previous: bytes, record: Record, shift: int) -> bool:
    return chain_digest(previous, record.seq + shift, record.at, record.body) == record.digest


class _Audit:
    """Adds up the log again and compares it with the run's line in the list."""

    def __init__(self, summary: RunSummary) -> None:
        self.findings: list[Finding] = []
        self._summary = summary
        self._tally = Tally()

    def watching(self, records: Iterable[Record]) -> Iterable[Record]:
        """Yield the same records, and add them up as they pass."""
        for record in records:
            self._add(record)
            if record.seq == self._summary.events:
                self._compare(record.seq)
            yield record

    def _add(self, record: Record) -> None:
        if not counts(record.body):
            return
        try:
            event = read_event(record)
            self._tally = self._tally.after(event)
        except StoreDamaged as fault:
            self.findings.append(Finding(record.seq, "edited", str(fault)))
            return
        if record.seq == 1 and isinstance(event, RunStarted):
            ours, line = (event.protocol, event.title, event.origin, event.parent, record.at), self._summary
            if ours != (line.protocol, line.title, line.origin, line.parent, line.started_at):
                self.findings.append(Finding(1, "edited", "the run's line in the list is not what its log says"))

    def _compare(self, seq: int) -> None:
        state = self._summary.state
        ending = state if state in ("finished", "stopped", "failed") else "open"
        if self._tally != (ending, *(getattr(self._summary, name) for name in Tally._fields[1:])):
            self.findings.append(Finding(seq, "edited", "the sums kept beside the log are not those of its records"))
