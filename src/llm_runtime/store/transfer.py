"""A run as a JSONL file: one line that says what it is, then one line a record, byte for byte.

The first line is ``{"format":"assay-run","version":1,"run_id":...,"records":N,"head":...}``, the head as the store
keeps it, with signature and public key, or null. Each further line is
``{"seq":...,"at":...,"digest":"...","body":...}``, in this order and without spaces: the body's bytes, which the
digest is over, can be cut out as they are.

A file is hostile until proven otherwise: read line by line under caps, checked against its chain and its head,
and taken over whole or not at all. Anybody can compute a chain and sign it with a key of their own: only a head
that this store's key signed makes a run vouched for here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO

from pydantic_core import from_json

from llm_runtime.errors import ConfigurationError, StoreDamaged
from llm_runtime.events.chain import GENESIS, Record, chain_digest, read_record, written
from llm_runtime.http.shape import mapping
from llm_runtime.store.anchor import SignedHead
from llm_runtime.store.ids import valid_run_id
from llm_runtime.store.run_store import RunStore
from llm_runtime.structs import Struct

VERSION = 1

_MIB = 1 << 20
_HEADER_BYTES = 1 << 16


class ImportLimits(Struct):
    """What an import takes at most: bytes in all, bytes of one line, records."""

    total_bytes: int = 1024 * _MIB
    line_bytes: int = 16 * _MIB
    records: int = 1_000_000


def export_run(store: RunStore, run_id: str, out: BinaryIO) -> int:
    """Write a run to ``out``. A run that is being written is exported as far as it has come.

    Returns:
        Records written.

    Raises:
        RunNotFound: there is no run by that id.
    """
    length = store.summary(run_id).events
    signed, _ = store.heads.load(run_id) or (None, b"")
    if signed is not None and signed.head.run_id != run_id:
        # Somebody else's run, imported under another name: their signature is over the name it had.
        signed = None
    head = signed.to_dict() if signed else None
    header = {"format": "assay-run", "version": VERSION, "run_id": run_id, "records": length, "head": head}
    out.write(json.dumps(header, separators=(",", ":")).encode() + b"\n")
    for record in store.records(run_id, limit=length):
        out.write(written(record))
    return length


def import_run(
    store: RunStore, source: BinaryIO, *, as_id: str | None = None, trust: bool = False,
    limits: ImportLimits | None = None,
) -> str:  # fmt: skip
    """Take a run over from a file that :func:`export_run` wrote: all of it, or nothing.

    The records stay as they are, under a new id too. Where this store's own key signed the file's head, what it
    vouches for is signed again, and the run verifies as it did. A head that another key signed is kept as it is:
    verification then says by whom the run was signed, and that this store does not vouch for it.

    Args:
        store: where it goes.
        source: the file, read from where it stands, in constant memory.
        as_id: the run's id here, if not the one it had.
        trust: take another key's signature for this store's own, and sign again.
        limits: caps on its size.

    Returns:
        The run's id here.

    Raises:
        StoreDamaged: the file is not such a run, or was changed since; the message names the line.
        StoreError: there is a run by that id already.
        ConfigurationError: ``as_id`` is not a run id.
    """
    if as_id is not None and not valid_run_id(as_id):
        raise ConfigurationError(f"not a run id: {as_id[:80]!r}; use 1 to 64 of a-z 0-9 _ -")
    lines = _Lines(source, limits or ImportLimits())
    header = _read_header(lines)
    run_id = as_id or header.run_id
    signed = header.signed
    vouch = signed is not None and (trust or store.heads.names(signed))
    store.adopt(run_id, _read_records(lines, header), signed, vouch=vouch)
    return run_id


class _Header(Struct):
    run_id: str
    records: int
    signed: SignedHead | None


class _Lines:
    """The lines of a file, numbered and capped."""

    def __init__(self, source: BinaryIO, limits: ImportLimits) -> None:
        self.number = 0
        self.limits = limits
        self._source = source
        self._left = limits.total_bytes

    def next(self, cap: int) -> bytes:
        """Read the next line, or nothing at the end."""
        self.number += 1
        line = self._source.readline(cap + 1)
        if len(line) > cap:
            raise self.refuse(f"longer than {cap} bytes")
        self._left -= len(line)
        if self._left < 0:
            raise self.refuse(f"the file is larger than {self.limits.total_bytes} bytes")
        return line

    def refuse(self, why: str) -> StoreDamaged:
        """Return the error that says why the import ended here."""
        return StoreDamaged(f"the file is refused: line {self.number}: {why}")


def _read_header(lines: _Lines) -> _Header:
    try:
        data = from_json(lines.next(_HEADER_BYTES).removeprefix(b"\xef\xbb\xbf"))
    except ValueError:
        raise lines.refuse("not JSON; this is not an exported run") from None
    fields = mapping(data)
    if fields.get("format") != "assay-run":
        raise lines.refuse("not an exported run")
    if fields.get("version") != VERSION:
        raise lines.refuse(f"a format of version {ascii(fields.get('version'))[:20]}; this program reads {VERSION}")
    run_id, records, head = fields.get("run_id"), fields.get("records"), fields.get("head")
    if not isinstance(run_id, str) or not valid_run_id(run_id):
        raise lines.refuse(f"not a run id: {ascii(run_id)[:80]}")
    if type(records) is not int or not 0 < records <= lines.limits.records:
        raise lines.refuse(f"a run has 1 to {lines.limits.records} records")
    return _Header(run_id, records, _read_head(lines, head, run_id, records))


def _read_head(lines: _Lines, data: object, run_id: str, records: int) -> SignedHead | None:
    if data is None:
        return None
    try:
        signed = SignedHead.from_dict(data)
    except ValueError as fault:
        raise lines.refuse(str(fault)) from None
    if signed.head.run_id != run_id or signed.head.length > records or not signed.genuine():
        raise lines.refuse("the head's signature is not of this run")
    return signed


def _read_records(lines: _Lines, header: _Header) -> Iterator[Record]:
    """Yield the records, each after it was checked against the chain and the head."""
    previous = GENESIS
    head = header.signed.head if header.signed else None
    for seq in range(1, header.records + 1):
        record = _read_record(lines)
        if record.seq != seq or chain_digest(previous, seq, record.at, record.body) != record.digest:
            raise lines.refuse("the chain breaks here; the file was changed")
        if head is not None and seq == head.length and record.digest != head.digest:
            raise lines.refuse("the log is not the one that was signed")
        previous = record.digest
        yield record
    if lines.next(lines.limits.line_bytes):
        raise lines.refuse(f"more than the {header.records} records announced")


def _read_record(lines: _Lines) -> Record:
    line = lines.next(lines.limits.line_bytes)
    # Whoever sent it may have left out the end of the last line, or ends lines as Windows does.
    record = read_record(line.removesuffix(b"\n").removesuffix(b"\r") + b"\n")
    if record is None:
        raise lines.refuse("the file ends too early" if not line else "not a record")
    return record
