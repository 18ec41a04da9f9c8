"""Puts an attempt's events into Inspect's transcript, and reads attempts back from an Inspect log.

Long texts in a transcript are Inspect's to keep as attachments; what is too large even for that is cut here, with
the digest of the whole in its place.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from typing import TYPE_CHECKING, Any

from ai_crucible.archives import files_of
from ai_crucible.types import AttemptRecord, AttemptState, team_name
from ai_crucible.versions import environment_digest, version_of
from llm_runtime.canonical import canonical_json

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample, Transcript
    from inspect_ai.scorer import Score

SOURCE = "ai_crucible"
_MOST_TEXT = 64 * 1024
# What was asked stands in the log, and before the reason in what Inspect tells of a refusal.
_REQUEST = re.compile(r"(\\n|\n)Request:\1(?:.*?\1\1|(.*))", re.DOTALL)
_MOST_DIFF = 64 * 1024
_MOST_COMPARED = 6000
"""Lines, old and new of all files together."""


def write_trace(state: AttemptState, transcript: Transcript) -> None:
    """Add every event of an attempt to the sample's transcript, in order."""
    for event in state.events:
        transcript.info(spill(event.model_dump(mode="json")), source=SOURCE)


def spill(value: Any) -> Any:
    """Return the same data with every text beyond 64 KiB cut, its whole length and SHA-256 behind it."""
    if isinstance(value, str) and len(value) > _MOST_TEXT:
        whole = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{value[:_MOST_TEXT]}\n[... cut; {len(value)} characters in all, sha256 {whole}]"
    if isinstance(value, dict):
        return {key: spill(item) for key, item in value.items()}  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, list):
        return [spill(item) for item in value]  # pyright: ignore[reportUnknownVariableType]
    return value


def change_of(untouched: bytes, work: bytes) -> str:
    """Return what an attempt changed, as a unified diff of at most 64 KiB; what is no text or too long by its size.

    Comparing lines takes time and memory beyond any bound in what a solver wrote, so long files are not compared.
    """
    before, after = files_of(untouched), files_of(work)
    lines, room = list[str](), _MOST_COMPARED
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name, b""), after.get(name, b"")
        if old == new and (name in before) == (name in after):
            continue
        many = old.count(b"\n") + new.count(b"\n")
        if b"\0" in old + new or len(old) + len(new) > 4 * _MOST_DIFF or many > room:
            lines.append(f"{name}: {len(old)} bytes before, {len(new)} bytes after\n")
            continue
        room -= many
        was, now = (side.decode("utf-8", "replace").splitlines(keepends=True) for side in (old, new))
        lines += difflib.unified_diff(was, now, f"a/{name}", f"b/{name}")
    text = "".join(line if line.endswith("\n") else line + "\n" for line in lines)
    return text if len(text) <= _MOST_DIFF else text[:_MOST_DIFF] + "\n[... cut]\n"


def attempts_of(log: EvalLog) -> list[AttemptRecord]:
    """Return the attempts of a log, in its order. One that ended in an error has no verdict.

    Read ``log.status`` and each record's ``error``: Inspect's own exit code does not tell of either.
    """
    return [_attempt(log, sample) for sample in log.samples or []]


def _attempt(log: EvalLog, sample: EvalSample) -> AttemptRecord:
    metadata, conditions = sample.metadata, (log.eval.metadata or {}).get("ai_crucible", {})
    score = oracle_score(sample)
    ours: dict[str, Any] = (score.metadata or {}) if score else {}
    usage = list((sample.model_usage or {}).values())
    costs = [one.total_cost for one in usage]
    return AttemptRecord(
        puzzle=str(sample.id),
        kind=str(metadata.get("kind", "")),
        epoch=sample.epoch,
        model=team_name([log.eval.model, *conditions.get("cohort", [])], conditions.get("agent", "")),
        arm=metadata.get("arm", "neutral"),
        passed=bool(score.as_float()) if score else None,
        failed=tuple(ours.get("gate", {}).get("failed", ())),
        terminated_by=str(ours.get("terminated_by") or (sample.limit.type if sample.limit else "")),
        seconds=float(ours.get("seconds", 0.0)),
        tool_calls=sum(ours.get("tool_calls", {}).values()),
        input_tokens=sum(one.input_tokens for one in usage),
        output_tokens=sum(one.output_tokens for one in usage),
        cost=None if not costs or any(c is None for c in costs) else sum(c for c in costs if c is not None),
        error=_REQUEST.sub(r"\2", sample.error.message) if sample.error else "",
        anchor=metadata.get("anchor"),
        self_reported=bool(metadata.get("self_reported")),
        hours=metadata.get("hours") or 0.0,
        log=log.location,
        sample=sample.uuid or "",
        version=version_of(*rests_on(log, sample)),
    )


def oracle_score(sample: EvalSample) -> Score | None:
    """Return the gate's score of a sample; ``None`` where it was not graded."""
    return next((score for name, score in (sample.scores or {}).items() if name.endswith("oracle_scorer")), None)


def sample_digest(sample: EvalSample) -> str:
    """Return SHA-256 of a sample as its log has it, in hex."""
    # Inspect's own JSON form: what a float prints as is settled once, here, and hashed as text.
    return hashlib.sha256(canonical_json(sample.model_dump_json(exclude_none=True))).hexdigest()


def rests_on(log: EvalLog, sample: EvalSample) -> tuple[str, str, str]:
    """Return the digests of puzzle, oracle and environment that a log tells of an attempt."""
    ours: dict[str, Any] = (log.eval.metadata or {}).get("ai_crucible", {})
    parts: dict[str, str] = ours.get("environment", {})
    puzzle, oracle = (str(sample.metadata.get(name, "")) for name in ("puzzle_digest", "oracle_digest"))
    return puzzle, oracle, environment_digest(parts)


def score_digest(score: Score) -> str:
    """Return SHA-256 of a score as logs hold it, in hex."""
    line = json.dumps([score.value, score.answer, score.explanation, score.metadata], sort_keys=True)
    return hashlib.sha256(line.encode("utf-8", "surrogatepass")).hexdigest()
