"""What is known of the conversation a prompt belongs to: its turn, its trust, its balance (FC23)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AliasChoices, BeforeValidator, Field

from fire_circle.transcripts import TranscriptRecord, records_of
from llm_runtime.models import Model

Trajectory: TypeAlias = Literal["improving", "stable", "degrading", "hostile"]

ALPHA = 0.3
"""Weight of the newest turn in both moving averages."""
START_TRUST = 0.5

_WINDOW = 3
_DRIFT = 0.05
_HOSTILE_TRUST = 0.25
_HOSTILE_BALANCE = -0.4


class Turn(Model):
    """A finished turn.

    Args:
        trust: 0.0 to 1.0, how far the turn kept reciprocity.
        balance: -1.0 (all taking) to 1.0 (all giving), the turn's ayni balance.
        records: what was said and done in it, where it was kept; a text is one record of nobody knows whom.
        measured: a circle judged the turn; else trust and balance are no more than where every session begins.
    """

    trust: float = Field(ge=0.0, le=1.0, allow_inf_nan=False)
    balance: float = Field(ge=-1.0, le=1.0, allow_inf_nan=False)
    records: Annotated[tuple[TranscriptRecord, ...], BeforeValidator(partial(records_of, bare="turn"))] = Field(
        default=(), validation_alias=AliasChoices("records", "text")
    )
    measured: bool = Field(default=True, exclude_if=lambda judged: judged)


class SessionMemory:
    """A conversation's turns so far. The prompt under test is the turn after them.

    Trust and balance are exponential moving averages with weight 0.3, from 0.5 and from 0.0.
    """

    def __init__(self, turns: Iterable[Turn] = ()) -> None:
        self._turns: list[Turn] = []
        self._trust = [START_TRUST]
        self._balance = 0.0
        for turn in turns:
            self._add(turn)

    @classmethod
    def at_turn(cls, turn: int) -> SessionMemory:
        """Return a session that is at ``turn`` (1 or more), of whose earlier turns nothing is known.

        Raises:
            ValueError: ``turn`` is below 1.
        """
        if turn < 1:
            raise ValueError(f"a turn is 1 or more, got {turn}")
        return cls.after("" for _ in range(turn - 1))

    @classmethod
    def after(cls, turns: Iterable[str | tuple[TranscriptRecord, ...]]) -> SessionMemory:
        """Return a session after these turns, unjudged, oldest first: each a text or records."""
        return cls(Turn(trust=START_TRUST, balance=0.0, records=_said(turn), measured=False) for turn in turns)

    @classmethod
    def of_messages(cls, messages: Iterable[Any]) -> SessionMemory:
        """Return a session after these records, chat messages or pairs of role and text, oldest first.

        A user's record, or a whole turn, begins a turn.

        Raises:
            RecordError: one is none of these.
        """
        turns: list[list[TranscriptRecord]] = []
        for record in records_of(list(messages), "turn"):
            if record.role in ("user", "turn") or not turns:
                turns.append([])
            turns[-1].append(record)
        return cls.after(map(tuple, turns))

    def record(self, *, trust: float, balance: float, text: str = "") -> None:
        """Finish a turn.

        Raises:
            ValueError: ``trust`` outside 0.0 to 1.0 or ``balance`` outside -1.0 to 1.0.
        """
        self._add(Turn(trust=trust, balance=balance, records=_said(text)))

    def _add(self, turn: Turn) -> None:
        self._turns.append(turn)
        self._trust.append(ALPHA * turn.trust + (1 - ALPHA) * self._trust[-1])
        self._balance = ALPHA * turn.balance + (1 - ALPHA) * self._balance

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The finished turns, oldest first."""
        return tuple(self._turns)

    @property
    def records(self) -> tuple[TranscriptRecord, ...]:
        """What was said and done in them, oldest first."""
        return tuple(record for turn in self._turns for record in turn.records)

    @property
    def turn(self) -> int:
        """The 1-based turn the prompt under test stands in."""
        return len(self._turns) + 1

    @property
    def measured(self) -> bool:
        """Whether trust and balance were measured in any turn."""
        return any(turn.measured for turn in self._turns)

    @property
    def trust_ema(self) -> float:
        """0.0 to 1.0."""
        return self._trust[-1]

    @property
    def balance_ema(self) -> float:
        """-1.0 to 1.0."""
        return self._balance

    @property
    def trajectory(self) -> Trajectory:
        """Where trust is going.

        ``hostile`` below a trust of 0.25 or a balance of -0.4; else ``improving`` or ``degrading`` where trust
        moved by more than 0.05 over the last three turns; else ``stable``.
        """
        if self.trust_ema < _HOSTILE_TRUST or self.balance_ema < _HOSTILE_BALANCE:
            return "hostile"
        drift = self.trust_ema - self._trust[max(0, len(self._trust) - 1 - _WINDOW)]
        if drift > _DRIFT:
            return "improving"
        return "degrading" if drift < -_DRIFT else "stable"

    def to_dict(self) -> dict[str, object]:
        """Return the session as JSON-compatible data."""
        return {"turns": [turn.model_dump() for turn in self._turns]}

    @classmethod
    def from_dict(cls, data: dict[str, object]) -> SessionMemory:
        """Build a session from what :meth:`to_dict` returned."""
        return cls(_Saved.model_validate(data).turns)


def _said(turn: str | tuple[TranscriptRecord, ...]) -> tuple[TranscriptRecord, ...]:
    return records_of(turn or [], "turn")


class _Saved(Model):
    turns: list[Turn]
