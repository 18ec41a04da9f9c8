"""Fire Circle in the application: models in dialogue judge a prompt."""

from assay.protocol import Demo, Needs, Opening, Protocol, RunType, Tool
from llm_runtime.toml import own_table

_HERE = __name__

CIRCLE = RunType(
    name="fire_circle.circle",
    aliases=("fire_circle",),
    title="Judge a prompt",
    about="A circle of models reads a prompt in rounds, says what in it does not hold up, and finds patterns.",
    noun="circle",
    hooks=f"{_HERE}.task:CircleHooks",
    opening=Opening(
        "user", tuple((sign["shown"], sign["why"]) for sign in own_table(_HERE, "opening.toml")["signs"])
    ),
    chat="circle",
    tools=(
        Tool("judge_prompt", "Have a circle judge a prompt: does it manipulate, or take without giving? Minutes."),
    ),
)

STUDY = RunType(
    name="fire_circle.study",
    title="Measure whether dialogue helps",
    about="A circle judges every row of a data set; the report says what its dialogue is worth.",
    noun="study",
    hooks=f"{_HERE}.study_task:StudyHooks",
    doors=("form",),
)

GATE = RunType(
    name="fire_circle.gate",
    title="Judge a suite of prompts",
    about="A circle judges many cases, prompts or what an application answered; conditions say what must not pass.",
    noun="gate",
    hooks=f"{_HERE}.gating.task:GateHooks",
)

PROTOCOL = Protocol(
    name="fire_circle",
    title="Fire Circle",
    about="A verdict on a prompt, with the sentences it rests on.",
    how="Models judge a prompt alone, then read each other and must quote what they mean; one speaks for those who "
    "are absent. Patterns that only the dialogue found are named.",
    command=("circle", f"{_HERE}.commands:circle"),
    command_about="Judge a prompt by a circle of models in dialogue, and measure whether the dialogue helps.",
    runs=(CIRCLE, STUDY, GATE),
    demo=Demo(
        name="circle",
        folder=f"{_HERE}.demo",
        about="a prompt before a circle of judges; a quarter of a minute",
        shows="A friendly booking refers to a conversation that never was. A quarter of a minute.",
        own="Judge your own:  assay circle evaluate prompt.yaml\n"
        "Measure whether dialogue helps:  assay circle study DATA   (see docs/fire-circle.md)",
        prepare=f"{_HERE}.task:demo",
    ),
    needs=Needs(json="helps", window=4_200, calls=9, answered=1_800, asked=16_000),
    behaviours=("fire_circle.behaviour:BEHAVIOUR",),
)
