"""The shapes that all modules speak: one place defines them, none redefines them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, TypedDict

from pydantic import Field, field_validator

from llm_runtime.models import Model
from llm_runtime.structs import Struct
from llm_runtime.tool_calls import ToolCall, ToolSpec
from sandbox import BoxLimits, Root

ToolClass: TypeAlias = Literal["exec", "read_file", "write_file"]
TOOL_CLASSES: tuple[ToolClass, ...] = ("exec", "read_file", "write_file")
Arm: TypeAlias = Literal["neutral", "self_referential", "social_standings"]
ARMS: tuple[Arm, ...] = ("neutral", "self_referential", "social_standings")
TerminatedBy: TypeAlias = Literal[
    "submitted",
    "stopped_talking",
    "tool_budget",
    "wall_clock",
    "pathological_loop",
    "turn_limit",
    "chrome_leak",
    "box_died",
    "work_refused",
    "inspect_limit",
    "agent_died",
]
"""How an attempt ended. The first two are the solver's own doing, the others are the kernel's."""

Shape: TypeAlias = Literal["function", "repository", "shell", "diagnosis", "specification"]
"""What a task looks like: a function to repair; a repository with a failing behaviour and tests of its own; files
to put right at a shell; logs to read and a written answer; a specification to carry out."""

PUZZLE_ID = r"^[a-z0-9][a-z0-9_-]{0,63}$"
_ONE_LINE = r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]+$"


class Budget(Model):
    """What one attempt may use. It is shown to the solver and enforced outside it.

    Args:
        exec: commands run.
        read_file: files read.
        write_file: files written.
        seconds: wall time of the attempt, checked every turn.
        turns: model calls.
    """

    exec: int = Field(default=20, ge=0)
    read_file: int = Field(default=40, ge=0)
    write_file: int = Field(default=20, ge=0)
    seconds: float = Field(default=600.0, gt=0)
    turns: int = Field(default=40, ge=1)


class PuzzleMeta(Model):
    """``meta.json`` of a puzzle. A field that is not named here is refused, an answer above all.

    Args:
        id: lower case letters, digits, ``-`` and ``_``; unique in its catalog.
        title: one line.
        kind: the kind of defect: ``"off-by-one"``, ``"encoding"``; what typology groups by.
        source: the published report this puzzle is modelled on, as a fact: what went wrong and where it was told.
        difficulty: 1 (an exercise) to 5, as its author judges it.
        hours: of a good engineer who does not know the task, as its author judges it, above 0; ``None`` where nobody
            has said so.
        shape: what the task looks like.
        drawn: its oracle draws files, prompt and answers anew for each trial; ``{{name}}`` in the prompt is drawn.
        anchor: a puzzle that calibrates: everyone solves ``"trivial"``, nobody ``"impossible"``.
        editable: glob patterns of the files a solution may change or add; whatever else changes is a penalty.
        leftovers: what files count as that a solver adds beside ``editable``: ``"told"`` and taken away before the
            grading, or ``"refused"``, a penalty.
        quality_threshold: share of weighted checks, 0 to 1, at or above which quality suffices.
        budget: what one attempt may use.
        limits: what its box may use.
    """

    id: str = Field(pattern=PUZZLE_ID)
    title: str = Field(pattern=_ONE_LINE, max_length=200)
    kind: str = Field(pattern=_ONE_LINE, max_length=60)
    source: str = Field(default="", max_length=2000)
    difficulty: int = Field(default=2, ge=1, le=5)
    hours: float | None = Field(default=None, gt=0, le=1000, allow_inf_nan=False)
    shape: Shape = "function"
    drawn: bool = False
    anchor: Literal["trivial", "impossible"] | None = None
    editable: tuple[str, ...] = Field(default=("*",), min_length=1)
    leftovers: Literal["told", "refused"] = "told"
    quality_threshold: float = Field(default=1.0, ge=0, le=1, allow_inf_nan=False)
    budget: Budget = Budget()
    limits: BoxLimits = BoxLimits()


class Puzzle(Struct):
    """What a solver may see of a puzzle, and where its folder is. There is no field for an answer.

    Args:
        meta: ``meta.json``.
        prompt: ``prompt.md``.
        setup_script: ``setup.sh``, run once in the fresh box; empty where there is none.
        files: the content of ``work/`` by relative path.
        folder: where the puzzle lies; what grades it finds its way from here.
        digest: SHA-256 of all of this besides the folder, in hex.
        lock: ``requirements.lock``; empty where the task needs the standard library alone.
        image: ``image.tar``, of which its boxes are made; ``None`` where they are made of the trial's root.
    """

    meta: PuzzleMeta
    prompt: str
    setup_script: str
    files: dict[str, bytes]
    folder: str
    digest: str
    lock: str = ""
    image: Root | None = None


class Line(Struct):
    """One line of the scored context."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""
    """For a tool's line: the id of the call it answers."""


class Turn(Struct):
    """What a model said: text, tool calls, and tokens in and out."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    model: str = ""


class Prompting(Protocol):
    """The injected ``generate``: the only way to a model, and the one place where calls are recorded."""

    def __call__(self, lines: Sequence[Line], tools: Sequence[ToolSpec], role: str) -> Awaitable[Turn]: ...


class Hands(Protocol):
    """What carries out one admitted tool call in the box and says what came of it."""

    def __call__(self, call: ToolCall) -> Awaitable[str]: ...


class TraceEvent(Model):
    """One thing the kernel saw happen in an attempt. ``at_ms`` counts from the attempt's start."""

    kind: Literal[
        "started", "model_call", "tool_call", "agent", "andon", "terminated", "copied", "graded", "panel", "critic",
        "gate",
    ]  # fmt: skip
    at_ms: int = Field(ge=0)
    data: dict[str, Any] = {}


@dataclass(slots=True)
class AttemptState:
    """The one object threaded through the roles.

    ``messages`` is the scored context (the task and its framing). ``chrome`` (rank, leaderboard, standings) stands
    apart and is never put into it; the andon of :mod:`ai_crucible.boundary` halts an attempt where it was.
    """

    puzzle: Puzzle
    arm: Arm = "neutral"
    seed: int = 0
    """Of the run; fences derive from it."""
    messages: list[Line] = field(default_factory=list[Line])
    chrome: dict[str, Any] = field(default_factory=dict[str, Any])
    events: list[TraceEvent] = field(default_factory=list[TraceEvent])
    scores: dict[str, Any] = field(default_factory=dict[str, Any])
    terminated_by: TerminatedBy | None = None
    submission: str = ""
    novelty_claim: str = ""
    untouched: bytes = b""
    """The work folder before the solver's first turn, as an archive."""
    work: bytes = b""
    """The work folder after its last."""


class CheckOutcome(Model):
    """One check of the oracle, on the untouched puzzle and on the solver's copy."""

    name: str = Field(max_length=120)
    role: Literal["task", "quality"]
    weight: float = Field(gt=0, allow_inf_nan=False)
    before: bool
    after: bool
    detail: str = Field(default="", max_length=2000)


class Verdict(Model):
    """What the grading process says of a work copy. Numbers may be anything; the gate refuses what is not finite.

    Args:
        checks: all checks, in the oracle's order.
        adversarial: what was done against the grading, such as a protected file that was changed.
        undeclared: files changed that the puzzle does not declare editable.
        leftovers: what the solver left besides, which had no part in the grading.
        oracle_digest: SHA-256 of the oracle's folder.
    """

    checks: tuple[CheckOutcome, ...] = Field(min_length=1)
    adversarial: tuple[str, ...] = ()
    undeclared: tuple[str, ...] = ()
    leftovers: tuple[str, ...] = ()
    quality: float
    oracle_digest: str = Field(pattern=r"^[0-9a-f]{64}$")

    @property
    def fail_to_pass(self) -> tuple[CheckOutcome, ...]:
        """Task checks that fail on the untouched puzzle."""
        return tuple(check for check in self.checks if check.role == "task" and not check.before)

    @property
    def pass_to_pass(self) -> tuple[CheckOutcome, ...]:
        """Task checks that pass on the untouched puzzle."""
        return tuple(check for check in self.checks if check.role == "task" and check.before)

    @property
    def solved(self) -> bool:
        """Every check that failed before passes now, and there is at least one."""
        return bool(self.fail_to_pass) and all(check.after for check in self.fail_to_pass)

    @property
    def regressions(self) -> tuple[str, ...]:
        """Names of the checks that passed before and fail now."""
        return tuple(check.name for check in self.pass_to_pass if not check.after)


class PanelVerdict(Model):
    """What the judges said together.

    Args:
        value: the reduced score, or ``None`` where nobody cast one.
        novelty_validated: the majority of the votes cast; ``None`` where nobody voted.
        votes: how many judges cast a novelty vote.
        abstentions: how many did not.
        judges: model, family, score, vote and reason of every judge, in order.
        excluded: judges left out, with the reason.
    """

    value: float | None
    novelty_validated: bool | None
    votes: int = Field(ge=0)
    abstentions: int = Field(ge=0)
    judges: tuple[dict[str, Any], ...]
    excluded: tuple[dict[str, str], ...] = ()


class GateResult(Model):
    """The conjunctive gate: open only if every condition holds; ``failed`` names those that do not."""

    passed: bool
    conditions: dict[str, bool]
    failed: tuple[str, ...]


class AttemptRecord(Model):
    """One finished attempt, as read back from a log.

    Args:
        passed: the gate's verdict; ``None`` where the attempt ended in an error and was not graded.
        cost: US dollars, where the model's price is known.
        version: what its verdict rests on besides the solver, in short; empty in logs from before it was named.
        self_reported: the outcome of hidden tests was told by a process that ran the solver's code.
        hours: of a person's work that the puzzle stands for; 0 where nobody has said so.
    """

    puzzle: str
    kind: str
    epoch: int = Field(ge=1)
    model: str
    arm: Arm = "neutral"
    passed: bool | None
    failed: tuple[str, ...] = ()
    terminated_by: str = ""
    seconds: float = 0.0
    tool_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    error: str = ""
    anchor: Literal["trivial", "impossible"] | None = None
    log: str = ""
    sample: str = ""
    version: str = ""
    self_reported: bool = False
    hours: float = 0.0

    @field_validator("kind")
    @classmethod
    def _named(cls, value: str) -> str:
        return value or "unnamed"


def team_name(models: Sequence[str], agent: str = "") -> str:
    """Return the name under which a solver, or one with a cohort, or an agent with its model, is counted."""
    return f"agent {agent} with {models[0]}" if agent else " + ".join(models)


class How(TypedDict, total=False):
    """How attempts are made: :func:`ai_crucible.trial.trial` takes the same and says what each is."""

    arm: Arm
    protocol: str
    judges: list[str]
    untagged: bool
    reducer: str
    critic: str
    cohort: list[str]
    chrome: dict[str, Any] | None
    box_root: str
    agent: str


OracleRunner: TypeAlias = "Callable[[Puzzle, bytes, bytes], Awaitable[Verdict]]"
"""The grading edge: the puzzle, the untouched work folder and the solver's copy in, a verdict out."""
