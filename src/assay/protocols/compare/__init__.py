"""Comparing in the application: the same tasks by a council, by samples of one model, by one answer."""

from assay.protocol import Needs, Protocol, RunType, Seat, Tool
from llm_runtime.behaviour import Behaviour

_HERE = __name__
_COMPARE = "Put questions to a council, to several samples of one model, and to one model once. Many minutes."
#: What the methods ask; a council among them asks as councils do.
#: 2: samples are drawn in waves, not planned by the first. 3: one thinks in writing before the answer.
#: 4: a council is that of `assay ask`; who does not say an answer has no vote. 5: choices are shown, answers read
#: by what they mean, programs by their tests, open ones by a judge.
BEHAVIOUR = Behaviour("compare", number=5, packages=(_HERE,), unnumbered=3)

#: The phases that answer or attack; judges look nothing up.
_ASK = ("single", "sample", "position", "draft", "defence", "critique")

TASKS = RunType(
    name="compare.tasks",
    aliases=("compare",),
    title="Compare methods",
    about="The same tasks by several methods at equal spend, with paired intervals.",
    noun="comparison",
    hooks=f"{_HERE}.task:ComparisonHooks",
    tools=(Tool("compare", _COMPARE, called=(("tasks", "questions"),)),),
    seats=(Seat("*"), *(Seat(phase, tools=True) for phase in _ASK)),
    doors=("form",),
)

DIRECT = RunType(
    name="compare.direct",
    title="Ask one model",
    about="One call to one model: what a council is compared with, and what chat programs use for titles.",
    noun="direct call",
    hooks=f"{_HERE}.direct:DirectHooks",
    tools=(),
    chat="direct",
    doors=(),
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
