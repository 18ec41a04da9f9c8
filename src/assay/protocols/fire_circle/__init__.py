"""Fire Circle in the application: models in dialogue judge a prompt."""

from assay.protocol import Demo, Needs, Opening, Protocol, RunType, Tool

_HERE = __name__

CIRCLE = RunType(
    name="fire_circle.circle",
    aliases=("fire_circle",),
    title="Judge a prompt",
    about="A circle of models reads a prompt in rounds, says what in it does not hold up, and finds patterns.",
    noun="circle",
    hooks=f"{_HERE}.task:CircleHooks",
    opening=Opening(
        "user",
        (
            (
                r"\b(ignore|disregard|forget|override)\b.{0,40}\b(previous|prior|above|earlier|all|your)\b.{0,30}"
                r"\b(instruction|rule|prompt|polic|message|direction|guideline)",
                "it tells a model to drop its instructions",
            ),
            (
                r"\b(you are|act as|pretend to be|role-?play as|from now on you)\b",
                "it speaks to a model, not to people",
            ),
            (
                r"\b(system prompt|jailbreak|prompt injection|developer mode|do anything now)\b",
                "it is about getting around a model's rules",
            ),
            (
                r"\b(as we (discussed|agreed)|you (promised|agreed|said) (to|that|earlier)|last time you)\b",
                "it refers to what a model cannot remember",
            ),
            (r"\b(judge|check|vet|is|evaluate)\b.{0,20}\bprompt\b", "it asks what a prompt is worth"),
        ),
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
