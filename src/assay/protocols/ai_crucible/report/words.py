"""Trials in words: endings, conditions of the gate, rates, and the short forms that tables use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from ai_crucible.figures import bounds
from ai_crucible.observability import ModelRollup, PuzzleHistory
from ai_crucible.types import AttemptRecord
from assay.report.standing import RunVerdict
from assay.report.units import count_noun, money, reach, whole_percent
from llm_runtime.toml import own_table

_SAID = own_table(__package__ or "", "words.toml")
ENDINGS: Mapping[str, str] = _SAID["endings"]
"""``terminated_by`` for people."""
CONDITIONS: Mapping[str, str] = _SAID["conditions"]
"""Conditions of the gate as what must hold."""
ARM_NAMES: Mapping[str, str] = _SAID["arms"]
HOW_MEASURED: str = _SAID["how_measured"]
"""What a reader must know to judge the figures."""


def ending(record: AttemptRecord) -> str:
    """How an attempt ended."""
    if record.error:
        return "error"
    return ENDINGS.get(record.terminated_by, record.terminated_by or "not told")


def verdict_word(passed: bool | None) -> str:
    """Return the gate's verdict in a word."""
    return "no verdict" if passed is None else "passed" if passed else "failed"


def dollars(cost: float | None) -> str:
    """US dollars; a dash where no price is known."""
    return "–" if cost is None else money(round(cost * 1_000_000))


def grouped(digest: str) -> str:
    """Return a digest in groups of eight, so that it can be compared by eye and breaks across lines.

    >>> grouped("00112233aabbccdd")
    '00112233 aabbccdd'
    """
    return " ".join(digest[at : at + 8] for at in range(0, len(digest), 8))


def counted(passed: int, failed: int, died: int) -> str:
    """Return what attempts came to, those that died among them.

    >>> counted(5, 0, 18)
    '5 passed, 0 failed, 18 died'
    """
    return f"{passed} passed, {failed} failed" + (f", {died} died" if died else "")


def reported(puzzles: Iterable[Mapping[str, Any]]) -> str:
    """Return of how many puzzles the solver's own process told the verdict; empty for none."""
    own = [one.get("self_reported", False) for one in puzzles if not one["anchor"]]
    return f", self-reported at {sum(own)} of {count_noun(len(own), 'puzzle')}" if any(own) else ""


def work_done(puzzles: Iterable[PuzzleHistory]) -> str:
    """Return of how many hours of a person's work the tasks are that were passed once or more; empty for none told."""
    told = [one for one in puzzles if one.hours and not one.anchor]
    done, most = sum(one.hours for one in told if one.passed), sum(one.hours for one in told)
    return f"; the tasks passed stand for {done:g} of {most:g} hours of a person's work" if told else ""


def in_all(model: ModelRollup, bold: str = "") -> str:
    """Return what a model came to in a line: attempts, rate, reliability, and what those that died leave open.

    Args:
        model: rolled up.
        bold: put before and behind the count.
    """
    passed, failed, died = model.passed, model.attempts - model.passed, model.died
    if not model.attempts and not died:
        anchors = ", ".join(f"{h.puzzle} {h.passed} of {h.attempts}" for h in model.puzzles)
        return f"no graded attempt at a puzzle that counts ({anchors})"
    line = counted(passed, failed, died) if died else f"{passed} of {model.attempts} attempts passed"
    line = f"{bold}{line}{bold}{reported([asdict(history) for history in model.puzzles])}"
    if model.rate:
        line += f", {whole_percent(model.rate.estimate)} ({reach(model.rate)})"
    if model.reliability and model.reliability[0] > 1:
        line += f"; pass^{model.reliability[0]} {whole_percent(model.reliability[1])}"
    line += work_done(model.puzzles)
    if died:
        low, high = map(whole_percent, bounds(passed, failed, died))
        line += f"; whatever those that died would have come to, between {low} and {high} pass"
    return line if model.rate or not died else f"{line}: too wide for a rate"


def outcome(result: Mapping[str, Any]) -> RunVerdict:
    """Return how many attempts each model passed, and whether anybody can check that."""
    words: list[str] = []
    for model in result["models"]:
        own = [one for one in model["puzzles"] if not one["anchor"]]
        passed, made = (sum(one[what] for one in own) for what in ("passed", "attempts"))
        died = model.get("died")
        told = f": {counted(passed, made - passed, died)}" if died else f" passed {passed} of {made}"
        words.append(model["model"] + told + reported(own))
    without = result.get("without", 0)
    doubt = f"{count_noun(without, 'attempt')} without a verdict" if without else ""
    ledger = result.get("ledger", {})
    if not ledger.get("ok", True):
        return RunVerdict("; ".join(words), doubt="the ledger does not verify", leaning="bad")
    if ledger.get("head"):
        return RunVerdict("; ".join(words), "attested and verified", doubt, "open" if doubt else "good")
    return RunVerdict("; ".join(words), doubt=", ".join(filter(None, ("not attested", doubt))), leaning="open")
