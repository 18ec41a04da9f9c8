"""Tools that a package brings, and who uses them: seats that say so, of whatever kind of run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from assay.hooks import Hooks
from assay.protocol import RunType, Seat
from assay.protocols.crucible.task import Options, Task
from assay.registry import Prepared, prepared, run_types
from assay.seat_tools.answering import beside
from assay.seat_tools.offered import offered
from assay.seat_tools.using import tooled
from llm_runtime.errors import ConfigurationError
from llm_runtime.messages import CallLabel, Message, Request
from llm_runtime.providers.scripted import scripted

TOOL = """
from assay.seat_tools.offered import SeatTool, ToolFault, word

def make(detail, names):
    async def weigh(arguments):
        if word(arguments, "what") == "air":
            raise ToolFault("it weighs nothing")
        return f"{detail}: {len(arguments['what'])}"
    return weigh

SCALES = SeatTool("scales:UNIT", "Weigh a thing.", {"what": {"type": "string"}}, ("what",), make, detail="kg|lb")
"""


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    about = tmp_path / "scales-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: scales\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        "[assay.seat_tools]\nscales = scales_tool:SCALES\nsearch = scales_tool:NO\n"
    )
    (tmp_path / "scales_tool.py").write_text(TOOL)
    monkeypatch.syspath_prepend(str(tmp_path))


class VisitHooks(Hooks[Task, Options]):
    """A visit, which needs no optional part."""

    extra = False


def run_type(*seats: Seat) -> RunType:
    return RunType("guest.ask", "Ask", "It asks.", "visit", f"{__name__}:VisitHooks", seats=seats)


@pytest.mark.usefixtures("site")
def test_a_package_brings_a_tool_and_takes_no_name_of_ours() -> None:
    assert Options(tools=("scales:kg", "python")).tools == ("scales:kg", "python")
    assert [(one.name, one.description) for one in offered(("scales:lb",))] == [("scales", "Weigh a thing.")]
    assert "hold all the words" in offered(("search",))[0].description


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    "names", [("scales",), ("scales:",), ("scales:st",), ("scales:kg", "scales:lb"), ("python:3",)]
)
def test_a_tool_that_is_not_named_as_it_says_is_refused(names: tuple[str, ...]) -> None:
    with pytest.raises(ValidationError, match=r"there is no tool .*scales:UNIT|can stand once"):
        Options(tools=names)


@pytest.mark.usefixtures("site")
@pytest.mark.parametrize(
    ("label", "uses"),
    [
        (CallLabel("guest", "weighing"), True),
        (CallLabel("guest", "ask", "2:grocer"), True),
        (CallLabel("guest", "ask", "grocer"), True),
        (CallLabel("guest", "ask", "3:judge"), False),
    ],
)
async def test_a_seat_uses_tools_where_its_description_says_so(label: CallLabel, uses: bool) -> None:
    seats = run_type(Seat("grocer", tools=True), Seat("weighing", tools=True), Seat("judge")).tooled_seats
    asked: list[str] = []

    def model(request: Request) -> str:
        asked.append(request.messages[-1].content)
        things = ["apple", "air"]
        if len(asked) > len(things):
            return "Done."
        call = json.dumps({"tool": "scales", "arguments": {"what": things[len(asked) - 1]}})
        return f"```tool\n{call}\n```"

    generate = tooled(beside(scripted(model), ("scales:kg",)), ("scales:kg",), 1, seats)
    reply = await generate(Request("m", (Message("user", "Well?"),), label))
    assert (reply.text == "Done.") is uses
    if uses:
        assert "kg: 5" in asked[1] and "error: it weighs nothing" in asked[2]
    else:
        assert asked == ["Well?"]


def test_tools_for_a_run_without_seats_that_use_them_are_refused_before_anything_is_asked() -> None:
    given = Options(tools=("python",))
    with pytest.raises(ConfigurationError, match=r"^tools: no seat of a visit uses any; leave them out$"):
        prepared(Prepared(run_type(Seat("grocer")), Task(query="Why?"), given))
    prepared(Prepared(run_type(Seat("grocer", tools=True)), Task(query="Why?"), given))
    prepared(Prepared(run_type(), Task(query="Why?"), Options()))


def test_every_kind_of_run_of_ours_that_takes_tools_has_seats_that_use_them() -> None:
    tooling = [run.name for run in run_types().values() if run.tooled_seats]
    assert {"crucible.council", "compare.tasks"} <= set(tooling)
