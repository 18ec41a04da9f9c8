"""Trials in words: endings, conditions of the gate, rates, and the short forms that tables use."""

from __future__ import annotations

import re

from ai_crucible.types import AttemptRecord
from assay.report.units import money
from llm_runtime.statistics import Interval

_BACKTICKS = re.compile("`+")

ENDINGS = {
    "submitted": "submitted",
    "stopped_talking": "stopped talking",
    "tool_budget": "tool budget used up",
    "wall_clock": "out of time",
    "pathological_loop": "repeated itself",
    "turn_limit": "out of turns",
    "chrome_leak": "standings leaked",
    "box_died": "its box died",
    "inspect_limit": "limit of Inspect",
}
"""``terminated_by`` for people."""

CONDITIONS = {
    "finite_inputs": "every number is finite",
    "solved": "every failing check passes now",
    "no_regression": "every passing check still passes",
    "quality": "quality at its threshold or above",
    "no_adversarial_penalty": "nothing done against the grading",
    "no_undeclared_penalty": "only declared files changed",
    "within_tool_budget": "within the tool budget",
    "within_time_budget": "within the time budget",
    "ended_properly": "ended in a regular way",
    "novelty_validated": "claimed novelty validated",
}
"""Conditions of the gate as what must hold."""

ARM_NAMES = {"neutral": "neutral", "self_referential": "self-referential", "social_standings": "social standings"}


def ending(record: AttemptRecord) -> str:
    """How an attempt ended."""
    if record.error:
        return "error"
    return ENDINGS.get(record.terminated_by, record.terminated_by or "not told")


def verdict_word(passed: bool | None) -> str:
    """What the gate said."""
    return "no verdict" if passed is None else "passed" if passed else "failed"


def percent(value: float) -> str:
    """A share without decimals.

    >>> percent(0.954)
    '95%'
    """
    return f"{value:.0%}"


def signed(value: float) -> str:
    """A difference of shares in percentage points; none has no sign.

    >>> signed(-0.12), signed(0.3), signed(0.0)
    ('−12 pp', '+30 pp', '0 pp')
    """
    points = round(value * 100)
    return "0 pp" if points == 0 else f"{'+' if points > 0 else '−'}{abs(points)} pp"


def reach(interval: Interval) -> str:
    """The bounds of a share: ``"12% to 77%"``."""
    return f"{percent(interval.low)} to {percent(interval.high)}"


def dollars(cost: float | None) -> str:
    """US dollars; a dash where no price is known."""
    return "–" if cost is None else money(round(cost * 1_000_000))


def grouped(digest: str) -> str:
    """A digest in groups of eight, so that it can be compared by eye and breaks across lines.

    >>> grouped("00112233aabbccdd")
    '00112233 aabbccdd'
    """
    return " ".join(digest[at : at + 8] for at in range(0, len(digest), 8))


def code(text: str) -> str:
    """Text as a fenced block of Markdown that nothing in it can close."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(longest + 1, 3)
    return f"{fence}\n{text}\n{fence}"
