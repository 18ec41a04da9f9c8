"""Comparing in the application: the same tasks by a council, by samples of one model, by one answer."""

from assay.protocol import Chat, Needs, Protocol, RunType, Seat, parts_of
from llm_runtime.behaviour import Behaviour

_HERE = __name__
#: What the methods ask; a council among them asks as councils do.
#: 2: samples are drawn in waves, not planned by the first. 3: one thinks in writing before the answer.
BEHAVIOUR = Behaviour("compare", number=3, packages=(_HERE,), unnumbered=3)

#: The phases that answer or attack; judges look nothing up.
_ASK = ("single", "sample", "position", "draft", "defence", "critique")

TASKS = RunType(
    name="compare.tasks",
    aliases=("compare",),
    title="Compare methods",
    about="The same tasks by several methods at equal spend, with paired intervals.",
    noun="comparison",
    **parts_of(f"{_HERE}.task", "run", "title_of", "outcome"),
    fold=f"{_HERE}.story:CompareFold",
    seats=(Seat("*"), *(Seat(phase, tools=True) for phase in _ASK)),
    units=f"{_HERE}.task:units",
    batch=False,
)

DIRECT = RunType(
    name="compare.direct",
    title="Ask one model",
    about="One call to one model: what a council is compared with, and what chat programs use for titles.",
    noun="direct call",
    **parts_of(f"{_HERE}.direct", "run", "title_of", "outcome"),
    fold=f"{_HERE}.direct:DirectFold",
    chat=Chat("direct", f"{_HERE}.direct:fields_of_chat", f"{_HERE}.direct:answer"),
    seats=(Seat("*"),),
    batch=False,
    form=False,
)

PROTOCOL = Protocol(
    name="compare",
    title="Compare",
    about="What deliberation gains at equal spend.",
    how="A council, several samples of one model and one single answer get the same tasks; the council's spend "
    "sets how many samples there are.",
    command=("compare", f"{_HERE}.commands:compare"),
    command_about="Put the same tasks to several methods at equal spend, and compare with intervals.",
    runs=(TASKS, DIRECT),
    needs=Needs(json="always", window=6_400, calls=30, answered=8_000, asked=30_000),
    behaviours=(f"{_HERE}:BEHAVIOUR", "crucible.behaviour:BEHAVIOUR"),
)
