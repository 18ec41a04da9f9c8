"""One attempt, followed: the prompt, each tool call, the ending, the grading, the gate, the signed head."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, cast

from ai_crucible.types import CheckOutcome, TraceEvent
from assay.protocols.ai_crucible.report.trial_records import Attempt, LedgerLine, TrialRecords
from assay.protocols.ai_crucible.report.words import CONDITIONS, ending, grouped
from assay.report.clean import fenced
from assay.report.outline import Writing, read_outline
from assay.report.story import Block, Note, Plain, Prose, Quote, Voice
from assay.report.units import count_noun, duration

_LONGEST = 6000
_NOVELTY = {None: "not voted on", True: "validated", False: "not validated"}


def attempt_blocks(attempt: Attempt, trials: TrialRecords) -> tuple[Block, ...]:
    """Return the whole of an attempt, as the kernel recorded it."""
    record, entry, copied = attempt.log.record, attempt.entry, attempt.last("copied")
    detail = (attempt.last("terminated") or {}).get("detail")
    by_solver = record.terminated_by in ("submitted", "stopped_talking")
    same = entry is not None and entry.sample_digest == attempt.log.digest
    head, ok = trials.seal.head, trials.seal.verification.ok
    covered = same and head is not None and entry is not None and entry.seq <= head.head.length and ok
    scope = {
        "attempt": attempt,
        "record": record,
        "by_solver": by_solver,
        "by_kernel": not by_solver,
        "used": f"{count_noun(attempt.turns, 'turn')}, {count_noun(record.tool_calls, 'tool call')} and "
        f"{duration(round(record.seconds * 1000))}: {ending(record)}{f': {detail}' if detail else ''}",
        "copied": copied,
        "changed": str((copied or {}).get("change", "")).rstrip("\n"),
        "verdict": attempt.verdict,
        "gate": attempt.gate,
        "panel": attempt.gate and attempt.panel,
        "critic": attempt.last("critic"),
        "entry": entry,
        "seal": entry and _seal(attempt, trials, entry),
        "covered": covered,
        "replaced": entry and not same,
        "unverified": same and not covered,
    }
    return tuple(Writing(scope, _FORMS, {"turns": lambda _: _turns(attempt)}).blocks(_outline().sections[0].blocks))


def _seal(attempt: Attempt, trials: TrialRecords, entry: LedgerLine) -> dict[str, str]:
    """Return how the attempt hangs on the signed head: by its digest, its line of the ledger and its log."""
    log, head = attempt.log, trials.seal.head
    said = "the same" if entry.sample_digest == log.digest else grouped(entry.sample_digest)
    rows = {
        **({"The puzzle as it was given, SHA-256": grouped(log.puzzle_digest)} if log.puzzle_digest else {}),
        "This attempt as the log has it now, SHA-256": grouped(log.digest),
        f"Event {entry.seq} of the ledger says": said,
        "Its link of the chain": grouped(entry.digest),
        "The trial's log file, as attested": grouped(trials.seal.logged.get(log.trial, "")) or "not attested",
    }
    if head is not None:
        rows[f"Signed head, over {count_noun(head.head.length, 'event')}"] = grouped(head.head.digest.hex())
        rows |= {"Signature (ed25519)": grouped(head.signature.hex()), "Public key": grouped(head.public_key.hex())}
    return rows


def _turns(attempt: Attempt) -> list[Block]:
    blocks: list[Block] = []
    turn = 0
    for event in attempt.log.events:
        if event.kind == "model_call":
            turn += 1
            blocks += _words_of(attempt, event, turn)
        elif event.kind == "tool_call":
            blocks.append(_tool_call(event, turn))
        elif event.kind == "andon":
            blocks.append(Note(f"The andon stopped it at {duration(event.at_ms)}: {_words(event.data)}", "bad"))
    return blocks


def _words_of(attempt: Attempt, event: TraceEvent, turn: int) -> list[Block]:
    """Return the solver's words in a turn besides its tool calls."""
    words = attempt.log.words[turn - 1].strip() if turn <= len(attempt.log.words) else ""
    silent = not event.data.get("calls")
    if not silent and words.endswith("```"):
        # A call in text is shown as the call that it became.
        words = words.rpartition("```tool")[0].strip()
    head = f"Turn {turn}, at {duration(event.at_ms)}"
    blocks: list[Block] = [Note(f"{head}: {'words' if words else 'nothing said'}, and no tool call.")] if silent else []
    return [*blocks, Quote(_cut(words), f"{head}, the solver says")] if words else blocks


def _tool_call(event: TraceEvent, turn: int) -> Voice:
    name, arguments = str(event.data.get("name", "")), cast(object, event.data.get("arguments"))
    result = str(event.data.get("result", ""))
    refused = bool(event.data.get("refused"))
    head, body = _asked(name, arguments)
    blocks: list[Block] = [Prose(fenced(_cut(body.rstrip("\n"))))] if body else []
    if name != "submit":
        blocks.append(Note("Refused.", "warning") if refused else Plain("→ gets back"))
        blocks.append(Prose(fenced(_cut(result.rstrip("\n")))))
    remark = f"turn {turn}, at {duration(event.at_ms)}"
    return Voice(head, tuple(blocks), "red" if refused else "c1" if name == "submit" else "c0", remark)


def _asked(name: str, arguments: object) -> tuple[str, str]:
    """Return a call's one-line form and what it carries besides."""
    if not isinstance(arguments, dict):
        return name[:80], _words(arguments)
    fields = cast(dict[str, Any], arguments)
    if name == "exec":
        argv = cast(object, fields.get("argv"))
        words = [str(word) for word in cast(list[object], argv)] if isinstance(argv, list) else [_words(argv)]
        return f"exec {shlex.join(words)}"[:160], str(fields.get("stdin") or "")
    if name in ("read_file", "write_file"):
        return f"{name} {fields.get('path', '')}"[:160], str(fields.get("content") or "")
    if name == "submit":
        novelty = str(fields.get("novelty") or "")
        return "submit", str(fields.get("summary", "")) + (f"\n\nClaimed novelty: {novelty}" if novelty else "")
    return name[:80], _words(fields)


def _role(check: CheckOutcome) -> str:
    if check.role == "quality":
        return f"quality, weight {check.weight:g}"
    return "must stay" if check.before else "must be mended"


def _cut(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else f"{text[:most]}\n[… {len(text) - most} characters more in the log]"


def _words(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


_FORMS: Mapping[str, Callable[[Any], str]] = {
    "check": lambda holds: "✓ passes" if holds else "× fails",
    "code": lambda text: fenced(_cut(text)),
    "cut": _cut,
    "grouped": grouped,
    "means": lambda name: CONDITIONS.get(name, ""),
    "met": lambda holds: "✓ met" if holds else "× not met",
    "novelty": lambda panel: _NOVELTY[panel.novelty_validated],
    "role": _role,
    "why": lambda detail: _cut(detail, 400),
}
_outline = cache(partial(read_outline, __package__ or "", "attempt.toml"))
