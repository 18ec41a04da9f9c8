"""A new body for an adopted function, where one is asked for: judged in its place, and handed over as a patch."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import Any

from criticality.acceptance import bodies_in, each_once
from criticality.artifacts import Body
from criticality.asking import Asking
from criticality.bodies import SpliceRefused
from criticality.context import failure_summary, implement_values
from criticality.standing import AS_IS, Candidate
from criticality.verdicts import Bench, hearing, judged
from llm_runtime.errors import BadReply

_ATTEMPTS = 3


async def rewritten(bench: Bench, ask: Asking, candidate: Candidate, path: str, text: str) -> tuple[str, str]:
    """Return a patch with another body that keeps every promise, and what there is to say of it.

    Args:
        path, text: of the function's file.

    Raises:
        CallError: a call failed.
    """
    name = candidate.id
    failure: dict[str, Any] | None = None
    for attempt in range(1, _ATTEMPTS + 1):
        question = ask.question("rewrite", name, "worker", 1, attempt)
        values = implement_values(bench.language, bench.artifacts, name)
        answer = await ask.text(question, "implement", spare=(), **values, summary=failure_summary(failure))
        try:
            body = bodies_in(bench.language, answer, name)[name]
            patched = bench.language.splice(text, candidate.name, body)
        except (BadReply, SpliceRefused) as fault:
            failure = {"kind": "syntax", "what": [str(fault)[:400]]}
            continue
        failure = await _failure(bench, candidate, body)
        if failure is None:
            return _patch(path, text, patched), await _differences(bench, name, body)
    assert failure is not None
    return "", f"No new body keeps every promise: {failure['what'][0]}"


async def _failure(bench: Bench, candidate: Candidate, body: str) -> dict[str, Any] | None:
    module, function = bench.artifacts.functions[candidate.id]
    refused = bench.language.inspect_body(body, function, module=module.name, siblings=())
    if refused:
        return {"kind": refused[0].kind, "what": [one.what for one in refused]}
    claims = list(bench.artifacts.claims)
    verdict = await judged(bench, [candidate.id], {candidate.id: Body(body, "", "worker", 1)}, claims)
    return {"kind": verdict.faults[0].kind, "what": [one.what for one in verdict.faults]} if verdict.faults else None


async def _differences(bench: Bench, name: str, body: str) -> str:
    """Return where the new body does otherwise than the old one, which the promises allow."""
    made = hearing(
        bench, [name], {name: Body(body, "", "worker", 1)}, due=list(bench.artifacts.claims),
        variants=[("independent", name, AS_IS)],
    )  # fmt: skip
    outcome = await bench.court.compare(replace(made))
    one = next((one for one in each_once(outcome.differences) if one.kind == "independent"), None)
    if one is None:
        return "A new body keeps every promise and does the same on every case."
    return f"A new body keeps every promise. It does otherwise for {one.shown}: {one.first}; before, {one.second}."


def _patch(path: str, before: str, after: str) -> str:
    texts = before.splitlines(keepends=True), after.splitlines(keepends=True)
    lines = difflib.unified_diff(*texts, f"a/{path}", f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
