"""Our own cases: temporal minimal pairs, multi-turn histories with benign twins, and prompts that only look bad.

The files are ``data/*.jsonl``; docs/fire-circle-dataset.md says how they were written and what they can show. A
file is taken whole or refused: a study must not run on a set whose twins have come apart.
"""

from __future__ import annotations

from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Generic, Literal, TypeVar

from pydantic import ConfigDict, Field, ValidationError, model_validator

from fire_circle.layers import LayerName, MultiNeutrosophicPrompt
from fire_circle.results import PatternType
from llm_runtime.errors import ConfigurationError
from llm_runtime.grouping import grouped
from llm_runtime.models import Model, first_fault
from llm_runtime.structs import Struct

Split = Literal["development", "test"]
Text = Annotated[str, Field(min_length=1)]


class DatasetError(ConfigurationError, ValueError):
    """A data file is not what its schema says; the message names file, line or case, and the fault."""


class _Data(Model):
    model_config = ConfigDict(strict=True)


class Turn(_Data):
    """One message that was really exchanged before the prompt under test."""

    role: Literal["user", "assistant"]
    content: Text


class Evidence(_Data):
    """A verbatim quote of the layer that shows the violation."""

    layer: LayerName
    quote: Text


class Case(_Data):
    """A prompt to be judged, with the conversation that really came before it.

    Attributes:
        id: unique in its file.
        split: thresholds are fitted on ``development`` and reported on ``test``; twins share a split.
        label: True for a violation of reciprocity.
        turn_count: the turn that the prompt is: 1 + the user's messages in ``history``.
        layers: system, application and user layer; the user layer is the one to judge.
        history: the real turns, user and assistant by turns, oldest first; empty on turn 1.
        note: why the label is what it is, in a sentence or two. For readers; never shown to a judge.
    """

    id: Text
    split: Split
    label: bool
    turn_count: int = Field(ge=1)
    layers: MultiNeutrosophicPrompt
    history: tuple[Turn, ...]
    note: Text

    @model_validator(mode="after")
    def _history_is_a_conversation(self) -> Case:
        roles = [turn.role for turn in self.history]
        if roles != ["user", "assistant"] * (len(roles) // 2):
            raise ValueError("history must alternate user and assistant, and end with the assistant")
        if self.turn_count != 1 + len(roles) // 2:
            raise ValueError(f"turn_count must be {1 + len(roles) // 2} after {len(roles)} turns of history")
        return self


class PatternCase(Case):
    """A case of one pattern, violation or benign twin.

    Attributes:
        pair_id: shared by the two twins and by nobody else.
        pattern: what a violation shows above all; its twin carries the same.
        evidence: at least one quote where ``label`` is True, none where it is False.
    """

    pair_id: Text
    pattern: PatternType
    evidence: tuple[Evidence, ...]

    @model_validator(mode="after")
    def _evidence_is_there(self) -> PatternCase:
        if bool(self.evidence) != self.label:
            raise ValueError("a violation needs evidence, and a benign case has none")
        for item in self.evidence:
            if item.quote not in getattr(self.layers, item.layer):
                raise ValueError(f"the quote {item.quote[:40]!r} is not in the {item.layer} layer")
        return self


class HistoryCase(PatternCase):
    """A case with a longer conversation.

    Attributes:
        also: further patterns that a violation shows; empty for its twin.
    """

    also: tuple[PatternType, ...]

    @model_validator(mode="after")
    def _also_is_further(self) -> HistoryCase:
        if self.also and not self.label:
            raise ValueError("a benign case shows no pattern: also must be empty")
        if len({self.pattern, *self.also}) != 1 + len(self.also):
            raise ValueError("also must name each further pattern once, and not the main one")
        return self


class OverdefenceCase(Case):
    """A harmless prompt that holds words which detectors trip over.

    Attributes:
        category: the family of trigger words.
        triggers: the words, as they stand in the user layer but for upper and lower case.
    """

    category: Literal["override", "prompt_talk", "earlier_talk", "role", "secrets"]
    triggers: Annotated[tuple[Text, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _benign_with_its_triggers(self) -> OverdefenceCase:
        if self.label:
            raise ValueError("every prompt here is benign: label must be false")
        for trigger in self.triggers:
            if trigger.lower() not in self.layers.user.lower():
                raise ValueError(f"the trigger {trigger!r} is not in the user layer")
        return self


Row = TypeVar("Row", bound=Case)
Member = TypeVar("Member", bound=PatternCase)


class Twins(Struct, Generic[Member]):
    """A violation and the benign case that is as like it as can be."""

    benign: Member
    violation: Member

    @property
    def pair_id(self) -> str:
        """The id that both carry."""
        return self.violation.pair_id

    @property
    def pattern(self) -> PatternType:
        """The pattern of the violation."""
        return self.violation.pattern

    @property
    def split(self) -> Split:
        """The split that both are in."""
        return self.violation.split


def load_temporal_pairs(path: Path | None = None) -> tuple[Twins[PatternCase], ...]:
    """Load the temporal minimal pairs: the same layers after a history that bears them out, or not.

    A judge that reads only the text scores both alike; one that reads the turn information must flip.

    Args:
        path: another file of the same schema; our own by default.

    Raises:
        DatasetError: a row breaks the schema, an id comes twice, or the members of a pair differ in more than
            id, history, turn_count and what follows from the label.
    """
    source = _source(path, "temporal_pairs.jsonl")
    pairs = _twins(source, PatternCase, "layers")
    for pair in pairs:
        if pair.benign.history == pair.violation.history:
            raise DatasetError(f"{source.name}: the members of {pair.pair_id} have the same history; one must be false")
    return pairs


def load_histories(path: Path | None = None) -> tuple[Twins[HistoryCase], ...]:
    """Load the multi-turn histories, each with a benign twin of the same system layer and length.

    Args:
        path: another file of the same schema; our own by default.

    Raises:
        DatasetError: a row breaks the schema, an id comes twice, or twins differ in system layer or turn.
    """
    source = _source(path, "histories.jsonl")
    pairs = _twins(source, HistoryCase, "turn_count")
    for pair in pairs:
        if pair.benign.layers.system != pair.violation.layers.system:
            raise DatasetError(f"{source.name}: the twins of {pair.pair_id} differ in their system layer; make it one")
    return pairs


def load_overdefence(path: Path | None = None) -> tuple[OverdefenceCase, ...]:
    """Load benign prompts full of trigger words; every one that is flagged is a false alarm.

    Args:
        path: another file of the same schema; our own by default.

    Raises:
        DatasetError: a row breaks the schema, or an id comes twice.
    """
    return _read(_source(path, "overdefence.jsonl"), OverdefenceCase)


def _source(path: Path | None, name: str) -> Traversable:
    return path or resources.files("fire_circle").joinpath("data", name)


def _read(source: Traversable, row: type[Row]) -> tuple[Row, ...]:
    try:
        lines = source.read_bytes().split(b"\n")
    except OSError as fault:
        raise DatasetError(f"{source.name}: cannot be read ({fault.strerror}); check the path") from None
    rows: dict[str, Row] = {}
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            case = row.model_validate_json(line)
        except ValidationError as faults:
            reason = first_fault(faults, "the row")
            raise DatasetError(f"{source.name}, line {number}: {reason}; correct the line") from None
        if case.id in rows:
            raise DatasetError(f"{source.name}, line {number}: the id {case.id} came before; ids must be unique")
        rows[case.id] = case
    if not rows:
        raise DatasetError(f"{source.name}: there is no case in it; check the path")
    return tuple(rows.values())


def _twins(source: Traversable, row: type[Member], same: str) -> tuple[Twins[Member], ...]:
    """Read twins that are equal in split, pattern and one field more."""
    groups = grouped((case.pair_id, case) for case in _read(source, row))
    for pair_id, group in groups.items():
        group.sort(key=lambda case: case.label)
        if [case.label for case in group] != [False, True]:
            raise DatasetError(f"{source.name}: pair {pair_id} needs one violation and one benign case, and no other")
        for field in ("split", "pattern", same):
            if getattr(group[0], field) != getattr(group[1], field):
                raise DatasetError(f"{source.name}: the twins of {pair_id} differ in {field}; make them equal")
    return tuple(Twins(*group) for group in groups.values())
