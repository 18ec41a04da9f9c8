"""Fire Circle in the application: models in dialogue judge a prompt."""

from assay.protocol import Chat, Demo, Needs, Protocol, RunType, Seat

_HERE = __name__

CIRCLE = RunType(
    name="fire_circle.circle",
    aliases=("fire_circle",),
    title="Judge a prompt",
    about="A circle of models reads a prompt in rounds, says what in it does not hold up, and finds patterns.",
    noun="circle",
    task=f"{_HERE}.task:Task",
    options=f"{_HERE}.task:Options",
    prepare=f"{_HERE}.task:prepare",
    seated=f"{_HERE}.task:seated",
    run=f"{_HERE}.task:run",
    upgrade=f"{_HERE}.task:upgrade",
    title_of=f"{_HERE}.task:title_of",
    fold=f"{_HERE}.report:CircleFold",
    measures=f"{_HERE}.task:MEASURES",
    reworded=f"{_HERE}.task:REWORDED",
    chat=Chat("circle", f"{_HERE}.task:fields_of_chat"),
    seats=(Seat("*"),),
)

STUDY = RunType(
    name="fire_circle.study",
    title="Measure whether dialogue helps",
    about="A circle judges every row of a data set; the report says what its dialogue is worth.",
    noun="study",
    task=f"{_HERE}.study_task:Task",
    options=f"{_HERE}.study_task:Options",
    prepare=f"{_HERE}.study_task:prepare",
    run=f"{_HERE}.study_task:run",
    title_of=f"{_HERE}.study_task:title_of",
    spent=f"{_HERE}.study_task:spent",
    fold=f"{_HERE}.report.study_fold:StudyFold",
    seats=(Seat("*"),),
    batch=False,
    form=False,
    seatless=True,
    replayable=False,
)

GATE = RunType(
    name="fire_circle.gate",
    title="Judge a suite of prompts",
    about="A circle judges many cases, prompts or what an application answered; conditions say what must not pass.",
    noun="gate",
    task=f"{_HERE}.gating.task:Task",
    options=f"{_HERE}.gating.task:Options",
    prepare=f"{_HERE}.gating.task:prepare",
    run=f"{_HERE}.gating.task:run",
    seated=f"{_HERE}.task:seated",
    title_of=f"{_HERE}.gating.task:title_of",
    fold=f"{_HERE}.report.gate_story:GateFold",
    measures=f"{_HERE}.gating.task:MEASURES",
    seats=(Seat("*"),),
    seatless=True,
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
)
