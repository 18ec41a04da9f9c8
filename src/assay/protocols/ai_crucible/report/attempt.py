"""One attempt, followed: the prompt, each tool call, the ending, the grading, the gate, the signed head."""

from __future__ import annotations

import json
import shlex
from typing import Any, cast

from ai_crucible.types import CheckOutcome, TraceEvent
from assay.protocols.ai_crucible.report.trial_records import Attempt, TrialRecords
from assay.protocols.ai_crucible.report.words import CONDITIONS, ending, grouped
from assay.report.clean import fenced
from assay.report.story import Block, Column, Details, Note, Plain, Prose, Quote, Table, Tone, Voice, columns
from assay.report.units import count_noun, duration

_LONGEST = 6000


def attempt_blocks(attempt: Attempt, trials: TrialRecords) -> tuple[Block, ...]:
    """Return the whole of an attempt, as the kernel recorded it."""
    return (
        Details("What it was told", tuple(Quote(words.text, words.role) for words in attempt.log.prompt)),
        *_turns(attempt),
        _ending(attempt),
        *_copied(attempt),
        *_grading(attempt),
        *_gate(attempt),
        *_critic(attempt),
        *sealing(attempt, trials),
    )


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
    blocks: list[Block] = (
        [Note(f"{head}: {'words' if words else 'nothing said'}, and no tool call.")] if silent else []
    )
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


def _ending(attempt: Attempt) -> Note:
    record = attempt.log.record
    if record.error:
        return Note(f"The attempt ended in an error and has no verdict: {_cut(record.error)}", "bad")
    end = attempt.last("terminated") or {}
    detail = f": {end['detail']}" if end.get("detail") else ""
    used = f"{count_noun(attempt.turns, 'turn')}, {count_noun(record.tool_calls, 'tool call')}"
    time = duration(round(record.seconds * 1000))
    tone: Tone = "info" if record.terminated_by in ("submitted", "stopped_talking") else "warning"
    how = ending(record)
    who = "The solver ended it" if tone == "info" else "The kernel ended it"
    return Note(f"{who} after {used} and {time}: {how}{detail}.", tone)


def _copied(attempt: Attempt) -> list[Block]:
    """Return what stood in the work folder when the solver had halted, against what it found there."""
    copied = attempt.last("copied")
    if copied is None:
        return []
    change = str(copied.get("change", "")).rstrip("\n")
    words = Prose(fenced(_cut(change))) if change else Note("It changed no file.")
    digest = grouped(str(copied.get("sha256", "")))
    return [Details("What it changed", (words, Plain(f"The copied folder, SHA-256: {digest}")))]


def _grading(attempt: Attempt) -> list[Block]:
    verdict = attempt.verdict
    if verdict is None:
        return []
    heads = columns("Check", "Counts as", "Untouched puzzle", "Solver's copy", "Why")
    rows = tuple(
        (check.name, _role(check), _check(check.before), _check(check.after), _cut(check.detail, 400))
        for check in verdict.checks
    )
    caption = "The work folder was copied out and graded in a second box, which alone held the checks"
    blocks: list[Block] = [Table(heads, rows, caption=f"{caption} (SHA-256 {verdict.oracle_digest[:16]}…)")]
    if verdict.undeclared:
        blocks.append(Note(f"Changed without being declared editable: {', '.join(verdict.undeclared)}.", "warning"))
    if verdict.adversarial:
        blocks.append(Note(f"Done against the grading: {', '.join(verdict.adversarial)}.", "bad"))
    return blocks


def _role(check: CheckOutcome) -> str:
    if check.role == "quality":
        return f"quality, weight {check.weight:g}"
    return "must stay" if check.before else "must be mended"


def _check(holds: bool) -> str:
    return "✓ passes" if holds else "× fails"


def _gate(attempt: Attempt) -> list[Block]:
    gate = attempt.gate
    if gate is None:
        return []
    rows = tuple(
        (name, CONDITIONS.get(name, ""), "✓ met" if holds else "× not met")
        for name, holds in gate.conditions.items()
    )
    tone: Tone = "good" if gate.passed else "bad"
    words = (
        "Passed: every condition is met."
        if gate.passed
        else f"Not passed; conditions that are not met: {', '.join(gate.failed)}."
    )
    blocks: list[Block] = [
        Note(words, tone),
        Details("All conditions of passing", (Table((Column("Condition"), Column("Means"), Column("")), rows),)),
    ]
    panel = attempt.panel
    if panel is not None:
        blocks.append(
            Plain(
                f"Panel: novelty {_novelty(panel.novelty_validated)} by {count_noun(panel.votes, 'vote')}, "
                f"{count_noun(panel.abstentions, 'abstention')}; "
                f"{count_noun(len(panel.excluded), 'judge')} left out."
            )
        )
    return blocks


def _critic(attempt: Attempt) -> list[Block]:
    verdict = attempt.last("critic")
    return [Quote(_cut(str(verdict.get("text", ""))), "The critic, whom no solver hears, says")] if verdict else []


def _novelty(validated: bool | None) -> str:
    return "not voted on" if validated is None else "validated" if validated else "not validated"


def sealing(attempt: Attempt, trials: TrialRecords) -> list[Block]:
    """How the attempt hangs on the signed head: its digest, its line of the ledger, the log's digest, the head."""
    entry, head = attempt.entry, trials.head
    if entry is None:
        return [Note("No line of the ledger speaks of this attempt: it is not attested.", "warning")]
    same = entry.sample_digest == attempt.log.digest
    puzzle = attempt.log.puzzle_digest
    rows = [
        *([("The puzzle as it was given, SHA-256", grouped(puzzle))] if puzzle else []),
        ("This attempt as the log has it now, SHA-256", grouped(attempt.log.digest)),
        (f"Event {entry.seq} of the ledger says", grouped(entry.sample_digest) if not same else "the same"),
        ("Its link of the chain", grouped(entry.digest)),
        ("The trial's log file, as attested", grouped(trials.logged.get(attempt.log.trial, "")) or "not attested"),
    ]
    if head is not None:
        rows += [
            (f"Signed head, over {count_noun(head.head.length, 'event')}", grouped(head.head.digest.hex())),
            ("Signature (ed25519)", grouped(head.signature.hex())),
            ("Public key", grouped(head.public_key.hex())),
        ]
    blocks: list[Block] = [Table((Column("From this attempt to the signed head"), Column("")), tuple(rows))]
    covered = head is not None and entry.seq <= head.head.length and trials.verification.ok and same
    if covered:
        blocks.append(Note("The chain from this attempt to the signed head holds.", "good"))
    elif not same:
        blocks.append(Note("This attempt is not the one that was attested: its log was changed since.", "bad"))
    else:
        blocks.append(Note("The ledger does not verify; see Attestation.", "bad"))
    return blocks


def _cut(text: str, most: int = _LONGEST) -> str:
    return text if len(text) <= most else f"{text[:most]}\n[… {len(text) - most} characters more in the log]"


def _words(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
