"""Live lines as tables: what a template writes, and that each table fits the events that it tells."""

from __future__ import annotations

import re
from string import Formatter

import pytest

from assay.registry import fold_for, run_types
from assay.report.generic import GenericFold
from assay.report.lines import line_of
from llm_runtime.events import Event, RunFinished


class Counted(Event, type="test_lines.counted"):
    """Something was counted."""

    name: str
    found: list[str]
    tries: int


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("{name}: {found:count door}", "a\x1b[31m {tries}\nb: 2 doors"),
        ("{name:line}", "a {tries} b"),
        ("{name:line 5}", "a {t…"),
        ("{found:words} in {tries:count try}", "left and right in 1 try"),
        ("{tries:03}", "001"),
    ],
)
def test_a_template_writes_the_fields_of_its_event(template: str, told: str) -> None:
    event = Counted(name="a\x1b[31m {tries}\nb", found=["left", "right"], tries=1)
    assert line_of({Counted: template}, None, event) == told


def test_a_fold_tells_what_its_table_has_and_how_the_run_ended() -> None:
    class Fold(GenericFold):
        lines = {Counted: lambda fold, event: f"{fold.protocol}{event.tries}" if event.tries else None}

    counted = Counted(name="", found=[], tries=3)
    assert Fold().announce(counted) == "3"
    assert Fold().announce(counted.model_copy(update={"tries": 0})) is None
    assert GenericFold().announce(counted) is None
    assert Fold().announce(RunFinished(state="stopped", message="by hand")) == "run stopped: by hand"


@pytest.mark.parametrize("kind", sorted(run_types()))
def test_each_template_names_fields_that_its_event_has(kind: str) -> None:
    fold = fold_for(kind)
    assert isinstance(fold, GenericFold)
    for event, says in fold.lines.items():
        parts = Formatter().parse(says) if isinstance(says, str) else ()
        named = [re.split(r"[.\[]", name)[0] for _, name, _, _ in parts if name]
        assert {*named} <= event.model_fields.keys(), event
